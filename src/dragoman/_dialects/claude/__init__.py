"""What Claude Code speaks and writes."""
