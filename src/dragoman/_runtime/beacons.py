"""Beacons: by these the sessions that run on this machine, and that their owners share, are found.

In a folder that only the user may enter, each has one: `<run>.json`, which says where its recording is and at which socket
its owner takes commands. The owner holds it under flock for as long as it lives. One that nobody holds is what a dead
owner left: it is taken away by whoever looks next, and the socket with it.
"""

import fcntl
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

import msgspec
from msgspec import Struct

from dragoman._model.errors import UsageError
from dragoman._runtime.held_file import HeldFile, is_free

FORMAT: Final = "beacon/1"
LARGEST: Final = 1 << 16
"""Bytes of a beacon that are read."""
_LONGEST_PATH: Final = 99
"""Bytes that the path of a socket may have, on every system."""
_NAME: Final = re.compile(r"(r[0-9a-f]{12})\.json")


class Beacon(Struct, frozen=True, kw_only=True):
    """A running session, and where it is found."""

    dragoman: str = FORMAT
    run: str
    """r and 12 hex digits."""
    pid: int
    """The process that drives it."""
    socket: str
    """Where that takes commands: see desk."""
    recording: str
    """The file that it is recorded in."""
    agent: str
    cwd: str
    program: str
    """What drives it, by the name of its program."""


_decoder = msgspec.json.Decoder(Beacon)


# --- where they are ------------------------------------------------------------------------------------------


def runtime_folder() -> Path:
    """The folder of the beacons and their sockets, made if it is not there. Raises UsageError if it cannot be made, or
    others may enter it."""
    folder = next((each for each in _places() if _is_short(each)), None)
    if folder is None:
        raise UsageError(
            f"no socket can be made in {tempfile.gettempdir()}: its path is too long; set TMPDIR to a shorter one"
        )
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = os.lstat(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}; set TMPDIR to another place") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise UsageError(
            f"{folder} is no folder that only you may enter; take it away, or set TMPDIR to another place"
        )
    return folder


def _places() -> Iterator[Path]:
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    with suppress(OSError, ValueError):
        found = os.stat(given)
        if os.path.isabs(given) and stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            yield Path(given, "dragoman")
    yield Path(tempfile.gettempdir(), f"dragoman-{os.getuid()}")


def _is_short(folder: Path) -> bool:
    return len(os.fsencode(_socket_of(folder, "r" + "0" * 12))) <= _LONGEST_PATH


def _socket_of(folder: Path, run: str) -> Path:
    return folder / f"{run}.sock"


@contextmanager
def _alone(folder: Path, *, waits: bool) -> Iterator[bool]:
    """Nobody else makes a beacon in the folder, or takes one away: for the few microseconds that this takes. Whether that
    is so, where one does not wait for it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        alone = True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            alone = False
        yield alone
    finally:
        os.close(fd)


# --- that of a run of ours -----------------------------------------------------------------------------------


class OwnBeacon:
    """The place of a run of this process among those that can be found. It is not seen before `light`. Raises OSError and
    UsageError if there can be none."""

    def __init__(self) -> None:
        folder = runtime_folder()
        self.run: str = f"r{token_hex(6)}"
        self.socket: str = str(_socket_of(folder, self.run))
        """Where its owner shall take commands."""
        with _alone(folder, waits=True):
            self._file = HeldFile(folder / f"{self.run}.json")

    def light(self, *, agent: str, cwd: str, recording: str) -> Beacon:
        """Have it seen by others, with what it says. Raises OSError, and ValueError for a path that is no UTF-8."""
        beacon = Beacon(
            run=self.run,
            pid=os.getpid(),
            socket=self.socket,
            recording=recording,
            agent=agent,
            cwd=_utf8(cwd),
            program=_utf8(os.path.basename("".join(sys.argv[:1]) or sys.executable)),
        )
        self._file.write(msgspec.json.encode(beacon))
        return beacon

    def leave(self) -> None:
        """It is not found any more."""
        self._file.leave()


def _utf8(path: str) -> str:
    return path.encode("utf-8", "replace").decode()


# --- those of all --------------------------------------------------------------------------------------------


def beacons() -> list[Beacon]:
    """Those of all runs that go on, by their ids; what the dead left is taken away, and what is none is passed over. Raises
    what `runtime_folder` raises."""
    folder = runtime_folder()
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = (_seen(folder, match[1]) for name in names if (match := _NAME.fullmatch(name)) is not None)
    return [beacon for beacon in found if beacon is not None]


def _seen(folder: Path, run: str) -> Beacon | None:
    """What a beacon says; None if its owner is dead, or says nothing yet."""
    with suppress(OSError), _opened(folder / f"{run}.json") as fd:
        if is_free(fd):
            _take_away(folder, run)
        else:
            return _read(os.pread(fd, LARGEST, 0), run)
    return None


def _take_away(folder: Path, run: str) -> None:
    """Unless somebody has just made it, and is about to hold it."""
    path = folder / f"{run}.json"
    with _alone(folder, waits=False) as alone:
        if alone:
            with _opened(path) as fd:
                if is_free(fd):
                    path.unlink()
                    _socket_of(folder, run).unlink(missing_ok=True)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Raises OSError, also for what is no file."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError("it is no file")
        yield fd
    finally:
        os.close(fd)


def _read(content: bytes, run: str) -> Beacon | None:
    try:
        beacon = _decoder.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return beacon if beacon.run == run and beacon.dragoman == FORMAT else None
