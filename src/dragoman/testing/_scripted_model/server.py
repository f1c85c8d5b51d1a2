"""The loopback HTTP server that plays scripts."""

import json
import socket
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Any, Self

import msgspec

from . import anthropic, gemini, openai_chat, openai_responses
from .api import Api, Reply
from .scenario import Scenario
from .script import Cut, Error, Script, Step

APIS: tuple[Api, ...] = (anthropic, openai_responses, openai_chat, gemini)
SECRET_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key"})
NOWHERE = Error(404, "no such path at the scripted model")


class ScriptedModel(Scenario):
    """A model that says what is written, on a port of 127.0.0.1 of its own. Use it with `with`.

    It is the scenario at the root of its server; `add` puts others beside it.
    """

    def __init__(self, turns: Script | Iterable[Step] = (), *, port: int = 0) -> None:
        self._listener = Listener(port)
        super().__init__(turns, self._listener.url)
        self._listener.scenarios[""] = self

    def add(self, name: str, turns: Script | Iterable[Step]) -> Scenario:
        """Another scenario on the same server, at `/s/<name>`."""
        scenario = Scenario(turns, f"{self._listener.url}/s/{name}")
        self._listener.scenarios[name] = scenario
        return scenario

    @property
    def strays(self) -> list[str]:
        """What came that is no request to a model, as "METHOD target": a check of a connection, traffic to other hosts."""
        return list(self._listener.strays)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        # A script that failed (a turn made by a function) was a mere HTTP 500 to the agent: the test shall see it.
        if error is None and self._listener.failures:
            raise self._listener.failures[0]

    def close(self) -> None:
        """End the server and all its connections; `with` does it."""
        for scenario in self._listener.scenarios.values():
            Scenario.close(scenario)
        self._listener.close()


class Listener(HTTPServer):
    """One thread per connection, all ended and joined by `close`."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.scenarios: dict[str, Scenario] = {}
        self.strays: list[str] = []
        self.failures: list[BaseException] = []
        self.closing = threading.Event()
        self._connections: dict[threading.Thread, socket.socket] = {}
        self._accepting = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._accepting.start()

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self._serve, args=(request, client_address), daemon=True)
        self._connections[thread] = request
        thread.start()

    def _serve(self, request: socket.socket, client_address: Any) -> None:
        try:
            with suppress(OSError):  # The agent hung up, as it may.
                self.finish_request(request, client_address)
        finally:
            self.shutdown_request(request)
            self._connections.pop(threading.current_thread(), None)

    def close(self) -> None:
        if self.closing.is_set():
            return
        self.closing.set()
        self.shutdown()
        self._accepting.join()
        for thread, connection in list(self._connections.items()):
            hang_up(connection)
            thread.join()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr: the log is `requests` and `strays`."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        scenario, path = self._target()
        if scenario is None:
            return self._stray()
        for api in APIS:
            if api.answers(path):
                return self._play(scenario, api, path, raw)
            if (answer := api.aside(path, raw)) is not None:
                return self._send(200, answer)
        return self._stray()

    def do_GET(self) -> None:
        self._stray()

    def do_HEAD(self) -> None:
        self._stray(200)

    def do_CONNECT(self) -> None:
        self.close_connection = True
        self._stray(502)

    def _target(self) -> tuple[Scenario | None, str]:
        path = self.path.partition("?")[0]
        name = ""
        if path.startswith("/s/"):
            name, _, path = path.removeprefix("/s/").partition("/")
            path = f"/{path}"
        return self.server.scenarios.get(name), path

    def _stray(self, status: int = 404) -> None:
        self.server.strays.append(f"{self.command} {self.path}")
        self._send(status, anthropic.failure(NOWHERE))

    def _play(self, scenario: Scenario, api: Api, path: str, raw: bytes) -> None:
        try:
            request = api.read(path, json.loads(raw))
        except (ValueError, TypeError, AttributeError) as error:
            return self._send(400, api.failure(Error(400, f"unreadable request: {error}")))
        headers = {k.lower(): v for k, v in self.headers.items() if k.lower() not in SECRET_HEADERS}
        try:
            reply = scenario._answer(msgspec.structs.replace(request, headers=headers))
        except Exception as error:
            self.server.failures.append(error)
            return self._send(500, api.failure(Error(500, f"the script failed: {error!r}")))
        self.server.closing.wait(reply.turn.delay)
        if reply.turn.cut == Cut(0):
            return self._drop()
        if request.stream and not reply.turn.error:
            return self._stream(scenario, api, reply)
        return self._whole(scenario, api, reply)

    def _whole(self, scenario: Scenario, api: Api, reply: Reply) -> None:
        turn, headers = reply.turn, _headers(reply)
        if turn.hold:
            scenario._hold(turn.hold.gate)
        if turn.error:
            self._send(turn.error.status, api.failure(turn.error), headers)
        else:
            self._send(200, api.whole(reply), headers, cut=turn.cut is not None)

    def _stream(self, scenario: Scenario, api: Api, reply: Reply) -> None:
        turn = reply.turn
        events = api.stream(reply)
        if turn.cut:
            events = events[: turn.cut.after]
            if turn.cut.error:
                events.append(api.stream_failure(turn.cut.error))
        streamed = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        self._head(200, streamed | _headers(reply))
        for count, event in enumerate([*events, b""]):
            if turn.hold and count == min(turn.hold.after, len(events)):
                scenario._hold(turn.hold.gate)
            if not event and turn.cut:
                self._drop()
                return
            # The empty chunk, after the last event, ends the body.
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.server.closing.wait(turn.chunk_delay)

    def _send(
        self, status: int, body: dict[str, Any], headers: Mapping[str, str] | None = None, cut: bool = False
    ) -> None:
        data = json.dumps(body).encode()
        self._head(
            status, {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
        )
        if self.command == "HEAD":
            return
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self._drop()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def _drop(self) -> None:
        self.close_connection = True
        hang_up(self.connection)


def _headers(reply: Reply) -> dict[str, str]:
    """With the request's id, which Claude Code writes beside each answer."""
    return {"request-id": f"req_{reply.message}", **reply.turn.headers}


def hang_up(connection: socket.socket) -> None:
    with suppress(OSError):  # The other side was quicker.
        connection.shutdown(socket.SHUT_RDWR)
