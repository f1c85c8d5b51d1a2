"""Forgetting: a session goes from the library with its bytes, and does not come back by itself. What its agent keeps is
not touched."""

import os
from contextlib import suppress
from pathlib import Path
from time import time

from msgspec import Struct, field

from dragoman._library import reading, syncing
from dragoman._library.archive import FORGOTTEN
from dragoman._library.database import Database
from dragoman._library.writing import Writer


class Forgotten(Struct, kw_only=True):
    """What became of the files of a session that was forgotten."""

    files: list[str] = field(default_factory=list)
    """Nothing of them is in the library any more. Those of an agent are still where it keeps them."""
    shared: list[str] = field(default_factory=list)
    """They tell of other sessions too: their bytes are kept for these, and nothing of this one is shown or found."""


def forget(db: Database, session: str, ours: Path) -> Forgotten:
    """A session and the subagents that worked for it, by its id; recordings of it below `ours` are deleted."""
    out = Forgotten()
    writer = Writer(db)
    with db.writing(lasting=True):
        going = {session, *_subagents(db, session)}
        units = {
            row[0] for one in going for row in db.rows("SELECT unit FROM part WHERE session = ?", (one,))
        }
        db.run_many(
            "INSERT INTO forgotten (session, chosen, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(one, session, time()) for one in sorted(going)],
        )
        db.run_many("DELETE FROM label WHERE session = ?", [(one,) for one in going])
        for unit in sorted(units):
            told = {row[0] for row in db.rows("SELECT session FROM part WHERE unit = ?", (unit,))}
            if told <= going:
                out.files += _forget_unit(db, writer, unit, session, ours)
            else:
                db.run("INSERT INTO forgotten_unit (session, unit) VALUES (?, ?)", (session, unit))
                out.shared += _derive_again(db, writer, unit)
    return out


def remember(db: Database, session: str) -> bool:
    """A session that was forgotten is wanted again: the next sync brings it in, if its files are still there. False if it was
    not forgotten."""
    with db.writing():
        back = db.rows("SELECT session FROM forgotten WHERE chosen = ?", (session,))
        shared = db.rows("SELECT unit FROM forgotten_unit WHERE session = ?", (session,))
        db.run("DELETE FROM forgotten WHERE chosen = ?", (session,))
        db.run("DELETE FROM forgotten_unit WHERE session = ?", (session,))
        db.run_many(
            "DELETE FROM file WHERE state = ? AND identity = ?", [(FORGOTTEN, one) for (one,) in back]
        )
        writer = Writer(db)
        for (unit,) in shared:
            _derive_again(db, writer, unit)
    return bool(back)


def _subagents(db: Database, session: str) -> set[str]:
    """Those that worked for it, and those that worked for them."""
    found: set[str] = set()
    waiting = [session]
    while waiting:
        rows = db.rows("SELECT id FROM session WHERE parent = ? AND relation = 'subagent'", (waiting.pop(),))
        fresh = {row[0] for row in rows} - found
        found |= fresh
        waiting += sorted(fresh)
    return found


def _forget_unit(db: Database, writer: Writer, unit: int, session: str, ours: Path) -> list[str]:
    writer.forget_unit(unit)
    files = db.rows("SELECT id, machine, path FROM file WHERE unit = ? ORDER BY id", (unit,))
    for id, machine, path in files:
        db.run("DELETE FROM chunk WHERE file = ?", (id,))
        db.run("DELETE FROM file WHERE id = ?", (id,))
        writer.mark_forgotten(machine, path, session)
        if machine == db.machine and Path(path).is_relative_to(ours):
            with suppress(OSError):  # before it is committed: who is killed here has it in the archive still
                os.unlink(path)
    return [path for _, _, path in files]


def _derive_again(db: Database, writer: Writer, unit: int) -> list[str]:
    paths: list[str] = []
    for first, archived, known in syncing.archived(db, unit):
        writer.derive([(first, reading.again(db, archived, known))])
        paths += archived.paths
    return paths
