"""Gemini CLI's stream-json: what `gemini --output-format stream-json` writes, one prompt per process.

Receive only: the prompt is on the command line. Written for CLI 0.61.0; the events of older versions (`content`,
`tool_call`, `thought`, `retry`, messages that are no deltas) are read too. NOTES.md says what maps to what.
"""

from typing import Any

_MARKS: dict[str, tuple[str, ...]] = {
    "init": ("session_id", "model"),
    "message": ("role", "content", "timestamp"),
    "tool_use": ("tool_name", "tool_id"),
    "tool_result": ("tool_id", "status"),
    "result": ("status", "stats"),
    "error": ("severity", "message"),
    "content": ("value",),
    "thought": ("value",),
}
"""The fields that tell these events from others of the same name."""

_FOREIGN = frozenset(("subtype", "uuid", "cwd", "tools", "id", "sessionId"))
"""Fields of Claude Code's events, which are called the same."""


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    kind = value.get("type")
    marks = _MARKS.get(kind) if isinstance(kind, str) else None
    return marks is not None and value.keys().isdisjoint(_FOREIGN) and all(mark in value for mark in marks)
