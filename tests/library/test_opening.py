"""Libraries are made where they are named, for their owner alone; an old one is rebuilt, a newer one refused."""

import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from dragoman._library import opening, reading
from dragoman._library.library import Library
from dragoman._model.errors import UsageError
from tests.library import corpus
from tests.library.rows import derived


def make_old(address: str) -> None:
    """As if another version had derived what is in it."""
    with Library(address) as library:
        library.db.run("UPDATE setting SET value = '0 ' || substr(value, 3) WHERE name = 'derived'")
        library.db.run("UPDATE session SET title = 'old'")


def test_a_new_library_is_empty(library: Library) -> None:
    assert library.sessions() == []
    assert library.sync().looked_at == 0


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    with Library(tmp_path / "new" / "library.db") as library:
        library.sync()
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_something_else_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "library.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(UsageError, match="--library or DRAGOMAN_LIBRARY names another"):
        Library(tmp_path / "library.db")


def test_no_server_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be reached") as raised:
        Library(f"postgresql://me:secret@/library?host={tmp_path}")
    assert "secret" not in str(raised.value)


def test_made_by_several_at_once(address: str) -> None:
    failed: list[BaseException] = []

    def make() -> None:
        try:
            Library(address).close()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


@pytest.mark.parametrize("name", ["schema", "derived"])
def test_a_newer_one_is_refused(address: str, name: str) -> None:
    with Library(address) as library:
        library.db.run("UPDATE setting SET value = '99 x' WHERE name = ?", (name,))
        library.db.run("UPDATE setting SET value = '99' WHERE name = 'schema' AND value = '99 x'")
    with pytest.raises(UsageError, match="was written by a newer Dragoman"):
        Library(address)


def test_an_old_one_is_rebuilt(address: str, home: Path) -> None:
    corpus.place(home, "codex", corpus.session_files("codex")[0])
    with Library(address) as library:
        library.sync()
        library.label(library.sessions()[0], name="mine", pinned=True)
        before = derived(library)
    make_old(address)
    with Library(address) as library:
        assert derived(library) == before
        assert library.session("mine").pinned


def test_other_columns_are_made_anew(address: str, home: Path) -> None:
    corpus.place(home, "codex", corpus.session_files("codex")[0])
    with Library(address) as library:
        library.sync()
        before = derived(library)
        library.db.run("ALTER TABLE turn ADD COLUMN gone_since TEXT")
        library.db.run("UPDATE setting SET value = '0 other' WHERE name = 'derived'")
    with Library(address) as library:
        assert derived(library) == before
        with pytest.raises(Exception, match="gone_since"):
            library.db.rows("SELECT gone_since FROM turn")


def test_a_rebuild_that_does_not_come_to_its_end(
    address: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads meanwhile sees what was there; and so does everybody after it failed."""
    for n, source in enumerate(corpus.session_files("codex")[:3]):
        corpus.place(home, "codex", source, n)
    with Library(address) as library:
        library.sync()
        before = derived(library)
    make_old(address)
    again, seen = reading.again, list[str | None]()

    def failing(*given: object) -> reading.UnitRead:
        if len(seen) == 2:
            raise KeyboardInterrupt
        reader = opening._database(address)
        seen.extend(row[0] for row in reader.rows("SELECT title FROM session ORDER BY id LIMIT 1"))
        reader.close()
        return again(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(reading, "again", failing)
        with pytest.raises(KeyboardInterrupt):
            Library(address)
    assert seen == ["old", "old"]
    reader = opening._database(address)
    assert opening.is_old(reader)
    assert reader.rows("SELECT DISTINCT title FROM session") == [("old",)]
    reader.close()
    with Library(address) as library:
        assert derived(library) == before


def test_many_make_it_at_the_same_time(tmp_path: Path) -> None:
    """As a server does, whose library is read and asked before it is there."""
    for n in range(20):
        place, together = tmp_path / f"{n}.db", Barrier(8)

        def made(place: Path = place, together: Barrier = together) -> int:
            together.wait()
            with Library(place) as library:
                return len(library.sessions())

        with ThreadPoolExecutor(8) as pool:
            assert [each.result() for each in [pool.submit(made) for _ in range(8)]] == [0] * 8
