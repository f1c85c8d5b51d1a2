"""A pure JSON-RPC peer: lines in, what they mean out; calls in, lines out.

Both sides number their own requests, so ids of the two directions may collide (codex app-server starts at 0):
a line with a `method` and an `id` is the other side's request, one with an `id` alone is an answer to ours.
"""

from typing import Any

import msgspec
from msgspec import Struct

from dragoman._wire.jsontext import Invalid, parse, repaired

Id = str | int

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
"""ACP's: a session or a file is not there."""


class Request(Struct, frozen=True):
    """The other side wants an answer."""

    id: Id
    method: str
    params: Any = None


class Notification(Struct, frozen=True):
    method: str
    params: Any = None


class RpcError(Struct, frozen=True, omit_defaults=True):
    code: int = INTERNAL_ERROR
    message: str = ""
    data: Any = None


class Call(Struct):
    """A request of ours that has no answer yet."""

    method: str
    params: Any = None
    context: Any = None
    """What the dialect wants to know when the answer comes."""


class Response(Struct, frozen=True):
    """The answer to a request of ours; `method` is absent if we never asked."""

    id: Id | None
    method: str | None = None
    params: Any = None
    """What we asked with."""
    context: Any = None
    result: Any = None
    error: RpcError | None = None


Incoming = Request | Notification | Response | Invalid


class Peer:
    """One end of a connection. `version` is the value of the `jsonrpc` key, or None where it is not sent."""

    def __init__(self, version: str | None = "2.0") -> None:
        self._head: dict[str, Any] = {"jsonrpc": version} if version else {}
        self._next = 0
        self.in_flight: dict[Id, Call] = {}
        """Requests of ours that were sent and have no answer yet."""

    # --- out ---------------------------------------------------------------------------------------------

    def request(self, method: str, params: Any = None, id: Id | None = None) -> bytes:
        """A request of ours, numbered by a counter unless an id is given."""
        if id is None:
            id = self._next
            self._next += 1
        return self._line(id=id, method=method, params=params)

    def notify(self, method: str, params: Any = None) -> bytes:
        return self._line(method=method, params=params)

    def answer(self, id: Id, result: Any) -> bytes:
        return _encode({**self._head, "id": id, "result": result})

    def refuse(self, id: Id | None, message: str, code: int = METHOD_NOT_FOUND, data: Any = None) -> bytes:
        error = {"code": code, "message": message} | ({"data": data} if data is not None else {})
        return _encode({**self._head, "id": id, "error": error})

    def _line(self, **parts: Any) -> bytes:
        return _encode({**self._head, **{key: part for key, part in parts.items() if part is not None}})

    # --- in ----------------------------------------------------------------------------------------------

    def receive(self, line: bytes) -> list[Incoming]:
        """What the other side's line says; several things, if it is a batch."""
        value = parse(line)
        if isinstance(value, Invalid):
            return [value]
        items = value if isinstance(value, list) and value else [value]
        return [self._one(repaired(item)) for item in items]

    def on_sent(self, line: bytes) -> list[Incoming]:
        """What a line of our own says; its requests are in flight from now on."""
        found = [classify(repaired(item)) for item in _items(parse(line))]
        for item in found:
            if isinstance(item, Request):
                self.in_flight[item.id] = Call(item.method, item.params)
        return found

    def _one(self, value: Any) -> Incoming:
        found = classify(value)
        if isinstance(found, Response) and found.id is not None:
            call = self.in_flight.pop(found.id, None)
            if call is not None:
                return Response(found.id, call.method, call.params, call.context, found.result, found.error)
        return found


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if isinstance(value, Invalid) else [value]


def classify(value: Any) -> Incoming:
    """What kind of message an object is."""
    if not isinstance(value, dict):
        return Invalid(f"not a JSON-RPC object: {type(value).__name__}")
    id, method = value.get("id"), value.get("method")
    known_id = id if isinstance(id, str) or (isinstance(id, int) and not isinstance(id, bool)) else None
    if isinstance(method, str):
        params = value.get("params")
        return Notification(method, params) if known_id is None else Request(known_id, method, params)
    if "result" in value or "error" in value:
        return Response(known_id, result=value.get("result"), error=_error(value.get("error")))
    return Invalid("neither a method nor a result nor an error")


def _error(value: Any) -> RpcError | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        return RpcError(message=str(value))
    code = value.get("code")
    return RpcError(
        code=code if isinstance(code, int) else INTERNAL_ERROR,
        message=str(value.get("message", "")),
        data=value.get("data"),
    )


_encoder = msgspec.json.Encoder()


def _encode(value: Any) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(repaired(msgspec.to_builtins(value)))
