"""The messages of Codex app-server by name, both ways, for `dragoman drift`."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from dragoman._dialects.codex.app import messages as m
from dragoman._model.frames import Direction
from dragoman._wire.jsonrpc import Line
from dragoman._wire.shapes import Calls, Free, Part, rpc_parts

FREE: Final[Free] = {
    "arguments": "data",
    "structuredContent": "data",
    "outputSchema": "data",
    "inputSchema": "data",
    "requestedSchema": "data",
    "dynamicTools": "data",
    "config": "data",
    "edits": "data",
    "sandbox": "data",
    "sandboxPolicy": "data",
    "origins": "map",
    "_meta": "data",
    "error.data": "data",
    "rateLimitsByLimitId": "map",
    "agentsStates": "map",
    "answers": "map",
    "mcp_servers": "map",
    "tools": "map",
}


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterable[Part]:
    """Notifications, requests of both sides, and answers by what was asked."""
    return rpc_parts(line, direction, calls, partial(_message, direction), Line)


def _message(direction: Direction, method: str, params: Any) -> Part | None:
    """Nothing is read of what the first version of the protocol says beside the second, but for token counts."""
    if method.startswith(m.OLDER):
        return None
    wanted = m.NOTIFICATIONS.get(method)
    unknown = direction == "out" and wanted is None and method not in m.REQUESTS
    return Part(method, params, wanted, unknown=unknown)
