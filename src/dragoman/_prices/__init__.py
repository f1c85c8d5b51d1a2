"""What model calls cost, by a dated table."""
