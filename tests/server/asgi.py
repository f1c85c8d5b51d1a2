"""An ASGI application, asked without a socket."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

HOST = "127.0.0.1:8765"


class Answered(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


async def ask(
    app: Any,
    method: str,
    path: str,
    headers: Mapping[str, str | None] | None = None,
    body: bytes = b"",
    *,
    kind: str = "http",
) -> Answered:
    """What comes of one request. A header that is None is not sent; by default it is our own page that asks."""
    sent: dict[str, str | None] = {
        "host": HOST,
        "origin": f"http://{HOST}",
        "content-type": "application/json",
    }
    sent |= headers or {}
    target, _, query = path.partition("?")
    scope = {
        "type": kind,
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http" if kind == "http" else "ws",
        "path": target,
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode(), value.encode()) for name, value in sent.items() if value is not None
        ],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8765),
        "state": {},
    }
    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {
            "type": "http.request" if kind == "http" else "websocket.connect",
            "body": body,
            "more_body": False,
        }

    async def send(message: Any) -> None:
        said.append(message)

    await app(scope, receive, send)
    if kind != "http":
        return Answered(said[0].get("code", 0), {}, said[0]["type"].encode())
    head = {name.decode(): value.decode() for name, value in said[0]["headers"]}
    return Answered(said[0]["status"], head, b"".join(message.get("body", b"") for message in said[1:]))
