"""One error for one cause, on every agent and in every dialect: what is raised, and what `result.error.kind` says."""

import os
import signal
from typing import Any

import anyio
import pytest

import dragoman
from dragoman import (
    Answer,
    LimitReached,
    LoginRequired,
    PermissionDenied,
    ProcessExited,
    RunStarted,
    TimedOut,
)
from dragoman._model.result import Verdict
from dragoman.testing import Hold, error, script, turn
from tests.real.capability_marks import ways
from tests.real.driving import Lines, Pinned, playing
from tests.real.test_failures import hasty

pytestmark = pytest.mark.anyio

DRIVEN = [
    ("claude", "claude_stream"),
    ("codex", "codex_app"),
    ("codex", "codex_exec"),
    ("gemini", "acp"),
    ("gemini", "gemini_stream"),
]
ASKING = [("claude", "claude_stream"), ("codex", "codex_app"), ("gemini", "acp")]
"""Where there is somebody to ask."""


async def failure(agent: Pinned, lines: Lines, dialect: str, **fields: Any) -> tuple[type, str]:
    """What `check` raises, and the outcome; that the result's error is of the same kind is a part of the test."""
    with pytest.raises(dragoman.DragomanError) as raised:
        await agent.ask(lines, "Go.", dialect=dialect, check=True, **fields)
    result = raised.value.result
    assert result is not None
    assert result.error is not None
    assert result.error.kind == raised.value.kind
    assert raised.value.agent == agent.name
    return type(raised.value), result.outcome


NO_KEY = {
    "claude": {"ANTHROPIC_API_KEY": ""},
    "codex": {"SCRIPTED_API_KEY": ""},
    "gemini": {"GEMINI_API_KEY": ""},
}


@ways(*DRIVEN)
async def test_nobody_is_logged_in(agent: Pinned, dialect: str) -> None:
    with pytest.raises(LoginRequired, match="API_KEY") as raised:
        await agent.ask(["Never said."], "Go.", dialect=dialect, env=NO_KEY[agent.name])
    assert raised.value.kind == "loginRequired"


@ways(("gemini", "acp"))
async def test_nobody_is_logged_in_to_a_session_that_is_waited_for(agent: Pinned, dialect: str) -> None:
    async with agent.open([], dialect=dialect, env=NO_KEY[agent.name]) as run:
        with pytest.raises(LoginRequired, match="; run `gemini` and choose how to log in"):
            await run.session.ready()
        with pytest.raises(LoginRequired, match="no session could be opened"):
            run.session.prompt("Go.")


@ways(*DRIVEN, ("codex-acp", "acp"))
async def test_the_key_is_not_accepted(agent: Pinned, dialect: str) -> None:
    if agent.name == "gemini":
        hasty(agent)
    env = {"CLAUDE_CODE_MAX_RETRIES": "1"} if agent.name == "claude" else {}
    with pytest.raises(LoginRequired, match="not logged in, or its key is not accepted") as raised:
        await agent.ask(script([error(401, "not today")], repeat_last=True), "Go.", dialect=dialect, env=env)
    assert raised.value.result is not None


@ways(*ASKING)
async def test_a_denial_ends_the_turn(agent: Pinned, dialect: str) -> None:
    lines = [agent.write("made.txt"), "Well."]
    stop = lambda request: Answer(decision="deny", interrupt=True)  # noqa: E731
    assert await failure(agent, lines, dialect, approve=stop) == (PermissionDenied, "cancelled")
    assert agent.files == []


@ways(*DRIVEN)
async def test_a_limit_is_reached(agent: Pinned, dialect: str) -> None:
    """Two calls where one is allowed."""
    again = turn(agent.tools.shell("echo again"))
    lines = [again, again, again, "Done."]
    assert await failure(agent, lines, dialect, approve="all", max_tool_calls=1) == (LimitReached, "limited")


@ways(*DRIVEN)
async def test_time_is_up(agent: Pinned, dialect: str) -> None:
    held = [turn("No.", hold=Hold("never"))]
    assert await failure(agent, held, dialect, timeout=6.0) == (TimedOut, "timeout")


@ways(*DRIVEN)
async def test_the_process_dies(agent: Pinned, dialect: str) -> None:
    with anyio.fail_after(60), playing([turn("No.", hold=Hold("never"))]) as model:
        fields = agent.fields(model, dialect=dialect)
        async with dragoman.open(agent.name, prompt="Go.", once=True, **fields) as session:
            stream = session.events()
            events = [await anext(stream)]
            assert isinstance(events[0], RunStarted)
            assert events[0].pid is not None
            await anyio.to_thread.run_sync(model.wait_for_hold, "never")
            os.kill(events[0].pid, signal.SIGKILL)
            events += [event async for event in stream]
    verdict = Verdict(events)
    assert verdict.error is not None
    assert verdict.error.kind == "processExitError"
    assert type(verdict.raised(agent.name)) is ProcessExited
