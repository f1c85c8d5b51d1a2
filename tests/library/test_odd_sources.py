"""Whatever is in the place of a session file: it is kept as far as it can be, said, and the rest goes on."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman._library import archive, sessions
from dragoman._library.library import Library
from tests.library import corpus

OTHER = (
    b'{"type":"user","message":{"role":"user","content":"quite another"},"sessionId":"s-other","uuid":"u"}\n'
)


@pytest.fixture
def path(home: Path) -> Path:
    """A session file among others."""
    corpus.place(home, "gemini", corpus.session_files("gemini")[0])
    return corpus.place(home, "claude", corpus.session_files("claude")[0])


def state(library: Library, path: Path) -> tuple[str, str | None, int]:
    [row] = library.db.rows("SELECT state, problem, generation FROM file WHERE path = ?", (str(path),))
    state, problem, generation = row
    return state, problem, generation


def bytes_of(library: Library, path: Path, generation: int) -> bytes:
    [(id,)] = library.db.rows("SELECT id FROM file WHERE path = ?", (str(path),))
    return b"".join(archive.content(library.db, id, generation))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:500])


def rewritten(path: Path) -> None:
    """As many bytes, other ones in the middle."""
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 5] = b"OTHER"
    path.write_bytes(content)
    os.utime(path, ns=(5, 5))


def replaced(path: Path) -> None:
    """Another file by the same name, longer, that begins and ends as the old one."""
    content = path.read_bytes()
    other = path.with_name("other")
    middle = content.index(b"\n") + 1
    other.write_bytes(content[:middle] + OTHER + content[middle:])
    other.rename(path)


@pytest.mark.parametrize("change", [cut, rewritten, replaced])
def test_what_it_was_can_be_had_again(library: Library, path: Path, change: Callable[[Path], None]) -> None:
    library.sync()
    before = path.read_bytes()
    change(path)
    assert library.sync().read == 1
    assert state(library, path) == ("here", None, 1)
    assert bytes_of(library, path, 0) == before
    assert bytes_of(library, path, 1) == path.read_bytes()


def directory(path: Path) -> None:
    path.mkdir()


def fifo(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("instead", [directory, fifo])
@pytest.mark.parametrize("known", [True, False])
def test_something_else_in_its_place(
    library: Library, path: Path, instead: Callable[[Path], None], known: bool
) -> None:
    content = path.read_bytes()
    if known:
        library.sync()
    path.unlink()
    instead(path)
    came = library.sync()
    assert [place for place, _ in came.problems] == [str(path)]
    assert state(library, path)[0] == "unreadable"
    assert len(library.sessions()) == 1 + known
    assert library.sync().problems == []  # nothing has changed
    path.rmdir() if path.is_dir() else path.unlink()
    path.write_bytes(content)
    library.sync()
    assert state(library, path) == ("here", None, 0)
    assert bytes_of(library, path, 0) == content
    assert len(library.sessions()) == 2


def test_a_broken_link(library: Library, path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nowhere.jsonl"))
    library.sync()
    assert len(library.sessions()) == 1


def test_one_that_may_not_be_read(library: Library, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: str, flags: int) -> int:
        if name == str(path):
            raise PermissionError(13, "Permission denied", name)
        return os.open(name, flags)

    with monkeypatch.context() as patch:
        patch.setattr(archive, "_opener", refused)
        came = library.sync()
    assert came.problems == [(str(path), "Permission denied")]
    assert state(library, path) == ("unreadable", "Permission denied", 0)
    assert len(library.sessions()) == 1
    library.sync()
    assert state(library, path) == ("here", None, 0)
    assert len(library.sessions()) == 2


def test_one_that_fails_while_it_is_read(
    library: Library, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(archive.io.FileIO):  # type: ignore[name-defined,misc]
        def read(self, size: int = -1) -> bytes:
            if self.name == str(path) and self.tell():
                raise OSError(5, "Input/output error")
            return bytes(super().read(1000))

    with monkeypatch.context() as patch:
        patch.setattr(
            archive, "open", lambda name, mode, buffering, opener: Failing(name, mode), raising=False
        )
        assert (str(path), "Input/output error") in library.sync().problems
    library.sync()
    assert state(library, path) == ("here", None, 0)
    assert bytes_of(library, path, 0) == path.read_bytes()


def test_one_that_vanishes_before_it_is_opened(
    library: Library, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanishing(name: str, flags: int) -> int:
        path.unlink(missing_ok=True)
        return os.open(name, flags)

    monkeypatch.setattr(archive, "_opener", vanishing)
    library.sync()
    assert len(library.sessions()) == 1


def test_one_that_grows_while_it_is_read(
    library: Library, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there when it was opened comes in; the rest with the next sync."""
    before = path.read_bytes()

    class Growing(archive.io.FileIO):  # type: ignore[name-defined,misc]
        def read(self, size: int = -1) -> bytes:
            with path.open("ab") as file:
                file.write(OTHER)
            return bytes(super().read(size))

    with monkeypatch.context() as patch:
        patch.setattr(
            archive, "open", lambda name, mode, buffering, opener: Growing(name, mode), raising=False
        )
        library.sync()
    assert bytes_of(library, path, 0) == before
    library.sync()
    assert bytes_of(library, path, 0) == path.read_bytes()
    assert state(library, path) == ("here", None, 0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n\n",
        bytes(range(256)) * 100,
        b"\0" * 10_000,
        b'{"type":"from_the_future","version":99,"sessionId":"s-1"}\n' * 5,
        b'{"type":"user","message":{"role":"user","content":"half \\ud800 and nul \\u0000"},"sessionId":"\\ud800","uuid":"u","cwd":"/\\udc00/\\u0000"}\n',
        b'{"type":"assistant","message":{"id":"m","role":"assistant","model":"x","content":[],"usage":{"input_tokens":'
        + b"9" * 40
        + b',"output_tokens":18446744073709551615}},"sessionId":"s-1","uuid":"u"}\n',
        b'{"type":"user","cwd":"/'
        + os.urandom(3000).hex().encode()
        + b'","message":{"role":"user","content":"x"},'
        b'"sessionId":"s-1","uuid":"u"}\n',
        b"[" * 100_000,
    ],
    ids=["empty", "blank", "binary", "nul", "future", "half letters", "large numbers", "long name", "deep"],
)
def test_rubbish_is_kept_and_the_rest_goes_on(library: Library, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    library.sync()
    assert bytes_of(library, path, 0) == content
    assert "gemini" in {session.agent for session in library.sessions()}
    [(unit,)] = library.db.rows("SELECT id FROM file WHERE path = ?", (str(path),))
    list(sessions.events(library.db, unit))
    assert library.sync().read == 0
    library.rebuild()


def test_an_unknown_version_is_said(library: Library, path: Path) -> None:
    path.write_bytes(b'{"type":"from_the_future","version":99,"sessionId":"s-1"}\n' * 5)
    [(place, problem)] = library.sync().problems
    assert place == str(path)
    assert "5" in problem


def test_a_name_that_is_no_text(library: Library, path: Path) -> None:
    path.rename(os.fsdecode(os.fsencode(path.parent) + b"/\xff.jsonl"))
    came = library.sync()
    assert [why for _, why in came.problems] == ["its name is no text"]
    assert len(library.sessions()) == 1


def test_a_line_of_many_megabytes(library: Library, path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":{"role":"user","content":"')
        for _ in range(10):
            file.write(b"many words of it " * 60_000)
        file.write(b'"},"sessionId":"s-long","uuid":"u-long"}\n')
    library.sync()
    assert bytes_of(library, path, 0) == path.read_bytes()
    assert len(library.db.rows("SELECT id FROM said WHERE seq = (SELECT MAX(seq) FROM said)")) > 100


def test_what_is_no_session_in_a_named_folder_is_not_taken(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "named"
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "x"}')
    (folder / "notes.jsonl").write_bytes(b"no json\n")
    assert library.sync([folder]).read == 0
    assert library.db.rows("SELECT path FROM file") == []


def test_its_agent_deletes_it_and_it_comes_back(library: Library, path: Path) -> None:
    library.sync()
    [session] = [session for session in library.sessions() if session.agent == "claude"]
    content = path.read_bytes()
    kept = path.with_name("aside")
    path.rename(kept)
    assert library.sync().gone == 1
    assert library.sync().gone == 0
    session = library.session(session.id)
    assert session.gone
    [file] = library.files(session)
    assert (file.state, b"".join(file.content(library.db))) == ("gone", content)
    assert list(library.events(session))
    library.rebuild()
    assert library.session(session.id).gone
    kept.rename(path)  # the same in every respect
    library.sync()
    assert not library.session(session.id).gone
