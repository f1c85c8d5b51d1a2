"""The page and its API, for programs that serve them themselves or call them: `pip install 'dragoman[web]'`."""

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any

from dragoman._server.client import Client, ServerError

__all__ = ["Application", "Client", "ServerError"]


class Application:
    """The page and its API as an ASGI application, to be run by a server that speaks `lifespan` (uvicorn does) and cuts off, when
    it ends, who does not hang up. `library` is the library's address; the user's own, if absent. `names` are further names by
    which browsers may call the server, as they send them: `host:port`, or `host` where the port is the usual one. With
    `read_only` nobody can change anything through it."""

    def __init__(
        self,
        library: str | PathLike[str] | None = None,
        *,
        names: Iterable[str] = (),
        read_only: bool = False,
    ) -> None:
        from dragoman._server.app import App
        from dragoman._server.hub import Hub
        from dragoman._server.tokens import Tokens

        self._tokens = Tokens(read_only=read_only)
        hub = Hub(fspath(library) if library is not None else None)
        self._asgi = App(hub, self._tokens, tuple(names)).asgi

    def link(self, url: str, *, read_only: bool = False) -> str:
        """The page's address, where it is served at `url`, with what lets one browser in, once."""
        return f"{url.rstrip('/')}/#t={self._tokens.link(read_only=read_only)}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._asgi(scope, receive, send)
