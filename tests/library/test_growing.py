"""A file that grows is read from where it was: the same rows come of it as of one reading at the end."""

import os
import random
from pathlib import Path

import pytest

from dragoman._library import archive, sessions
from dragoman._library.library import Library
from tests.library import corpus
from tests.library.rows import derived


class Reads:
    """Counts what is opened and read of sources."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.bytes = 0


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    count = Reads()

    class Counted(archive.io.FileIO):  # type: ignore[name-defined,misc]
        def read(self, size: int = -1) -> bytes:
            got: bytes = super().read(size)
            count.bytes += len(got)
            return got

    def opened(path: str, mode: str, buffering: int, opener: object) -> archive.io.FileIO:  # type: ignore[name-defined]
        count.opened.append(path)
        return Counted(path, mode, opener=opener)  # type: ignore[arg-type]

    monkeypatch.setattr(archive, "open", opened, raising=False)
    return count


def source(agent: str, home: Path) -> tuple[Path, bytes]:
    """The largest session file of an agent, where its agent would have it, and its content."""
    largest = max(corpus.session_files(agent), key=lambda path: path.stat().st_size)
    path = corpus.place(home, agent, largest)
    return path, path.read_bytes()


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_steps_end_in_the_same_rows(library: Library, home: Path, tmp_path: Path, agent: str) -> None:
    path, content = source(agent, home)
    with Library(tmp_path / "once.db") as once:
        once.sync()
        expected = derived(once)
    path.write_bytes(b"")
    dice = random.Random(agent)
    cuts = sorted(dice.sample(range(1, len(content)), 12))
    lines = [content.index(b"\n", cut) + 1 for cut in cuts[:4]]
    for end in sorted({*cuts, *lines, len(content)}):
        with path.open("ab") as file:
            file.write(content[path.stat().st_size : end])
        assert library.sync().read == 1
    got = derived(library)
    for table, rows in expected.items():
        assert got[table] == rows, table
    [(generation,)] = library.db.rows("SELECT generation FROM file WHERE path = ?", (str(path),))
    assert generation == 0


def test_only_new_bytes_are_read(library: Library, home: Path, reads: Reads) -> None:
    [path] = corpus.generated(home, 1, 3_000_000)
    content = path.read_bytes()
    half = content.index(b"\n", len(content) // 2) + 1
    path.write_bytes(content[:half])
    library.sync()
    assert reads.bytes == half
    blocks = {row[:2]: row[2] for row in library.db.rows("SELECT first, last, data FROM block")}
    said = set(library.db.rows("SELECT id, body FROM said"))
    assert len(blocks) > 3
    reads.bytes = 0
    with path.open("ab") as file:
        file.write(content[half:])
    library.sync()
    assert reads.bytes == len(content) - half + 2 * archive.COMPARED
    full = {key for key in blocks if key[1] - key[0] == 499}
    now = {row[:2]: row[2] for row in library.db.rows("SELECT first, last, data FROM block")}
    assert all(now[key] == blocks[key] for key in full)
    assert said <= set(library.db.rows("SELECT id, body FROM said"))


def test_unchanged_blocks_and_texts_are_not_written_again(
    library: Library, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [path] = corpus.generated(home, 1, 2_000_000)
    content = path.read_bytes()
    last = content.rindex(b"\n", 0, len(content) - 1) + 1
    path.write_bytes(content[:last])
    library.sync()
    written: dict[str, int] = {}
    run_many = library.db.run_many

    def counted(sql: str, rows: object) -> None:
        given = list(rows)  # type: ignore[call-overload]
        written[sql.split(" (")[0]] = len(given)
        run_many(sql, given)

    monkeypatch.setattr(library.db, "run_many", counted)
    with path.open("ab") as file:
        file.write(content[last:])
    library.sync()
    assert written["INSERT INTO block"] == 1
    assert written.get("INSERT INTO said", 0) <= 2


def test_nothing_changed_opens_nothing(library: Library, home: Path, reads: Reads) -> None:
    corpus.placed(home)
    library.sync(jobs=1)
    assert reads.opened
    reads.opened.clear()
    assert library.sync(jobs=1).read == 0
    assert reads.opened == []


def test_a_file_that_was_only_touched_is_not_read_into_rows_again(library: Library, home: Path) -> None:
    path, _ = source("claude", home)
    library.sync()
    os.utime(path, ns=(1, 1))
    assert library.sync().read == 0
    [(modified, generation)] = library.db.rows("SELECT modified, generation FROM file ORDER BY id LIMIT 1")
    assert (modified, generation) == (1, 0)


def test_small_steps_make_few_chunks(library: Library, home: Path) -> None:
    path, content = source("codex", home)
    for end in range(1000, len(content), 5000):
        path.write_bytes(content[:end])
        library.sync()
    assert len(library.db.rows("SELECT start FROM chunk")) == 1


def test_a_subagent_comes_later_and_stays(library: Library, home: Path, tmp_path: Path) -> None:
    source = next(path for path in corpus.session_files("claude") if path.parent.name == "subagent_bidi")
    path = corpus.place(home, "claude", source)
    below = sorted((path.with_suffix("") / "subagents").iterdir())
    assert len(below) == 2
    with Library(tmp_path / "once.db") as once:
        once.sync()
        expected = derived(once)
    contents = {each: each.read_bytes() for each in (path, *below)}
    for each in contents:
        each.unlink()
    for each in (below[1], path, below[0]):  # a subagent's file before that of its session
        each.write_bytes(contents[each])
        library.sync([path.parent])
    assert derived(library)["said"] == expected["said"]
    [(unit,)] = library.db.rows("SELECT id FROM unit")
    assert [file.path for file in sessions.files(library.db, unit)] == [str(each) for each in (path, *below)]
    below[0].unlink()
    with path.open("ab") as file:
        file.write(b"\n")
    library.sync()
    assert derived(library)["said"] == expected["said"]
    path.unlink()
    with below[1].open("ab") as file:
        file.write(b"\n")
    library.sync([path.parent])
    library.sync()
    assert derived(library)["said"] == expected["said"]
    before = derived(library)
    library.rebuild()
    assert derived(library) == before
