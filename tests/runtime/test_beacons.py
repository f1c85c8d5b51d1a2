"""Sessions that are shared are found as long as their owners live, and whoever looks meets nothing that stops it."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dragoman._model.errors import UsageError
from dragoman._runtime.beacons import Beacon, OwnBeacon, beacons, runtime_folder

OWNERS = Path(__file__).with_name("beacon_owners.py")


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder whose path is short."""
    with TemporaryDirectory(prefix="d-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@contextmanager
def owner(what: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process that has a beacon, and the first thing that it says."""
    with subprocess.Popen(
        [sys.executable, str(OWNERS), what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def lit() -> OwnBeacon:
    own = OwnBeacon()
    own.light(agent="toy", cwd="/here", recording="/here/run.jsonl")
    return own


def files() -> list[str]:
    return sorted(os.listdir(runtime_folder()))


def test_a_beacon_says_where_its_run_is_found(place: Path) -> None:
    own = OwnBeacon()
    assert beacons() == []
    beacon = own.light(agent="claude", cwd="/here/\udcff", recording="/there/run.jsonl")
    assert beacons() == [beacon]
    assert (beacon.pid, beacon.agent, beacon.cwd) == (os.getpid(), "claude", "/here/?")
    assert beacon.socket == str(place / "dragoman" / f"{own.run}.sock")
    assert beacon.recording == "/there/run.jsonl"
    assert (runtime_folder() / f"{own.run}.json").stat().st_mode & 0o777 == 0o600
    own.leave()
    own.leave()
    assert (beacons(), files()) == ([], [])


def test_each_run_has_one() -> None:
    one, two = lit(), lit()
    assert [beacon.run for beacon in beacons()] == sorted((one.run, two.run))
    one.leave()
    assert [beacon.run for beacon in beacons()] == [two.run]
    two.leave()


@pytest.mark.parametrize("what", ["hold", "begin"])
def test_a_killed_owner_leaves_nothing_that_is_found(what: str) -> None:
    with owner(what) as (process, run):
        assert [beacon.run for beacon in beacons()] == ([run] if what == "hold" else [])
        assert files() == [f"{run}.json", f"{run}.sock"]
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert beacons() == []
        assert files() == []


def test_a_forked_child_is_not_the_owner() -> None:
    with owner("fork") as (process, child):
        assert [beacon.pid for beacon in beacons()] == [process.pid]
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert beacons() == []
        os.kill(int(child), signal.SIGKILL)


def test_what_is_none_is_passed_over_and_left_alone() -> None:
    own, folder = lit(), runtime_folder()
    right = json.loads((folder / f"{own.run}.json").read_bytes())
    odd = {
        "raaaaaaaaaaa1.json": b"",
        "raaaaaaaaaaa2.json": b"\xff\xfe",
        "raaaaaaaaaaa3.json": b"[" * 100_000,
        "raaaaaaaaaaa4.json": json.dumps({**right, "dragoman": "beacon/9", "run": "raaaaaaaaaaa4"}).encode(),
        "raaaaaaaaaaa5.json": json.dumps({**right, "run": own.run}).encode(),
        "raaaaaaaaaaa6.json": json.dumps({**right, "run": "raaaaaaaaaaa6", "pid": "7"}).encode(),
    }
    held = []
    for name, content in odd.items():
        (folder / name).write_bytes(content)
        held.append(os.open(folder / name, os.O_RDWR))
        fcntl.flock(held[-1], fcntl.LOCK_EX)
    (folder / "raaaaaaaaaaa7.json").mkdir()
    os.mkfifo(folder / "raaaaaaaaaaa8.json")
    os.symlink(folder / f"{own.run}.json", folder / "raaaaaaaaaaa9.json")
    (folder / "notes.txt").write_text("mine")
    before = files()
    assert [beacon.run for beacon in beacons()] == [own.run]
    assert files() == before
    own.leave()
    for fd in held:
        os.close(fd)
    assert beacons() == []
    assert files() == ["notes.txt", *(f"raaaaaaaaaaa{number}.json" for number in (7, 8, 9))]


def test_nothing_is_taken_away_while_somebody_makes_a_beacon() -> None:
    """Between the making of the file and its lock it looks like that of a dead owner."""
    folder = runtime_folder()
    left = folder / "raaaaaaaaaaa1.json"
    left.touch()
    entrance = os.open(folder, os.O_RDONLY)
    fcntl.flock(entrance, fcntl.LOCK_EX)
    assert beacons() == []
    assert left.exists()
    os.close(entrance)
    assert beacons() == []
    assert not left.exists()


# --- where they are ------------------------------------------------------------------------------------------


def test_the_folder_is_the_users_alone(place: Path) -> None:
    assert runtime_folder() == place / "dragoman"
    assert runtime_folder().stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("given", ["", "relative", "/no/such/folder", __file__, "LONG"])
def test_without_a_runtime_folder_it_is_among_the_temporary_ones(
    given: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if given == "LONG":
        given = str(place / ("x" * 80))
        os.mkdir(given)
    monkeypatch.setenv("XDG_RUNTIME_DIR", given)
    monkeypatch.setattr("tempfile.tempdir", str(place))
    assert runtime_folder() == place / f"dragoman-{os.getuid()}"


def test_a_folder_that_others_may_enter_is_refused(place: Path) -> None:
    runtime_folder().chmod(0o750)
    with pytest.raises(UsageError, match="no folder that only you may enter; take it away"):
        OwnBeacon()
    with pytest.raises(UsageError):
        beacons()


@pytest.mark.parametrize("there", ["file", "link"])
def test_what_is_no_folder_is_refused(there: str, place: Path) -> None:
    if there == "file":
        (place / "dragoman").touch()
    else:
        (place / "elsewhere").mkdir(0o700)
        os.symlink(place / "elsewhere", place / "dragoman")
    with pytest.raises(UsageError, match="no folder that only you may enter"):
        runtime_folder()


def test_a_path_that_is_too_long_for_a_socket_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(place / ("x" * 80)))
    with pytest.raises(UsageError, match="set TMPDIR to a shorter one"):
        runtime_folder()


def test_a_beacon_is_its_format() -> None:
    """Others read it: its fields are not renamed."""
    assert Beacon.__struct_fields__ == (
        "dragoman", "run", "pid", "socket", "recording", "agent", "cwd", "program",
    )  # fmt: skip
