"""Claude Code's stream-json, both ways: what `claude -p --output-format stream-json` writes and reads.

Written for CLI 2.1.197 and 2.1.325; the flat shapes of older tools (`init`, `message`, `tool_use`,
`tool_result`, `error` at top level) are read too. NOTES.md says what maps to what.
"""

from typing import Any

from dragoman._dialects.claude.stream.messages import TYPES


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    kind = value.get("type")
    if kind in ("user", "assistant"):
        return "message" in value and "sessionId" not in value
    if kind in ("message", "error"):
        return "role" in value or "error" in value
    return isinstance(kind, str) and (kind == "system" or kind in TYPES) and "timestamp" not in value
