"""Who tells of a session: its agent's own file, and our recordings of its runs. Which of them are its transcript, and the
lines that they were read from."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dragoman._files.sources import open_lines
from dragoman._library import archive, sessions
from dragoman._library.database import Database
from dragoman._library.digest import BLOCK
from dragoman._library.sessions import StoredSession
from dragoman._library.syncing import archived
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event
from dragoman._model.frames import Frame

LARGEST: Final = 10**15
"""No number of a unit is as great; what is greater no database takes."""


class Telling(Struct, frozen=True):
    """What one unit tells of a session."""

    unit: int
    is_recording: bool
    dialect: str
    events: int
    turns: int
    created: float | None
    is_shared: bool
    """It tells of other sessions too."""
    shown: bool
    """It is part of the transcript."""


def tellings(db: Database, session: StoredSession) -> list[Telling]:
    """All that tell of a session, in their order. Where one recording has all its turns that one is shown, since it has times,
    permissions and answers; else what the library counts."""
    rows = db.rows(
        "SELECT p.unit, p.kind, u.dialect, u.events, p.turns, p.created, p.shown,"
        " (SELECT COUNT(*) FROM part o WHERE o.unit = p.unit)"
        " FROM part p JOIN unit u ON u.id = p.unit WHERE p.session = ? ORDER BY COALESCE(p.created, 0), p.unit",
        (session.id,),
    )
    found = [
        Telling(unit, kind == "recording", dialect, events, turns, created, of > 1, bool(shown))
        for unit, kind, dialect, events, turns, created, shown, of in rows
    ]
    whole = [
        each for each in found if each.is_recording and not each.is_shared and each.turns >= session.turns
    ]
    if whole:
        chosen = max(whole, key=lambda each: each.turns)
        found = [replace(each, shown=each is chosen) for each in found]
    return found


def size(db: Database, unit: int) -> int | None:
    """The number of a unit's last event; None if there is no such unit."""
    if not 0 < unit < LARGEST:
        return None
    rows = db.rows("SELECT events FROM unit WHERE id = ?", (unit,))
    return rows[0][0] if rows else None


def changes(db: Database, unit: int) -> Iterator[Event]:
    """The events of a unit that changed files. Only the blocks that they are in are opened."""
    rows = db.rows("SELECT seq FROM file_change WHERE unit = ? ORDER BY seq", (unit,))
    for _, some in groupby((seq for (seq,) in rows), lambda seq: (seq - 1) // BLOCK):
        wanted = dict.fromkeys(some)
        for event in sessions.events(db, unit, min(wanted), max(wanted)):
            if event.seq in wanted:
                yield event


def children(db: Database, session: StoredSession, most: int) -> list[StoredSession]:
    """The sessions that came of it or work for it, as they began."""
    rows = db.rows(
        "SELECT id FROM session WHERE parent = ? ORDER BY COALESCE(created, 0), id LIMIT ?",
        (session.id, most),
    )
    ids: list[str] = [row[0] for row in rows]
    found = sessions.some(db, ids)
    return [found[id] for id in ids if id in found]


def frame(db: Database, unit: int, number: int) -> Frame | None:
    """The frame of this number, as the unit was read; None if it is not there."""
    for _, files, known in archived(db, unit):
        lines = (
            line
            for path, each in zip(files.paths, known, strict=True)
            for line in archive.lines(path, archive.content(db, each.id, each.generation))
        )
        try:
            source = open_lines(files.paths[0], lines, files.dialect or None, agent=files.agent or None)
            if source.kind != "events":  # there it is events that are numbered
                return next((each for each in source if each.n == number), None)
        except DragomanError:
            return None
    return None
