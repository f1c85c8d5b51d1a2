"""Every test of the library that asks for one runs on SQLite and on a real PostgreSQL server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman._library.library import Library
from tests.library import postgres_server
from tests.library.postgres_server import Server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server that is up. Skipped where none is installed; .ci/run installs one."""
    if postgres_server.programs() is None:
        pytest.skip(f"no PostgreSQL server in {postgres_server.ELSEWHERE} (apt-get install postgresql)")
    with postgres_server.running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a library may be made: nothing is there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "library" / "library.db")
    server: Server = request.getfixturevalue("postgres")
    return server.fresh()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without any sessions, and nothing that says where else they are."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "DRAGOMAN_LIBRARY"):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture
def library(address: str) -> Iterator[Library]:
    """An empty library."""
    with Library(address) as made:
        yield made
