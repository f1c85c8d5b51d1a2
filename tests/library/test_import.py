"""All session files of the captures come in whole: bytes, events and rows, in whatever order."""

import random
from pathlib import Path

import pytest

from dragoman import convert
from dragoman._contract.invariants import broken
from dragoman._library import sessions
from dragoman._library.library import Library
from dragoman._model.events import Event
from dragoman._wire import event_json
from tests.library import corpus
from tests.library.rows import derived, totals


def kept(library: Library) -> dict[str, tuple[list[Path], list[bytes], list[Event]]]:
    """Of each unit: its files, their bytes, its events."""
    out = {}
    for (unit,) in library.db.rows("SELECT id FROM unit ORDER BY id"):
        files = sessions.files(library.db, unit)
        contents = [b"".join(file.content(library.db)) for file in files]
        events = list(sessions.events(library.db, unit))
        out[files[0].path] = ([Path(file.path) for file in files], contents, events)
    return out


def assert_whole(library: Library) -> None:
    for paths, contents, events in kept(library).values():
        assert contents == [path.read_bytes() for path in paths]
        source = paths[0] if len(paths) == 1 else paths
        truth = list(convert(source))
        assert [event_json.encode(event) for event in events] == [event_json.encode(e) for e in truth]
        assert broken(events) == []


def test_every_session_file_of_the_captures(library: Library, home: Path) -> None:
    placed = corpus.placed(home)
    came = library.sync(jobs=1)
    assert came.read == came.looked_at == len(set(placed))
    assert set(kept(library)) == {str(path) for path in placed}
    assert_whole(library)
    before = derived(library)
    assert before["session"]
    assert before["model_call"]
    assert library.rebuild() == len(set(placed))
    after = derived(library)
    for table, rows in before.items():
        assert after[table] == rows, table


def test_two_processes_bring_the_same(library: Library, home: Path, tmp_path: Path) -> None:
    corpus.placed(home)
    library.sync(jobs=2)
    with Library(tmp_path / "other.db") as other:
        other.sync(jobs=1)
        assert totals(other) == totals(library)


def test_the_order_does_not_matter(library: Library, home: Path, tmp_path: Path) -> None:
    placed = corpus.placed(home)
    library.sync(jobs=1)
    with Library(tmp_path / "other.db") as other:
        for path in random.Random(1).sample(placed, len(placed)):
            other.sync([path.parent if path.parent.name.startswith("-home") else path], jobs=1)
        ours, theirs = derived(library), derived(other)
        for table in ("session", "model_call", "part", "said", "turn"):
            assert theirs[table] == ours[table], table


@pytest.mark.skipif(not corpus.SHARED.is_dir(), reason="the captures of other machines are not here")
def test_every_session_file_of_the_other_captures(tmp_path: Path) -> None:
    folders = sorted(corpus.SHARED.glob("*/*/*/disk"))
    assert folders
    with Library(tmp_path / "library.db") as library:
        library.sync(folders, jobs=1)
        assert_whole(library)
        before = derived(library)
        library.rebuild()
        assert derived(library) == before
