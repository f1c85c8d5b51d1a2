"""A sync may be killed at any moment, and two may run at once: nothing is lost, and the totals are the same in the end."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from dragoman._library.library import Library
from tests.library import corpus
from tests.library.rows import derived

KILLS = 10
MANY_KILLS = 100

SYNC = """
import sys
from dragoman._library import syncing
from dragoman._library.library import Library
syncing.BATCH = 60_000  # bytes: as with a corpus that is larger, there are several transactions
with Library(sys.argv[1]) as library:
    library.sync(jobs=int(sys.argv[2]), progress=lambda done, of: print(done, flush=True))
"""


def begin(address: str, jobs: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", SYNC, address, str(jobs)], stdout=subprocess.PIPE, start_new_session=True
    )


def assert_sound(library: Library) -> None:
    if not library.address.startswith("postgresql:"):
        assert library.db.rows("PRAGMA integrity_check") == [("ok",)]
        library.db.run("INSERT INTO said_index (said_index) VALUES ('integrity-check')")


def killed_again_and_again(address: str, home: Path, truth: Path, kills: int) -> None:
    """Killed after some units, or in the midst of one; between two, files grow."""
    dice = random.Random(kills)
    whole = {path: path.read_bytes() for path in corpus.generated(home, 30, 600_000)}
    for path, content in whole.items():
        path.write_bytes(content[: len(content) // 3])
    seen: set[str] = set()
    for kill in range(kills):
        for path in dice.sample(sorted(whole), 12):
            with path.open("ab") as file:
                size = path.stat().st_size
                file.write(whole[path][size : size + len(whole[path]) // dice.randint(3, 9)])
        sync = begin(address, 1 + kill % 2)
        assert sync.stdout is not None
        for _ in range(dice.randint(0, 8)):
            sync.stdout.readline()
        # the rest of its life is some loops of ours: the moment need not be known, only be another each time
        for _ in range(dice.randint(0, 300_000)):
            pass
        os.killpg(sync.pid, signal.SIGKILL)
        sync.wait()
        sync.stdout.close()
        with Library(address) as library:
            assert_sound(library)
            now = {row[0] for row in library.db.rows("SELECT id FROM session")}
            assert seen <= now
            seen = now
    for path, content in whole.items():
        with path.open("ab") as file:
            file.write(content[path.stat().st_size :])
    with Library(address) as library, Library(truth) as once:
        library.sync(jobs=1)
        once.sync(jobs=1)
        assert_sound(library)
        ours, expected = derived(library), derived(once)
        for table in expected:
            assert ours[table] == expected[table], table


def test_killed_at_any_moment(address: str, home: Path, tmp_path: Path) -> None:
    killed_again_and_again(address, home, tmp_path / "truth.db", KILLS)


@pytest.mark.slow
def test_killed_many_times(address: str, home: Path, tmp_path: Path) -> None:
    killed_again_and_again(address, home, tmp_path / "truth.db", MANY_KILLS)


def test_two_at_once(address: str, home: Path, tmp_path: Path) -> None:
    list(corpus.generated(home, 30, 600_000))
    syncs = [begin(address, jobs) for jobs in (1, 2, 1)]
    for sync in syncs:
        sync.communicate()
        assert sync.returncode == 0
    with Library(address) as library, Library(tmp_path / "truth.db") as once:
        assert library.sync().read == 0
        once.sync(jobs=1)
        assert_sound(library)
        assert derived(library) == derived(once)


def test_ctrl_c_ends_the_workers(address: str, home: Path) -> None:
    list(corpus.generated(home, 30, 600_000))
    sync = begin(address, 2)
    assert sync.stdout is not None
    sync.stdout.readline()
    os.kill(sync.pid, signal.SIGINT)
    sync.stdout.read()  # ends when the last who could write is gone
    assert sync.wait() == -signal.SIGINT or sync.returncode == 1
    sync.stdout.close()
    left = [process for process in psutil.process_iter(["status"]) if _group(process.pid) == sync.pid]
    psutil.wait_procs([process for process in left if process.info["status"] != "zombie"], timeout=60)
    assert all(not process.is_running() or process.status() == "zombie" for process in left)


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
