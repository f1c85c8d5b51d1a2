"""AgentEvent, the unified event model of specification 004, as a file."""
