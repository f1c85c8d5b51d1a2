"""The library in one file: SQLite with its write-ahead log and FTS5."""

import os
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import msgspec

from dragoman._library.database import Found, Numbers, Row, Values
from dragoman._library.schema import DERIVED, TABLES, Table
from dragoman._model.errors import UsageError

PATIENCE: Final = 60_000
"""Milliseconds that one writer waits for another."""
AGAIN: Final = 0.01
"""Seconds between two tries."""
_TYPES: Final = {
    "id": "INTEGER PRIMARY KEY AUTOINCREMENT",  # no number is given twice: the index may still know the old text
    "big": "INTEGER",
    "real": "REAL",
    "blob": "BLOB",
    "tokens": "",
}
_INDEX: Final = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS said_index USING"
    " fts5(tokens, content='', detail=none, columnsize=0, tokenize='ascii')"
)


class Sqlite:
    """A library in a file, which is made if it is not there. Only the owner may read it. Raises UsageError if it cannot be
    opened, or is something else."""

    unfit: tuple[type[Exception], ...] = (
        UnicodeError,
        OverflowError,
        sqlite3.DataError,
        sqlite3.InterfaceError,
    )

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.name = str(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._open = sqlite3.connect(
                self.path, isolation_level=None, timeout=PATIENCE / 1000, check_same_thread=False
            )
            self._begin_log()
            for pragma in ("synchronous = NORMAL", "secure_delete = ON", "cache_size = -32000"):
                self._open.execute(f"PRAGMA {pragma}")
        except (OSError, sqlite3.Error) as error:
            raise UsageError(
                f"the library {path} cannot be opened: {error}; --library or DRAGOMAN_LIBRARY names another"
            ) from error
        self._depth = 0
        self.machine = ""

    def _begin_log(self) -> None:
        """Where another one makes the library at the same moment, SQLite does not wait for him by itself."""
        patience = monotonic() + PATIENCE / 1000
        while True:
            try:
                self._open.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > patience:
                    raise
                sleep(AGAIN)

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        return self._open.execute(sql, values).fetchall()

    def stream(self, sql: str, values: Values = ()) -> Iterator[Row]:
        yield from self._open.execute(sql, values)

    def run(self, sql: str, values: Values = ()) -> None:
        self._open.execute(sql, values)

    def run_many(self, sql: str, rows: Iterable[Values]) -> None:
        self._open.executemany(sql, rows)

    @contextmanager
    def writing(self, *, lasting: bool = False) -> Iterator[None]:
        if self._depth:
            yield
            return
        if lasting:
            self._open.execute("PRAGMA synchronous = FULL")
        try:
            self._open.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise UsageError(
                f"the library {self.name} cannot be written: {error}; try again when whoever writes in it is done"
            ) from error
        self._depth = 1
        try:
            yield
        except BaseException:
            self._open.execute("ROLLBACK")
            raise
        else:
            self._open.execute("COMMIT")
        finally:
            self._depth = 0
            if lasting:
                self._open.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def attempting(self) -> Iterator[None]:
        self._open.execute("SAVEPOINT attempt")
        try:
            yield
        except BaseException:
            self._open.execute("ROLLBACK TO attempt")
            raise
        finally:
            self._open.execute("RELEASE attempt")

    def has(self, table: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)))

    def create(self) -> None:
        with self.writing():
            for table in TABLES:
                for statement in statements(table, _TYPES):
                    self._open.execute(statement)
            self._open.execute(_INDEX)

    def empty(self) -> None:
        for table in DERIVED:
            self._open.execute(f"DELETE FROM {table.name}")
        self._open.execute("INSERT INTO said_index (said_index) VALUES ('delete-all')")

    def drop(self) -> None:
        for table in DERIVED:
            self._open.execute(f"DROP TABLE IF EXISTS {table.name}")
        self._open.execute("DROP TABLE IF EXISTS said_index")

    def fill(self, table: Table, rows: Iterable[Values]) -> None:
        for row in rows:
            self._open.execute(f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(row))})", row)

    def say(self, columns: Sequence[str], rows: Sequence[Values], words: Sequence[str]) -> None:
        first = 1 + sum(row[0] for row in self.rows("SELECT seq FROM sqlite_sequence WHERE name = 'said'"))
        places = ", ".join("?" * (1 + len(columns)))
        self.run_many(
            f"INSERT INTO said (id, {', '.join(columns)}) VALUES ({places})",
            ((id, *row) for id, row in enumerate(rows, first)),
        )
        self.run_many("INSERT INTO said_index (rowid, tokens) VALUES (?, ?)", enumerate(words, first))

    def unindex(self, rows: Iterable[tuple[int, str]]) -> None:
        self.run_many("INSERT INTO said_index (said_index, rowid, tokens) VALUES ('delete', ?, ?)", rows)

    def matching(self, terms: Sequence[Sequence[str]]) -> tuple[str, list[Any]]:
        query = " AND ".join(f"({' OR '.join(map(_quoted, term))})" for term in terms)
        return "SELECT rowid FROM said_index WHERE said_index MATCH ?", [query]

    def found(self, terms: Sequence[Sequence[str]], few: int) -> Found:
        """The index says all numbers in one piece of text, which is quick. Of which unit many are, the numbers of each unit's
        rows tell: these were mostly written one after the other."""
        sql, values = self.matching(terms)
        [(text,)] = self.rows(f"SELECT GROUP_CONCAT(rowid) FROM ({sql})", values)
        numbers = sorted(msgspec.json.decode(f"[{text or ''}]", type=list[int]))

        def between(where: str) -> Numbers:
            found = {}
            for unit, first, last in self.rows(f"SELECT id, first_said, last_said FROM unit WHERE {where}"):
                if some := numbers[bisect_left(numbers, first) : bisect_right(numbers, last)]:
                    found[unit] = some
            return found

        def every() -> Numbers:
            if len(numbers) > few:
                return between("first_said IS NOT NULL")
            return by_unit(self.rows(f"SELECT unit, id FROM said WHERE id IN ({text or 'NULL'})"))

        return Found(
            len(numbers) <= few,
            lambda units: between(f"first_said IS NOT NULL AND id IN ({', '.join(map(str, units))})"),
            every,
        )

    def size(self) -> int:
        found = (Path(f"{self.path}{end}") for end in ("", "-wal", "-shm"))
        return sum(path.stat().st_size for path in found if path.exists())

    def compact(self) -> None:
        self._open.execute("INSERT INTO said_index (said_index) VALUES ('optimize')")
        self._open.execute("VACUUM")
        self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._open.close()


def by_unit(rows: Iterable[Row]) -> Numbers:
    """Rows of a unit and a number, put together."""
    found: Numbers = {}
    for unit, number in rows:
        found.setdefault(unit, []).append(number)
    return found


def statements(table: Table, types: dict[str, str]) -> Iterator[str]:
    """What makes a table and its indexes."""
    yield f"CREATE TABLE IF NOT EXISTS {table.name} ({table.columns.format(**types)})"
    for column in table.indexes:
        yield f"CREATE INDEX IF NOT EXISTS {table.name}_{column} ON {table.name} ({column})"


def _quoted(token: str) -> str:
    return f'"{token[:-1]}" *' if token.endswith("*") else f'"{token}"'
