"""Memory and time have bounds: large files go through in pieces, and what there is no time for is counted."""

import subprocess
import sys
from pathlib import Path

import pytest

from dragoman._library import reading, syncing
from dragoman._library.library import Library
from tests.library import corpus
from tests.library.rows import derived

MOST = 300 << 20

SYNC = """
import resource, sys
from dragoman._library.library import Library
if __name__ == "__main__":
    with Library(sys.argv[1]) as library:
        print(library.sync(jobs=2).read)
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        print(resource.getrusage(who).ru_maxrss * 1024)
"""


@pytest.mark.slow
def test_memory(address: str, home: Path, tmp_path: Path) -> None:
    """No process takes more, whatever it reads: a file of 100 MB, and many of up to 16."""
    list(corpus.generated(home, 200, 60_000_000))
    for n, size in enumerate((100_000_000, 16_000_000, 15_000_000, 15_000_000)):
        turns = corpus.session_files("codex")[n].read_bytes() + b"\n"
        path = corpus.place(home, "codex", corpus.session_files("codex")[n], n)
        with path.open("ab") as file:
            while file.tell() < size:
                file.write(turns)
    script = tmp_path / "sync.py"
    script.write_text(SYNC)
    done = subprocess.run([sys.executable, script, address], check=True, capture_output=True)
    read, ours, theirs = map(int, done.stdout.split())
    assert read == 204
    assert ours < MOST
    assert theirs < MOST


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes(library: Library, home: Path) -> None:
    path = corpus.place(home, "claude", corpus.session_files("claude")[0])
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":{"role":"user","content":"')
        for _ in range(100):
            file.write(b"many words of it " * 61_680)
        file.write(b'"},"sessionId":"s-long","uuid":"u-long"}\n')
    assert library.sync().problems == []
    [(id,)] = library.db.rows("SELECT id FROM file WHERE path = ?", (str(path),))
    [(size,)] = library.db.rows("SELECT SUM(length) FROM chunk WHERE file = ?", (id,))
    assert size == path.stat().st_size


def test_large_ones_are_read_last_and_here(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = list(corpus.generated(home, 20, 400_000))
    sizes = sorted(path.stat().st_size for path in paths)
    monkeypatch.setattr(syncing, "LARGE", sizes[15])
    monkeypatch.setattr(syncing, "BATCH", sizes[5])
    here: list[int] = []
    read = reading.read

    def counted(db: object, task: reading.Task) -> reading.UnitRead:
        here.append(task.size)
        return read(db, task)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(reading, "read", counted)
        library.sync(jobs=2)
    assert sorted(here) == sizes[16:]
    with Library(tmp_path / "other.db") as other:
        other.sync(jobs=1)
        assert derived(other)["session"] == derived(library)["session"]


def test_what_there_is_no_time_for(library: Library, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list(corpus.generated(home, 5, 100_000))
    monkeypatch.setattr(syncing, "PACE", 1)
    came = library.sync(seconds=0.5)
    assert (came.looked_at, came.read, came.unread) == (5, 0, 5)
    monkeypatch.undo()
    home.joinpath(".codex").mkdir(exist_ok=True)
    assert library.sync([home]).read == 5
