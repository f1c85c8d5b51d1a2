"""A session of a hundred thousand events in a browser: until an answer in it is seen, and while it is scrolled. The peer is
agentsview's page on the same file.

A page is loaded anew each time, by somebody who has come in already; the slowest time counts. The floor is a session of
one window of events.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import browser, long_session, web_server
from bench.library_sync import BIN
from bench.material import SESSION
from bench.row import Figures, Row, below

EVENTS, FEW, TIMES = 100_000, 300, 5
BLOCKS = 3_000
"""So many blocks are there at the end of the scrolling."""
WATCH = f"""
// an answer is seen when the frame is drawn in which its title came into view
const isInView = ({{ top, bottom, height }}) => height > 0 && bottom > 0 && top < innerHeight;
const isSeen = (title) => title.textContent.trim() === "{long_session.TITLE}" && isInView(title.getBoundingClientRect());
const until = (isThere, work = () => null) => new Promise((done, fail) => {{
  setTimeout(fail, 60_000, new Error("it did not come"));
  const look = () => {{
    work();
    requestAnimationFrame(isThere() ? () => done(performance.now()) : look);
  }};
  look();
}});
window.firstSeen = () => until(() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].some(isSeen));
window.scrolledUp = (wanted) =>
  until(() => document.querySelectorAll("main [role=group]").length >= wanted, () => scrollBy(0, -innerHeight / 2));
"""

Serving = Callable[[Path, Any], AbstractContextManager[str]]
"""The address of the one session in a home, once a page has come in there."""


@contextmanager
def _ours(home: Path, page: Any) -> Iterator[str]:
    with web_server.served(home) as server:
        [session] = web_server.stored(server)
        page.goto(server.link())
        page.get_by_role("heading", name="Sessions").wait_for(state="attached")
        yield f"{server.url}/#/session/{session['id']}"


@contextmanager
def _theirs(home: Path, page: Any) -> Iterator[str]:
    command = [str(BIN / "agentsview"), "serve", "--port", "0", "--no-browser", "--no-update-check"]
    environment = {"HOME": str(home), "PATH": os.defpath, "AGENTSVIEW_NO_DAEMON": "1"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = (re.search(r"listening at (\S+)", line) for line in process.stdout)
            address = next(filter(None, found))[1]
            page.goto(address)
            yield f"{address}/sessions/{SESSION}"
        finally:
            process.terminate()


@contextmanager
def _opened(serving: Serving, events: int) -> Iterator[tuple[Any, float]]:
    """A page on a session, and how many milliseconds it took until an answer was seen."""
    with TemporaryDirectory() as name, browser.page(WATCH) as page:
        long_session.written(Path(name), events)
        with serving(Path(name), page) as address:
            yield page, max(_seen(page, address) for _ in range(TIMES))


def _seen(page: Any, address: str) -> float:
    page.goto("about:blank")
    page.goto(address, wait_until="commit")
    took: float = page.evaluate("window.firstSeen()")
    return took


@cache
def _long() -> tuple[float, float]:
    """Milliseconds until an answer was seen, and of the longest task while it was scrolled."""
    with _opened(_ours, EVENTS) as (page, took):
        begun = browser.now(page)
        page.evaluate("(wanted) => window.scrolledUp(wanted)", BLOCKS)
        return took, browser.longest_task(page, begun)


def _seconds(serving: Serving, events: int) -> float:
    with _opened(serving, events) as (_, took):
        return took / 1e3


ROWS = (
    Row(
        "web-open",
        f"a session of {EVENTS:,} events in a browser: first seen",
        "agentsview",
        "s",
        below(2, "s"),
        lambda: Figures(_long()[0] / 1e3, _seconds(_theirs, EVENTS), _seconds(_ours, FEW)),
    ),
    Row(
        "web-scroll",
        f"scrolled up until {BLOCKS:,} blocks are there: longest task",
        "",
        "ms",
        below(200, "ms"),
        lambda: Figures(_long()[1]),
    ),
)
