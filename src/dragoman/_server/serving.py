"""The server on its port, for as long as it is wanted."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import uvicorn

from dragoman._model.errors import UsageError
from dragoman._server.app import App
from dragoman._server.hub import Hub
from dragoman._server.tokens import Tokens

PORT: Final = 8765
HERE: Final = "127.0.0.1"
PATIENCE: Final = 3
"""Seconds that connections may take to end when the server stops."""


class _Uvicorn(uvicorn.Server):
    """Signals are for whoever runs the server."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Serving:
    """A server that is bound to its port, and not at work yet. `port` 0 takes any that is free. Raises UsageError if it cannot be
    had."""

    def __init__(
        self,
        hub: Hub,
        *,
        host: str = HERE,
        port: int | None = None,
        names: Sequence[str] = (),
        read_only: bool = False,
    ) -> None:
        self.hub = hub
        self.tokens = Tokens(read_only=read_only)
        self._sockets = _bound(host, port)
        self.port: int = self._sockets[0].getsockname()[1]
        called = f"[{host}]" if ":" in host else host
        self.url = f"http://{called}:{self.port}"
        app = App(hub, self.tokens, (f"{called}:{self.port}", *names))
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                app.asgi,
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=PATIENCE,
                lifespan="on",
            )
        )

    def link(self, *, read_only: bool = False, place: str = "") -> str:
        """An address that opens the page, once; at a place of it, such as `/session/ID`."""
        return f"{self.url}/#t={self.tokens.link(read_only=read_only)}{place}"

    async def run(self) -> None:
        """Answer until `stop`."""
        await self._uvicorn.serve(self._sockets)

    async def stop(self) -> None:
        """End what is driven here, then the server."""
        await self.hub.stop()
        self._uvicorn.should_exit = True


def _bound(host: str, port: int | None) -> list[socket.socket]:
    """Sockets at a port, of both kinds of addresses where it is this machine only. Without a port it is the usual one, or any if
    that is taken."""
    try:
        first = _socket(host, PORT if port is None else port)
    except OSError as error:
        if port is not None:
            raise UsageError(
                f"port {port} of {host} cannot be had: {error.strerror or error}; choose another one with --port"
            ) from error
        try:
            first = _socket(host, 0)
        except OSError as worse:
            raise UsageError(
                f"{host} is no address of this machine: {worse.strerror or worse}; choose another --host"
            ) from worse
    sockets = [first]
    if host == HERE:
        with suppress(OSError):  # where there is no IPv6: the address that is told is the other one
            sockets.append(_socket("::1", first.getsockname()[1]))
    return sockets


def _socket(host: str, port: int) -> socket.socket:
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio has small messages sent at once only where a socket says that it is TCP: else each may wait 40 ms
    made = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if kind == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError:
        made.close()
        raise
    return made
