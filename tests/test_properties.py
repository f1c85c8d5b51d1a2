"""Whatever an agent writes: nothing raises, nothing is lost, and what always holds, holds.

Lines are taken from the captures of each dialect, shuffled, repeated, cut, and changed at random places; or made of
the words of the dialect; or are a captured run with faults. How many examples there are, the profile says
(conftest.py).
"""

import copy
import json
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame
from dragoman._wire.event_json import decode, detach, encode
from tests.generated_lines import TRAFFIC, Line, runs, spoiled_runs
from tests.interpreted import interpreted

HALF = settings().max_examples // 2
"""Lines that hypothesis makes word by word take longest."""

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
def real_lines(dialect: str) -> list[Line]:
    return list({line: None for run in runs(dialect) for line in run if len(line[1]) < 20_000})


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


def _anything(pool: list[Line], dice: random.Random) -> Line:
    return dice.choice(pool) if pool and dice.random() < 0.8 else ("out", dice.choice(ODD_LINES))


def check(dialect: str, frames: list[Frame], exit: Exit) -> None:
    """The rules hold (see `interpreted`), every byte is there, and every event can be written and read."""
    events = interpreted(dialect, frames, exit=exit, native=True)
    written = {frame.n: frame.line + b"\n" for frame in frames if frame.dir == "out"}
    assert {event.frame: line for event in events if (line := detach(event)) is not None} == written
    for event in events:
        again = decode(encode(event))
        assert isinstance(again, Event)
        assert (again.seq, type(again)) == (event.seq, type(event))
    assert len(interpreted(dialect, frames, exit=exit)) == len(events)


def framed(traffic: Sequence[Line]) -> list[Frame]:
    return [Frame(n, direction, line) for n, (direction, line) in enumerate(traffic, 1)]


exits = st.builds(Exit, code=st.sampled_from([None, 0, 1, 53, 144, 173]))
dialects = pytest.mark.parametrize("dialect", TRAFFIC)


@dialects
@given(seed=st.integers(0, 2**40), size=st.integers(0, 60), exit=exits)
def test_any_stream(dialect: str, seed: int, size: int, exit: Exit) -> None:
    check(dialect, stream(dialect, seed, size), exit)


@dialects
@settings(max_examples=HALF)
@given(data=st.data(), exit=exits)
def test_any_words(dialect: str, data: st.DataObject, exit: Exit) -> None:
    check(dialect, framed(data.draw(st.lists(TRAFFIC[dialect], max_size=12))), exit)


@dialects
@given(data=st.data(), exit=exits)
def test_spoiled_runs(dialect: str, data: st.DataObject, exit: Exit) -> None:
    check(dialect, framed(data.draw(spoiled_runs(dialect))), exit)


@dialects
def test_it_is_reproducible(dialect: str) -> None:
    frames = framed(real_lines(dialect)[:300])
    first, second = (list(map(encode, interpreted(dialect, frames, native=True))) for _ in range(2))
    assert first == second
