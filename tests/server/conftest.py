"""A server at work in this process, with a library of its own, and programs that call it."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from dragoman._server.hub import Hub
from dragoman._server.serving import Serving
from dragoman.server import Client

CAPTURES = Path(__file__).parents[2] / "captures"
PATIENCE = 60.0
"""Seconds after which a test has failed; no test waits for them."""


class Running:
    """A server, and links to it."""

    def __init__(self, serving: Serving, home: Path, portal: BlockingPortal) -> None:
        self.serving = serving
        self._portal = portal
        self.hub = serving.hub
        self.home = home

    def stop(self) -> None:
        """End it in good order."""
        self._portal.call(self.serving.stop)

    def client(self, *, read_only: bool = False) -> Client:
        """Somebody who has come in."""
        return Client(self.serving.link(read_only=read_only))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's home with nothing in it, where nothing else runs."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "DRAGOMAN_LIBRARY", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    runtime = tempfile.mkdtemp(prefix="dr-")  # a short one: the path of a socket has no room
    for name, place in {
        "HOME": tmp_path,
        "XDG_DATA_HOME": tmp_path / "data",
        "XDG_STATE_HOME": tmp_path / "state",
        "XDG_RUNTIME_DIR": runtime,
    }.items():
        monkeypatch.setenv(name, str(place))
    yield tmp_path
    shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., Running]]:
    """Starts a server; it is stopped when the test is over."""
    with start_blocking_portal() as portal:
        running: list[Serving] = []

        def started(**options: object) -> Running:
            serving = portal.call(lambda: Serving(Hub(), port=0, **options))  # type: ignore[arg-type]
            portal.start_task_soon(serving.run)
            running.append(serving)
            return Running(serving, home, portal)

        yield started
        for serving in running:
            portal.call(serving.stop)


@pytest.fixture
def running(start: Callable[..., Running]) -> Running:
    return start()
