"""What `codex exec --json` writes: threads, turns and items. Nothing is said back to it.

Written for CLI 0.166.0. Read too: the aliases and flows of specification 004 §4 (`tool_call`, `shell`,
`file_edit`, `input_request`, texts that grow by item.updated, `approval.required`), and the event messages that
older versions wrote (`codex/event/*`, `{"id", "msg"}`, `event_msg`). NOTES.md says what maps to what.
"""

from typing import Any

from dragoman._dialects.codex.exec.messages import TYPES


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    kind = value.get("type")
    if kind in ("session_meta", "event_msg"):  # with a timestamp they are lines of a session file
        return "payload" in value and "timestamp" not in value
    if kind == "error":  # Claude's has an `error`, Gemini's a `severity`
        return isinstance(value.get("message"), str) and value.keys() == {"type", "message"}
    if isinstance(kind, str):
        return kind in TYPES
    method, message = value.get("method"), value.get("msg")
    if isinstance(method, str):
        return method.startswith("codex/event/")
    return isinstance(message, dict) and "type" in message
