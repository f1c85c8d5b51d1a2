"""The agent's process: its start, its pipes, its descendants, its end."""
