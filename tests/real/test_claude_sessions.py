"""Sessions that outlive their process: resumed, copied, lost and found."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress

import pytest

from dragoman import (
    Capability,
    Delta,
    Event,
    ProcessExited,
    RunEnded,
    RunStarted,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from dragoman._agents.claude import AGENT
from dragoman.testing import Hold, ScriptedModel, tool, turn
from tests.real.capability_marks import exercises
from tests.real.driving import Events, Pinned, Watched, alive, eventually, waits_forever

pytestmark = pytest.mark.anyio


def on_disk(claude: Pinned) -> dict[str, bytes]:
    """The files of its sessions, by session id."""
    [projects] = AGENT.session_dirs({"HOME": str(claude.home)})
    return {path.stem: path.read_bytes() for path in projects.glob("*/*.jsonl")}


@exercises(Capability.RESUME)
async def test_resume(claude: Pinned) -> None:
    with ScriptedModel(["Seven.", "Eight."]) as model:
        async with claude.open(model) as first:
            await first.turn("Count to seven.")
        async with claude.open(model, resume=first.session.id) as second:
            said = await second.turn("Go on.")
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert texts[-1] == "Go on."
    assert said.said() == ["Eight."]
    assert second.session.id == first.session.id
    assert second.events.one(SessionStarted).resumed
    assert second.events.one(RunStarted).resume == first.session.id
    assert list(on_disk(claude)) == [first.session.id]
    assert second.events.one(TurnEnded).cost_usd == pytest.approx(first.events.one(TurnEnded).cost_usd)


@exercises(Capability.FORK)
async def test_fork(claude: Pinned) -> None:
    with ScriptedModel(["Seven.", "Eight."]) as model:
        async with claude.open(model) as first:
            await first.turn("Count to seven.")
        before = on_disk(claude)
        async with claude.open(model, resume=first.session.id, fork=True) as second:
            said = await second.turn("Go on.")
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert said.said() == ["Eight."]
    old, new = first.session.id, second.session.id
    assert old is not None
    assert new is not None
    assert old != new
    after = on_disk(claude)
    assert after.keys() == {old, new}
    assert after[old] == before[old]
    assert b"Count to seven." in after[new]
    assert {event.session for event in said} == {new}


async def test_resume_of_an_unknown_session(claude: Pinned) -> None:
    nobody = "11111111-2222-4333-8444-555555555555"
    async with claude.open(["Never said."], resume=nobody) as run:
        said = await run.turn("Go on.")
        assert run.model.requests_of("main") == []
    assert said.ended.outcome == "failed"
    assert said.ended.error is not None
    assert "No conversation found" in said.ended.error.message
    assert nobody in said.ended.error.message
    assert run.events.one(RunEnded).outcome == "failed"


def always() -> bool:
    return True


async def kill_in_turn_2(
    claude: Pinned, run: Watched, doing: type[Event], ready: Callable[[], bool] = always
) -> Events:
    """The agent ends as hard as it can, in the middle of its second turn. (What it writes to disk lags behind.)"""
    await run.turn("Count to seven.")
    stream = run.session.prompt("Go on.")
    await run.until(doing, turn=2)
    await eventually(lambda: b"Seven." in on_disk(claude).get(str(run.session.id), b""))
    await eventually(ready)
    pid = run.events.one(RunStarted).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    said = Events([event async for event in stream])
    with pytest.raises(ProcessExited, match="SIGKILL"):
        run.session.prompt("Are you there?")
    assert not alive(pid)
    return said


async def test_killed_while_it_speaks_and_resumed(claude: Pinned) -> None:
    long = turn("These words came, these did not.", chunk=17, hold=Hold("never", after=4))
    with ScriptedModel(["Seven.", long, "Back again."]) as model:
        async with claude.open(model) as run:
            cut = await kill_in_turn_2(claude, run, Delta)
        async with claude.open(model, resume=run.session.id) as again:
            said = await again.turn("Are you there?")
        texts = model.requests_of("main")[2].texts
    assert cut.ended.outcome == "truncated"
    assert cut.said() == ["These words came,"]
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.signal, ended.exit_code) == ("truncated", "SIGKILL", None)
    assert said.said() == ["Back again."]
    assert "Count to seven." in texts


async def test_killed_while_it_works_and_resumed(claude: Pinned) -> None:
    pid_file = claude.cwd / "pid"
    with ScriptedModel(["Seven.", tool("Bash", command=waits_forever(pid_file)), "Back again."]) as model:
        async with claude.open(model, approve="all") as run:
            cut = await kill_in_turn_2(claude, run, ToolStarted, pid_file.exists)
        async with claude.open(model, resume=run.session.id) as again:
            said = await again.turn("Are you there?")
    with suppress(ProcessLookupError):
        os.kill(int(pid_file.read_text()), signal.SIGKILL)  # the command is nobody's child now
    assert cut.ended.outcome == "truncated"
    assert run.events.one(ToolEnded).status == "abandoned"
    assert run.events.one(RunEnded).outcome == "truncated"
    assert said.said() == ["Back again."]
