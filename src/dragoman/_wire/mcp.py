"""A pure MCP server that has tools and nothing else: requests in, results and calls out.

Who runs it makes the calls. Both roads to an agent work on it: messages within Claude Code's control protocol, and
lines from a program that the agent starts.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._model.content import Block
from dragoman._version import __version__
from dragoman._wire import fields, jsonrpc
from dragoman._wire.content import native_of
from dragoman._wire.jsonrpc import Notification, Request, RpcError
from dragoman._wire.jsontext import parse, repaired

PROTOCOL: Final = "2025-06-18"
"""Spoken with a client that names no version; any other is answered with its own."""

_READS_TEXT_AS_JSON: Final = "gemini"
"""How the clients' name begins that take a text for JSON, if it can be read so, and fail if it is then no object
(0.61.0): they are given an object beside it."""

Result = dict[str, Any]


class Call(Struct, frozen=True):
    """A tool is to be called."""

    name: str
    arguments: Any = None


class Server:
    """One connection of a client. `tools` are as tools/list tells them, with name, description and inputSchema;
    `about` is what the model is told of them all."""

    def __init__(self, tools: Sequence[Result], about: str | None = None) -> None:
        self._tools = list(tools)
        self._about = {"instructions": about} if about is not None else {}
        self._names = frozenset(tool["name"] for tool in tools)
        self._client = ""

    def take(self, request: Request) -> Result | Call | RpcError:
        """The result of a request, or why there is none; or the call that has to be made for it."""
        if request.method == "initialize":
            return self._initialize(request.params)
        if request.method == "ping":
            return {}
        if request.method == "tools/list":
            return {"tools": self._tools}
        if request.method != "tools/call":
            return RpcError(jsonrpc.METHOD_NOT_FOUND, f"no such method: {request.method[:100]}")
        name = fields.text(request.params, "name") or ""
        if name not in self._names:
            return RpcError(jsonrpc.INVALID_PARAMS, f"no such tool: {name[:100]}")
        return Call(name, fields.value(request.params, "arguments"))

    def _initialize(self, params: Any) -> Result:
        self._client = fields.text(fields.mapping(params, "clientInfo"), "name") or ""
        return {
            "protocolVersion": fields.text(params, "protocolVersion") or PROTOCOL,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "dragoman", "version": __version__},
            **self._about,
        }

    def result_of(self, value: Any) -> Result:
        """What a tool returned, as the result of its call: text as it is, nothing as empty text, content blocks as such,
        all else as JSON. Raises TypeError for what has no such form."""
        content = _content(value)
        first = content[0] if content else {}
        if self._client.startswith(_READS_TEXT_AS_JSON) and _is_bare_json(first.get("text")):
            return {"content": content, "structuredContent": {"result": parse(first["text"].encode())}}
        return {"content": content}


def failure(message: str) -> Result:
    """The result of a call that failed, for the model to read."""
    return {"content": [{"type": "text", "text": repaired(message)}], "isError": True}


def cancelled(notification: Notification) -> jsonrpc.Id | None:
    """The id of the request that is no longer wanted, if that is what a notification says."""
    if notification.method != "notifications/cancelled":
        return None
    id = fields.value(notification.params, "requestId")
    return id if isinstance(id, str) or type(id) is int else None


def _content(value: Any) -> list[Result]:
    blocks = value if isinstance(value, list | tuple) and value else [value]
    if all(isinstance(block, Block) for block in blocks):
        return [_native(block) for block in blocks]
    return [{"type": "text", "text": _text(value)}]


def _native(block: Any) -> Result:
    native = native_of(block)
    if native is None:
        raise TypeError(f"a tool's result can have no content block of type {block.__struct_config__.tag}")
    return native


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return str(repaired(text))


def _is_bare_json(text: Any) -> bool:
    """Whether it would be read as a value that is no object."""
    if not isinstance(text, str) or not text.strip():
        return False
    value = parse(text.encode(errors="replace"))
    return not isinstance(value, dict | Struct)
