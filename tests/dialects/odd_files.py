"""Files of a published model, with anything in them: lines of captures seen through the view, shuffled and changed."""

import random
from functools import cache

from dragoman._model.events import Event
from dragoman._model.frames import Frame, Launch
from dragoman._projections import published
from dragoman._wire.event_json import decode, detach, encode
from tests.interpreted import interpreted
from tests.projections.projected import CAPTURES, captured
from tests.test_properties import ODD_LINES, mutated


@cache
def view_lines(view: str) -> list[bytes]:
    """The lines of all captures, the longest left out."""
    lines: dict[bytes, None] = {}
    for capture in CAPTURES:
        for profile in published.PROFILES:
            projector = published.view(view).projector(profile=profile, extended=True)
            for item in published.project(captured(capture, native=True), projector):
                lines[projector.encode(item)] = None
    return [line for line in lines if len(line) < 5_000]


def odd_file(view: str, seed: int, size: int) -> None:
    """Nothing raises, nothing is lost, and what always holds, holds; whatever is read can be shown again."""
    dice, pool = random.Random(seed), view_lines(view)
    start = dice.randrange(len(pool))
    lines = [
        pool[(start + n) % len(pool)] if dice.random() < 0.6 else dice.choice([*ODD_LINES, *pool[:50]])
        for n in range(size)
    ]
    frames = [Frame(n, "out", mutated(line, dice)) for n, line in enumerate(lines, 1)]
    events = interpreted(view, frames, launch=Launch(agent="codex", dialect=view), native=True)
    assert {event.frame: line for event in events if (line := detach(event)) is not None} == {
        frame.n: frame.line + b"\n" for frame in frames
    }
    for event in events:
        again = decode(encode(event))
        assert isinstance(again, Event)
    for name in published.VIEWS:
        projector = published.view(name).projector(extended=True)
        for item in published.project(events, projector):
            projector.encode(item)
