"""Whatever an agent writes: nothing raises, nothing is lost, and what always holds, holds.

Lines are taken from the captures of each dialect, shuffled, repeated, cut, and changed at random places.
"""

import copy
import json
import os
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._dialects import DIALECTS, machine_for
from dragoman._files.sources import open_source
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.event_json import decode, detach, encode
from tests.golden import captures, source

EXAMPLES = int(os.environ.get("DRAGOMAN_FUZZ", "60"))
"""How many streams per dialect; a job of its own sets more."""

ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 2**70, 1.5, "", "x", "\ud83d", "\ude00a", [], [[]], {}, {"type": "text"}, {"id": 1},
    ["a", 1, None], {"a": {"b": {"c": []}}},
]  # fmt: skip
ODD_LINES = [
    b"",
    b" ",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"type":',
    b'{"a":NaN}',
    b"[" * 3000,
    b'"\\ud83d"',
    b"{}",
]


@cache
def real_lines(dialect: str) -> list[tuple[str, bytes]]:
    lines: dict[tuple[str, bytes], None] = {}
    for capture in captures(dialect):
        for frame in open_source(source(capture), dialect):
            if frame.dir in ("out", "in") and len(frame.line) < 20_000:
                lines[frame.dir, frame.line] = None
    return list(lines)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def mutated(line: bytes, dice: random.Random) -> bytes:
    """The line with a value somewhere in it changed, removed or doubled; or cut; or as it is."""
    fate = dice.random()
    if fate < 0.3:
        return line
    if fate < 0.4:
        return line[: dice.randrange(len(line) + 1)]
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    spots = places(value)
    for _ in range(dice.randint(1, 3)):
        if not spots:
            break
        *way, last = dice.choice(spots)
        target = value
        try:
            for key in way:
                target = target[key]
            if dice.random() < 0.3:
                del target[last]
            else:
                target[last] = copy.deepcopy(dice.choice(ODD_VALUES))
        except (KeyError, IndexError, TypeError):
            continue
    return json.dumps(value).encode()


def stream(dialect: str, seed: int, size: int) -> list[Frame]:
    """A stream told by two numbers, so that a failing one is told in a line."""
    dice = random.Random(seed)
    pool = real_lines(dialect)
    frames = []
    start = dice.randrange(len(pool) or 1)
    for n in range(1, size + 1):
        direction, line = (
            pool[(start + n) % len(pool)] if pool and dice.random() < 0.6 else _anything(pool, dice)
        )
        line = mutated(line, dice).replace(b"\n", b" ")
        kind: Any = direction if dice.random() < 0.95 else dice.choice(["out", "in", "note", "err"])
        frames.append(Frame(n, kind, line))
    return frames


def _anything(pool: list[tuple[str, bytes]], dice: random.Random) -> tuple[str, bytes]:
    return dice.choice(pool) if pool and dice.random() < 0.8 else ("out", dice.choice(ODD_LINES))


def interpreted(dialect: str, frames: list[Frame]) -> list[Event]:
    machine = machine_for(dialect, native=True)
    type(machine).strict = True
    events = list(machine.start(Launch(agent="x", dialect=dialect)).events)
    for frame in frames:
        events += machine.receive(frame).events
    return events + list(machine.end(Exit(code=0)).events)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**40), size=st.integers(0, 60))
def test_any_stream(dialect: str, seed: int, size: int) -> None:
    frames = stream(dialect, seed, size)
    events = interpreted(dialect, frames)
    written = {frame.n: frame.line + b"\n" for frame in frames if frame.dir == "out"}
    assert broken(events, frames=list(written)) == []
    assert {event.frame: line for event in events if (line := detach(event)) is not None} == written
    for event in events:
        again = decode(encode(event))
        assert isinstance(again, Event)
        assert (again.seq, type(again)) == (event.seq, type(event))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_is_reproducible(dialect: str) -> None:
    frames = [Frame(n, d, line) for n, (d, line) in enumerate(real_lines(dialect)[:300], 1)]  # type: ignore[arg-type]
    first, second = (list(map(encode, interpreted(dialect, frames))) for _ in range(2))
    assert first == second
