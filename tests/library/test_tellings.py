"""Who tells of a session, and the lines that it was read from."""

from pathlib import Path

import pytest

from dragoman._library import sessions, tellings
from dragoman._library.library import Library
from dragoman._model.events import FileChanged
from tests.golden import CAPTURES
from tests.library import corpus
from tests.library.test_recordings import EXIT, PAIRS, recorded


def kept(library: Library, home: Path, agent: str) -> None:
    corpus.place(home, agent, CAPTURES / PAIRS[agent][1] / "session.jsonl")
    library.sync()


def record(library: Library, content: bytes, name: str = "run") -> None:
    library.recordings.mkdir(parents=True, exist_ok=True)
    (library.recordings / f"{name}.jsonl").write_bytes(content)
    library.sync()


def shown(library: Library) -> list[tuple[str, bool]]:
    [session] = library.sessions()
    found = tellings.tellings(library.db, session)
    return [("recording" if each.is_recording else "history", each.shown) for each in found]


@pytest.mark.parametrize("agent", PAIRS)
def test_a_recording_of_all_turns_is_shown(library: Library, home: Path, agent: str) -> None:
    kept(library, home, agent)
    assert shown(library) == [("history", True)]
    record(library, recorded(agent) + EXIT)
    assert sorted(shown(library)) == [("history", False), ("recording", True)]


def test_a_recording_of_some_turns_is_not(library: Library, home: Path) -> None:
    kept(library, home, "claude")
    lines = recorded("claude").splitlines(keepends=True)
    cut = next(n for n, line in enumerate(lines) if b'\\"type\\":\\"result\\"' in line)
    record(library, b"".join(lines[: cut + 1]) + EXIT)
    [session] = library.sessions()
    assert session.turns > 1
    assert sorted(shown(library)) == [("history", True), ("recording", False)]


def test_without_a_history_all_recordings_are_shown(library: Library) -> None:
    lines = recorded("claude").splitlines(keepends=True)
    cut = next(n for n, line in enumerate(lines) if b'\\"type\\":\\"result\\"' in line)
    first = b"".join(lines[: cut + 1]) + EXIT
    record(library, first)
    record(library, first, "again")
    assert shown(library) == [("recording", True), ("recording", True)]


def test_events_that_changed_files(library: Library, home: Path) -> None:
    corpus.placed(home)
    library.sync()
    found = 0
    for session in library.sessions():
        for unit in sessions.units(library.db, session):
            every = [
                event
                for event in sessions.events(library.db, unit)
                if isinstance(event, FileChanged) and event.phase == "applied" and not event.replay
            ]
            assert list(tellings.changes(library.db, unit)) == every
            found += len(every)
    assert found > 10


@pytest.mark.parametrize("late", [False, True])
def test_lines_are_counted_over_all_files(library: Library, home: Path, late: bool) -> None:
    """Also where a file is found later than one that is read behind it."""
    place = corpus.place(
        home, "claude", CAPTURES / "claude_transcript/2.1.325/subagent_bidi" / "session.jsonl"
    )
    below = sorted((place.with_suffix("") / "subagents").glob("*.jsonl"))
    assert len(below) > 1
    first = below[0].read_bytes()
    if late:
        below[0].unlink()
        library.sync()
        below[0].write_bytes(first)
    library.sync()
    lines = b"".join(path.read_bytes() for path in (place, *below)).splitlines()
    [session] = library.sessions()
    [unit] = sessions.units(library.db, session)
    told = {event.frame for event in sessions.events(library.db, unit) if event.frame is not None}
    assert max(told) > len(place.read_bytes().splitlines())
    for number in told:
        frame = tellings.frame(library.db, unit, number)
        assert frame is not None
        assert (frame.line, frame.dir) == (lines[number - 1], "out")
    assert tellings.frame(library.db, unit, 10**9) is None


def test_frames_of_a_recording(library: Library) -> None:
    record(library, recorded("codex") + EXIT)
    [session] = library.sessions()
    [unit] = sessions.units(library.db, session)
    directions = set()
    for event in sessions.events(library.db, unit):
        if event.frame is not None:
            frame = tellings.frame(library.db, unit, event.frame)
            assert frame is not None
            assert frame.n == event.frame
            assert {"agent": "out", "client": "in"}[event.origin] == frame.dir
            directions.add(frame.dir)
    assert directions == {"out", "in"}


def test_units_that_are_not_there(library: Library) -> None:
    for number in (0, -1, 7, 10**14, 10**15, 10**40):
        assert tellings.size(library.db, number) is None
    assert list(tellings.changes(library.db, 7)) == []
    assert tellings.frame(library.db, 7, 1) is None
