"""Every pinned agent: a turn of text, a tool that is allowed, and one that is denied."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

import dragoman
from dragoman import Answer, PermissionRequest, SessionConfig
from dragoman._agents import AGENTS
from dragoman._model.capabilities import Capability
from dragoman.testing import ScriptedModel
from tests.acp_agents.pins import Pin, pins
from tests.real.driving import PATIENCE, Events, Watched, check

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=pins(), ids=str)
def pin(request: pytest.FixtureRequest) -> Pin:
    pin: Pin = request.param
    if not pin.executable.exists():
        pytest.fail(f"{pin} is not installed: run `make test-agents`")
    return pin


def asks(pin: Pin) -> bool:
    return Capability.PERMISSIONS in AGENTS[pin.agent].capabilities


class Person:
    """Who is asked: by the agent, or by the host that it writes through. Kimi 2.1.0 asks for no write where git is."""

    def __init__(self, decision: Any) -> None:
        self.decision = decision
        self.asked: list[str] = []

    def __call__(self, request: PermissionRequest) -> Answer:
        self.asked.append(request.kind)
        return Answer(decision=self.decision)


@asynccontextmanager
async def opened(pin: Pin, place: Path, lines: list[Any], person: Person) -> AsyncIterator[Watched]:
    """A session in a home of its own, checked to its last byte; what goes elsewhere than to the model is refused."""
    home, cwd, recording = place / "home", place / "work", place / "run.jsonl"
    home.mkdir()
    cwd.mkdir()
    with anyio.fail_after(PATIENCE), ScriptedModel(lines) as model:
        env = model.env(pin.agent, home)
        fields: dict[str, Any] = {
            "env": {**env, "PATH": f"{pin.programs}{os.pathsep}{env['PATH']}"},
            "inherit_env": False,
            "executable": pin.executable,
            "cwd": cwd,
            "record": recording,
        }
        if asks(pin):
            fields["approve"] = person
        config = SessionConfig(agent=pin.agent, approve="ask" if asks(pin) else "all")
        async with dragoman.open(config, **fields) as session:
            watched = Watched(session, model)
            yield watched
        await watched.rest()
    check(watched.events, recording)


async def test_a_turn_of_text(pin: Pin, tmp_path: Path) -> None:
    async with opened(pin, tmp_path, ["Hello from the script."], Person("deny")) as watched:
        events = await watched.turn("Say hello.")
    assert events.ended.outcome == "completed"
    assert events.said() == ["Hello from the script."]
    (ready,) = watched.events.of(dragoman.AgentReady)
    assert ready.cli_version == pin.version
    assert pin.version in AGENTS[pin.agent].tested_versions


async def test_a_file_is_written(pin: Pin, tmp_path: Path) -> None:
    file, person = tmp_path / "work" / "new.txt", Person("allow")
    async with opened(pin, tmp_path, [pin.write(file), "Done."], person) as watched:
        events = await watched.turn("Write a file.")
    assert file.read_text("utf-8") == "fresh\n"
    assert _tool(events) == "completed"
    assert events.ended.outcome == "completed"
    assert set(person.asked) == ({"edit"} if asks(pin) else set())


@pytest.mark.parametrize("pin", [pin for pin in pins() if asks(pin)], ids=str)
async def test_a_file_that_is_denied_is_not_written(pin: Pin, tmp_path: Path) -> None:
    file, person = tmp_path / "work" / "new.txt", Person("deny")
    async with opened(pin, tmp_path, [pin.write(file), "Done."], person) as watched:
        events = await watched.turn("Write a file.")
    assert not file.exists()
    assert _tool(events) in ("declined", "failed")
    assert person.asked == ["edit"]


def _tool(events: Events) -> str:
    return events.one(dragoman.ToolEnded).status
