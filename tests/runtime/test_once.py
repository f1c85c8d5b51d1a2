"""A run that ends by itself when its prompt is done, so that every stream of it has an end."""

import anyio
import pytest

import dragoman
from dragoman import api, blocking
from dragoman._model.errors import UsageError
from dragoman._model.events import Message, RunEnded, RunStarted, TurnEnded
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = pytest.mark.anyio


async def test_events_are_the_whole_run() -> None:
    async with alone(toy_plan(), prompt="say one\nsay two", once=True) as session:
        events = [event async for event in session.events()]
        assert session.exit is not None
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome == "completed"


async def test_who_listens_late_hears_everything() -> None:
    async with alone(toy_plan(), prompt="say one", once=True) as session:
        await session._run.ended.wait()
        events = [event async for event in session.events()]
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)


async def test_a_second_prompt_in_time_is_done_too() -> None:
    async with alone(toy_plan(), prompt="say one\nwait", once=True) as session:
        stream = session.events()
        async for event in stream:
            if isinstance(event, Message) and event.text == "one":
                break
        second = session.prompt("say two")
        await session.interrupt()
        assert [
            event.text async for event in second if isinstance(event, Message) and event.role == "assistant"
        ] == ["two"]
        rest = [event async for event in stream]
    assert sum(isinstance(event, TurnEnded) for event in rest) == 2


async def test_leaving_early_stops_it() -> None:
    async with alone(toy_plan(), prompt="say one\nwait", once=True) as session:
        async for event in session.events():
            if isinstance(event, Message) and event.role == "assistant":
                break
    assert session.result is not None
    assert session.result.outcome == "cancelled"


async def test_an_agent_that_dies_ends_it() -> None:
    async with alone(toy_plan("faulty.py"), prompt="x", once=True) as session:
        with anyio.fail_after(60):
            events = [event async for event in session.events()]
    assert isinstance(events[-1], RunEnded)


@pytest.mark.parametrize("view", ["agent-event", "insights", "untether"])
async def test_views_end_too(view: str) -> None:
    config = dragoman.SessionConfig(agent="demo", prompt="go", approve="all", native={"pace": 0})
    async with dragoman.open(config, once=True) as session:
        items = [item async for item in session.view(view, extended=True)]
    assert items


async def test_without_a_prompt_there_is_nothing_to_do_once() -> None:
    with pytest.raises(UsageError, match="once needs prompt"):
        api.open("demo", once=True)


def test_the_same_without_async() -> None:
    with blocking.open("demo", prompt="go", approve="all", once=True, native={"pace": 0}) as session:
        assert isinstance(list(session.events())[-1], RunEnded)
