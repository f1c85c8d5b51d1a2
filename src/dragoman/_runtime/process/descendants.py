"""A program and all that it started, as the process table tells: for systems where no keeper holds them.

Agents give their tools sessions of their own, and tools leave orphans: neither a process group nor a process tree
holds them all. So whoever is in the tree, or in the session that the program leads, belongs to it; who once belonged
to it stays in it, wherever its parents went. A process is known by its pid and the time of its start, so that a
later one with the same pid is never taken for it.
"""

import os
from contextlib import suppress

import psutil

Member = tuple[int, float]
"""A process: its pid, and when it started."""
Row = tuple[int, int, int, float]
"""Of a living process: pid, parent, session, start."""


class Descendants:
    """A program and all that it started: its pid is `root`."""

    def __init__(self, root: int) -> None:
        self.known: set[Member] = set()
        """Who was seen and may still be there; without the program itself."""
        self.root: Member = (root, next((row[3] for row in _table([root])), 0.0))
        self._signalled: set[tuple[Member, int]] = set()

    def look(self) -> None:
        """Take note of who belongs to it now."""
        rows = _table()
        self.known = self._related(rows) | self.known & _members(rows)

    def press(self, number: int) -> bool:
        """Send a signal to all who have not got it yet, also to those who were born meanwhile; whether anyone
        is left."""
        self.look()
        for member in self.known:
            if (member, number) not in self._signalled:
                self._signalled.add((member, number))
                with suppress(OSError):  # it ended this moment, or is another user's now
                    os.kill(member[0], number)
        return bool(self.known)

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


def _members(rows: list[Row]) -> set[Member]:
    return {(row[0], row[3]) for row in rows}


def _table(pids: list[int] | None = None) -> list[Row]:
    """The living processes (zombies are dead), all or those with these pids."""
    rows = []
    for pid in psutil.pids() if pids is None else pids:
        with suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                rows.append((pid, process.ppid(), os.getsid(pid), process.create_time()))
    return rows
