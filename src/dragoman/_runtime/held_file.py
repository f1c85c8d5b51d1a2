"""A file that its maker holds under flock for as long as it lives. The kernel lets go of a lock with its owner, however that
one ended: so nobody is kept by the dead, and a process id that was used again means nothing."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_held: Final[dict[str, int]] = {}
"""Those of this process, and their file descriptors."""


def _let_go_of_inherited() -> None:
    """A forked child is not the owner: with its copy open, the lock would outlive the owner."""
    for fd in _held.values():
        with suppress(OSError):
            os.close(fd)
    _held.clear()


os.register_at_fork(after_in_child=_let_go_of_inherited)


class HeldFile:
    """Makes the file at `path`, which only the user may read, and holds it until `leave`. Raises OSError; FileExistsError
    if there is one. Between the making and the lock nobody may look: that is for the caller to see to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._owner = os.getpid()
        self._left = False
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        _held[str(path)] = self._fd
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
        except OSError:
            self.leave()
            raise

    def write(self, content: bytes) -> None:
        """Put this into it, after what is there."""
        os.write(self._fd, content)

    def leave(self) -> None:
        """Take it away. Does nothing the second time, or in a child of its owner."""
        if not self._left and self._owner == os.getpid():
            self._left = True
            del _held[str(self.path)]
            with suppress(OSError):
                self.path.unlink()
            os.close(self._fd)


def is_ours(path: Path) -> bool:
    """Whether this process holds the file."""
    return str(path) in _held


def is_free(fd: int) -> bool:
    """Whether nobody holds this open file. Then its owner is dead, and nobody else can hold it until it is closed. Raises
    OSError where files cannot be locked."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
