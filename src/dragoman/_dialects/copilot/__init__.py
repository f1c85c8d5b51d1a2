"""Copilot CLI's session files: `session-state/<session>/events.jsonl`.

Read only: every line is an `out` frame. A file holds one session with all its subagents, over all processes that went on
with it. NOTES.md says what maps to what.
"""

from typing import Any


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    return (
        isinstance(value.get("data"), dict)
        and isinstance(value.get("type"), str)
        and {"id", "timestamp", "parentId"} <= value.keys()
    )
