"""Sessions that outlive their process, and processes with several sessions: resumed, played back, copied, lost, cut
off, and side by side."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

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
)
from dragoman._agents import AGENTS
from dragoman.testing import Hold, ScriptedModel, Step, Usage, script, turn
from tests.real.capability_marks import ACP_AGENTS, by, exercises
from tests.real.driving import Events, Pinned, Watched, alive, eventually, waits_forever

pytestmark = pytest.mark.anyio

SEVEN = turn("Seven.", usage=Usage(input=700, cache_read=70, cache_write=7, output=77))
EIGHT = turn("Eight.", usage=Usage(input=800, cache_read=80, cache_write=8, output=88))

NOBODY = {
    "claude": "11111111-2222-4333-8444-555555555555",
    "codex": "11111111-2222-7333-8444-555555555555",
    "gemini": "11111111-2222-4333-8444-555555555555",
    "opencode": "ses_111111111111AAAAAAAAAAAAAA",
    "codex-acp": "11111111-2222-7333-8444-555555555555",
}
"""Session ids of the right form."""


def on_disk(agent: Pinned) -> dict[str, bytes]:
    """The files of its sessions, by session id: claude's and codex's."""
    [folder] = AGENTS[agent.name].session_dirs({"HOME": str(agent.home)})
    return {path.stem[-36:]: path.read_bytes() for path in folder.rglob("*.jsonl")}


def used(ended: TurnEnded) -> tuple[int | None, ...]:
    usage = ended.usage
    assert usage is not None
    return usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens


def counted(agent: Pinned, input: int, read: int, write: int, output: int) -> tuple[int | None, ...]:
    """What is used, as far as this version counts it."""
    return input, read, None if agent.differs("cache_writes_are_not_counted") else write, output


# --- one after the other -------------------------------------------------------------------------------------


def age(agent: Pinned) -> None:
    """Gemini CLI 0.61.0 empties a session that is loaded in the minute in which it began."""
    for number, path in enumerate(sorted(agent.home.glob(".gemini/tmp/*/chats/session-*"))):
        path.rename(path.with_name(f"session-2020-01-01T00-{number:02}-{path.name[-14:]}"))


@exercises(Capability.RESUME)
async def test_resume(agent: Pinned) -> None:
    with ScriptedModel([SEVEN, EIGHT, "Nine."]) as model:
        async with agent.open(model) as first:
            one = await first.turn("Count to seven.")
        age(agent)
        if agent.differs("sessions_come_back_empty_over_acp"):
            async with agent.open(model, resume=first.session.id) as second:
                with pytest.raises(SessionNotFound, match="came back without its history"):
                    await second.turn("Go on.")
            assert len(model.requests_of("main")) == 1
            return
        async with agent.open(model, resume=first.session.id) as second:
            two = await second.turn("Go on.")
        texts = model.requests_of("main")[1].texts
        assert "Count to seven." in texts
        assert texts[-1] == "Go on."
        assert two.said() == ["Eight."]
        assert second.session.id == first.session.id
        assert second.events.one(SessionStarted).resumed
        assert second.events.one(RunStarted).resume == first.session.id
        assert len(second.events.of(TurnStarted)) == 1
        if agent.name in ACP_AGENTS:
            await play_back(agent, model, second)
    if agent.name in ("claude", "codex"):
        assert list(on_disk(agent)) == [first.session.id]
        # Of the turn, though the agent counts the whole thread.
        assert used(one.ended) == counted(agent, 777, 70, 7, 77)
        assert used(two.ended) == counted(agent, 888, 80, 8, 88)
    if agent.name == "claude":
        assert one.ended.cost_usd is not None
        share = pytest.approx(one.ended.cost_usd * 8 / 7, rel=0.1)
        assert two.ended.cost_usd == (None if agent.differs("a_resumed_turn_has_no_cost") else share)


async def play_back(agent: Pinned, model: ScriptedModel, second: Watched) -> None:
    """Quietly where that can be had: Gemini CLI plays the history back in any case."""
    quiet = [message.text for message in second.events.of(Message, replay=True)]
    assert quiet == [] if agent.name != "gemini" else quiet[-1] == "Seven."
    age(agent)
    async with agent.open(model, resume=second.session.id, native={"replay": True}) as third:
        nine = await third.turn("And on.")
    assert nine.said() == ["Nine."]
    assert third.session.id == second.session.id
    assert third.events.one(SessionStarted).resumed
    assert len(third.events.of(TurnStarted)) == 1
    texts = model.requests_of("main")[2].texts
    assert {"Count to seven.", "Go on."} <= set(texts)
    assert texts[-1] == "And on."
    spoken = ["Count to seven.", "Seven.", "Go on.", "Eight."]
    history = [message.text for message in third.events.of(Message, replay=True)]
    assert [text for text in history if text in spoken] == spoken


@exercises(Capability.FORK)
@by("claude", "codex", "opencode", "codex-acp")
async def test_fork(agent: Pinned) -> None:
    kept = agent.name in ("claude", "codex")
    with ScriptedModel([SEVEN, EIGHT]) as model:
        async with agent.open(model) as first:
            await first.turn("Count to seven.")
        before = on_disk(agent) if kept else {}
        async with agent.open(model, resume=first.session.id, fork=True) as second:
            said = await second.turn("Go on.")
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert said.said() == ["Eight."]
    old, new = str(first.session.id), str(second.session.id)
    assert old != new
    assert {event.session for event in said} == {new}
    if kept:
        after = on_disk(agent)
        assert after.keys() == {old, new}
        assert after[old] == before[old]
        assert b"Go on." in after[new]
        assert used(said.ended) == counted(agent, 888, 80, 8, 88)
    if agent.name == "claude":
        assert b"Count to seven." in after[new]
    if agent.name == "codex":
        started = second.events.one(SessionStarted)
        assert (started.session, started.ext["codex.forkedFromId"]) == (new, old)


@exercises(Capability.LIVE_FORK)
@by("codex", "opencode", "codex-acp")
async def test_fork_while_it_runs(agent: Pinned) -> None:
    async with agent.open([SEVEN, EIGHT, "Nine."]) as run:
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
    assert nine.said() == ["Nine."]
    assert {event.session for event in nine} == {run.session.id}
    assert {"Count to seven.", "Go on."} <= set(forked.texts)
    assert "Count to seven." in old.texts
    assert "Go on." not in old.texts
    if agent.name == "codex":
        assert used(eight) == counted(agent, 888, 80, 8, 88)
        assert {started.session for started in run.events.of(SessionStarted)} == {run.session.id, copy}


# --- side by side --------------------------------------------------------------------------------------------


async def work_side_by_side(agent: Pinned, tmp_path: Path) -> None:
    """Two sessions are at work at the same time: each waits until the other has begun."""
    places = {name: tmp_path / name for name in ("left", "right")}
    for place in places.values():
        place.mkdir()
    routes: dict[str, list[Step]] = {
        name: [turn(agent.tools.shell("pwd > here"), hold=Hold(name)), f"This was the {name}."]
        for name in places
    }
    said: dict[str, Events] = {}
    async with agent.connect(script(routes=routes), approve="all") as company:
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
        with pytest.raises(SessionNotFound):
            await company.session(resume=NOBODY[agent.name])
        third = await company.session(cwd=tmp_path / "left")
        await third.session.close()
        assert len(company.connection.sessions) == 2
    for name, place in places.items():
        assert (place / "here").read_text() == f"{place}\n"
        assert said[name].said() == [f"This was the {name}."]
        assert said[name].ended.outcome == "completed"
        assert {event.session for event in said[name]} == {sessions[name].session.id}
        if agent.name == "codex":
            assert used(said[name].ended) == counted(agent, 320, 100, 20, 40)
    kinds = [type(event) for event in company.events if isinstance(event, TurnStarted | TurnEnded)]
    assert kinds == [TurnStarted, TurnStarted, TurnEnded, TurnEnded]
    opened = company.events.of(CommandEnded, command="open_session")
    assert [answer.ok for answer in opened] == [True, True, False, True]
    assert company.events.one(RunEnded).outcome == "completed"


@exercises(Capability.MANY_SESSIONS)
@by("codex", *ACP_AGENTS)
async def test_two_sessions_at_once(agent: Pinned, tmp_path: Path) -> None:
    await work_side_by_side(agent, tmp_path)


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_two_sessions_at_once_on_trio(codex: Pinned, tmp_path: Path) -> None:
    await work_side_by_side(codex, tmp_path)


@by("codex", "gemini", "codex-acp")
async def test_a_session_is_closed_and_the_other_goes_on(agent: Pinned) -> None:
    lines = script(["Still here."], routes={"left": [turn("Never said.", hold=Hold("never"))]})
    async with agent.connect(lines) as company:
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
            with pytest.raises(SessionNotFound, match=NOBODY["codex"]):
                await company.session(resume=NOBODY["codex"])
    assert two.said() == ["Eight."]
    assert used(two.ended) == counted(codex, 888, 80, 8, 88)
    assert old.session.id == first.session.id
    assert company.events.one(SessionStarted, session=old.session.id).resumed
    opened = company.events.of(CommandEnded, command="open_session")
    assert [answer.ok for answer in opened] == [True, True, False]


# --- cut off -------------------------------------------------------------------------------------------------


async def kill_in_turn_2(
    agent: Pinned, run: Watched, doing: type[Event], ready: Callable[[], bool] | None = None
) -> Events:
    """The agent ends as hard as it can, in the middle of its second turn. (What it writes to disk lags behind.)"""
    await run.turn("Count to seven.")
    stream = run.session.prompt("Go on.")
    await run.until(doing, turn=2)
    await eventually(lambda: b"Seven." in on_disk(agent).get(str(run.session.id), b""))
    if ready is not None:
        await eventually(ready)
    pid = run.events.one(RunStarted).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    said = Events([event async for event in stream])
    with pytest.raises(ProcessExited, match="SIGKILL"):
        run.session.prompt("Are you there?")
    assert not alive(pid)
    return said


@by("claude", "codex")
async def test_killed_while_it_speaks_and_resumed(agent: Pinned) -> None:
    long = turn("These words came, these did not.", chunk=17, hold=Hold("never", after=4))
    with ScriptedModel(["Seven.", long, EIGHT]) as model:
        async with agent.open(model) as run:
            cut = await kill_in_turn_2(agent, run, Delta)
        async with agent.open(model, resume=run.session.id) as again:
            said = await again.turn("Are you there?")
        texts = model.requests_of("main")[2].texts
    assert cut.ended.outcome == "truncated"
    assert cut.said() == ["These words came,"]
    assert cut.one(Message, role="assistant").synthesized
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.signal, ended.exit_code) == ("truncated", "SIGKILL", None)
    assert said.said() == ["Eight."]
    assert "Count to seven." in texts
    assert used(said.ended) == counted(agent, 888, 80, 8, 88)


@by("claude", "codex")
async def test_killed_while_it_works_and_resumed(agent: Pinned) -> None:
    pid_file = agent.cwd / "pid"
    with ScriptedModel(["Seven.", agent.tools.shell(waits_forever(pid_file)), "Back again."]) as model:
        async with agent.open(model, approve="all") as run:
            cut = await kill_in_turn_2(agent, run, ToolStarted, pid_file.exists)
        if agent.name == "codex":
            assert not alive(int(pid_file.read_text()))
        async with agent.open(model, resume=run.session.id) as again:
            said = await again.turn("Are you there?")
    with suppress(ProcessLookupError):
        os.kill(int(pid_file.read_text()), signal.SIGKILL)  # claude's command is nobody's child now
    assert cut.ended.outcome == "truncated"
    assert run.events.one(ToolEnded).status == "abandoned"
    assert run.events.one(RunEnded).outcome == "truncated"
    assert said.said() == ["Back again."]
