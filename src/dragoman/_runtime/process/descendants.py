"""A program and all that it started: who they are, and how they are ended.

Agents give their tools sessions of their own, and tools leave orphans: neither a process group nor a process tree
holds them all. So whoever is in the tree, in the session that the program leads, or carries its mark in the
environment belongs to it too; who once belonged to it stays in it, wherever its parents went. A process is
known by its pid and the time of its start, so that a later one with the same pid is never taken for it.

Run as a script this is the watchdog (see watchdog.py), which must start fast: only small imports here.
"""

import os
import signal
import sys
import time
from contextlib import suppress

MARK = "DRAGOMAN_RUN"
"""The variable by whose value the processes of a run are known, whoever their parents are."""

SYSTEM_HAS_PROC = sys.platform == "linux"

Member = tuple[int, float]
"""A process: its pid, and when it started (in whatever the system counts)."""
Row = tuple[int, int, int, float]
"""Of a living process: pid, parent, session, start."""


class Descendants:
    """A program and all that it started: its pid is `root`. `mark` is what its environment says under MARK."""

    def __init__(self, root: int = 0, mark: str = "") -> None:
        self.known: set[Member] = set()
        """Who was seen and may still be there; without the program itself."""
        self.root: Member = (root, next((row[3] for row in _table([root])), 0.0))
        self._mark = f"{MARK}={mark}".encode() if mark else b""
        self._signalled: set[tuple[Member, int]] = set()

    def seen(self) -> set[Member]:
        """Who belongs to it now, as far as tree and session tell. Changes nothing: it may be asked in a thread."""
        rows = _table()
        return self._related(rows) | self.known & _members(rows)

    def look(self) -> None:
        """Take note of who belongs to it now."""
        self.known = self.seen()

    def press(self, number: int) -> bool:
        """Send a signal to all who have not got it yet, also to those who were born meanwhile; whether anyone
        is left."""
        rows = _table()
        self.known |= self._related(rows) | self._marked(rows)
        left = self.known & _members(rows)
        for member in left:
            if (member, number) not in self._signalled:
                self._signalled.add((member, number))
                _kill(member[0], number)
        return bool(left)

    def _related(self, rows: list[Row]) -> set[Member]:
        root, since = self.root
        everyone = _members(rows)
        parents = {pid for pid, _ in everyone & (self.known | {self.root})}
        another = any(pid == root and start != since for pid, start in everyone)
        session = 0 if another else root  # else its number is another's by now
        found: set[Member] = set()
        while True:  # the table is in no order: a child may come before its parent
            new = {
                (pid, start)
                for pid, parent, leader, start in rows
                if start >= since and (parent in parents or (session and leader == session))
            } - found
            if not new:
                return found - {self.root}
            found |= new
            parents |= {pid for pid, _ in new}

    def _marked(self, rows: list[Row]) -> set[Member]:
        """Those whom only their environment gives away."""
        if not self._mark:
            return set()
        young = ((pid, start) for pid, _, _, start in rows if start >= self.root[1])
        return {member for member in young if member != self.root and _carries(member[0], self._mark)}


def _members(rows: list[Row]) -> set[Member]:
    return {(row[0], row[3]) for row in rows}


def _kill(pid: int, number: int) -> None:
    with suppress(OSError):  # it ended this moment, or is another user's now
        os.kill(pid, number)


# --- what the system knows -----------------------------------------------------------------------------------


def _table(pids: list[int] | None = None) -> list[Row]:
    """The living processes (zombies are dead), all or those with these pids."""
    if not SYSTEM_HAS_PROC:
        return _psutil_table(pids)
    wanted = (int(name) for name in os.listdir("/proc") if name.isdigit()) if pids is None else pids
    return [row for pid in wanted if (row := _row(pid)) is not None]


def _row(pid: int) -> Row | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            fields = file.read(1024).rpartition(b")")[2].split()  # a program's name may hold anything
    except OSError:
        return None
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return pid, int(fields[1]), int(fields[3]), float(fields[19])


def _carries(pid: int, mark: bytes) -> bool:
    if not SYSTEM_HAS_PROC:
        return _psutil_carries(pid, mark)
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            return mark in file.read(1 << 20).split(b"\0")
    except OSError:  # another user's, or it has ended
        return False


def _psutil_table(pids: list[int] | None) -> list[Row]:
    import psutil

    rows = []
    for pid in psutil.pids() if pids is None else pids:
        try:
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                rows.append((pid, process.ppid(), os.getsid(pid), process.create_time()))
        except (psutil.Error, OSError):
            pass
    return rows


def _psutil_carries(pid: int, mark: bytes) -> bool:
    import psutil

    try:
        return psutil.Process(pid).environ().get(MARK) == mark.decode().partition("=")[2]
    except (psutil.Error, OSError):
        return False


# --- the watchdog --------------------------------------------------------------------------------------------

LADDER = ((signal.SIGTERM, 1.5), (signal.SIGKILL, 2.5))
"""What those get who were left behind, and how many seconds it may take."""
LOOK = 0.05


def watch(mark: str, master: int) -> None:
    """Wait for the end of our master, then end all that it left behind."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    ours = Descendants(mark=mark)
    if told := [_member(word) for word in _last_word(master).split()]:
        ours.root, ours.known = told[0], set(told)
    for number, seconds in LADDER:
        until = time.monotonic() + seconds
        while ours.press(number) and time.monotonic() < until:
            time.sleep(LOOK)


def _member(word: bytes) -> Member:
    pid, start = word.split(b":")
    return int(pid), float(start)


def _last_word(master: int) -> bytes:
    """The last whole line that the master said, once it is gone. Its end is the end of the pipe, or its own where
    a process that it forked keeps a copy of the pipe."""
    import select

    poll = select.poll()
    poll.register(0, select.POLLIN)
    with suppress(OSError):  # an old kernel, or it is gone already: the pipe tells
        poll.register(os.pidfd_open(master), select.POLLIN)
    last = rest = b""
    while True:
        ready = [fd for fd, _ in poll.poll()]
        chunk = os.read(0, 1 << 16) if 0 in ready else b""
        if not chunk:
            return last
        *lines, rest = (rest + chunk).split(b"\n")
        last = lines[-1] if lines else last


if __name__ == "__main__":
    watch(sys.argv[1], int(sys.argv[2]))
