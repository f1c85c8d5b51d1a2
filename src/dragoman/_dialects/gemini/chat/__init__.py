"""Gemini CLI's session files: `tmp/<project>/chats/session-<time>-<id>.jsonl`, and its subagents' beside them.

Read only: every line is an `out` frame. Several files are read as one run, the main file first. Older versions
wrote one JSON object (`session-….json`); it may be one frame or one for each of its lines. NOTES.md says what
maps to what.
"""

from typing import Any


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    if isinstance(value.get("$set"), dict) or isinstance(value.get("$rewindTo"), str):
        return True
    if isinstance(value.get("projectHash"), str):
        return "sessionId" in value
    return value.get("type") in ("user", "gemini") and {"id", "timestamp", "content"} <= value.keys()
