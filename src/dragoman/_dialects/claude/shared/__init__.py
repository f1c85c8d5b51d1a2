"""What Claude Code's dialects share."""
