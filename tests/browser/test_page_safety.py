"""Whoever approves commands has a shell: so pages of others get nothing and change nothing, and what agents write is shown for
what it is, and is never more than text."""

import json
import re
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from dragoman._server.calls import CALLS
from tests.browser.conftest import REBOUND, Visits, desktop
from tests.browser.parts import block, card, more, rows, side, turn, unfold
from tests.browser.playing import EVIL
from tests.browser.serving import PATIENCE, Served

# --- pages of others -----------------------------------------------------------------------------------------

BEGIN: Final = json.dumps({"agent": "demo", "prompt": "Fix the test.", "approve": "all"})
ATTACKS: Final = {
    "read": "fetch(api + '/sessions').then(r => r.text())",
    "read with cookies": "fetch(api + '/sessions', {credentials: 'include'}).then(r => r.text())",
    "read without an answer": "fetch(api + '/sessions', {mode: 'no-cors'}).then(r => r.type)",
    "read with a token": "fetch(api + '/me', {headers: {Authorization: 'Bearer x'}}).then(r => r.text())",
    "enter": """fetch(api + '/enter', {method: 'POST', mode: 'no-cors', body: '{"link":"x"}'}).then(r => r.type)""",
    "post": "fetch(api + '/sessions', {method: 'POST', body}).then(r => r.text())",
    "post as JSON": """fetch(api + '/sessions', {method: 'POST', body, headers: {'Content-Type': 'application/json'}})
        .then(r => r.text())""",
    "post without an answer": """fetch(api + '/sessions', {method: 'POST', mode: 'no-cors', body,
        headers: {'Content-Type': 'text/plain'}}).then(r => r.type)""",
    "beacon": "String(navigator.sendBeacon(api + '/sessions', new Blob([body], {type: 'text/plain'})))",
    "feed": """new Promise(done => {
        const source = new EventSource(api + '/stream');
        source.onmessage = source.onopen = () => done('opened');
        source.onerror = () => done('error');
    })""",
    "WebSocket": """new Promise(done => {
        const socket = new WebSocket(api.replace('http', 'ws') + '/stream');
        socket.onopen = () => done('opened');
        socket.onerror = () => done('error');
    })""",
    "form": """new Promise(done => {
        const [frame, form, field] = ['iframe', 'form', 'input'].map(tag => document.createElement(tag));
        Object.assign(frame, {name: 'hidden', onload: () => form.isConnected && done('loaded')});
        Object.assign(form, {method: 'POST', enctype: 'text/plain', action: api + '/sessions', target: 'hidden'});
        Object.assign(field, {name: body.slice(0, -1) + ',"x":"', value: '"}'});
        form.append(field);
        document.body.append(frame);
        document.body.append(form);
        form.submit();
    })""",
    "script": """new Promise(done => {
        const script = document.createElement('script');
        Object.assign(script, {src: api.replace('/api', '/page/main.js'), type: 'text/javascript'});
        script.onload = () => done('loaded');
        script.onerror = () => done('error');
        document.body.append(script);
    })""",
}
"""What a page of another origin may try. Each ends with a word, or with an error."""
READABLE: Final = ("opened", "sessions", "token")
"""What no attack may end with."""


class _Stranger(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body>")

    def log_message(self, format: str, *args: object) -> None:
        """Nobody wants to know."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of a page on another port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Stranger) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def strange(visit: Visits, server: Served, elsewhere: str) -> tuple[Page, Page]:
    """A page of the server's, and one of another origin in the same browser."""
    own = visit(server).page
    foreign = own.context.new_page()
    foreign.goto(elsewhere)
    return own, foreign


def unharmed(own: Page, server: Served) -> None:
    """Nothing was begun, and whoever was in is still in."""
    assert server.running() == []
    assert server.client.get("sessions")["total"] == 0
    own.reload()
    expect(own.get_by_role("region", name="Kept sessions")).to_be_visible()


@desktop
def test_a_page_of_another_origin_gets_nothing_and_changes_nothing(
    live: Served, elsewhere: str, visit: Visits
) -> None:
    own, foreign = strange(visit, live, elsewhere)
    answers: list[tuple[str, int]] = []
    foreign.on("response", lambda response: answers.append((response.url, response.status)))
    for name, attack in ATTACKS.items():
        answers.clear()
        came = foreign.evaluate(
            f"([api, body]) => Promise.resolve({attack}).catch(error => String(error))",
            [f"{live.url}/api", BEGIN],
        )
        assert not any(word in came for word in READABLE), (name, came)
        assert [answer for answer in answers if "/api/" in answer[0] and answer[1] < 400] == [], name
    unharmed(own, live)


@desktop
def test_its_page_is_in_no_frame_and_opened_by_nobody(live: Served, elsewhere: str, visit: Visits) -> None:
    own, foreign = strange(visit, live, elsewhere)
    foreign.evaluate(
        """url => new Promise(done => {
            const frame = document.createElement('iframe');
            Object.assign(frame, {src: url, onload: done});
            document.body.append(frame);
        })""",
        f"{live.url}/",
    )
    [frame] = foreign.frames[1:]
    assert frame.url.startswith("chrome-error:")
    with foreign.context.expect_page() as popup:
        foreign.evaluate("url => { window.other = window.open(url); }", f"{live.url}/")
    expect(popup.value.get_by_role("heading", name="Kept")).to_be_visible()
    assert popup.value.evaluate("window.opener") is None
    assert foreign.evaluate("window.other.closed")
    unharmed(own, live)


@desktop
def test_a_foreign_name_that_leads_here_is_refused(live: Served, visit: Visits) -> None:
    """The browser itself goes there, as it does after DNS rebinding."""
    rebound = visit.stranger()
    rebound.excuse("status of 421", "Cross-Origin-Opener-Policy header has been ignored")
    answer = rebound.page.goto(f"http://{REBOUND}:{live.port}/")
    assert answer is not None
    assert answer.status == 421
    assert rebound.page.evaluate("fetch('/api/me').then(r => r.status)") == 421


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "127.0.0.1.evil.example", "", "[::1"])
@pytest.mark.parametrize("path", ["/", "/page/main.js", "/api/me"])
def test_a_wrong_name_is_refused(path: str, host: str, bare: Served) -> None:
    connection = HTTPConnection("127.0.0.1", bare.port, timeout=PATIENCE)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host)
    connection.putheader("Authorization", f"Bearer {bare.client._credential}")
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 421
    assert b"<script" not in answer.read()
    connection.close()


@desktop
def test_without_a_token_nothing_is_told(live: Served, visit: Visits) -> None:
    """A link works once: whoever comes second is told where there are others."""
    link = live.link()
    assert visit(live, link=link).page.title().startswith("Sessions")
    late = visit.stranger()
    late.excuse("status of 40")
    late.page.goto(link)
    expect(late.page.get_by_role("heading", name="This page needs a link of its own")).to_be_visible()
    expect(late.page.get_by_text("used up")).to_be_visible()
    for call in CALLS:
        if call.path != "/api/enter":
            given = {"method": call.method} | (
                {"body": "{}", "headers": {"Content-Type": "application/json"}}
                if call.method == "POST"
                else {}
            )
            asked = "([path, given]) => fetch(path, given).then(r => r.status)"
            assert late.page.evaluate(asked, [call.path, given]) in (401, 403), call


@desktop
def test_a_token_that_only_watches_changes_nothing(live: Served, folder: Path, visit: Visits) -> None:
    """Also in the hands of somebody who writes the requests himself."""
    begun = live.client.post("sessions", agent="claude", prompt="make", cwd=str(folder))
    watcher = visit(live, f"#/session/{begun['id']}", link=live.link(read_only=True))
    watcher.excuse("status of 403")
    expect(card(watcher.page)).to_be_visible()
    posts = [
        call for call in CALLS if call.method == "POST" and call.path not in ("/api/enter", "/api/links")
    ]
    for call in posts:
        status = watcher.page.evaluate(
            """path => fetch(path, {method: 'POST', body: '{}', headers: {
                'Content-Type': 'application/json',
                Authorization: 'Bearer ' + sessionStorage.getItem('dragoman.token'),
            }}).then(r => r.status)""",
            call.path.replace("{id}", begun["id"]),
        )
        assert status == 403, call
    assert len(posts) > 6
    expect(card(watcher.page)).to_be_visible()
    assert [row["live"]["state"] for row in live.running()] == ["waiting"]


# --- what agents write ---------------------------------------------------------------------------------------

NAME: Final = "<img src=x onerror=alert(1)>\u202egnp"
"""Of a folder."""
SHOWN: Final = {"\\u202e": "right to left", "\\u001b": "of a terminal", "\\u200b": "of no width"}
"""The escapes by which characters of EVIL are seen."""


def inert(page: Page) -> None:
    """Nothing in it has become an element that does something."""
    active = "script, iframe, object, embed, style, base, link, meta, form[action], img, [onerror], [onload], [style*=url]"
    assert page.locator("body").locator(active).evaluate_all("all => all.map(each => each.outerHTML)") == []
    links: list[Any] = page.locator("main a").evaluate_all(
        "all => all.map(each => each.getAttribute('href'))"
    )
    assert {link for link in links if not link.startswith("#/")} <= {"https://example.com/a"}
    assert page.evaluate("getComputedStyle(document.body).display") != "none"


def test_what_agents_write_is_text(live: Served, visit: Visits) -> None:
    """A prompt, a thought, an answer, tools, files, questions and failures that are all hostile: on each view of them."""
    folder = live.home / NAME
    folder.mkdir(exist_ok=True)
    begun = live.client.post("sessions", agent="claude", prompt=f"harm {EVIL}", cwd=str(folder))
    page = visit(live, f"#/session/{begun['id']}").page
    first = turn(page, 1)
    expect(card(page, "claude wants to use Write")).to_be_visible()
    inert(page)
    expect(card(page)).to_contain_text("\\u202e")
    card(page).get_by_role("button", name="yes, this once").click()

    asked = card(page, "claude wants to run a command")
    expect(asked).to_be_visible()
    command = asked.get_by_role("figure").locator("pre").first
    for seen in (*SHOWN, "\\u00a0", "\\u0009", "<script>alert(1)</script>"):
        expect(command).to_contain_text(seen)
    inert(page)
    asked.get_by_role("button", name="yes, this once").click()

    asked = card(page, "claude asks you")
    for seen in (*SHOWN, "<script>alert(1)</script>"):
        expect(asked.get_by_role("group").first).to_contain_text(seen)
    inert(page)
    asked.get_by_role("button", name="Decline").click()

    expect(first).to_contain_text("✗ failed")
    page.get_by_role("button", name="Unfold all").click()
    for seen in (block(first, "Prompt"), block(first, "Thinking"), block(first, "Answer").first):
        for escape in SHOWN:
            expect(seen).to_contain_text(escape)
        expect(seen).to_contain_text("<script>alert(1)</script>")
    expect(block(first, "Answer")).to_contain_text("https://evil.example/x.png")
    assert block(first, "Answer").get_by_role("link").all_text_contents() == ["good"]
    more(page, block(first, "Prompt"), "Raw line behind it")
    expect(page.get_by_role("dialog").get_by_text("What it means, as an event")).to_be_visible()
    inert(page)
    page.keyboard.press("Escape")
    expect(side(page, "What it did")).to_contain_text("<script>alert(1)</script>")
    inert(page)


def test_hostile_sessions_are_text_wherever_they_are_listed(live: Served, visit: Visits) -> None:
    folder = live.home / NAME
    folder.mkdir(exist_ok=True)
    prompt = "tell <script>alert(1)</script> \u202edlrow \x1b[31mred \u200b"
    begun = live.client.post("sessions", agent="claude", prompt=prompt, cwd=str(folder))
    visitor = visit(live)
    page = visitor.page
    running = rows(page, "Running now").filter(has_text="tell <script>").first
    for seen in (*SHOWN, NAME.partition("\u202e")[0]):
        expect(running).to_contain_text(seen)
    inert(page)
    live.client.post(f"sessions/{begun['id']}/close")
    kept = rows(page).filter(has_text="tell <script>").first
    expect(kept).to_contain_text("\\u202e")
    inert(page)
    visitor.go("#/usage?by=project&days=")
    expect(page.get_by_role("rowheader").filter(has_text="onerror")).to_contain_text("\\u202e")
    inert(page)
    visitor.go("#/search?text=script")
    expect(page.get_by_role("main").get_by_role("listitem").first).to_contain_text(
        "<script>alert(1)</script>"
    )
    inert(page)
    page.get_by_role("main").get_by_role("listitem").first.get_by_role("link").click()
    expect(page.get_by_role("article").first).to_be_visible()
    inert(page)
    page.get_by_role("link", name="Replay").click()
    expect(page.get_by_role("slider")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("\\u202e")
    inert(page)
    assert re.search("[\u202e\x1b\u200b]", page.title()) is None
    unfold(page.get_by_role("group").filter(has_text="Run of").first)
    inert(page)
