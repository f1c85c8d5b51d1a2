"""The messages of ACP by name, both ways, for `dragoman drift`."""

from collections.abc import Iterable
from typing import Any, Final

from dragoman._dialects.acp import messages as m
from dragoman._model.frames import Direction
from dragoman._wire.shapes import Calls, Free, Part, rpc_parts

FREE: Final[Free] = {
    "_meta": "data",
    "rawInput": "data",
    "rawOutput": "data",
    "requestedSchema": "data",
    "error.data": "data",
    "env": "data",
    "headers": "data",
    "mcpServers": "data",
}
"""`_meta` is what agents say to clients of their own."""


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterable[Part]:
    """Updates by their kind, requests of both sides, and answers by what was asked."""
    return rpc_parts(line, direction, calls, _message)


def _message(method: str, params: Any) -> Part:
    if method == m.UPDATE:
        return Part(m.kind_of(params), params, m.UpdateParams)
    return Part(method, params)
