"""What Codex speaks and writes."""
