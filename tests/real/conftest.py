"""The pinned agents as fixtures. A test that takes one runs once for each pinned version."""

from pathlib import Path

import pytest

pytest.register_assert_rewrite("real.driving")

from tests.real.acting import Actor  # noqa: E402
from tests.real.capability_marks import ACP_AGENTS  # noqa: E402
from tests.real.driving import Pinned  # noqa: E402
from tests.real.pins import Pin, pins  # noqa: E402
from tests.real.tongues import AcpAgent  # noqa: E402


@pytest.fixture
def anyio_backend() -> str:
    """Starting a real agent is slow: asyncio alone, unless a test asks for both."""
    return "asyncio"


@pytest.fixture(params=[pin.version for pin in pins() if pin.agent == "claude"])
def claude(request: pytest.FixtureRequest, tmp_path: Path) -> Pinned:
    return pinned("claude", request.param, tmp_path)


@pytest.fixture(params=[pin.version for pin in pins() if pin.agent == "codex"])
def codex(request: pytest.FixtureRequest, tmp_path: Path) -> Pinned:
    return pinned("codex", request.param, tmp_path)


@pytest.fixture(params=[pin.version for pin in pins() if pin.agent == "gemini"])
def gemini(request: pytest.FixtureRequest, tmp_path: Path) -> Pinned:
    return pinned("gemini", request.param, tmp_path)


@pytest.fixture(params=ACP_AGENTS)
def acp(request: pytest.FixtureRequest, tmp_path: Path) -> AcpAgent:
    """An agent that speaks ACP."""
    [version] = [pin.version for pin in pins() if pin.agent == request.param]
    return AcpAgent(installed(request.param, version), tmp_path)


@pytest.fixture(params=["claude-2.1.325", "codex-0.166.0", "gemini-0.61.0"])
def actor(request: pytest.FixtureRequest, tmp_path: Path) -> Actor:
    """For what must be the same whichever agent it is."""
    agent, _, version = request.param.rpartition("-")
    return Actor(pinned(agent, version, tmp_path))


def pinned(agent: str, version: str, place: Path) -> Pinned:
    return Pinned(installed(agent, version), place)


def installed(agent: str, version: str) -> Pin:
    [pin] = [pin for pin in pins() if (pin.agent, pin.version) == (agent, version)]
    if not pin.executable.exists():
        pytest.fail(f"{pin} is not installed: run `python -m tests.real.install`, or `make test-real`")
    return pin
