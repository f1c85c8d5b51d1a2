"""Batches of events on their way to those who listen."""

import anyio
import anyio.lowlevel
import pytest

from dragoman._model.events import AnyEvent, Delta, RunEnded
from dragoman._runtime.streams import FEW, Branches, EventStream


def said(session: str | None, text: str) -> Delta:
    return Delta(text=text, session=session)


def heard(stream: EventStream) -> list[str | None]:
    return [getattr(event, "text", event.type) for event in stream.drain()]


def test_each_session_hears_its_own_in_order() -> None:
    branches, one, two = Branches(), EventStream(), EventStream()
    branches.begin("one").add(one)
    branches.begin("two").add(two)
    batch: list[AnyEvent] = [
        said("one", "a"),
        said("two", "b"),
        said(None, "c"),
        said("three", "d"),
        said("one", "e"),
    ]
    branches.put(batch)
    assert (heard(one), heard(two)) == (["a", "e"], ["b"])


def test_who_has_left_hears_no_more_and_knows_it() -> None:
    branches, one, two = Branches(), EventStream(), EventStream()
    branches.begin("one").add(one)
    branches.begin("two").add(two)
    branches.leave("one")
    branches.put([said("one", "a"), said("two", "b")])
    assert (one.at_hand(), heard(two)) == ((), ["b"])
    assert two.at_hand() is None


def test_the_end_of_the_run_is_said_on_the_run_alone() -> None:
    branches, one, late = Branches(), EventStream(), EventStream()
    branches.begin("one").add(one)
    branches.put([said("one", "a"), RunEnded(outcome="completed", session="one")])
    branches.end()
    branches.begin("late").add(late)
    assert heard(one) == ["a"]
    assert (one.at_hand(), late.at_hand()) == ((), ())


def test_a_batch_is_walked_once_for_all_sessions() -> None:
    walks = 0

    class Batch(list[AnyEvent]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            nonlocal walks
            walks += 1
            return super().__iter__()

    branches = Branches()
    streams = [EventStream() for _ in range(50)]
    for number, stream in enumerate(streams):
        branches.begin(f"s-{number}").add(stream)
    branches.put(Batch([said("s-7", "a"), said("s-9", "b")]))
    assert walks == 1
    assert [text for stream in streams for text in heard(stream)] == ["a", "b"]


def test_a_few_events_are_given_out_with_those_that_came_after_them() -> None:
    stream = EventStream()
    for size in (1, 2, FEW, 1):
        stream.put([said("one", "a")] * size)
    sizes = [len(stream.at_hand() or ()), len(stream.at_hand() or ())]
    assert sizes == [1 + 2 + FEW, 1]
    assert stream.at_hand() is None


@pytest.mark.anyio
async def test_who_is_cancelled_while_there_is_something_loses_nothing() -> None:
    stream = EventStream()
    stream.put([said("one", "a")])
    with anyio.CancelScope() as scope:
        scope.cancel()
        await stream.batch()
    assert scope.cancelled_caught
    assert heard(stream) == ["a"]


@pytest.mark.anyio
async def test_a_backlog_leaves_others_their_turns() -> None:
    stream, turns = EventStream(), 0
    for _ in range(10):
        stream.put([said("one", "a")] * FEW)
    stream.end()

    async def other() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        while await stream.batch():
            pass
        tasks.cancel_scope.cancel()
    assert turns >= 9
