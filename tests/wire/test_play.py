"""Frames that were kept give the events of the live run."""

from collections.abc import Iterator

import pytest

from dragoman._model.commands import Answer
from dragoman._model.events import PermissionResolved, RunEnded, RunStarted
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._runtime.requests import Handlers
from dragoman._wire.event_json import detach, encode
from dragoman._wire.machine import StartOptions, play
from tests.runtime.recorders import Frames
from tests.runtime.toy_dialect import ToyMachine, alone, toy_plan

LAUNCH = Launch(agent="toy", dialect="toy")
HELLO = Frame(1, "out", b'{"type":"hello","session":"s"}')


@pytest.mark.anyio
async def test_a_replay_equals_life() -> None:
    """Who answered, why it was stopped, and that a prompt was held are in the frames too."""
    recorder = Frames()
    denial = Answer(decision="deny", by="policy", rule="no Bash")
    handlers = Handlers(approve=lambda request: denial)
    async with alone(toy_plan(), recorder=recorder, handlers=handlers) as session:
        stream = session.events()
        first, second = session.prompt("ask Bash\ncomplain why?"), session.prompt("say held\nwait")
        async for _ in first:
            pass
        async for event in second:
            if getattr(event, "text", None) == "held":
                break
    live = [encode(event) async for event in stream]
    assert recorder.launch is not None
    exit = recorder.exit or Exit()
    played = list(play(recorder, ToyMachine(), recorder.launch, lambda: exit))
    assert [encode(event) for event in played] == live
    [resolved] = [event for event in played if isinstance(event, PermissionResolved)]
    assert (resolved.by, resolved.rule) == ("policy", "no Bash")


def test_lines_that_a_machine_owes_are_dropped() -> None:
    frames = [Frame(1, "out", b'{"type":"ping"}'), Frame(2, "in", b'{"type":"pong"}')]
    assert [event.frame for event in play(frames, ToyMachine(), LAUNCH)] == [None, 1, None]


def test_events_come_as_the_frames_do() -> None:
    """A file may be read while it grows."""
    taken: list[str] = []

    def growing() -> Iterator[Frame]:
        for n, text in enumerate(("one", "two"), 1):
            taken.append(text)
            yield Frame(n, "out", b'{"type":"text","text":"%s"}' % text.encode())

    events = play(growing(), ToyMachine(), LAUNCH)
    assert isinstance(next(events), RunStarted)
    assert taken == []
    next(events)
    assert taken == ["one"]
    assert isinstance(list(events)[-1], RunEnded)


def test_how_it_exited_is_asked_after_the_last_frame() -> None:
    """A recording tells that at its end."""
    exits: list[Exit] = []

    def frames() -> Iterator[Frame]:
        yield HELLO
        exits.append(Exit(code=3))

    events = list(play(frames(), ToyMachine(), LAUNCH, lambda: exits[0]))
    assert isinstance(events[-1], RunEnded)
    assert (events[-1].exit_code, events[-1].outcome) == (3, "failed")
    [_, _, unknown] = play([HELLO], ToyMachine(), LAUNCH)
    assert isinstance(unknown, RunEnded)
    assert (unknown.exit_code, unknown.outcome) == (None, "truncated")


def test_the_lines_are_kept_where_that_is_asked_for() -> None:
    frames = [HELLO, Frame(2, "out", b"\xff", eol=False)]
    lines = [
        [
            detach(event)
            for event in play(frames, ToyMachine(), LAUNCH, options=StartOptions(keeps_lines=keeps))
        ]
        for keeps in (False, True)
    ]
    assert lines == [[None] * 4, [None, HELLO.line + b"\n", b"\xff", None]]
