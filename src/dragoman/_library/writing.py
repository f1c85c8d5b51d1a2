"""The one who writes: what came of a unit is put in place of what was there, in one transaction. In whatever order units
come, and however often, the same tables come of it."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from time import time
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import astuple

from dragoman._library.archive import FORGOTTEN, GONE, LEFT_OUT, FileRead, Known
from dragoman._library.calls import Sighting
from dragoman._library.database import Database, Row, insert
from dragoman._library.digest import PIECE, Block, Digest, Part
from dragoman._library.finding import Folders
from dragoman._library.reading import UnitRead
from dragoman._library.settling import settle
from dragoman._library.tokens import MARKS, indexed

SHORT: Final = 600
"""Characters of a name, where it is cut for a database that cannot hold it as it is."""
_AT: Final = ("session", "turn", "at")
_ROWS: Final = {
    "unit": ("id", "agent", "dialect", "kind", "session", "events", "bytes", "problem"),
    "part": ("unit", *Part.__struct_fields__, "shown"),
    "turn": ("unit", "session", "n", "seq", "at", "prompt", "outcome", "duration_ms", "ended", "cost"),
    "tool_call": (
        "unit", "seq", *_AT, "call_id", "name", "kind", "title", "parent", "status", "exit_code", "duration_ms", "end_seq",
    ),
    "file_change": ("unit", "seq", *_AT, "path", "change", "move_to", "added", "removed", "call_id"),
    "permission": ("unit", "seq", *_AT, "call_id", "tool", "kind", "title", "outcome", "decided_by", "rule"),
    "sighting": ("unit", *Sighting.__struct_fields__),
}  # fmt: skip
"""Tables whose rows of a unit are written anew, with the number of the unit first."""
_BLOCK: Final = ("unit", "first", "last", "first_turn", "digest", "data")
_SAID: Final = ("seq", "piece", "session", "turn", "at", "role", "tool", "path", "body")

WRITTEN: Final = "written"
THEIRS: Final = "theirs"
NOTHING: Final = "nothing"


class Writer:
    """Writes units into a database."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._words: set[str] = set()
        """Words that are known to be in `word`: most texts have no new one."""

    def put(self, some: Sequence[UnitRead]) -> list[str]:
        """Write what came of some units, in one transaction. What became of each: WRITTEN; THEIRS, if somebody else has read
        one of its files meanwhile; NOTHING, if there is nothing to keep: it vanished before it was read, or is nothing that
        we know in a folder that a person named; else what the database says, if it cannot hold even a name."""
        try:
            with self._db.writing():
                return self._put(some)
        except self._db.unfit as error:
            self._words.clear()
            if len(some) == 1:
                return [_reason(error)]
        return [became for came in some for became in self.put([came])]

    def _put(self, some: Sequence[UnitRead]) -> list[str]:
        forgotten = {row[0] for row in self._db.rows("SELECT session FROM forgotten")}
        left_out = Folders(row[0] for row in self._db.rows("SELECT folder FROM left_out"))
        became, new = list[str](), list[tuple[int, UnitRead]]()
        for came in some:
            if came.digest is None and not came.forgotten and not _is_worth_keeping(came):
                became.append(NOTHING)
            elif any(file_row(self._db, file.path) != file.known for file in came.files) or _is_of(
                came, forgotten
            ):
                became.append(THEIRS)
            else:
                became.append(WRITTEN)
                new += self._primary(came, left_out)
        self.derive(new)
        return became

    # --- primary --------------------------------------------------------------------------------------------

    def _primary(self, came: UnitRead, left_out: Folders) -> list[tuple[int, UnitRead]]:
        """The files of a unit; and itself with its number, if its rows have to be written."""
        if came.forgotten and came.digest is None:
            self._forget_files(came)
            return []
        if _is_left_out(came, left_out):
            for file in came.files:
                file.state, file.chunks = LEFT_OUT, []
                self._file(came, file)
            return []
        ids = [self._file(came, file) for file in came.files]
        if not came.is_same:
            self._join(ids[0], ids, came.files)
            return [(ids[0], came)]
        if any(file.known is not None and file.known.state != file.state for file in came.files):
            settle(self._db, self._sessions_of(ids[0]), set())
        return []

    def _file(self, came: UnitRead, file: FileRead) -> int:
        db = self._db
        stands = (file.identity, file.size, file.modified, file.generation, file.state, file.problem)
        if file.known is None:
            db.run(
                "INSERT INTO file (machine, path, agent, dialect, identity, size, modified, generation, state, problem,"
                " first_seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (db.machine, file.path, came.unit.agent, came.unit.dialect, *stands, time()),
            )
            [(id,)] = db.rows("SELECT id FROM file WHERE machine = ? AND path = ?", (db.machine, file.path))
        else:
            id = file.known.id
            db.run(
                "UPDATE file SET identity = ?, size = ?, modified = ?, generation = ?, state = ?, problem = ? WHERE id = ?",
                (*stands, id),
            )
        if file.drops is not None:
            db.run("DELETE FROM chunk WHERE file = ? AND generation = ?", (id, file.drops))
        db.run_many(
            "INSERT INTO chunk (file, generation, start, length, data) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (file, generation, start) DO UPDATE SET length = excluded.length, data = excluded.data",
            [(id, file.generation, chunk.start, chunk.length, chunk.data) for chunk in file.chunks],
        )
        return int(id)

    def _join(self, first: int, ids: list[int], files: list[FileRead]) -> None:
        """The files are one unit. One that was found before the session it belongs to was a unit by itself."""
        self._db.run_many("UPDATE file SET unit = ? WHERE id = ?", [(first, id) for id in ids])
        for file in files:
            if file.known is not None and file.known.unit not in (None, first):
                self.forget_unit(file.known.unit)

    def _forget_files(self, came: UnitRead) -> None:
        """Files of a session that was forgotten: only that they are not wanted."""
        for file in came.files:
            if file.known is not None:
                self.forget_unit(file.known.id)
                self._db.run("DELETE FROM file WHERE id = ?", (file.known.id,))
                self._db.run("DELETE FROM chunk WHERE file = ?", (file.known.id,))
            self.mark_forgotten(self._db.machine, file.path, came.forgotten[0])

    def mark_forgotten(self, machine: str, path: str, session: str) -> None:
        """A file is not read again."""
        self._db.run(
            "INSERT INTO file (machine, path, agent, dialect, identity, size, modified, generation, state, first_seen)"
            " VALUES (?, ?, '', '', ?, 0, 0, 0, ?, ?) ON CONFLICT DO NOTHING",
            (machine, forgotten_mark(path), session, FORGOTTEN, time()),
        )

    # --- derived --------------------------------------------------------------------------------------------

    def derive(self, some: Sequence[tuple[int, UnitRead]]) -> None:
        """The rows of some units, in place of those that were there. What the database cannot hold of them, such as half a
        letter, is put into them as far as it can."""
        try:
            with self._db.attempting():
                self._derive(some)
        except self._db.unfit:
            self._words.clear()
            for unit, came in some:
                self._derive_fitting(unit, came)

    def _derive_fitting(self, unit: int, came: UnitRead) -> None:
        for attempt in (_as_it_is, _fitting, _nothing):
            came.digest = attempt(came.digest)
            try:
                with self._db.attempting():
                    self._derive([(unit, came)])
                    return
            except self._db.unfit as error:
                self._words.clear()
                came.digest = came.digest or Digest()
                came.digest.problem = f"not all of it can be kept as it is: {_reason(error)}"

    def _derive(self, some: Sequence[tuple[int, UnitRead]]) -> None:
        sessions, keys = set[str](), set[str]()
        there = {unit for unit, _ in some if self._db.rows("SELECT 1 FROM unit WHERE id = ?", (unit,))}
        for unit in there:
            sessions |= self._sessions_of(unit)
            keys |= self._keys_of(unit)
            self._drop(unit)
        rows: dict[str, list[Row]] = {table: [] for table in _ROWS}
        blocks, said, words = list[Row](), list[Row](), list[str]()
        for unit, came in some:
            digest = came.digest or Digest()
            sessions.update(part.session for part in digest.parts.values())
            keys.update(call.key for call in digest.calls)
            for of_table, of_unit in zip(rows.values(), _rows_of(came, digest), strict=True):
                of_table += ((unit, *row) for row in of_unit)
            is_new = unit not in there
            blocks += self._new_blocks(unit, digest.blocks, is_new)
            for n in self._new_said(unit, digest.said, is_new):
                said.append((unit, *digest.said[n]))
                words.append(digest.words[n] if digest.words else " ".join(indexed(*digest.said[n][-4:])))
        for table, columns in _ROWS.items():
            insert(self._db, table, columns, rows[table])
        insert(self._db, "block", _BLOCK, blocks)
        self._db.say(("unit", *_SAID), said, words)
        self._say_where(unit for unit, _ in some)
        self._learn(set(" ".join(words).split()))
        settle(self._db, sessions, keys)

    def forget_unit(self, unit: int) -> None:
        """Take out all that was derived from a unit."""
        sessions, keys = self._sessions_of(unit), self._keys_of(unit)
        self._new_said(unit, [])
        self._new_blocks(unit, [])
        self._drop(unit)
        settle(self._db, sessions, keys)

    def _sessions_of(self, unit: int) -> set[str]:
        return {row[0] for row in self._db.rows("SELECT session FROM part WHERE unit = ?", (unit,))}

    def _keys_of(self, unit: int) -> set[str]:
        return {row[0] for row in self._db.rows("SELECT key FROM sighting WHERE unit = ?", (unit,))}

    def _drop(self, unit: int) -> None:
        for table, (key, *_) in _ROWS.items():
            self._db.run(f"DELETE FROM {table} WHERE {key} = ?", (unit,))

    def _new_blocks(self, unit: int, blocks: list[Block], is_new: bool = False) -> list[Row]:
        """The rows of blocks that are not there yet; those that are there and none of these go."""
        there: dict[int, bytes] = {}
        if not is_new:
            there = dict(self._db.rows("SELECT first, digest FROM block WHERE unit = ?", (unit,)))
        same = {block.first for block in blocks if bytes(there.get(block.first) or b"") == block.digest}
        gone = [(unit, first) for first in there if first not in same]
        self._db.run_many("DELETE FROM block WHERE unit = ? AND first = ?", gone)
        return [(unit, *astuple(block)) for block in blocks if block.first not in same]

    def _new_said(self, unit: int, said: list[Row], is_new: bool = False) -> list[int]:
        """Which texts are not there yet; those that are there and none of these go, out of the index too."""
        if is_new:
            return list(range(len(said)))
        db = self._db
        sql = f"SELECT id, {', '.join(_SAID)} FROM said WHERE unit = ?"
        there = {tuple(row[1:]): row[0] for row in db.rows(sql, (unit,))}
        wanted = set(said)
        old = [(id, indexed(*row[-4:])) for row, id in there.items() if row not in wanted]
        db.unindex((id, " ".join(found)) for id, found in old)
        db.run_many("DELETE FROM said WHERE id = ?", [(id,) for id, _ in old])
        self._unlearn(set[str]().union(*(found for _, found in old)))
        return [n for n, row in enumerate(said) if row not in there]

    def _say_where(self, units: Iterable[int]) -> None:
        """Between which numbers the texts of these units are."""
        self._db.run_many(
            "UPDATE unit SET first_said = (SELECT MIN(id) FROM said WHERE unit = ?),"
            " last_said = (SELECT MAX(id) FROM said WHERE unit = ?) WHERE id = ?",
            [(unit, unit, unit) for unit in units],
        )

    def _unlearn(self, words: set[str]) -> None:
        """Words that went with the texts in which they stood."""
        for word in words - MARKS:
            sql, values = self._db.matching([[word]])
            if not self._db.rows(f"{sql} LIMIT 1", values):
                self._db.run("DELETE FROM word WHERE token = ?", (word,))
                self._words.discard(word)

    def _learn(self, words: set[str]) -> None:
        """The words that there are: parts of words are looked for among them."""
        new = words - self._words - MARKS
        self._db.run_many(
            "INSERT INTO word (token) VALUES (?) ON CONFLICT DO NOTHING", ((word,) for word in new)
        )
        self._words |= new
        if len(self._words) > 500_000:
            self._words.clear()


def file_row(db: Database, path: str) -> Known | None:
    """What is known of a file."""
    sql = f"SELECT {KNOWN} FROM file WHERE machine = ? AND path = ?"
    for row in db.rows(sql, (db.machine, path)):
        return Known(*row)
    return None


def _is_worth_keeping(came: UnitRead) -> bool:
    """Whether files that nobody can tell anything of are kept: those that an agent put into its store."""
    if any(file.known is not None for file in came.files):
        return True
    return bool(came.unit.agent) and not all(file.state == GONE for file in came.files)


def _is_of(came: UnitRead, sessions: set[str]) -> bool:
    """Whether it tells of some of these sessions: they were forgotten since it was read."""
    return came.digest is not None and any(part.session in sessions for part in came.digest.parts.values())


def _is_left_out(came: UnitRead, folders: Folders) -> bool:
    """Whether it is a session that is new, and worked in a folder that is left out."""
    if came.digest is None or any(file.known and file.known.state != LEFT_OUT for file in came.files):
        return False
    return any(folders.hold(part.cwd) for part in came.digest.parts.values())


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0]


KNOWN: Final = ", ".join(Known.__struct_fields__)


def forgotten_mark(path: str) -> str:
    """What is kept of the path of a file that was forgotten."""
    return f"forgotten {blake2b(path.encode('utf-8', 'surrogateescape'), digest_size=16).hexdigest()}"


def _rows_of(came: UnitRead, digest: Digest) -> tuple[Iterable[Sequence[Any]], ...]:
    """The rows for each table of _ROWS, without the unit."""
    main = next(iter(digest.parts.values()), None)
    session = main.session if main is not None else None
    return (
        [(came.agent, came.dialect, came.kind, session, digest.events, came.bytes, came.problem)],
        ((*astuple(part), 0) for part in digest.parts.values()),
        digest.turns,
        digest.tools,
        digest.changes,
        digest.permissions,
        _sightings(digest.calls),
    )


def _sightings(calls: Iterable[Sighting]) -> Iterator[tuple[Any, ...]]:
    """One of each call: a unit may tell of one in several of its sessions."""
    best: dict[str, Sighting] = {}
    for call in calls:
        if call.key not in best or (call.output or 0) > (best[call.key].output or 0):
            best[call.key] = call
    for call in best.values():
        key, request, session, inherited, *rest = astuple(call)
        yield (key, request, session, int(inherited), *rest)


def _as_it_is(digest: Digest | None) -> Digest | None:
    return digest


def _fitting(digest: Digest | None) -> Digest | None:
    """A digest without what some database cannot hold: half letters, NUL, numbers of more than 63 bits, and names that are
    too long for an index."""
    fit = _fit(digest, SHORT)
    if fit is not None:
        fit.said, fit.words = _fit(digest.said, PIECE) if digest is not None else [], []
    return cast("Digest | None", fit)


def _nothing(digest: Digest | None) -> Digest | None:
    return Digest(problem=digest.problem) if digest is not None else None


def _fit(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\u2400")[:most]
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < 1 << 63 else None
    if isinstance(value, Struct):
        return type(value)(*(_fit(item, most) for item in astuple(value)))
    if isinstance(value, dict):
        return {key: _fit(item, most) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_fit(item, most) for item in value)
    return value
