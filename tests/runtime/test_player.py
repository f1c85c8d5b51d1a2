"""A replay of what was recorded gives the events of the live run."""

import pytest
from dragoman._runtime.player import Replay, play

from dragoman._model.events import PermissionResolved
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._runtime.requests import Ruling
from dragoman._wire.event_json import encode
from tests.runtime.recorders import Frames
from tests.runtime.toy_dialect import ToyMachine, alone, toy_plan

pytestmark = pytest.mark.anyio

LAUNCH = Launch(agent="toy", dialect="toy")


async def test_replay_equals_life() -> None:
    recorder = Frames()
    ruling = Ruling(verdict=False, rule="no Bash")
    async with alone(toy_plan(), recorder=recorder, handler=lambda *_: ruling) as session:
        stream = session.events()
        first, second = session.prompt("ask Bash\ncomplain why?"), session.prompt("say held\nwait")
        async for _ in first:
            pass
        async for event in second:
            if getattr(event, "text", None) == "held":
                break
    live = [encode(event) async for event in stream]
    assert recorder.launch is not None
    played = list(play(recorder, ToyMachine(), recorder.launch, recorder.exit))
    assert [encode(event) for event in played] == live
    [resolved] = [event for event in played if isinstance(event, PermissionResolved)]
    assert (resolved.by, resolved.rule) == ("policy", "no Bash")
    fast = Replay(recorder, ToyMachine(), recorder.launch, recorder.exit, speed=1e9)
    assert [encode(event) async for event in fast] == live


async def test_lines_that_a_machine_owes_are_dropped() -> None:
    frames = [Frame(1, "out", b'{"type":"ping"}'), Frame(2, "in", b'{"type":"pong"}')]
    assert [event.frame for event in play(frames, ToyMachine(), LAUNCH)] == [None, 1, None]


async def test_replay_keeps_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    clock = [100.0]

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 6))
        clock[0] += seconds

    monkeypatch.setattr("dragoman._runtime.player.anyio.sleep", sleep)
    monkeypatch.setattr("dragoman._runtime.player.anyio.current_time", lambda: clock[0])
    text = b'{"type":"text","text":"x"}'
    frames = [Frame(1, "out", text, 1.0), Frame(2, "out", text, 1.0), Frame(3, "out", text, 4.0)]
    replay = Replay(frames, ToyMachine(), LAUNCH, Exit(code=0, t=4.0), speed=2.0)
    assert len([event async for event in replay]) == 5
    assert slept == [0.5, 1.5]
