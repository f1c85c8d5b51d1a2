"""A library at another address has the same in it, and goes on from there."""

from pathlib import Path

import pytest

from dragoman._library.library import Library
from dragoman._model.errors import UsageError
from tests.library import corpus
from tests.library.postgres_server import Server
from tests.library.rows import derived


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
def test_the_same_elsewhere(
    library: Library, home: Path, tmp_path: Path, target: str, request: pytest.FixtureRequest
) -> None:
    paths = list(corpus.generated(home, 20, 300_000))
    library.sync()
    session, *others = library.sessions()
    library.label(session, name="mine", pinned=True)
    library.forget(others[0])
    address = str(tmp_path / "other.db")
    if target == "postgres":
        server: Server = request.getfixturevalue("postgres")
        address = server.fresh()
    with library.copy(address) as other:
        ours, theirs = derived(library), derived(other)
        for table in ours:
            assert theirs[table] == ours[table] or table == "index", table
        assert other.session("mine").pinned
        assert other.forgotten() == library.forgotten()
        assert other.sync().read == 0  # it knows all files
        corpus.place(home, "claude", corpus.session_files("claude")[0], n=60)
        with paths[0].open("ab") as file:
            file.write(b"\n")
        assert other.sync().read == 2
    with pytest.raises(UsageError, match="name one that is empty or new"):
        library.copy(address)
