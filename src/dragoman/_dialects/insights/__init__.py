"""InsightsEvent, the model of specifications 000 and 002, as a file.

What `--view insights` writes, and what other programs write in this model. NOTES.md says what it carries, what it
loses and what is restored.
"""

from typing import Any

from dragoman._dialects.insights.messages import PROVIDERS, TYPES


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    kind = value.get("event")
    return (
        isinstance(kind, str)
        and kind in TYPES
        and {"id", "timestamp"} <= value.keys()
        and bool(agent_of(value))
    )


def agent_of(value: dict[str, Any]) -> str:
    """Who speaks, as every parsed line says: its `provider`."""
    provider = value.get("provider")
    return provider if provider in PROVIDERS else ""
