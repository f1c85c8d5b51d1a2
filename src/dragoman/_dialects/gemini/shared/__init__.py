"""What Gemini CLI's dialects share."""
