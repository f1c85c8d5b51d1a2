"""Every capture of a real run: golden events, what always holds, exact bytes, any chunking."""

import random
from pathlib import Path

import pytest

from dragoman._contract.invariants import broken
from dragoman._dialects import machine_for
from dragoman._files.convert import convert, native_lines
from dragoman._files.sources import open_source
from dragoman._model.events import Event, NativeUnknown
from dragoman._model.frames import Frame
from dragoman._reports.transcript import transcript
from dragoman._wire.lines import LineSplitter
from tests.golden import captures, events_of, events_text, name, source

ALL = captures()
STREAMS = [capture for capture in ALL if source(capture).name == "stdout.jsonl"]
"""The captures of bytes; the others are frames, which are lines already, and session files."""
PUBLISHED = [capture for capture in ALL if capture.parts[-3] != "acp"]
"""Those in which every type is known; vendors of ACP have methods of their own: see tests/dialects/acp."""

each = pytest.mark.parametrize("capture", ALL, ids=name)


@each
def test_golden(capture: Path) -> None:
    events = events_of(capture)
    assert events_text(events) == (capture / "events.jsonl").read_text()
    assert transcript(events) == (capture / "transcript.md").read_text()


@each
def test_what_always_holds(capture: Path) -> None:
    written = [frame.n for frame in open_source(source(capture), capture.parts[-3]) if frame.dir == "out"]
    assert broken(events_of(capture), frames=written) == []


@each
def test_bytes_come_back(capture: Path) -> None:
    frames = [frame for frame in open_source(source(capture), capture.parts[-3]) if frame.dir == "out"]
    wrote = b"".join(frame.line + b"\n" * frame.eol for frame in frames)
    native = events_text(events_of(capture, native=True)).encode()
    assert b"".join(native_lines(convert(native))) == wrote


@pytest.mark.parametrize("capture", STREAMS, ids=name)
def test_any_chunking_gives_the_same_events(capture: Path) -> None:
    data = source(capture).read_bytes()
    whole = _frames([data])
    dice = random.Random(name(capture))
    cuts = sorted(dice.randrange(len(data) + 1) for _ in range(50))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert _frames(pieces) == whole
    assert _frames([data[i : i + 1] for i in range(min(len(data), 30_000))]) == _frames([data[:30_000]])
    expected = [event for event in events_of(capture) if event.frame is not None]
    assert _received(capture, whole) == [_bare(event) for event in expected]


def _frames(chunks: list[bytes]) -> list[Frame]:
    splitter = LineSplitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    frames = [Frame(n, "out", line) for n, line in enumerate(lines, 1)]
    rest = splitter.close()
    return frames if rest is None else [*frames, Frame(len(frames) + 1, "out", rest, eol=False)]


def _received(capture: Path, frames: list[Frame]) -> list[Event]:
    opened = open_source(source(capture), capture.parts[-3])
    machine = machine_for(capture.parts[-3], opened.launch.agent)
    machine.start(opened.launch)
    return [_bare(event) for frame in frames for event in machine.receive(frame).events]


def _bare(event: Event) -> Event:
    event.at = event.time = None
    return event


@pytest.mark.parametrize("capture", PUBLISHED, ids=name)
def test_nothing_that_is_documented_is_unknown(capture: Path) -> None:
    unknown = [event.native_type for event in events_of(capture) if isinstance(event, NativeUnknown)]
    assert unknown == []


def test_there_are_captures() -> None:
    assert len(ALL) > 100
    assert len(STREAMS) > 50
