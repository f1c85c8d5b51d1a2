"""A unit, read: its new bytes for the archive, and the rows that all of it comes to. Done by one of several processes."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

from msgspec import Struct, field

from dragoman._agents import AGENTS
from dragoman._files.convert import interpreted
from dragoman._files.sources import open_lines
from dragoman._library import archive
from dragoman._library.archive import FileRead, Known, OpenFile
from dragoman._library.database import Database
from dragoman._library.digest import Digest, digested, session_key
from dragoman._library.finding import Unit
from dragoman._library.tokens import indexed
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event

UNKNOWN = "nobody can tell what is in it"


class Task(Struct):
    """A unit that is new or has changed, and what is known of each of its files."""

    unit: Unit
    known: list[Known | None]
    is_derived: bool = False
    """Whether the rows of what is archived are there."""
    size: int = 0


class UnitRead(Struct):
    """What came of a task."""

    unit: Unit
    files: list[FileRead]
    agent: str = ""
    dialect: str = ""
    kind: str = "disk"
    digest: Digest | None = None
    """None if nobody can tell what is in it."""
    bytes: int = 0
    is_same: bool = False
    """Nothing came to it: the rows that are there are right."""
    is_complete: bool = False
    """A recording with its end."""
    forgotten: list[str] = field(default_factory=list)
    """Sessions that are told of in it, and that somebody wants forgotten: nothing of them is in the rows."""

    @property
    def problem(self) -> str | None:
        """Why its rows are not all that they might be."""
        if self.digest is not None:
            return self.digest.problem
        return UNKNOWN if self.bytes else None


def read(db: Database, task: Task) -> UnitRead:
    """Never raises for what is in the files, or for what cannot be read of them."""
    with ExitStack() as opened:
        files = [
            opened.enter_context(closing(OpenFile(db, path, known)))
            for path, known in zip(task.unit.paths, task.known, strict=True)
        ]
        came = [file.came for file in files]
        if task.is_derived and not any(file.is_changed for file in files):
            return UnitRead(task.unit, came, is_same=True)
        contents = [file.pieces() for file in files]
        out = interpreted_unit(db, task.unit, contents)
        for rest in contents:  # what was not needed to understand it is archived all the same
            for _ in rest:
                pass
        if out.digest is not None and not task.is_derived:
            out.digest.words = [" ".join(indexed(*row[-4:])) for row in out.digest.said]
        out.files = came
        return _of_size(out, sum(file.size for file in came))


def again(db: Database, unit: Unit, known: list[Known]) -> UnitRead:
    """The same from the archive alone."""
    out = interpreted_unit(db, unit, [archive.content(db, each.id, each.generation) for each in known])
    return _of_size(out, sum(each.size for each in known))


def _of_size(out: UnitRead, size: int) -> UnitRead:
    """An empty file tells of nothing."""
    out.bytes, out.digest = size, out.digest if size else None
    return out


def interpreted_unit(db: Database, unit: Unit, contents: list[Iterator[bytes]]) -> UnitRead:
    """The rows of what is in these files, one after the other."""
    out = UnitRead(unit, [], unit.agent, unit.dialect)
    names = list(unit.paths)
    lines = (
        line for name, pieces in zip(names, contents, strict=True) for line in archive.lines(name, pieces)
    )
    try:
        source = open_lines(
            names[0],
            lines,
            unit.dialect or None,
            agent=unit.agent or None,
            sources=names if len(names) > 1 else (),
        )
    except DragomanError:
        return out
    launch = source.launch
    out.agent, out.dialect = launch.agent, launch.dialect
    out.kind = "disk" if source.kind == "session" else "recording"
    agent, problems = at_heart(launch.agent), list[str]()
    events = _unless_forgotten(db, agent, _as_far_as_it_goes(interpreted(source), problems), out.forgotten)
    nameless = _nameless(names[0], launch.started)
    origins = AGENTS[agent].origins if agent in AGENTS else {}
    digest = digested(events, agent=agent, kind=out.kind, nameless=nameless, origins=origins)
    if (problems and not digest.events) or (out.forgotten and digest.parts.keys() <= {nameless}):
        return out
    digest.problem = digest.problem or next(iter(problems), None)
    out.digest, out.is_complete = digest, out.kind == "recording" and source.exit is not None
    return out


def _as_far_as_it_goes(events: Iterator[Event], problems: list[str]) -> Iterator[Event]:
    """The events up to where they cannot be read on: one file does not stop the others."""
    try:
        yield from events
    except DragomanError as error:
        problems.append(error.message)
    except (
        Exception
    ) as error:  # a fault of ours: what is archived is read again by a version that has it mended
        problems.append(f"{type(error).__name__}: {error}")


def _unless_forgotten(db: Database, agent: str, events: Iterable[Event], found: list[str]) -> Iterable[Event]:
    """The events of sessions that nobody wants forgotten."""
    forgotten = {row[0] for row in db.rows("SELECT session FROM forgotten")}
    return _of_others(agent, events, forgotten, found) if forgotten else events


def _of_others(agent: str, events: Iterable[Event], forgotten: set[str], found: list[str]) -> Iterator[Event]:
    keys: dict[str | None, bool] = {None: False}
    for event in events:
        if event.session not in keys:
            key = session_key(agent, event.session or "")
            keys[event.session] = key in forgotten
            if key in forgotten:
                found.append(key)
        if not keys[event.session]:
            yield event


def at_heart(agent: str) -> str:
    """Whose sessions they are: an adapter's are those of the agent behind it, unless it keeps its own."""
    record = AGENTS.get(agent)
    return agent if record is None or record.store is not None else record.vendor or agent


def _nameless(path: str, started: datetime | None) -> str:
    """What a session is called that never had a name: by when it began, else by its file."""
    return f"unnamed {started.isoformat()}" if started is not None else f"unnamed {Path(path).name}"
