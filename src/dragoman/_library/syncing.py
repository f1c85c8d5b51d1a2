"""Sync: what agents have written since the last time comes into the library. Nothing is changed where it is found.

A file is looked at, not read, to see whether it changed; of one that grew only the new bytes are read. What is read of a
unit is written in one transaction, with some others, so that a sync may be killed at any moment, and two may run at once.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from time import monotonic
from typing import Final, TypeVar

from msgspec import Struct, field, structs

from dragoman._files.archives import on_all
from dragoman._library import opening, reading
from dragoman._library.archive import (
    FORGOTTEN,
    GONE,
    HERE,
    KEPT,
    LEFT_OUT,
    UNREADABLE,
    Known,
    is_absence,
    stands,
)
from dragoman._library.database import Database
from dragoman._library.finding import Folders, Unit
from dragoman._library.reading import Task, UnitRead
from dragoman._library.settling import settle
from dragoman._library.writing import KNOWN, NOTHING, THEIRS, WRITTEN, Writer, forgotten_mark

T = TypeVar("T")

BATCH: Final = 1 << 22
"""Bytes of units that are read by one process and written in one transaction."""
LEAST: Final = 1 << 13
"""Bytes that a unit counts for at least: small ones have rows too."""
LARGE: Final = 1 << 24
"""Bytes of a unit from which on it is read here, one at a time and after the others: what waits to be written stays small."""
PACE: Final = 10_000_000
"""Bytes that are read in a second, at least: what there is no time for is not begun."""


class Synced(Struct, kw_only=True):
    """What a sync came to."""

    looked_at: int = 0
    """Units that were found."""
    read: int = 0
    unread: int = 0
    """Those that there was no time for."""
    bytes: int = 0
    gone: int = 0
    """Files that are not where they were. They are kept."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Files that could not be read or understood, and why."""


Progress = Callable[[int, int], object]
"""Called with how many units are done, and of how many."""


def sync(
    db: Database,
    units: Iterable[Unit],
    *,
    address: str,
    jobs: int = 1,
    seconds: float | None = None,
    all_found: bool = False,
    progress: Progress = lambda done, of: None,
) -> Synced:
    """Bring in what is new or has changed, newest first, large ones last. `seconds` is all the time there is: what is unread
    then is counted. `all_found`: `units` are all that there is, so that a file which is not among them is gone."""
    until = monotonic() + seconds if seconds is not None else None
    book = _Book(db)
    out = Synced()
    todo: list[tuple[int, Task]] = []
    for unit in units:
        out.looked_at += 1
        try:
            task, newest = book.task(unit)
        except UnicodeEncodeError:
            out.problems.append((ascii(unit.paths[0]), "its name is no text"))
            continue
        if task is not None:
            todo.append((newest, task))
    todo.sort(key=lambda pair: (pair[1].size > LARGE, -pair[0]))
    if all_found:
        out.gone = book.mark_gone()
    most, several = (BATCH, jobs) if until is None else (0, 1)
    batches = list(_batches((task for _, task in todo), lambda task: task.size, most))
    writer = Writer(db)
    done = 0
    with closing(_results(db, _in_time(batches, until), address, min(several, len(batches)))) as results:
        for some in results:
            for came, became in zip(some, writer.put(some), strict=True):
                done += 1
                book.note(out, came, became)
                progress(done, len(todo))
    out.unread = len(todo) - done
    book.hand_over()
    return out


def _batches(items: Iterable[T], size_of: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """The items in their order, so many together as have up to so many bytes."""
    some, size = list[T](), 0
    for item in items:
        weight = max(size_of(item), LEAST)
        if some and size + weight > most:
            yield some
            some, size = [], 0
        some.append(item)
        size += weight
    if some:
        yield some


def _in_time(batches: list[list[Task]], until: float | None) -> Iterator[list[Task]]:
    """The batches that there is time for."""
    for some in batches:
        if until is None or sum(task.size for task in some) / PACE < until - monotonic():
            yield some


def _results(
    db: Database, batches: Iterator[list[Task]], address: str, jobs: int
) -> Generator[list[UnitRead], None, None]:
    large: list[list[Task]] = []
    if jobs > 1:
        yield from on_all(_small(batches, large), _Read(address), jobs)
    for some in (*large, *batches):
        yield [reading.read(db, task) for task in some]


def _small(batches: Iterator[list[Task]], large: list[list[Task]]) -> Iterator[list[Task]]:
    """The batches up to the first of a large unit, which is put aside."""
    for some in batches:
        if some[0].size > LARGE:
            large.append(some)
            return
        yield some


class _Read:
    """Reads some tasks in a process of its own, with a database of its own."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __call__(self, some: list[Task]) -> list[UnitRead]:
        db = opening.shared(self._address)
        return [reading.read(db, task) for task in some]


class _Book:
    """What is known of all files when a sync begins."""

    def __init__(self, db: Database) -> None:
        self._db = db
        rows = db.rows(f"SELECT path, {KNOWN} FROM file WHERE machine = ?", (db.machine,))
        self._known = {path: Known(*rest) for path, *rest in rows}
        self._derived = {row[0] for row in db.rows("SELECT id FROM unit")}
        self._paths = {row.id: path for path, row in self._known.items()}
        self._members: dict[int, list[str]] = {}
        for path, row in self._known.items():
            if row.unit is not None and row.unit != row.id:
                self._members.setdefault(row.unit, []).append(path)
        self._left_out = self._left_out_units()
        self._has_marks = any(row.state == FORGOTTEN for row in self._known.values())
        self._found: set[str] = set()
        self._taken: set[str] = set()
        self.complete: list[str] = []
        """Recordings of ours that are in the library, and may go from the disk."""

    def task(self, unit: Unit) -> tuple[Task | None, int]:
        """What has to be read of a unit, if anything, and when it last changed."""
        self._found.update(unit.paths)
        unit = self._whole(unit)
        if unit.paths[0] in self._taken:
            return None, 0
        self._taken.add(unit.paths[0])
        there = [self._known.get(path) for path in unit.paths]
        first = there[0]
        if first is None and self._has_marks and forgotten_mark(unit.paths[0]) in self._known:
            return None, 0
        if first is not None and first.id in self._left_out:
            return None, 0
        is_derived = first is not None and first.id in self._derived
        is_changed, newest, all_bytes = not (is_derived or (first and first.state == LEFT_OUT)), 0, 0
        for path, row in zip(unit.paths, there, strict=True):
            if row is None:
                path.encode()
            try:
                identity, size, modified = stands(path)
            except OSError as error:
                state = GONE if is_absence(error) else UNREADABLE
                is_changed = is_changed or row is None or (state == UNREADABLE != row.state)
                continue
            newest, all_bytes = max(newest, modified), all_bytes + size
            if row is None or (row.identity, row.size, row.modified) != (identity, size, modified):
                is_changed = True
            elif row.state == KEPT:
                self.complete.append(path)
            elif row.state not in (HERE, LEFT_OUT):
                is_changed = True
        return (Task(unit, there, is_derived, all_bytes) if is_changed else None), newest

    def _whole(self, unit: Unit) -> Unit:
        """The unit with all its files: one of a subagent stays with its session when either is gone."""
        first = self._known.get(unit.paths[0])
        if first is None or (first.unit == first.id and first.id not in self._members):
            return unit
        head = self._paths.get(first.unit or first.id, unit.paths[0])
        others = {*unit.paths, *self._members.get(first.unit or first.id, ())} - {head}
        return structs.replace(unit, paths=(head, *sorted(others)))

    def _left_out_units(self) -> set[int]:
        """Units of sessions that worked in a folder that is left out."""
        found = self._db.rows("SELECT folder FROM left_out")
        if not found:
            return set()
        folders = Folders(row[0] for row in found)
        return {unit for unit, cwd in self._db.rows("SELECT unit, cwd FROM part") if folders.hold(cwd)}

    def note(self, out: Synced, came: UnitRead, became: str) -> None:
        """What came of a unit, and what became of it."""
        out.problems += _problems(came)
        if became == WRITTEN:
            out.read += not came.is_same
            out.bytes += came.bytes
            if came.unit.is_ours and came.is_complete:
                self.complete.append(came.unit.paths[0])
        elif became not in (THEIRS, NOTHING):
            out.problems.append((came.unit.paths[0], became))

    def mark_gone(self) -> int:
        db = self._db
        gone = [
            row.id
            for path, row in self._known.items()
            if path not in self._found and row.state in (HERE, UNREADABLE) and _is_gone(path)
        ]
        if gone:
            with db.writing():
                db.run_many("UPDATE file SET state = 'gone' WHERE id = ?", [(id,) for id in gone])
                found = (db.rows("SELECT session FROM part WHERE unit = ?", (id,)) for id in gone)
                settle(db, {row[0] for rows in found for row in rows}, set())
        return len(gone)

    def hand_over(self) -> None:
        """Recordings of ours that are complete are the library's alone: first it says so for good, then they go."""
        if self.complete:
            values = [(KEPT, self._db.machine, path) for path in self.complete]
            with self._db.writing(lasting=True):
                self._db.run_many("UPDATE file SET state = ? WHERE machine = ? AND path = ?", values)
            for path in self.complete:
                with suppress(OSError):
                    os.unlink(path)


def _is_gone(path: str) -> bool:
    try:
        stands(path)
    except OSError as error:
        return is_absence(error)
    return False


def _problems(came: UnitRead) -> list[tuple[str, str]]:
    """Of its files, or else of what is in them. That one is gone which was there is none."""
    found = [
        (file.path, file.problem)
        for file in came.files
        if file.problem is not None and not (file.state == GONE and file.known is not None)
    ]
    if not found and came.problem is not None and (came.digest is not None or came.unit.agent):
        found = [(came.unit.paths[0], came.problem)]
    return found


def rebuild(db: Database, progress: Progress = lambda done, of: None, *, only_if_old: bool = False) -> int:
    """Read everything anew from the archive; the number of units. What was there before is there until it is done."""
    with db.writing():
        if only_if_old and not opening.is_old(db):
            return 0  # somebody else did it, while we waited
        units = archived(db)
        if opening.has_old_tables(db):
            db.drop()
            db.create()
        else:
            db.empty()
        opening.renew(db)
        writer = Writer(db)
        done = 0
        for some in _batches(units, lambda unit: sum(file.size for file in unit[2]), BATCH):
            writer.derive([(first, reading.again(db, unit, known)) for first, unit, known in some])
            done += len(some)
            progress(done, len(units))
    return len(units)


def archived(db: Database, unit: int | None = None) -> list[tuple[int, Unit, list[Known]]]:
    """The units of which something is archived, or one of them: its number, its files, and what is known of these."""
    found: dict[int, list[tuple[str, str, str, Known]]] = {}
    where, values = ("unit IS NOT NULL", ()) if unit is None else ("unit = ?", (unit,))
    for path, agent, dialect, *rest in db.rows(
        f"SELECT path, agent, dialect, {KNOWN} FROM file WHERE {where} ORDER BY unit, path", values
    ):
        known = Known(*rest)
        found.setdefault(known.unit or known.id, []).append((path, agent, dialect, known))
    units = []
    for first, files in found.items():
        files.sort(key=lambda file: file[3].id != first)
        paths, (_, agent, dialect, _) = tuple(file[0] for file in files), files[0]
        units.append((first, Unit(paths, agent, dialect), [file[3] for file in files]))
    return units
