"""Sessions that outlive their process, and processes with several sessions: resumed, copied, lost and found."""

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman import (
    Capability,
    CommandEnded,
    Delta,
    Event,
    Fork,
    Message,
    ProcessExited,
    Prompt,
    RunEnded,
    RunStarted,
    SessionNotFound,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageUpdated,
)
from dragoman._agents.codex import AGENT
from dragoman.testing import Hold, ScriptedModel, Step, Usage, script, tool, turn
from tests.real.capability_marks import exercises
from tests.real.driving import Events, Pinned, Watched, alive, eventually, waits_forever

pytestmark = pytest.mark.anyio

SEVEN = turn("Seven.", usage=Usage(input=700, cache_read=70, cache_write=7, output=77))
EIGHT = turn("Eight.", usage=Usage(input=800, cache_read=80, cache_write=8, output=88))
NOBODY = "11111111-2222-7333-8444-555555555555"


def on_disk(codex: Pinned) -> dict[str, bytes]:
    """The files of its sessions, by session id."""
    [sessions] = AGENT.session_dirs({"HOME": str(codex.home)})
    return {path.stem[-36:]: path.read_bytes() for path in sessions.rglob("rollout-*.jsonl")}


def used(ended: TurnEnded) -> tuple[int | None, ...]:
    usage = ended.usage
    assert usage is not None
    return usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens


# --- one after the other -----------------------------------------------------------------------------------


@exercises(Capability.RESUME)
async def test_resume(codex: Pinned) -> None:
    with ScriptedModel([SEVEN, EIGHT]) as model:
        async with codex.open(model) as first:
            one = await first.turn("Count to seven.")
        async with codex.open(model, resume=first.session.id) as second:
            two = await second.turn("Go on.")
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert texts[-1] == "Go on."
    assert two.said() == ["Eight."]
    assert second.session.id == first.session.id
    assert second.events.one(SessionStarted).resumed
    assert second.events.one(RunStarted).resume == first.session.id
    assert list(on_disk(codex)) == [first.session.id]
    # Of the turn, though the agent counts the whole thread.
    assert used(one.ended) == (777, 70, 7, 77)
    assert used(two.ended) == (888, 80, 8, 88)
    total = two.of(UsageUpdated, scope="session")[-1].usage
    assert total is not None
    assert total.output_tokens == 165


@exercises(Capability.FORK)
async def test_fork(codex: Pinned) -> None:
    with ScriptedModel([SEVEN, EIGHT]) as model:
        async with codex.open(model) as first:
            await first.turn("Count to seven.")
        before = on_disk(codex)
        async with codex.open(model, resume=first.session.id, fork=True) as second:
            said = await second.turn("Go on.")
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert said.said() == ["Eight."]
    old, new = str(first.session.id), str(second.session.id)
    assert old != new
    after = on_disk(codex)
    assert after.keys() == {old, new}
    assert after[old] == before[old]
    assert b"Go on." in after[new]
    assert {event.session for event in said} == {new}
    started = second.events.one(SessionStarted)
    assert (started.session, started.ext["codex.forkedFromId"]) == (new, old)
    assert used(said.ended) == (888, 80, 8, 88)


@exercises(Capability.LIVE_FORK)
async def test_fork_while_it_runs(codex: Pinned) -> None:
    async with codex.open([SEVEN, EIGHT, "Nine."]) as run:
        await run.turn("Count to seven.")
        answer = await run.session.send(Fork())
        assert answer is not None
        assert (answer.command, answer.ok) == ("fork", True)
        copy = answer.result["sessionId"]
        assert copy != run.session.id
        await run.session.send(Prompt(text="Go on.", session=copy))
        eight = await run.until(TurnEnded, session=copy)
        nine = await run.turn("And the old one?")
        _, forked, old = run.model.requests_of("main")
    assert eight.text == "Eight."
    assert used(eight) == (888, 80, 8, 88)
    assert nine.said() == ["Nine."]
    assert {event.session for event in nine} == {run.session.id}
    assert "Count to seven." in forked.texts
    assert "Go on." in forked.texts
    assert "Count to seven." in old.texts
    assert "Go on." not in old.texts
    assert {started.session for started in run.events.of(SessionStarted)} == {run.session.id, copy}


async def test_resume_of_an_unknown_session(codex: Pinned) -> None:
    async with codex.open(["Never said."], resume=NOBODY) as run:
        said = await run.turn("Go on.")
        assert run.model.requests_of("main") == []
    assert said.ended.outcome == "failed"
    assert said.ended.error is not None
    assert NOBODY in said.ended.error.message
    assert run.events.one(RunEnded).outcome == "failed"
    assert on_disk(codex) == {}


# --- side by side ------------------------------------------------------------------------------------------


@exercises(Capability.MANY_SESSIONS)
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_two_sessions_at_once(codex: Pinned, tmp_path: Path) -> None:
    """Both are at work at the same time: each waits until the other has begun."""
    places = {name: tmp_path / name for name in ("left", "right")}
    for place in places.values():
        place.mkdir()
    routes: dict[str, list[Step]] = {
        name: [turn(tool("exec_command", cmd="pwd > here"), hold=Hold(name)), f"This was the {name}."]
        for name in places
    }
    said: dict[str, Events] = {}
    async with codex.connect(script(routes=routes), approve="all") as company:
        sessions = {name: await company.session(cwd=place) for name, place in places.items()}
        assert len({watched.session.id for watched in sessions.values()}) == 2

        async def work(name: str) -> None:
            said[name] = await sessions[name].turn(f"[[{name}]] Where are you?")

        async with anyio.create_task_group() as tasks:
            for name in sessions:
                tasks.start_soon(work, name)
            for name in sessions:
                await sessions[name].held(name)
            for name in sessions:
                company.model.open(name)
    for name, place in places.items():
        assert (place / "here").read_text() == f"{place}\n"
        assert said[name].said() == [f"This was the {name}."]
        assert said[name].ended.outcome == "completed"
        assert used(said[name].ended) == (320, 100, 20, 40)
        assert {event.session for event in said[name]} == {sessions[name].session.id}
    kinds = [type(event) for event in company.events if isinstance(event, TurnStarted | TurnEnded)]
    assert kinds == [TurnStarted, TurnStarted, TurnEnded, TurnEnded]
    assert company.events.one(RunEnded).outcome == "completed"


async def test_a_session_is_closed_and_the_other_goes_on(codex: Pinned) -> None:
    lines = script(["Still here."], routes={"left": [turn("Never said.", hold=Hold("never"))]})
    async with codex.connect(lines) as company:
        left, right = await company.session(), await company.session()
        stream = left.session.prompt("[[left]] Hello.")
        await left.held("never")
        await left.session.close()
        assert Events([event async for event in stream]).ended.outcome == "cancelled"
        said = await right.turn("And you?")
    assert said.said() == ["Still here."]
    assert company.events.one(RunEnded).outcome == "completed"


async def test_an_earlier_session_beside_a_new_one(codex: Pinned) -> None:
    with ScriptedModel(script([SEVEN, EIGHT], routes={"new": ["I am new."]})) as model:
        async with codex.open(model) as first:
            await first.turn("Count to seven.")
        async with codex.connect(model) as company:
            new = await company.session()
            old = await company.session(resume=first.session.id)
            assert (await new.turn("[[new]] Who are you?")).said() == ["I am new."]
            two = await old.turn("Go on.")
            with pytest.raises(SessionNotFound, match=NOBODY):
                await company.session(resume=NOBODY)
    assert two.said() == ["Eight."]
    assert used(two.ended) == (888, 80, 8, 88)
    assert old.session.id == first.session.id
    assert company.events.one(SessionStarted, session=old.session.id).resumed
    assert [answer.ok for answer in company.events.of(CommandEnded, command="open_session")] == [
        True,
        True,
        False,
    ]


# --- cut off -----------------------------------------------------------------------------------------------


async def kill_in_turn_2(run: Watched, doing: type[Event], ready: Any = lambda: True) -> Events:
    """The agent ends as hard as it can, in the middle of its second turn."""
    await run.turn("Count to seven.")
    stream = run.session.prompt("Go on.")
    await run.until(doing, turn=2)
    await eventually(ready)
    pid = run.events.one(RunStarted).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    said = Events([event async for event in stream])
    with pytest.raises(ProcessExited, match="SIGKILL"):
        run.session.prompt("Are you there?")
    assert not alive(pid)
    return said


async def test_killed_while_it_speaks_and_resumed(codex: Pinned) -> None:
    long = turn("These words came, these did not.", chunk=17, hold=Hold("never", after=4))
    with ScriptedModel(["Seven.", long, EIGHT]) as model:
        async with codex.open(model) as run:
            cut = await kill_in_turn_2(run, Delta)
        async with codex.open(model, resume=run.session.id) as again:
            said = await again.turn("Are you there?")
        texts = model.requests_of("main")[2].texts
    assert cut.ended.outcome == "truncated"
    assert cut.said() == ["These words came,"]
    assert cut.one(Message, role="assistant").synthesized
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.signal, ended.exit_code) == ("truncated", "SIGKILL", None)
    assert said.said() == ["Eight."]
    assert "Count to seven." in texts
    assert used(said.ended) == (888, 80, 8, 88)


async def test_killed_while_it_works_and_resumed(codex: Pinned) -> None:
    pid_file = codex.cwd / "pid"
    command = tool("exec_command", cmd=waits_forever(pid_file), yield_time_ms=30_000)
    with ScriptedModel(["Seven.", command, "Back again."]) as model:
        async with codex.open(model, approve="all") as run:
            cut = await kill_in_turn_2(run, ToolStarted, pid_file.exists)
        assert not alive(int(pid_file.read_text()))
        async with codex.open(model, resume=run.session.id) as again:
            said = await again.turn("Are you there?")
    assert cut.ended.outcome == "truncated"
    assert run.events.one(ToolEnded).status == "abandoned"
    assert run.events.one(RunEnded).outcome == "truncated"
    assert said.said() == ["Back again."]
