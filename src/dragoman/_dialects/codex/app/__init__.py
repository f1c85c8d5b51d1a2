"""Codex app-server, both ways: JSON-RPC over stdio, one object a line, without the `jsonrpc` key.

Written for CLI 0.166.0 (v2 of the protocol); NOTES.md says what maps to what.
"""

from typing import Any

from dragoman._dialects.codex.app.messages import NOTIFICATIONS, REQUESTS

_OURS = ("thread/", "turn/")


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    method = value.get("method")
    if isinstance(method, str):
        return method in NOTIFICATIONS or method in REQUESTS or method.startswith(_OURS)
    result = value.get("result")
    return isinstance(result, dict) and "jsonrpc" not in value and {"userAgent", "codexHome"} <= result.keys()
