"""What Codex' dialects share."""
