"""The pinned agents as fixtures. A test that takes one runs once for each version that is asked for."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.register_assert_rewrite("tests.real.driving", "tests.real.command_line")

from tests.real.capability_marks import ACTORS  # noqa: E402
from tests.real.driving import Pinned  # noqa: E402
from tests.real.pins import Pin, named_versions, pins  # noqa: E402


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where versions are named, the tests of these agents and no other."""
    if not (named := named_versions()):
        return
    chosen, others = [], []
    for item in items:
        (chosen if _agents_of(item) & named.keys() else others).append(item)
    items[:] = chosen
    config.hook.pytest_deselected(items=others)


def _agents_of(item: pytest.Item) -> set[str]:
    given = (
        item.callspec.params.values()
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else ()
    )
    return {value.agent for value in given if isinstance(value, Pin)}


@pytest.fixture
def anyio_backend() -> str:
    """Starting a real agent is slow: asyncio alone, unless a test asks for the other."""
    return "asyncio"


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A short one. Claude Code's sandbox makes sockets in TMPDIR, whose paths may have no more than 107 bytes: in pytest's
    own folders, with the name of a process and of the test in them, it cannot."""
    with TemporaryDirectory(prefix="real-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture(params=pins(), ids=str)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Pinned:
    """Any of them; `by` says which."""
    return Pinned(request.param, tmp_path)


@pytest.fixture(params=pins("claude"), ids=str)
def claude(request: pytest.FixtureRequest, tmp_path: Path) -> Pinned:
    return Pinned(request.param, tmp_path)


@pytest.fixture(params=pins("codex"), ids=str)
def codex(request: pytest.FixtureRequest, tmp_path: Path) -> Pinned:
    return Pinned(request.param, tmp_path)


@pytest.fixture(params=pins("gemini"), ids=str)
def gemini(request: pytest.FixtureRequest, tmp_path: Path) -> Pinned:
    return Pinned(request.param, tmp_path)


@pytest.fixture(params=pins(*ACTORS), ids=str)
def actor(request: pytest.FixtureRequest, tmp_path: Path) -> Pinned:
    """For what must be the same whichever agent it is: one for each way to drive an agent. It
    has its model named, so that it does nothing but what the test is about."""
    return Pinned(request.param, tmp_path, steady=True)
