"""Batches of events on their way to those who listen."""

from dragoman._model.events import AnyEvent, Delta, RunEnded
from dragoman._runtime.streams import Branches, EventStream


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
