"""A recording that is followed while it grows says what it says when it is read afterwards, however it grew."""

import os
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import convert
from dragoman._dialects import DIALECTS
from dragoman._files import following
from dragoman._files.following import Follower
from dragoman._files.recording import RecordingWriter
from dragoman._files.sources import open_source
from dragoman._model.events import Event, RunEnded
from dragoman._model.frames import Exit
from tests.golden import CAPTURES, captures, name, source

SPOKEN = [capture for capture in captures() if not DIALECTS[capture.parts[-3]].file_only]
ASKING = CAPTURES / "claude_stream/2.1.197/perm_deny_interrupt"


def recorded(capture: Path, path: Path, exit: Exit | None = None) -> bytes:
    """A capture as a recording of ours."""
    opened = open_source(source(capture), capture.parts[-3])
    with RecordingWriter(path, overwrite=True) as writer:
        writer.begin(opened.launch)
        writer.frames(list(opened))
        if exit is not None:
            writer.end(exit)
    return path.read_bytes()


@contextmanager
def followed(path: Path) -> Iterator[Follower]:
    follower = Follower(path)
    try:
        yield follower
    finally:
        follower.close()


def grown(path: Path, pieces: Iterable[bytes]) -> list[Event]:
    """What is said of a file that grows piece by piece, and then no more."""
    events: list[Event] = []
    with followed(path) as follower, path.open("wb", buffering=0) as file:
        for piece in pieces:
            file.write(piece)
            events += follower.read()
        return events + follower.end()


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    borders = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(borders)]


@pytest.mark.parametrize("capture", SPOKEN, ids=name)
def test_what_is_followed_is_what_is_converted(capture: Path, tmp_path: Path) -> None:
    data = recorded(capture, tmp_path / "whole.jsonl", Exit(code=0, t=5.0))
    draw = random.Random(capture.name)
    pieces = cut(data, [draw.randrange(len(data)) for _ in range(20)])
    assert grown(tmp_path / "grown.jsonl", pieces) == list(convert(tmp_path / "whole.jsonl"))


@given(
    st.lists(st.integers(0, 1 << 20), max_size=40),
    st.none() | st.integers(0, 1 << 20),
    st.sampled_from([None, Exit(signal="SIGKILL", t=9.0)]),
)
def test_however_it_grew_and_wherever_it_stopped(
    places: list[int], length: int | None, exit: Exit | None
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        data = recorded(ASKING, path, exit)
        header = data.index(b"\n") + 1
        data = data if length is None else data[: max(header, length % (len(data) + 1))]
        path.write_bytes(data)
        assert grown(Path(folder, "grown.jsonl"), cut(data, places)) == list(convert(path))


def test_nothing_is_said_of_a_row_that_is_half_there(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    data = recorded(ASKING, tmp_path / "whole.jsonl")
    header = data.index(b"\n") + 1
    with followed(path) as follower:
        assert (follower.read(), follower.launch) == ([], None)  # there is no file yet
        path.write_bytes(data[: header - 1])
        assert (follower.read(), follower.launch) == ([], None)
        path.write_bytes(data[:header])
        assert [event.type for event in follower.read()] == ["run.started"]
        assert follower.launch is not None
        assert follower.launch.dialect == "claude_stream"
        assert follower.machine is not None
        assert follower.machine.ledger.requests == {}
        assert follower.read() == []


def test_it_ends_once(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    data = recorded(ASKING, path, Exit(code=0))
    with followed(path) as follower:
        events = follower.read()
        assert isinstance(events[-1], RunEnded)
        assert follower.ended
        assert follower.end() == []
        path.write_bytes(data + data)
        assert follower.read() == []


def test_the_end_of_an_owner_that_died(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(ASKING, path)
    with followed(path) as follower:
        said = follower.read()
        assert not follower.ended
        end = follower.end()
        assert follower.ended
    assert isinstance(end[-1], RunEnded)
    assert said + end == list(convert(path))


def test_damage_is_passed_over_and_counted(tmp_path: Path) -> None:
    """`convert` refuses such a file, since nobody can say what is missing; who watches sees what comes after."""
    path = tmp_path / "run.jsonl"
    header, *rows = recorded(ASKING, tmp_path / "whole.jsonl", Exit(code=0)).splitlines(keepends=True)
    odd = [b'{"n":1,"t":\n', b"\xff\xfe\n", b"[" * 100_000 + b"\n", b'{"dragoman":"recording/9"}\n', b"\n"]
    path.write_bytes(b"".join((*odd, header, *odd, rows[0], *odd, *rows[1:])))
    with followed(path) as follower:
        events = follower.read()
    assert follower.damaged == 12
    assert follower.ended
    assert [event.type for event in events] == [event.type for event in convert(tmp_path / "whole.jsonl")]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"dragoman":"recording/9","agent":"a","dialect":"acp"}\n', "recording/9"),
        (b'{"dragoman":"recording/1","agent":7}\n', "header"),
        (b'{"dragoman":"recording/1","agent":"a","dialect":"klingon"}\n', "klingon"),
    ],
)
def test_what_cannot_be_followed_says_why(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content + b'{"n":1,"dir":"out","line":"{}"}\n')
    with followed(path) as follower:
        assert follower.read() == []
        assert why in (follower.wrong or "")
        assert follower.end() == []


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_not_waited_for(make: object, tmp_path: Path) -> None:
    assert callable(make)
    make(tmp_path / "run.jsonl")
    with followed(tmp_path / "run.jsonl") as follower:
        assert follower.read() == []
        assert follower.wrong is not None
        assert follower.end() == []


def test_a_long_recording_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "AT_ONCE", 100)
    path = tmp_path / "run.jsonl"
    data = recorded(ASKING, path, Exit(code=0))
    events: list[Event] = []
    with followed(path) as follower:
        for _ in range(len(data) // 100):
            events += follower.read()
            assert follower.more
        events += follower.read()
        assert not follower.more
    assert events == list(convert(path))
