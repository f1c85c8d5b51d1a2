"""A real browser: Debian's Chromium, driven by Playwright. What it asks the network for and what it complains of is kept."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from dragoman.server import ServerError
from tests.browser import playing
from tests.browser.serving import PATIENCE, Served, served
from tests.library import corpus
from tests.library.transcripts import transcript

playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

SIZES: Final[dict[str, dict[str, Any]]] = {
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "desktop": {"viewport": {"width": 1280, "height": 800}},
}
desktop = pytest.mark.parametrize("size", ["desktop"], indirect=True)
"""For what has nothing to do with the size of the screen."""
REBOUND: Final = "rebound.example"
"""A foreign name that leads to this machine."""
LONG: Final = "long"
"""The folder of a session of TURNS turns."""
TURNS: Final = 400


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("apt-get install chromium")
    args = ["--no-sandbox", f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
    playwright.expect.set_options(timeout=PATIENCE * 1000)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=args)
        yield browser
        browser.close()


class Opened:
    """A page, and what it did while it was looked at."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self._complaints: list[str] = []
        self._excused: tuple[str, ...] = ()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self._complaints.append(message.text))
        page.on("pageerror", lambda error: self._complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self._complaints.append("a dialog"), dialog.dismiss()))

    def excuse(self, *words: str) -> None:
        """What the browser itself says with any of these words is no fault here. It may say so late."""
        self._excused = words

    @property
    def complaints(self) -> list[str]:
        return [said for said in self._complaints if not any(words in said for words in self._excused)]

    def file(self, path: Path) -> "Opened":
        self.page.goto(path.as_uri())
        return self

    def go(self, place: str) -> Any:
        """The page, at another place of it, such as "#/usage"."""
        now = urlsplit(self.page.url)
        self.page.goto(f"{now.scheme}://{now.netloc}/{place}")
        return self.page

    @property
    def asked(self) -> set[str]:
        """Of whom it wanted something."""
        places = map(urlsplit, self.requests)
        return {place.netloc for place in places if place.scheme not in ("blob", "data")}


@pytest.fixture(params=[(390, 800), (1200, 900)], ids=["phone", "desktop"])
def opened(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Opened]:
    width, height = request.param
    context = chromium.new_context(viewport={"width": width, "height": height})
    yield Opened(context.new_page())
    context.close()


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> str:
    """Of the screen: `phone` or `desktop`."""
    name: str = request.param
    return name


class Visits:
    """Opens pages of servers, each in a browser of its own: with cookies, storage and a screen that no other has."""

    def __init__(self, chromium: Any, size: str) -> None:
        self._chromium = chromium
        self._size = size
        self.opened: list[Opened] = []

    def __call__(self, server: Served, place: str = "", *, link: str | None = None, **options: Any) -> Opened:
        """A page that has come in by a link of the server's, at a place of it."""
        visitor = self.stranger(**options)
        visitor.page.goto(link or server.link())
        playwright.expect(visitor.page.get_by_role("banner")).to_be_visible()
        if place:
            visitor.go(place)
        return visitor

    def stranger(self, **options: Any) -> Opened:
        """A page that is nowhere yet."""
        context = self._chromium.new_context(accept_downloads=True, **SIZES[self._size] | options)
        self.opened.append(Opened(context.new_page()))
        return self.opened[-1]


@pytest.fixture
def visit(chromium: Any, size: str) -> Iterator[Visits]:
    """What a page complains of is a fault, and so is whatever it asks of anybody but the server that it came from."""
    visits = Visits(chromium, size)
    yield visits
    for visitor in visits.opened:
        visitor.page.context.close()
    assert [visitor.complaints for visitor in visits.opened if visitor.complaints] == []
    assert [visitor.asked for visitor in visits.opened if len(visitor.asked) > 1] == []


# --- servers -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def kept() -> Iterator[Served]:
    """A server, and a library with all sessions of the captures and a long one."""
    with TemporaryDirectory(prefix="web-") as folder:
        home = Path(folder)
        corpus.placed(home)
        told = [
            (("user", f"question {n}"), ("assistant", f"answer {n}, at some *length*"))
            for n in range(1, TURNS + 1)
        ]
        said = [each for pair in told for each in pair]
        transcript(home / ".claude" / "projects" / LONG, LONG, said, cwd=f"/home/dev/work/{LONG}")
        with served(home) as server:
            server.read()
            yield server


@pytest.fixture(scope="module")
def bare() -> Iterator[Served]:
    """A server, and a home with nothing in it. What is Claude Code there is a fake."""
    with TemporaryDirectory(prefix="web-") as folder:
        programs = playing.install(Path(folder))
        with served(Path(folder), {"PATH": f"{programs}:{os.environ['PATH']}"}) as server:
            yield server


@pytest.fixture
def live(bare: Served) -> Iterator[Served]:
    """The same, for a test that begins sessions: they end with it."""
    yield bare
    for row in bare.running():
        with suppress(ServerError):  # it has ended just now
            bare.client.post(f"sessions/{row['live']['run']}/close")


@pytest.fixture
def folder(live: Served) -> Path:
    """One to work in."""
    return Path(mkdtemp(prefix="job-", dir=live.home))
