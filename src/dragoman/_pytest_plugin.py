"""Fixtures for pytest, which finds them by the entry point `dragoman`: see docs/testing.md.

Whoever does not use them pays for this file only: the rest is imported when a test asks for one."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dragoman.testing import FakeAgent, ReplayAgent


@pytest.fixture
def fake_agent() -> "Callable[..., FakeAgent]":
    """Makes agents that do what a script says: `fake_agent(["Hello."])`."""
    from dragoman.testing import FakeAgent

    return FakeAgent


@pytest.fixture
def replay_agent(request: pytest.FixtureRequest) -> "Iterator[Callable[..., ReplayAgent]]":
    """Makes agents that are a recording: `replay_agent("login.jsonl")`, a path as from the test's own folder. A test that has
    sent less than was recorded fails."""
    from dragoman.testing import ReplayAgent

    made: list[ReplayAgent] = []

    def make(recording: str | os.PathLike[str], *, speed: float | None = None) -> ReplayAgent:
        made.append(ReplayAgent(request.path.parent / recording, speed=speed))
        return made[-1]

    yield make
    for agent in made:
        if agent.left:
            unsent = "\n".join(agent.left)
            pytest.fail(
                f"the test ended before this was sent, which {agent.name} has:\n{unsent}", pytrace=False
            )
