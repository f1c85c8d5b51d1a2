"""The door: nothing gets to a call that is not meant for this server, does not come from its own page, or has no token.

Any page that the user visits can reach a port of 127.0.0.1, and whoever approves commands here has a shell. So the name
that was asked for must be ours (else a name that leads here would make a foreign page ours), what changes anything must
come from our own page or from a program, and the token is a header, which no other page can send: cookies ignore ports.
"""

from collections.abc import Iterable
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman._server.answers import Failed, Failure
from dragoman._server.tokens import Tab, Tokens

LARGEST: Final = 8 << 20
"""Bytes of what may be sent here."""

OWN_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
READS: Final = ("GET", "HEAD")
"""Methods that change nothing."""
ENTRANCE: Final = "/api/enter"
"""The one call without a token: it gives one for a link."""
PASSING_ON: Final = "/api/links"
"""Who only watches may have others watch."""

_CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
    " frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS: Final = (
    (b"content-security-policy", _CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)

LOST: Final = "this link or its token is used up or unknown; `dragoman web` prints a new link when Enter is pressed there"


class Refused(Exception):
    """A request that gets no answer but why not."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind, self.message = status, kind, message


class Guard:
    """`names` are further names by which the server may be called (`host` or `host:port`)."""

    def __init__(self, app: ASGIApp, tokens: Tokens, names: Iterable[str] = ()) -> None:
        self._app = app
        self._tokens = tokens
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008, "reason": "there are no WebSockets here"})
            return
        request = Request(scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            scope.setdefault("state", {})["tab"] = self._admitted(request)
        except Refused as refused:
            await failure(refused)(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)

    def _admitted(self, request: Request) -> Tab | None:
        """Whoever asks; None where nobody need be known. Raises Refused."""
        host = self._own_name(request)
        path = request.url.path
        if not path.startswith("/api/"):
            return None
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "foreign", "another site asks for this; open the page of Dragoman itself")
        credential = _bearer(request)
        if request.method not in READS:
            self._check_sender(request, host, credential)
        if path == ENTRANCE:
            return None
        tab = self._tokens.tab(credential) if credential is not None else None
        if tab is None:
            raise Refused(401, "token", LOST)
        if tab.read_only and request.method not in READS and path != PASSING_ON:
            raise Refused(403, "readOnly", "this link only lets you watch; open a link that is not read-only")
        return tab

    def _own_name(self, request: Request) -> str:
        """The name by which the server is called. Raises Refused for one that is not ours."""
        given = request.headers.getlist("host")
        host = given[0].lower() if len(given) == 1 else ""
        name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        own_port = str((request.scope.get("server") or ("", ""))[1])
        own = (name if colon else host) in OWN_NAMES and (port or "80") == own_port
        if not own and host not in self._names:
            raise Refused(
                421, "host", f"this server is not called {host[:80]!r}; use the address that it printed"
            )
        return host

    def _check_sender(self, request: Request, host: str, credential: str | None) -> None:
        """Raises Refused for what does not come from our own page or from a program."""
        origin = request.headers.get("origin")
        if origin is None and credential is None:
            raise Refused(403, "foreign", "it is not said where this comes from; send a token with it")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            raise Refused(403, "foreign", "another site asks for this; open the page of Dragoman itself")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(415, "notJson", "only JSON is taken; say so in Content-Type")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST:
            raise Refused(413, "tooLarge", f"that is too large; {LARGEST >> 20} MB are taken")


def failure(refused: Refused) -> Response:
    """Why there is no other answer."""
    body = msgspec.json.encode(Failed(error=Failure(kind=refused.kind, message=refused.message)))
    return Response(body, refused.status, media_type="application/json")


def _bearer(request: Request) -> str | None:
    given = request.headers.getlist("authorization")
    if len(given) != 1:
        return None
    kind, _, credential = given[0].partition(" ")
    return credential.strip() if kind.lower() == "bearer" else None
