"""The server as an ASGI application: the calls of the table, the feed, a session as a file, and the page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from dragoman._library.library import Library
from dragoman._library.sessions import SHORT
from dragoman._model.errors import DragomanError, SessionNotFound
from dragoman._runtime.log import log
from dragoman._server import given, openapi, stored
from dragoman._server.calls import CALLS, NOBODY, Call, Desk
from dragoman._server.feed import Feed, cursor_of
from dragoman._server.guard import LARGEST, Guard, Refused, failure
from dragoman._server.hub import Hub
from dragoman._server.live import LiveRun
from dragoman._server.tokens import Tokens

TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "md": "text/markdown; charset=utf-8",
    "jsonl": "application/x-ndjson",
}
"""Kinds of files, by how their names end."""
PAGE: Final = files(__package__) / "page"


class App:
    """The application for a hub. `names` are further names by which it may be called."""

    def __init__(self, hub: Hub, tokens: Tokens, names: tuple[str, ...] = ()) -> None:
        self._hub = hub
        self._tokens = tokens
        routes = [Route(call.path, self._answering(call), methods=[call.method]) for call in CALLS]
        routes += [
            Route("/api/stream", self._stream),
            Route("/api/sessions/{id}/export", self._export),
            Route("/api/openapi.json", self._description),
            Route("/", partial(self._file, "index.html")),
            Route("/page/{name}", self._page),
        ]
        told = {HTTPException: _told_http, Refused: _told_refusal, Exception: _told_failure}
        inner = Starlette(routes=routes, exception_handlers=told, lifespan=self._life)
        self.asgi: ASGIApp = Guard(inner, tokens, names)

    @asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._hub.serve)
                yield
                await self._hub.stop()
                tasks.cancel_scope.cancel()
        finally:
            self._hub.close()

    # --- calls --------------------------------------------------------------------------------------------

    def _answering(self, call: Call) -> Callable[[Request], Awaitable[Response]]:
        async def answering(request: Request) -> Response:
            with _failures():
                answer = await call.does(self._desk(request), await _given(request, call.takes))
            return Response(msgspec.json.encode(answer), media_type="application/json")

        return answering

    def _desk(self, request: Request) -> Desk:
        return Desk(
            hub=self._hub,
            tokens=self._tokens,
            url=f"{request.url.scheme}://{request.headers.get('host', '')}",
            tab=getattr(request.state, "tab", None) or NOBODY,
            user_agent=request.headers.get("user-agent", ""),
        )

    # --- what is no JSON ----------------------------------------------------------------------------------

    async def _stream(self, request: Request) -> Response:
        feed = Feed(self._hub, cursor_of(request.headers.get("last-event-id", "")))
        headers = {"X-Accel-Buffering": "no"}
        return StreamingResponse(feed.messages(), media_type="text/event-stream", headers=headers)

    async def _export(self, request: Request) -> Response:
        wanted = await _given(request, given.Export)
        with _failures():
            run = self._hub.find(wanted.id)
            ask = partial(_exported, wanted=wanted, run=run)
            id, body = await self._hub.ask(ask)
        name = f"{id[:SHORT]}.{wanted.format}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(body, media_type=TYPES[wanted.format], headers=headers)

    async def _description(self, request: Request) -> Response:
        return Response(await to_thread.run_sync(openapi.written), media_type="application/json")

    async def _page(self, request: Request) -> Response:
        return await self._file(request.path_params["name"], request)

    async def _file(self, name: str, request: Request) -> Response:
        """A file of the page: one of those that are there, by its name."""
        found = {each.name: each for each in PAGE.iterdir()}.get(name)
        if found is None:
            raise HTTPException(404)
        return Response(found.read_bytes(), media_type=TYPES[name.rpartition(".")[2]])


def _exported(library: Library, wanted: given.Export, run: LiveRun | None) -> tuple[str, bytes]:
    """The session that is meant, and the file; of one that runs as far as it has come. Raises SessionNotFound."""
    if run is not None and not run.is_over and run.recording is not None:
        library.take(Path(run.recording))
    session = library.session(run.session if run is not None else wanted.id)
    return session.id, b"".join(stored.export(library, session.id, wanted.format))


# --- what was asked ------------------------------------------------------------------------------------------


async def _given(request: Request, kind: type[Struct]) -> Any:
    """What a call was given. Raises Refused for what it does not take."""
    raw: dict[str, Any] = {}
    if request.method == "POST":
        raw = await _body(request)
    else:
        raw.update(request.query_params)
    raw.update(request.path_params)
    try:
        return msgspec.convert(raw, kind, strict=request.method == "POST")
    except msgspec.ValidationError as error:
        why = f"{error}; /api/openapi.json says what this call takes"
        raise Refused(400, "wrongInput", why) from error


async def _body(request: Request) -> dict[str, Any]:
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST:
            raise Refused(413, "tooLarge", f"that is too large; {LARGEST >> 20} MB are taken")
    try:
        found = msgspec.json.decode(bytes(content) or b"{}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, "notJson", f"that is no JSON ({error}); send an object") from error
    if not isinstance(found, dict):
        raise Refused(400, "notJson", "that is no JSON object; send one")
    return found


# --- why there is no answer ----------------------------------------------------------------------------------


@contextmanager
def _failures() -> Iterator[None]:
    """What a call raises as its answer."""
    try:
        yield
    except SessionNotFound as error:
        raise Refused(404, error.kind, error.message) from error
    except DragomanError as error:
        raise Refused(409, error.kind, error.message) from error


async def _told_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    why = "nothing is called so here" if status == 404 else "that cannot be done with it"
    return failure(Refused(status, "notFound", f"{why}; /api/openapi.json lists all calls"))


async def _told_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return failure(error)


async def _told_failure(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return failure(
        Refused(500, "failed", f"this failed with {type(error).__name__}; the server's log says more")
    )
