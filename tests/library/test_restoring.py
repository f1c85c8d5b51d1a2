"""What the library has is written back as it was, and never over what is there."""

import stat
from pathlib import Path

import pytest

from dragoman._library.library import Library
from dragoman._library.sessions import StoredSession
from dragoman._model.errors import UsageError
from tests.library import corpus


@pytest.fixture
def session(library: Library, home: Path) -> StoredSession:
    """One with two subagents, which its agent has deleted."""
    source = next(path for path in corpus.session_files("claude") if path.parent.name == "subagent_bidi")
    corpus.place(home, "claude", source)
    library.sync()
    [session] = library.sessions()
    return session


def contents(library: Library, session: StoredSession) -> dict[Path, bytes]:
    return {Path(file.path): b"".join(file.content(library.db)) for file in library.files(session)}


def test_where_it_was(library: Library, session: StoredSession) -> None:
    before = contents(library, session)
    assert len(before) == 3
    for path in before:
        path.unlink()
    library.sync()
    assert library.session(session.id).gone
    assert library.restore(session) == list(before)
    assert {path: path.read_bytes() for path in before} == before
    assert {stat.S_IMODE(path.stat().st_mode) for path in before} == {0o600}
    assert library.sync().read == 0
    assert not library.session(session.id).gone


def test_never_over_another(library: Library, session: StoredSession) -> None:
    before = contents(library, session)
    first, *others = before
    first.write_bytes(b"mine")
    others[0].unlink()
    with pytest.raises(UsageError, match="is not what the library has"):
        library.restore(session)
    assert first.read_bytes() == b"mine"
    assert not others[0].exists()
    library.restore(session, overwrite=True)
    assert {path: path.read_bytes() for path in before} == before


def test_into_a_folder(library: Library, session: StoredSession, tmp_path: Path) -> None:
    written = library.restore(session, tmp_path / "out")
    assert [path.read_bytes() for path in written] == list(contents(library, session).values())
    assert written[0].parent == tmp_path / "out"
    assert written[1].parent == written[0].with_suffix("") / "subagents"
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="cannot be written"):
        library.restore(session, tmp_path / "file" / "below")
