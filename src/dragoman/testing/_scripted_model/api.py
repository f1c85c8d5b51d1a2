"""What every vendor's API has to offer so that the server can play a script through it. One module per API."""

import json
from typing import Any, NamedTuple, Protocol

from .request import Request
from .script import Error, Turn


class Reply(NamedTuple):
    """A turn with its place in the run: ids are counters, so that two runs of one script are equal."""

    turn: Turn
    model: str
    message: str
    calls: tuple[str, ...]
    """One per tool call of the turn."""


class Api(Protocol):
    @property
    def NAME(self) -> str: ...

    def answers(self, path: str) -> bool:
        """Does this path ask for an answer of the model?"""

    def read(self, path: str, body: dict[str, Any]) -> Request: ...

    def stream(self, reply: Reply) -> list[bytes]: ...

    def whole(self, reply: Reply) -> dict[str, Any]: ...

    def failure(self, error: Error) -> dict[str, Any]:
        """The body of an HTTP error."""

    def stream_failure(self, error: Error) -> bytes:
        """The event that says, inside a stream, that it failed."""

    def aside(self, path: str, body: bytes) -> dict[str, Any] | None:
        """The answer at this API's other paths, if it is one of them."""


def sse(data: dict[str, Any], event: str = "") -> bytes:
    """One server-sent event. ASCII JSON, so that a lone surrogate passes."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
