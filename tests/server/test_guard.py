"""The door: what a hostile page, a name that leads here, or somebody without a token can send gets nowhere."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dragoman._server.guard import HEADERS, LARGEST, Guard
from dragoman._server.tokens import MOST_LINKS, Tokens
from tests.server.asgi import HOST, Answered, ask

pytestmark = pytest.mark.anyio

CALL = "/api/sessions"


async def reached(request: Request) -> PlainTextResponse:
    tab = request.state.tab
    return PlainTextResponse(f"reached by {tab.name if tab is not None else 'anybody'}")


class Door:
    """A guarded application that says who reached it."""

    def __init__(self, *, read_only: bool = False, names: tuple[str, ...] = ()) -> None:
        self.tokens = Tokens(read_only=read_only)
        paths = (CALL, "/api/enter", "/", "/page/main.js")
        inner = Starlette(routes=[Route(path, reached, methods=["GET", "POST"]) for path in paths])
        self.app = Guard(inner, self.tokens, names)

    def token(self, *, read_only: bool = False) -> dict[str, str | None]:
        """The header of somebody who came in."""
        came = self.tokens.enter(self.tokens.link(read_only=read_only))
        assert came is not None
        return {"authorization": f"Bearer {came[0]}"}

    async def ask(self, method: str, path: str, headers: Any = None, **rest: Any) -> Answered:
        return await ask(self.app, method, path, headers, **rest)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_our_own_page_gets_in(method: str) -> None:
    door = Door()
    answer = await door.ask(method, CALL, door.token())
    assert (answer.status, answer.body) == (200, b"reached by a program")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1:8766",
        "127.0.0.1.evil.example:8765",
        "localhost:8765@evil.example",
        "localhost.:8765",
        "127.1:8765",
        "0.0.0.0:8765",
        "[::ffff:127.0.0.1]:8765",
        "",
        None,
        "127.0.0.1",
        ":8765",
    ],
)
@pytest.mark.parametrize("path", ["/", "/page/main.js", CALL, "/api/enter"])
async def test_a_name_that_is_not_ours_leads_nowhere(host: str | None, path: str) -> None:
    door = Door()
    answer = await door.ask("GET", path, door.token() | {"host": host})
    assert answer.status == 421


@pytest.mark.parametrize(
    "host", ["localhost:8765", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST:8765", "box.lan:443"]
)
async def test_our_names(host: str) -> None:
    door = Door(names=("box.lan:443",))
    answer = await door.ask("POST", CALL, door.token() | {"host": host, "origin": f"http://{host}".lower()})
    assert answer.status == 200


@pytest.mark.parametrize(
    "foreign",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8766"},
        {"origin": "http://localhost:8765"},
        {"origin": ""},
        {"origin": f"http://{HOST}.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_another_page_changes_nothing(foreign: dict[str, str | None]) -> None:
    """Even one that has a token."""
    door = Door()
    answer = await door.ask("POST", CALL, door.token() | foreign)
    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_page_reads_nothing(site: str) -> None:
    door = Door()
    assert (await door.ask("GET", CALL, door.token() | {"sec-fetch-site": site})).status == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None, ""]
)
async def test_a_form_is_not_taken(kind: str | None) -> None:
    """A form needs no leave of ours to be sent from anywhere."""
    door = Door()
    assert (await door.ask("POST", CALL, door.token() | {"content-type": kind})).status == 415


async def test_nobody_without_a_token() -> None:
    door = Door()
    for given in (
        {},
        {"authorization": "Bearer "},
        {"authorization": "Bearer x"},
        {"authorization": "Basic eDp5"},
        {"cookie": "token=x"},
    ):
        assert (await door.ask("GET", CALL, given)).status == 401
        assert (await door.ask("POST", CALL, given)).status == 401


async def test_who_does_not_say_where_he_is_needs_a_token() -> None:
    door = Door()
    assert (await door.ask("POST", "/api/enter", {"origin": None})).status == 403
    assert (await door.ask("POST", CALL, door.token() | {"origin": None})).status == 200


async def test_a_stolen_token_that_only_watches_changes_nothing() -> None:
    door = Door()
    token = door.token(read_only=True)
    assert (await door.ask("GET", CALL, token)).status == 200
    assert (await door.ask("POST", CALL, token)).status == 403


async def test_a_server_that_only_shows_has_no_other_tokens() -> None:
    door = Door(read_only=True)
    assert (await door.ask("POST", CALL, door.token(read_only=False))).status == 403


@pytest.mark.parametrize("path", ["/", CALL, "/api/stream"])
async def test_there_are_no_websockets(path: str) -> None:
    door = Door()
    answer = await door.ask("GET", path, door.token(), kind="websocket")
    assert (answer.status, answer.body) == (1008, b"websocket.close")


async def test_what_is_too_large_is_not_read() -> None:
    door = Door()
    for length in (str(LARGEST + 1), "-1", "1e3", "x"):
        assert (await door.ask("POST", CALL, door.token() | {"content-length": length})).status == 413


@pytest.mark.parametrize("host", [HOST, "evil.example"])
@pytest.mark.parametrize("path", ["/", CALL])
async def test_every_answer_has_the_headers(path: str, host: str) -> None:
    answer = await Door().ask("GET", path, {"host": host})
    assert {name.decode(): value.decode() for name, value in HEADERS}.items() <= answer.headers.items()


async def test_a_preflight_is_not_answered_with_leave() -> None:
    door = Door()
    asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    answer = await door.ask("OPTIONS", CALL, asked)
    assert answer.status >= 400
    assert not any(name.startswith("access-control") for name in answer.headers)


class TestTokens:
    def test_a_link_works_once(self) -> None:
        tokens = Tokens()
        link = tokens.link()
        assert tokens.enter(link) is not None
        assert tokens.enter(link) is None

    def test_a_token_is_no_link_and_a_link_no_token(self) -> None:
        tokens = Tokens()
        link = tokens.link()
        assert tokens.tab(link) is None
        came = tokens.enter(link)
        assert came is not None
        assert tokens.enter(came[0]) is None
        assert tokens.tab(came[0]) == came[1]

    def test_each_browser_has_a_name_of_its_own(self) -> None:
        tokens = Tokens()
        agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36"
        named = [came[1].name for _ in range(2) if (came := tokens.enter(tokens.link(), agent)) is not None]
        assert named == ["Chromium on Linux", "Chromium on Linux 2"]

    def test_links_that_nobody_opens_do_not_pile_up(self) -> None:
        tokens = Tokens()
        first, *others = [tokens.link() for _ in range(MOST_LINKS + 1)]
        assert tokens.enter(first) is None
        assert all(tokens.enter(link) is not None for link in others)

    @pytest.mark.parametrize("odd", ["", "\ud800", "x" * 100_000, "é"])
    def test_what_is_no_link(self, odd: str) -> None:
        assert Tokens().enter(odd) is None
        assert Tokens().tab(odd) is None
