"""What Gemini CLI speaks and writes."""
