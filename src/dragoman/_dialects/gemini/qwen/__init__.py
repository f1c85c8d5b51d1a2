"""Qwen Code's session files: `projects/<folder>/chats/<session>.jsonl`, and its subagents' in `subagents/<session>/`.

Qwen Code comes from Gemini CLI; its content is Google's, its files are its own. Read only: every line is an `out` frame.
Several files are read as one run, the main file first. NOTES.md says what maps to what.
"""

from typing import Any

from dragoman._dialects.gemini.qwen.messages import TYPES


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect. Claude Code's lines are alike: their content has no parts."""
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in TYPES or not {"uuid", "sessionId"} <= value.keys():
        return False
    message = value.get("message")
    return (isinstance(message, dict) and "parts" in message) or "systemPayload" in value
