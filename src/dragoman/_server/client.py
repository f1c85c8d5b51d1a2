"""A client of the server's API, for programs: the calls by their paths, and the feed."""

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from dragoman._model.errors import DragomanError, UsageError

TIMEOUT: Final = 60.0
"""Seconds for an answer; the feed says something every 15."""


class ServerError(DragomanError):
    """The server did not do what it was asked. `status` is that of HTTP, `cause` says why in one word."""

    def __init__(self, message: str, status: int, kind: str) -> None:
        super().__init__(message)
        self.status: int = status
        self.cause: str = kind


class Client:
    """`link` is one that `dragoman web` printed: it is used up by this. Raises ServerError if it was used before."""

    def __init__(self, link: str) -> None:
        place = urlsplit(link)
        if place.scheme != "http" or not place.hostname or not place.fragment.startswith("t="):
            raise UsageError(f"{link!r:.80} is no link of `dragoman web`; pass one as it was printed")
        self._host, self._port = place.hostname, place.port or 80
        self._credential = place.fragment.removeprefix("t=")
        self._credential = self.post("enter", link=self._credential)["token"]

    def get(self, path: str, **query: Any) -> Any:
        """What a GET call gives: `get("sessions", text="login")`, `get(f"sessions/{id}/deeds")`."""
        asked = {name: value for name, value in query.items() if value is not None}
        return self._asked("GET", f"{path}?{urlencode(asked)}" if asked else path)

    def post(self, path: str, **given: Any) -> Any:
        """What a POST call gives: `post(f"sessions/{id}/prompt", text="Go on.")`."""
        return self._asked("POST", path, json.dumps(given).encode())

    def feed(self, places: Mapping[str, int] | None = None) -> Iterator[tuple[str, Any]]:
        """What is said from now on, by name: `board`, `events`, `asks`, `ended`, `unknown`, and `stopped` when the server ends. `places` names live runs to be
        watched, each with the number of the last event that is known. It goes on where it was if the connection is cut."""
        cursor = ",".join(f"{run}:{at}" for run, at in (places or {}).items())
        while True:
            connection = self._connected()
            try:
                connection.request("GET", "/api/stream", headers=self._headers({"Last-Event-ID": cursor}))
                answer = connection.getresponse()
                if answer.status != 200:
                    raise _failed(answer.status, answer.read())
                for name, data, id in _messages(answer):
                    cursor = id or cursor
                    yield name, data
                    if name == "stopped":
                        return
            except (HTTPException, TimeoutError, ConnectionResetError):
                continue
            finally:
                connection.close()

    def _asked(self, method: str, path: str, body: bytes | None = None) -> Any:
        connection = self._connected()
        try:
            headers = self._headers({"Content-Type": "application/json"})
            connection.request(method, f"/api/{quote(path, safe='/?&=%+')}", body, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise _failed(answer.status, content)
        return json.loads(content) if answer.headers.get_content_type() == "application/json" else content

    def _connected(self) -> HTTPConnection:
        return HTTPConnection(self._host, self._port, timeout=TIMEOUT)

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._credential}", **more}


def _messages(lines: Any) -> Iterator[tuple[str, Any, str | None]]:
    """The messages of a stream: name, data and id."""
    message: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            message[name] = value
        elif "data" in message:
            yield message["event"], json.loads(message["data"]), message.get("id")
            message = {}


def _failed(status: int, content: bytes) -> ServerError:
    try:
        error = json.loads(content)["error"]
        return ServerError(error["message"], status, error["kind"])
    except (ValueError, KeyError, TypeError):
        return ServerError(f"the server answered {status}; is it Dragoman's?", status, "unknown")
