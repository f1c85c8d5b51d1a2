"""What was forgotten is really gone, and does not come back by itself."""

import os
from pathlib import Path

import pytest

from dragoman._library.library import Library
from dragoman._library.schema import TABLES
from dragoman._model.errors import SessionNotFound
from tests.golden import CAPTURES
from tests.library import corpus
from tests.library.rows import derived

WORD = b"xylophonequark"


@pytest.fixture
def path(home: Path) -> Path:
    """A session file in which there is a word that is in no other."""
    corpus.place(home, "gemini", corpus.session_files("gemini")[0])
    path = corpus.place(home, "claude", corpus.session_files("claude")[0])
    line = b'{"type":"user","message":{"role":"user","content":"the %s"},"sessionId":"s-%s","uuid":"u","cwd":"/%s"}\n'
    path.with_name(f"{WORD.decode()}.jsonl").write_bytes(line % (WORD, WORD, WORD))
    return path.with_name(f"{WORD.decode()}.jsonl")


def places_of(library: Library, word: bytes) -> list[str]:
    """Where a word still stands: in the files of a database, or in the rows of another."""
    if not library.address.startswith("postgresql:"):
        files = [Path(f"{library.address}{end}") for end in ("", "-wal")]
        return [str(file) for file in files if file.exists() and word in file.read_bytes()]
    pattern = f"%{word.decode()}%"
    return [
        table.name
        for table in TABLES
        if library.db.rows(f"SELECT 1 FROM {table.name} t WHERE t::text LIKE ?", (pattern,))
        or library.db.rows(f"SELECT 1 FROM {table.name} t WHERE t::text LIKE ?", (f"%{word.hex()}%",))
    ]


def test_really_gone(library: Library, path: Path) -> None:
    library.sync()
    session = library.session(f"s-{WORD.decode()}")
    library.label(session, name=f"about {WORD.decode()}", pinned=True)
    assert places_of(library, WORD)
    gone = library.forget(session)
    assert gone.files == [str(path)]
    library.compact()
    assert places_of(library, WORD) == []
    assert WORD.decode() not in repr(derived(library))
    assert path.exists()  # what its agent keeps is not touched
    with pytest.raises(SessionNotFound):
        library.session(session.id)
    assert len(library.sessions()) == 2


def test_it_does_not_come_back_unless_asked(library: Library, path: Path) -> None:
    library.sync()
    session = library.session(f"s-{WORD.decode()}")
    before = derived(library)
    library.forget(session)
    forgotten = derived(library)
    assert library.sync().read == 0
    with path.open("ab") as file:  # not when it grows
        file.write(path.read_bytes())
    assert library.sync().read == 0
    os.rename(path, path.with_name("elsewhere.jsonl"))  # and not under another name
    library.sync()
    assert derived(library) == forgotten
    library.rebuild()
    assert derived(library) == forgotten
    assert places_of(library, WORD) == [] or not library.address.startswith("postgresql:")
    os.rename(path.with_name("elsewhere.jsonl"), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert library.forgotten() == [session.id]
    assert library.remember(session.id)
    assert not library.remember(session.id)
    assert library.forgotten() == []
    library.sync()
    after = derived(library)
    assert [after[table] for table in ("session", "said", "word")] == [
        before[table] for table in ("session", "said", "word")
    ]


def test_a_session_that_shares_a_file(library: Library, tmp_path: Path) -> None:
    """captures/codex_app/0.166.0/two_threads has two sessions in one connection."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    source = CAPTURES / "codex_app" / "0.166.0" / "two_threads" / "frames.jsonl"
    (folder / "two.jsonl").write_bytes(source.read_bytes())
    library.sync([folder])
    before = derived(library)
    one, other = library.sessions()
    gone = library.forget(one)
    assert gone.files == []
    assert gone.shared == [str(folder / "two.jsonl")]
    assert [session.id for session in library.sessions()] == [other.id]
    for table in ("part", "turn", "said", "tool_call", "sighting", "model_call"):
        assert one.id not in repr(derived(library)[table])
    assert one.native_id not in {event.session for event in library.events(other)}
    library.rebuild()
    assert [session.id for session in library.sessions()] == [other.id]
    library.remember(one.id)
    assert derived(library) == before
    library.forget(one)
    assert library.forget(other).files == [str(folder / "two.jsonl")]
    assert library.db.rows("SELECT file FROM chunk") == []


def test_a_recording_of_ours_is_deleted(library: Library) -> None:
    library.recordings.mkdir(parents=True)
    source = CAPTURES / "codex_app" / "0.166.0" / "two_threads" / "frames.jsonl"
    path = library.recordings / "run.jsonl"
    path.write_bytes(source.read_bytes())
    library.sync()
    for session in library.sessions():
        assert path.exists()
        library.forget(session)
    assert not path.exists()


def test_names_and_pins_survive_a_rebuild(library: Library, path: Path) -> None:
    library.sync()
    session = library.session(f"s-{WORD.decode()}")
    library.label(session, name="mine", pinned=True)
    library.rebuild()
    again = library.session("mine")
    assert (again.id, again.name, again.pinned) == (session.id, "mine", True)


def test_folders_that_are_left_out(library: Library, path: Path, tmp_path: Path) -> None:
    library.leave_out(f"/{WORD.decode()}")  # where the session worked
    library.leave_out(path.parents[3] / ".gemini")  # where its file is
    assert set(library.left_out()) == {f"/{WORD.decode()}", str(path.parents[3] / ".gemini")}
    library.sync()
    assert {session.agent for session in library.sessions()} == {"claude"}
    assert len(library.sessions()) == 1
    assert library.sync().read == 0
    with path.open("ab") as file:
        file.write(b"\n")
    library.sync()
    assert len(library.sessions()) == 1
    assert library.take_in(f"/{WORD.decode()}")
    assert not library.take_in(f"/{WORD.decode()}")
    library.sync()
    assert len(library.sessions()) == 2
    library.leave_out(f"/{WORD.decode()}")  # what is there stays, and is not followed
    with path.open("ab") as file:
        file.write(b"\n")
    assert library.sync().read == 0
    assert len(library.sessions()) == 2
