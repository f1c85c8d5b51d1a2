"""A library: where everything of it is to be had."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

from dragoman._library import (
    archive,
    finding,
    forgetting,
    moving,
    opening,
    restoring,
    searching,
    sessions,
    syncing,
)
from dragoman._library.archive import LEFT_OUT
from dragoman._library.finding import Unit
from dragoman._library.forgetting import Forgotten
from dragoman._library.query import Search
from dragoman._library.searching import Answer
from dragoman._library.sessions import Filter, StoredFile, StoredSession
from dragoman._library.syncing import Progress, Synced
from dragoman._model.events import Event

PAUSE: Final = 4
"""Who watches waits so many times as long as looking took."""


class Told(NamedTuple):
    """Lines of one run, as they were archived."""

    lines: Iterator[bytes]
    dialect: str
    agent: str


class Library:
    """The sessions of all agents, in a file or on a PostgreSQL server. `address` is a path or `postgresql://…`; without one
    DRAGOMAN_LIBRARY, else the user's own."""

    def __init__(self, address: str | os.PathLike[str] | None = None) -> None:
        self.address = opening.address_of(os.fspath(address) if address is not None else None)
        self.db = opening.opened(self.address)
        if opening.is_old(self.db):
            try:
                syncing.rebuild(self.db, only_if_old=True)
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> "Library":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.db.close()

    # --- what comes in ------------------------------------------------------------------------------------

    def sync(
        self,
        folders: Iterable[Path] = (),
        *,
        jobs: int | None = None,
        seconds: float | None = None,
        progress: Progress = lambda done, of: None,
    ) -> Synced:
        """Bring in what is new: of the stores of all agents and our own recordings, or of the folders that are named."""
        named = list(folders)
        return syncing.sync(
            self.db,
            self._units_below(named) if named else self._all_units(),
            address=self.address,
            jobs=jobs if jobs is not None else (os.cpu_count() or 1),
            seconds=seconds,
            all_found=not named,
            progress=progress,
        )

    def rebuild(self, progress: Progress = lambda done, of: None) -> int:
        """Read everything anew from the archive; the number of units."""
        return syncing.rebuild(self.db, progress)

    def take(self, recording: Path) -> list[str]:
        """Bring in one recording; the ids of its sessions."""
        path = os.path.abspath(recording)
        self.sync_units([finding.Unit((path,), is_ours=path.startswith(os.path.join(self.recordings, "")))])
        return self.told_by(recording)

    def told_by(self, recording: Path) -> list[str]:
        """The ids of the sessions of which a recording tells that is in the library, also where the file is no more."""
        rows = self.db.rows(
            "SELECT p.session FROM part p JOIN file f ON f.id = p.unit WHERE f.path = ? ORDER BY p.created",
            (os.path.abspath(recording),),
        )
        return [row[0] for row in rows]

    @property
    def recordings(self) -> Path:
        """Where runs are recorded before they are brought in."""
        return opening.recordings()

    def sync_units(self, units: Iterable[Unit]) -> Synced:
        """Bring in these, and look at no other."""
        return syncing.sync(self.db, units, address=self.address)

    def watch(
        self,
        folders: Iterable[Path] = (),
        *,
        interval: float = 0.5,
        wait: Callable[[float], object] = sleep,
    ) -> Generator[Synced, None, None]:
        """What comes in, for as long as somebody wants to know: each time that there is something new. It looks every `interval`
        seconds, and less often where looking takes long; `wait` waits, and ends it with whatever it returns that is true."""
        named = list(folders)
        while True:
            begun = monotonic()
            came = self.sync(named)
            if came.read or came.gone:
                yield came
            if wait(max(interval, PAUSE * (monotonic() - begun))):
                return

    def _units_below(self, folders: list[Path]) -> Iterator[Unit]:
        for folder in folders:
            yield from finding.units_below(folder)

    def _all_units(self) -> Iterator[Unit]:
        yield from finding.units(os.environ, self.left_out())
        yield from finding.units_below(self.recordings, is_ours=True)

    # --- what is in it ------------------------------------------------------------------------------------

    def sessions(self, wanted: Filter | None = None, limit: int | None = None) -> list[StoredSession]:
        """Sessions, newest first."""
        return sessions.listed(self.db, wanted or Filter(), limit)

    def session(self, id: str) -> StoredSession:
        """The session whose id begins so. Raises SessionNotFound."""
        return sessions.one(self.db, id)

    def events(self, session: StoredSession) -> Iterator[Event]:
        """All its events, run by run."""
        for unit in sessions.units(self.db, session):
            yield from sessions.events(self.db, unit)

    def files(self, session: StoredSession) -> list[StoredFile]:
        """The files that it was read from."""
        return [file for unit in sessions.units(self.db, session) for file in sessions.files(self.db, unit)]

    def told(self, session: StoredSession) -> list[Told]:
        """The agent's own lines of it, run by run."""
        return [self._told(unit) for unit in sessions.units(self.db, session)]

    def recorded(self, session: StoredSession) -> Told:
        """Its last recording, which has times and answers; else what its agent keeps of it."""
        [(unit,)] = self.db.rows(
            "SELECT unit FROM part WHERE session = ?"
            " ORDER BY CASE WHEN kind = 'recording' THEN 0 ELSE 1 END, created DESC, unit DESC LIMIT 1",
            (session.id,),
        )
        return self._told(unit)

    def _told(self, unit: int) -> Told:
        [(dialect, agent)] = self.db.rows("SELECT dialect, agent FROM unit WHERE id = ?", (unit,))
        return Told(self._lines(unit), dialect, agent)

    def _lines(self, unit: int) -> Iterator[bytes]:
        for file in sessions.files(self.db, unit):
            yield from archive.lines(file.path, list(file.content(self.db)))

    def search(self, text: str, **rest: Any) -> Answer:
        """Where something was said: the fields of `Search` say what else is wanted. Never raises for what is looked for."""
        return searching.search(self.db, Search(text=text, **rest))

    # --- what leaves it ------------------------------------------------------------------------------------

    def forget(self, session: StoredSession) -> Forgotten:
        """Take a session out, with those of its subagents: bytes, rows and name. It does not come back with the next sync;
        `remember` lets it. Recordings of it are deleted; what its agent keeps is not touched. What was deleted is
        overwritten, and its place is given back by `compact`."""
        return forgetting.forget(self.db, session.id, self.recordings)

    def forgotten(self) -> list[str]:
        """The ids of sessions that were forgotten."""
        return [row[0] for row in self.db.rows("SELECT DISTINCT chosen FROM forgotten ORDER BY chosen")]

    def remember(self, id: str) -> bool:
        """A session that was forgotten comes back with the next sync, if its files are still there. False if it was not."""
        return forgetting.remember(self.db, id)

    def restore(
        self, session: StoredSession, folder: Path | None = None, *, overwrite: bool = False
    ) -> list[Path]:
        """Write its files as they were archived: where they were, or into a folder. Where a file has the same content it stays;
        one with another is overwritten only if told. Raises UsageError."""
        return restoring.restore(self.db, self.files(session), folder, overwrite)

    def copy(self, address: str | os.PathLike[str], progress: Progress = lambda done, of: None) -> "Library":
        """The same library at another address, which has to be empty: what is primary is copied, the rest is derived anew.
        Raises UsageError."""
        other = Library(address)
        try:
            moving.copy(self.db, other.db, progress)
        except BaseException:
            other.close()
            raise
        return other

    def compact(self) -> None:
        """Give back what is free."""
        self.db.compact()

    # --- what a person says of it -------------------------------------------------------------------------

    def label(self, session: StoredSession, *, name: str | None = None, pinned: bool | None = None) -> None:
        """Give a session a name (none, if it is empty), or pin it; what is not given stays."""
        values: dict[str, Any] = {
            "name": (name or None) if name is not None else session.name,
            "pinned": int(pinned if pinned is not None else session.pinned),
        }
        self.db.run(
            "INSERT INTO label (session, name, pinned) VALUES (?, ?, ?)"
            " ON CONFLICT (session) DO UPDATE SET name = excluded.name, pinned = excluded.pinned",
            (session.id, values["name"], values["pinned"]),
        )

    def leave_out(self, folder: str | os.PathLike[str]) -> None:
        """From now on nothing is brought in that is in a folder, or of sessions that worked in it. What is in the library
        stays: `forget` is for that."""
        self.db.run("INSERT INTO left_out (folder) VALUES (?) ON CONFLICT DO NOTHING", (_absolute(folder),))

    def take_in(self, folder: str | os.PathLike[str]) -> bool:
        """A folder is not left out any more. False if it was not."""
        found = self.db.rows("SELECT 1 FROM left_out WHERE folder = ?", (_absolute(folder),))
        with self.db.writing():
            self.db.run("DELETE FROM left_out WHERE folder = ?", (_absolute(folder),))
            self.db.run("DELETE FROM file WHERE state = ?", (LEFT_OUT,))  # they are looked at again
        return bool(found)

    def left_out(self) -> list[str]:
        """Folders that are left out."""
        return [row[0] for row in self.db.rows("SELECT folder FROM left_out ORDER BY folder")]


def _absolute(folder: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.path.expanduser(folder))
