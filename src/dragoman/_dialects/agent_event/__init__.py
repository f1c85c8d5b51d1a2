"""AgentEvent, the unified event model of specification 004 §7 and §8, as a file.

What `--view agent-event` writes, and what other programs write in this model. NOTES.md says what it carries, what it
loses and what is restored.
"""

from typing import Any

from dragoman._dialects.agent_event.messages import TYPES


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    kind = value.get("type")
    return isinstance(kind, str) and kind in TYPES and {"id", "sessionId", "timestamp"} <= value.keys()


def agent_of(value: dict[str, Any]) -> str:
    """Who speaks, if this parsed line says so: the `agentType` of sessionStarted."""
    agent = value.get("agentType") if value.get("type") == "sessionStarted" else None
    return agent if isinstance(agent, str) else ""
