"""A connection that is cut again and again, in the middle of whatever is said: the page ends as one that was never cut."""

import os
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser import playing
from tests.browser.conftest import Opened, Visits, desktop
from tests.browser.parts import begin, block, card, say, side
from tests.browser.serving import Served, Wire, served

CUTS = 20
SHOWN = """() => {
    const main = document.querySelector('main').cloneNode(true);
    for (const box of main.querySelectorAll('textarea')) box.removeAttribute('style');
    for (const dock of main.querySelectorAll('.follow, [role=status]')) dock.remove();
    return main.outerHTML;
}"""
"""All that a session's page shows, but for where its reader is and how tall the window has made the prompt box."""


@pytest.fixture
def wired() -> Iterator[tuple[Served, Wire]]:
    """A server, and a wire that leads to it."""
    wire = Wire()
    with TemporaryDirectory(prefix="web-") as folder:
        programs = playing.install(Path(folder))
        env = {"PATH": f"{programs}:{os.environ['PATH']}"}
        with served(Path(folder), env, "--name", f"127.0.0.1:{wire.port}") as server:
            wire.to = server.port
            yield server, wire
        wire.close()


def over(wired: tuple[Served, Wire], visit: Visits) -> Opened:
    """A page behind the wire. The browser may tell it that connections broke, and nobody anything else."""
    server, wire = wired
    opened = visit(server, link=server.link(port=wire.port))
    opened.excuse("net::ERR_")
    return opened


@desktop
def test_nothing_is_lost_and_nothing_told_twice(wired: tuple[Served, Wire], visit: Visits) -> None:
    server, wire = wired
    whole = visit(server).page
    begin(whole, "tell", server.home)
    often = over(wired, visit)
    often.go(whole.url.partition(f"{server.url}/")[2])
    expect(block(often.page, "Answer", "Part 3 of")).to_be_visible()
    for _ in range(CUTS):
        wire.cut_in_a_word()
    say(whole, "enough", "Steer")
    for page in (whole, often.page):
        expect(block(page, "Answer", "That was all.")).to_be_visible()
        expect(page.get_by_role("main").get_by_text("idle")).to_be_visible()
    parts = block(whole, "Answer", "Part ").count()
    assert parts > CUTS
    expect(block(often.page, "Answer", "Part ")).to_have_count(parts)
    assert shown(often.page) == shown(whole)


@desktop
def test_what_was_answered_meanwhile_waits_no_more(wired: tuple[Served, Wire], visit: Visits) -> None:
    """The answer is given while one page has no connection, and what is asked next is there when it has."""
    server, wire = wired
    whole = visit(server).page
    begin(whole, "make", server.home)
    often = over(wired, visit)
    often.go(whole.url.partition(f"{server.url}/")[2])
    expect(card(often.page)).to_be_visible()
    expect(side(often.page, "What it did")).to_contain_text("make all")
    wire.to = None
    wire.cut()
    expect(often.page.get_by_text("reconnecting …")).to_be_visible()
    card(whole).get_by_role("button", name="yes, this once").click()
    expect(block(whole, "Answer", "Made.")).to_be_visible()
    expect(card(often.page)).to_be_visible()
    wire.to = server.port
    expect(card(often.page)).to_have_count(0)
    expect(block(often.page, "Answer", "Made.")).to_be_visible()
    expect(often.page.get_by_text("reconnecting …")).to_have_count(0)
    say(whole, "question")
    expect(card(often.page, "claude asks you")).to_be_visible()


@desktop
def test_a_reading_that_is_cut_is_done_again(wired: tuple[Served, Wire], visit: Visits) -> None:
    """Where all of it was loaded but the last."""
    server, wire = wired
    whole = visit(server).page
    begin(whole, "make", server.home)
    expect(card(whole)).to_be_visible()
    often = over(wired, visit)
    looks = count(1)

    def cut(route: Route) -> None:
        if next(looks) == 2:
            wire.cut()
            route.abort("connectionreset")
        else:
            route.continue_()

    often.page.route(re.compile(r"/api/sessions/[0-9a-f]+$"), cut)
    often.go(whole.url.partition(f"{server.url}/")[2])
    expect(block(often.page, "Permission")).to_contain_text("waits for an answer")
    card(whole).get_by_role("button", name="yes, this once").click()
    expect(block(often.page, "Answer", "Made.")).to_be_visible()
    expect(often.page.get_by_text("Reading …")).to_have_count(0)
    assert next(looks) > 2


def shown(page: Page) -> str:
    return str(page.evaluate(SHOWN))
