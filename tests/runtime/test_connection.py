"""Several sessions in one process, each for itself."""

import os
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest

from dragoman import blocking
from dragoman._contract.invariants import broken
from dragoman._model.errors import AgentFailed, ProcessExited, SessionNotFound, Unsupported, UsageError
from dragoman._model.events import (
    Event,
    Message,
    PermissionResolved,
    RunEnded,
    RunStarted,
    SessionStarted,
    TurnEnded,
)
from dragoman._model.frames import Exit
from dragoman._policy import trust
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.connection import Connection
from dragoman._runtime.requests import LATER, Handlers, Later
from dragoman._runtime.session import Session
from dragoman._wire.machine import play
from dragoman.api import connect
from tests.runtime.recorders import Frames
from tests.runtime.toy_agent import PLURAL, TOY
from tests.runtime.toy_dialect import MANY, ToyMachine, toy_plan

pytestmark = pytest.mark.anyio


def said(events: list[Event]) -> list[str | None]:
    return [event.text for event in events if isinstance(event, Message) and event.role == "assistant"]


def plural(**options: Any) -> Connection:
    return Connection(toy_plan("plural.py", capabilities=MANY), **options)


async def begin(session: Session, orders: str) -> None:
    """Begin a turn and leave it at its first answer."""
    async for event in session.prompt(orders):
        if said([event]):
            return


async def test_two_sessions_work_at_the_same_time(tmp_path: Path) -> None:
    async with connect(PLURAL) as agent:
        one, two = await agent.session(tmp_path), await agent.session(cwd=".")
        assert {one.id, two.id} == set(agent.sessions) == {"s-1", "s-2"}
        await begin(one, "say working\nwait")
        assert said([event async for event in two.prompt("say free")]) == ["free"]
        held = one.prompt("say later")
        assert said([event async for event in two.prompt("say still free")]) == ["still free"]
        await one.interrupt()
        events = [event async for event in held]
        assert said(events) == ["later"]
        assert {event.session for event in events} == {"s-1"}
    assert agent.exit is not None
    assert (agent.exit.code, agent.exit.reason) == (0, "closed")
    assert agent.recording_error is None


async def test_each_hears_its_own_and_the_connection_hears_all(tmp_path: Path) -> None:
    async with plural() as agent:
        everything = agent.events()
        one, two = await agent.session(tmp_path), await agent.session(resume="old")
        first, second = one.events(), two.events()
        async with anyio.create_task_group() as tasks:
            for session in (one, two):
                tasks.start_soon(begin, session, f"say in {session.id}")
        async for event in second:
            if isinstance(event, TurnEnded):
                break
        async for _ in one.prompt("say more"):
            pass
    heard = [event async for event in first]
    assert isinstance(heard[0], SessionStarted)
    assert heard[0].cwd == str(tmp_path)
    assert said(heard) == ["in s-1", "more"]
    assert {event.session for event in heard} == {"s-1"}
    assert not any(isinstance(event, RunStarted | RunEnded) for event in heard)
    events = [event async for event in everything]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[-1], RunEnded)
    assert broken(events) == []


async def test_the_history_of_an_earlier_session_is_heard_from_it() -> None:
    async with plural() as agent:
        old = await agent.session(resume="old")
        stream = old.events()
        await begin(old, "say now")
    assert said([event async for event in stream]) == ["what was said in old", "now"]
    assert old.id == "old"


async def test_closing_one_leaves_the_others() -> None:
    async with plural() as agent:
        one, two = await agent.session(), await agent.session()
        events = one.events()
        await begin(one, "say working\nwait")
        unheard = one.prompt("say never")
        await one.close()
        await one.close()
        [end] = [event async for event in events if isinstance(event, TurnEnded)]
        assert (end.outcome, end.synthesized) == ("cancelled", False)
        with pytest.raises(UsageError, match="closed before the turn began"):
            await unheard.__anext__()
        with pytest.raises(UsageError, match="session s-1 is closed"):
            one.prompt("say too late")
        assert said([event async for event in two.prompt("say on")]) == ["on"]
        async with two:
            pass
        assert agent.sessions == {}
        assert agent.exit is None


async def test_the_handler_is_told_which_session_asks(tmp_path: Path) -> None:
    asked = []

    async def approve(request: PermissionRequest) -> bool:
        asked.append((request.session, request.cwd))
        return request.session == "s-2"

    async with plural(handlers=Handlers(approve=approve)) as agent:
        one, two = await agent.session(), await agent.session(tmp_path)
        assert said([event async for event in one.prompt("ask Bash")]) == ["deny"]
        assert said([event async for event in two.prompt("ask Bash")]) == ["allow"]
    assert asked == [("s-1", os.getcwd()), ("s-2", str(tmp_path))]


async def test_a_request_of_a_session_that_is_not_ours_is_denied() -> None:
    """Here one that we have left; the agent goes on with it."""
    async with plural(handlers=Handlers(approve=lambda request: True)) as agent:
        one = await agent.session()
        everything = agent.events()
        stream = one.prompt("ask Bash")
        agent._requests.hosts.clear()
        assert said([event async for event in stream]) == ["deny"]
        async for event in everything:
            if isinstance(event, PermissionResolved):
                assert event.rule == "no handler"
                break


async def test_stopping_interrupts_every_turn() -> None:
    recorder = Frames()
    async with plural(recorder=recorder) as agent:
        sessions = [await agent.session() for _ in range(3)]
        everything = agent.events()
        for session in sessions:
            await begin(session, "say working\nwait")
    ends = [event async for event in everything if isinstance(event, TurnEnded)]
    assert [(end.outcome, end.synthesized) for end in ends] == [("cancelled", False)] * 3
    assert agent.result is not None
    assert agent.result.outcome == "cancelled"


async def test_a_recording_of_several_sessions_replays_alike() -> None:
    recorder = Frames()
    async with plural(recorder=recorder) as agent:
        everything = agent.events()
        one, two = await agent.session(), await agent.session()
        await begin(one, "say working\nwait")
        async for _ in two.prompt("say free"):
            pass
    assert recorder.launch is not None
    exit = recorder.exit or Exit()
    replayed = list(play(recorder, ToyMachine(), recorder.launch, lambda: exit))
    assert replayed == [event async for event in everything]


async def test_a_process_that_dies_takes_all_sessions_along() -> None:
    async with plural() as agent:
        one, two = await agent.session(), await agent.session()
        await begin(two, "say working\nwait")
        events = two.events()
        async for _ in one.prompt("exit 5"):
            pass
        assert [type(event) async for event in events] == [TurnEnded]
        with pytest.raises(ProcessExited, match="code 5"):
            two.prompt("say hello")
        with pytest.raises(ProcessExited):
            await agent.session()
        await two.close()


async def test_what_cannot_be_opened_says_why() -> None:
    async with plural() as agent:
        with pytest.raises(SessionNotFound, match="does not open session unknown: no such session"):
            await agent.session(resume="unknown")
        old = await agent.session(resume="old")
        with pytest.raises(UsageError, match="session old is open already"):
            await agent.session(resume="old")
        assert said([event async for event in old.prompt("say fine")]) == ["fine"]


async def test_an_agent_that_refuses_or_dies_opens_nothing() -> None:
    async with connect(PLURAL, extra_args=["refuses"]) as agent:
        with pytest.raises(AgentFailed, match="sign in first"):
            await agent.session()
        with pytest.raises(AgentFailed, match="sign in first"):
            await agent.session()
    async with connect(PLURAL, extra_args=["dies"]) as agent:
        with pytest.raises(ProcessExited, match="before it was ready"):
            await agent.session()


async def test_an_agent_with_one_session_per_process_is_refused_at_once() -> None:
    with pytest.raises(Unsupported, match="toy cannot do this: many_sessions"):
        connect(TOY)
    with pytest.raises(UsageError, match="a connection has no prompt"):
        connect(PLURAL, prompt="say hello")


def test_a_blocking_connection(tmp_path: Path) -> None:
    def by_hand(request: PermissionRequest) -> Literal[Later.LATER]:
        session = one if request.session == "s-1" else two
        assert session.id == request.session
        assert session.answer(request.id, "allow" if session is one else "deny")
        return LATER

    with blocking.connect(PLURAL, approve=by_hand) as agent:
        everything = agent.events()
        one, two = agent.session(tmp_path), agent.session()
        assert said(list(one.prompt("ask Bash"))) == ["allow"]
        with two:
            assert said(list(two.prompt("ask Bash"))) == ["deny"]
        with pytest.raises(UsageError, match="closed"):
            two.prompt("say hello")
        assert said(list(one.prompt("say on"))) == ["on"]
        assert agent.agent == one.agent == "toy"
        assert agent.capabilities == MANY
        agent.close()
    assert isinstance(list(everything)[-1], RunEnded)
    assert agent.result is not None
    assert agent.exit is not None
    assert agent.recording_error is None


async def test_a_folder_that_is_not_trusted_gets_no_session_where_it_would_take_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process serves several folders: what it is not kept from in the first, it would run in every other."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / ".hooks").touch()
    plan = toy_plan("plural.py", capabilities=MANY, cwd=str(tmp_path / "one"))
    plan.unheld = (".hooks",)
    async with Connection(plan) as agent:
        with pytest.raises(UsageError, match="two is not trusted"):
            await agent.session(tmp_path / "two")
        assert await agent.session(tmp_path / "three")
        trust.add(str(tmp_path / "two"))
        assert await agent.session(tmp_path / "two")
