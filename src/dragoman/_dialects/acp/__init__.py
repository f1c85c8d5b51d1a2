"""The Agent Client Protocol, both versions, both ways: JSON-RPC on stdin and stdout, spoken by many agents.

One initialize carries the shapes of protocol 1 and 2, the answer settles which is spoken. Older shapes (a nested
`toolCall`, `text` plan entries, locations as strings, commands with an `id`) are read too. NOTES.md says what
maps to what.
"""

from typing import Any, Final

METHODS: Final = frozenset(
    (
        "initialize",
        "authenticate",
        "logout",
        "elicitation/create",
        "elicitation/complete",
        "fs/read_text_file",
        "fs/write_text_file",
    )
)
PREFIXES: Final = ("session/", "terminal/", "auth/", "tool_call/", "$/cancel_request")


def looks_like(value: dict[str, Any]) -> bool:
    """Whether a parsed line can be one of this dialect."""
    if value.get("jsonrpc") != "2.0":
        return False
    method = value.get("method")
    if isinstance(method, str):
        return method in METHODS or method.startswith(PREFIXES)
    return "result" in value or "error" in value
