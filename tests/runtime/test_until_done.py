"""A stream that ends when the session has nothing more to do."""

from collections.abc import Sequence

import anyio
import pytest

from dragoman._model.capabilities import Capability
from dragoman._model.errors import ProcessExited
from dragoman._model.events import (
    CommandEnded,
    Event,
    Message,
    RunEnded,
    RunStarted,
    SessionStarted,
    SubagentEnded,
    SubagentStarted,
    TurnEnded,
    TurnStarted,
)
from dragoman._runtime.connection import Connection
from dragoman._runtime.session import Session
from tests.runtime.toy_dialect import CAN, MANY, alone, toy_plan

pytestmark = pytest.mark.anyio

BACKGROUND = CAN | {Capability.BACKGROUND}


def said(events: Sequence[Event]) -> list[str | None]:
    return [event.text for event in events if isinstance(event, Message) and event.role == "assistant"]


def numbers(events: Sequence[Event]) -> list[int]:
    return [event.seq for event in events]


async def wait_for(session: Session, text: str) -> None:
    """Comes back when the agent has said so."""
    async for event in session.events():
        if said([event]) == [text]:
            return


async def test_it_ends_after_the_turn() -> None:
    async with alone(toy_plan(), prompt="say one\nsay two") as session:
        assert session.busy
        stream = session.until_done()
        events = [event async for event in stream]
        assert not session.busy
        assert session.exit is None
    assert isinstance(events[0], RunStarted)
    assert said(events) == ["one", "two"]
    assert isinstance(events[-1], TurnEnded)


async def test_drain_gives_the_rest_once_the_session_is_closed() -> None:
    async with alone(toy_plan(), prompt="say one") as session:
        stream = session.until_done()
        events = [event async for event in stream]
        assert stream.drain() == []
    rest = stream.drain()
    assert isinstance(rest[-1], RunEnded)
    assert rest[-1] is session.result
    everything = [*events, *rest]
    assert numbers(everything) == list(range(1, len(everything) + 1))
    assert stream.drain() == []
    assert [event async for event in stream] == []


async def test_drain_gives_what_was_not_iterated_too() -> None:
    async with alone(toy_plan(), prompt="say one") as session:
        stream = session.until_done()
        async for event in stream:
            if isinstance(event, TurnStarted):
                break
        async for _ in session.until_done():
            pass
    rest = stream.drain()
    assert said(rest) == ["one"]
    assert isinstance(rest[-1], RunEnded)
    assert numbers(rest) == list(range(rest[0].seq, rest[0].seq + len(rest)))


async def test_it_waits_for_prompts_that_are_held() -> None:
    async with alone(toy_plan()) as session:
        turns = [session.prompt(f"say {word}") for word in ("one", "two", "three")]
        events = [event async for event in session.until_done()]
        assert said(events) == ["one", "two", "three"]
        assert [event.turn for event in events if isinstance(event, TurnEnded)] == [1, 2, 3]
        assert isinstance(events[-1], TurnEnded)
        assert [said([event async for event in turn]) for turn in turns] == [["one"], ["two"], ["three"]]


async def test_a_prompt_that_is_held_meanwhile_is_waited_for() -> None:
    async with alone(toy_plan(), prompt="take steer\nsay one") as session:
        words = []
        async for event in session.until_done():
            if isinstance(event, TurnStarted) and event.turn == 1:
                session.prompt("say two")
                await session.steer("go on")
            words += said([event])
    assert words == ["steered: go on", "one", "two"]


async def test_an_idle_session_has_told_all_it_has() -> None:
    """From the beginning, as long as there was no turn."""
    async with alone(toy_plan()) as session:
        async for event in session.events():
            if isinstance(event, SessionStarted):
                break
        assert not session.busy
        events = [event async for event in session.until_done()]
        assert [type(event) for event in events] == [RunStarted, SessionStarted]


async def test_between_turns_it_ends_at_once_and_says_nothing() -> None:
    async with alone(toy_plan()) as session:
        async for _ in session.prompt("say one"):
            pass
        stream = session.until_done()
        assert [event async for event in stream] == []
    assert [type(event) for event in stream.drain()] == [RunEnded]


async def test_it_can_be_used_for_one_prompt_after_the_other() -> None:
    async with alone(toy_plan()) as session:
        for word in ("one", "two"):
            session.prompt(f"say {word}")
            events = [event async for event in session.until_done()]
            assert said(events) == [word]
            assert isinstance(events[-1], TurnEnded)


async def test_two_may_listen_at_once() -> None:
    async with alone(toy_plan(), prompt="take steer\nsay one") as session:
        first, second = session.until_done(), session.until_done()
        await session.steer("on")
        assert said([event async for event in first]) == ["steered: on", "one"]
        assert said([event async for event in second]) == ["steered: on", "one"]
    assert second.drain() == first.drain() != []


async def test_a_command_that_is_not_answered_is_nothing_to_wait_for() -> None:
    """Its answer may never come, and nothing is said when one gives up waiting for it."""
    plan = toy_plan("stubborn.py", stop=(("SIGKILL", 5.0),))
    async with alone(plan) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(session.set_mode, "plan")
        await anyio.wait_all_tasks_blocked()
        assert not session.busy
        assert not any([isinstance(event, RunEnded) async for event in session.until_done()])
        tasks.cancel_scope.cancel()


async def test_an_interrupted_turn_ends_it_however_late_the_interrupt_is_answered() -> None:
    async with (
        alone(toy_plan("late_answer.py"), prompt="work") as session,
        anyio.create_task_group() as tasks,
    ):
        async for event in session.until_done():
            if said([event]) == ["working"]:
                tasks.start_soon(session.interrupt)
        assert isinstance(event, TurnEnded | CommandEnded)
        assert not session.busy


# --- subagents ---------------------------------------------------------------------------------------------

AT_WORK = """spawn a
say off
after take steer
after return a completed
after take steer
after begin
after say found
after finish"""
"""A subagent works on when the turn is over; when it is back, the agent begins a turn of its own."""


async def test_it_waits_for_what_a_subagent_finds_that_works_on() -> None:
    async with alone(toy_plan(capabilities=BACKGROUND), prompt=AT_WORK) as session:
        events = []
        async for event in session.until_done():
            events.append(event)
            if isinstance(event, TurnEnded | SubagentEnded) and event.turn == 1:
                assert session.busy
                await session.steer("go on")
    kinds = (SubagentStarted, TurnEnded, SubagentEnded)
    assert [type(event) for event in events if isinstance(event, kinds)] == [*kinds, TurnEnded]
    assert said(events)[-1] == "found"
    assert isinstance(events[-1], TurnEnded)


async def test_for_one_that_was_stopped_the_agent_begins_no_turn() -> None:
    """So it is when Claude Code is interrupted."""
    orders = "spawn a\nafter take steer\nafter return a stopped"
    async with alone(toy_plan(capabilities=BACKGROUND), prompt=orders) as session:
        events = []
        async for event in session.until_done():
            events.append(event)
            if isinstance(event, TurnEnded):
                await session.steer("stop it")
        assert not session.busy
    assert isinstance(events[-1], SubagentEnded)


async def test_one_that_is_back_before_the_turn_is_over_is_nothing_to_wait_for() -> None:
    orders = "spawn a\nreturn a completed\nsay found"
    async with alone(toy_plan(capabilities=BACKGROUND), prompt=orders) as session:
        events = [event async for event in session.until_done()]
        assert not session.busy
    assert isinstance(events[-1], TurnEnded)


async def test_of_an_agent_without_background_work_no_subagent_is_waited_for() -> None:
    """It never says that one has ended whose turn is over."""
    async with alone(toy_plan(), prompt=AT_WORK) as session:
        events = [event async for event in session.until_done()]
        assert not session.busy
    assert isinstance(events[-1], TurnEnded)
    assert not any(isinstance(event, SubagentEnded) for event in events)


# --- ends that come from elsewhere -------------------------------------------------------------------------


async def test_it_ends_with_the_run() -> None:
    async with alone(toy_plan(), prompt="say one\nexit 3") as session:
        stream = session.until_done()
        events = [event async for event in stream]
    assert said(events) == ["one"]
    assert isinstance([*events, *stream.drain()][-1], RunEnded)


async def test_it_ends_with_a_run_that_takes_no_turn() -> None:
    """A one-shot is at work until then."""
    async with alone(toy_plan("writes.py", "code:2", one_shot=True)) as session:
        assert session.busy
        events = [event async for event in session.until_done()]
    assert [type(event) for event in events] == [RunStarted, RunEnded]


async def test_a_prompt_that_nobody_took_raises_in_its_own_stream_only() -> None:
    async with alone(toy_plan()) as session:
        first, held = session.prompt("take steer\nexit 4"), session.prompt("say never")
        done = session.until_done()
        await session.steer("now")
        assert isinstance([event async for event in done][-1], RunEnded)
        assert isinstance([event async for event in first][-1], TurnEnded)
        with pytest.raises(ProcessExited):
            await held.__anext__()


async def test_one_that_is_closed_says_nothing_more() -> None:
    async with alone(toy_plan(), prompt="say one\ntake steer\nsay two") as session:
        stream = session.until_done()
        async for event in stream:
            if said([event]) == ["one"]:
                break
        await stream.aclose()
        await session.steer("on")
        assert said([event async for event in session.until_done()])[-1:] == ["two"]
        assert [event async for event in stream] == []
    assert stream.drain() == []


# --- several sessions --------------------------------------------------------------------------------------


async def test_of_several_sessions_each_is_done_by_itself() -> None:
    async with Connection(toy_plan("plural.py", capabilities=MANY)) as agent:
        one, two = await agent.session(), await agent.session()
        one.prompt("say working\nwait")
        two.prompt("say done")
        await wait_for(one, "working")
        stream = two.until_done()
        events = [event async for event in stream]
        assert said(events) in (["done"], [])  # it may have been done before anyone listened
        assert (one.busy, two.busy) == (True, False)
        assert {event.session for event in events} <= {"s-2"}
        await one.interrupt()
        async for _ in one.until_done():
            pass
        assert not one.busy
        held = [one.prompt("say a"), one.prompt("say b")]
        assert not two.busy
        assert said([event async for event in one.until_done()]) == ["a", "b"]
        assert [said([event async for event in turn]) for turn in held] == [["a"], ["b"]]
    assert not any(isinstance(event, RunEnded) for event in stream.drain())
