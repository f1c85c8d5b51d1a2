"""Claude Code's session files: `projects/<directory>/<session>.jsonl` and `subagents/agent-<id>.jsonl`.

Read only: every line is an `out` frame. Several files of a session are read as one run, the main file first,
each subagent's file after it (its `.meta.json`, if given, as a line before it). NOTES.md says what maps to what.
"""

from typing import Any

from dragoman._dialects.claude.transcript.messages import ENTRIES, TYPES


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind in ENTRIES:
        return "sessionId" in value and ("uuid" in value or "parentUuid" in value)
    return kind in TYPES and ("sessionId" in value or "leafUuid" in value or "snapshot" in value)
