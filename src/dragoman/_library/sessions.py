"""Sessions as the library knows them: listed, found by the beginning of an id, and told again event by event."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from backports import zstd
from msgspec import Struct, structs

from dragoman._library import archive
from dragoman._library.database import Database, places, rows_in
from dragoman._model.errors import SessionNotFound
from dragoman._model.events import Event
from dragoman._wire import event_json
from dragoman._wire.jsontext import Invalid

SHORT: Final = 8
"""Characters of an id that are shown."""
_SOME: Final = 5


class StoredSession(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A session in the library."""

    id: str
    """The library's own; its beginning is enough."""
    agent: str
    native_id: str
    """The agent's own id: what `resume` takes."""
    main: int
    """The unit that tells most of it."""
    cwd: str | None = None
    title: str | None = None
    prompt: str | None = None
    model: str | None = None
    cli_version: str | None = None
    created: float | None = None
    """Seconds since 1970."""
    updated: float | None = None
    outcome: str | None = None
    """Of its last turn."""
    turns: int = 0
    tools: int = 0
    messages: int = 0
    files: int = 0
    """How many were changed, by so many lines:"""
    added: int = 0
    removed: int = 0
    errors: int = 0
    cost: float | None = None
    """What the agent says that its turns cost."""
    parent: str | None = None
    relation: str | None = None
    """What it is to its parent: fork or subagent."""
    flags: str = ""
    gone: bool = False
    """Its agent has it no more."""
    name: str | None = None
    """What a person called it."""
    pinned: bool = False


class Filter(Struct, frozen=True, kw_only=True):
    """Which sessions are meant; what is not given does not matter."""

    agents: Sequence[str] = ()
    folder: str | None = None
    """They worked in it or below it."""
    since: float | None = None
    until: float | None = None
    text: str | None = None
    """Stands in the title, the name or the first prompt."""
    subagents: bool = False
    """Also those that work for another."""

    def where(self) -> tuple[str, list[Any]]:
        """SQL about a session `s` and its label `l`, and its values."""
        clauses, values = ["1 = 1"], list[Any]()
        if self.agents:
            clauses.append(f"s.agent IN ({places(self.agents)})")
            values += map(askable, self.agents)
        if self.folder is not None:
            folder = askable(self.folder).rstrip("/")
            below = f"{folder}/"
            clauses.append("(s.cwd = ? OR SUBSTR(s.cwd, 1, ?) = ?)")
            values += [folder or "/", len(below), below]
        if self.since is not None:
            clauses.append("s.updated >= ?")
            values.append(self.since)
        if self.until is not None:
            clauses.append("s.updated < ?")
            values.append(self.until)
        if self.text is not None:
            clauses.append(
                "LOWER(COALESCE(s.title, '') || ' ' || COALESCE(s.prompt, '') || ' ' || COALESCE(l.name, ''))"
                " LIKE ? ESCAPE '!'"
            )
            values.append(f"%{_literal(askable(self.text.lower()))}%")
        if not self.subagents:
            clauses.append("(s.relation IS NULL OR s.relation <> 'subagent')")
        return " AND ".join(clauses), values

    def of_calls(self) -> tuple[str, list[Any]]:
        """SQL about a model call `c`, and its values: times are those of the call."""
        where, values = structs.replace(self, since=None, until=None, subagents=True).where()
        clauses = [
            f"c.session IN (SELECT s.id FROM session s LEFT JOIN label l ON l.session = s.id WHERE {where})"
        ]
        for limit, sign in ((self.since, ">="), (self.until, "<")):
            if limit is not None:
                clauses.append(f"c.at {sign} ?")
                values.append(limit)
        return " AND ".join(clauses), values


_COLUMNS: Final = tuple(name for name in StoredSession.__struct_fields__ if name not in ("name", "pinned"))
_SELECT: Final = (
    f"SELECT {', '.join(f's.{name}' for name in _COLUMNS)}, l.name, COALESCE(l.pinned, 0)"
    " FROM session s LEFT JOIN label l ON l.session = s.id"
)


def listed(db: Database, wanted: Filter, limit: int | None = None) -> list[StoredSession]:
    """Sessions, newest first; those that are pinned before them."""
    where, values = wanted.where()
    sql = f"{_SELECT} WHERE {where} ORDER BY COALESCE(l.pinned, 0) DESC, COALESCE(s.updated, 0) DESC, s.id"
    if limit is not None:
        sql += " LIMIT ?"
        values.append(limit)
    return [_session(row) for row in db.rows(sql, values)]


def counted(db: Database, wanted: Filter) -> int:
    """How many there are."""
    where, values = wanted.where()
    sql = f"SELECT COUNT(*) FROM session s LEFT JOIN label l ON l.session = s.id WHERE {where}"
    return int(db.rows(sql, values)[0][0])


def one(db: Database, id: str) -> StoredSession:
    """The session whose id, or whose agent's id for it, begins so; or that a person called so. Raises SessionNotFound."""
    id = askable(id)
    pattern = _literal(id.lower()) + "%"
    found = [
        _session(row)
        for row in db.rows(
            f"{_SELECT} WHERE s.id LIKE ? ESCAPE '!' OR LOWER(s.native_id) LIKE ? ESCAPE '!' OR l.name = ?"
            " ORDER BY s.id LIMIT 50",
            (pattern, pattern, id),
        )
    ]
    exact = [session for session in found if id in (session.id, session.native_id, session.name)]
    chosen = exact or found
    if len(chosen) == 1:
        return chosen[0]
    if not chosen:
        raise SessionNotFound(f"the library has no session {id}; `dragoman ls` lists those that there are")
    some = ", ".join(session.id[:SHORT] for session in chosen[:_SOME]) + (" …" if len(chosen) > _SOME else "")
    raise SessionNotFound(f"{len(chosen)} sessions may be meant by {id}: {some}; give more of the id")


def some(db: Database, ids: Iterable[str]) -> dict[str, StoredSession]:
    """Sessions by their whole ids."""
    found = map(_session, rows_in(db, f"{_SELECT} WHERE s.id IN", ids))
    return {session.id: session for session in found}


def units(db: Database, session: StoredSession) -> list[int]:
    """The units that tell the session, in their order: its file, or else its recordings."""
    rows = db.rows(
        "SELECT unit FROM part WHERE session = ? AND shown = 1 ORDER BY COALESCE(created, 0), unit",
        (session.id,),
    )
    return [row[0] for row in rows]


def events(db: Database, unit: int, first: int = 1, last: int | None = None) -> Iterator[Event]:
    """The events of a unit from one number to another, both with it. Only the blocks that they are in are opened."""
    sql = "SELECT data FROM block WHERE unit = ? AND last >= ?"
    values: list[Any] = [unit, first]
    if last is not None:
        sql += " AND first <= ?"
        values.append(last)
    for (data,) in db.rows(f"{sql} ORDER BY first", values):
        for line in zstd.decompress(bytes(data)).split(b"\n"):
            event = event_json.decode(line)
            if not isinstance(event, Invalid) and first <= event.seq and (last is None or event.seq <= last):
                yield event


class StoredFile(Struct, frozen=True):
    """A file of a session, as it was archived."""

    path: str
    size: int
    state: str
    """here, gone or unreadable."""
    generations: int
    """How often it was begun anew, counted from 0."""
    id: int

    def content(self, db: Database, generation: int | None = None) -> Iterator[bytes]:
        """Its bytes, as they were, in pieces."""
        return archive.content(db, self.id, self.generations if generation is None else generation)


def files(db: Database, unit: int) -> list[StoredFile]:
    """The files of a unit in the order in which they are read, the session's own first."""
    rows = db.rows("SELECT path, size, state, generation, id FROM file WHERE unit = ? ORDER BY path", (unit,))
    return sorted((StoredFile(*row) for row in rows), key=lambda file: file.id != unit)


def _session(row: Sequence[Any]) -> StoredSession:
    *values, name, pinned = row
    found = dict(zip(_COLUMNS, values, strict=True))
    return StoredSession(**{**found, "gone": bool(found["gone"])}, name=name, pinned=bool(pinned))


def askable(text: str) -> str:
    """What was asked for, as a database takes it: no NUL, and no half of a character."""
    return text.replace("\0", "\u2400").encode("utf-8", "replace").decode()


def _literal(text: str) -> str:
    """Text that LIKE takes as it is."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def at(time: float | None) -> datetime | None:
    """A moment in the zone of whoever looks."""
    return datetime.fromtimestamp(time).astimezone() if time is not None else None
