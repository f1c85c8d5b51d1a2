"""What the library asks of a database: SQL that SQLite and PostgreSQL both understand, with `?` for values."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol

from dragoman._library.schema import Table

Row = tuple[Any, ...]
Values = Sequence[Any]

MANY: Final = 400
"""Values in one statement; SQLite takes 32,766, older ones 999."""

Numbers = dict[int, list[int]]
"""Of rows of `said`, by their units. Among those of a unit may be some of another."""


class Found(NamedTuple):
    """Rows of `said` that have some tokens."""

    are_few: bool
    of: Callable[[Collection[int]], Numbers]
    """Those of some units."""
    every: Callable[[], Numbers | None]
    """All of them; None if it takes long to say."""


class Database(Protocol):
    """An open database. Reading sees a steady state only inside `writing` or `reading`."""

    name: str
    """Where it is, for people: a path, or an address without its password."""

    machine: str
    """Whose files are meant by their paths: "" where there is only one who writes here."""
    unfit: tuple[type[Exception], ...]
    """What is raised for a value that the database cannot hold."""

    def rows(self, sql: str, values: Values = ()) -> list[Row]: ...

    def stream(self, sql: str, values: Values = ()) -> Iterator[Row]:
        """The rows, a few at a time."""

    def run(self, sql: str, values: Values = ()) -> None: ...

    def run_many(self, sql: str, rows: Iterable[Values]) -> None: ...

    def writing(self, *, lasting: bool = False) -> AbstractContextManager[None]:
        """One transaction, and no other writer beside it. It is undone if an exception leaves it. `lasting`: it is on the disk
        when this ends, as is all that was written before. Raises UsageError if somebody else is at it for too long."""

    def attempting(self) -> AbstractContextManager[None]:
        """A part of a transaction, which alone is undone if an exception leaves it."""

    def has(self, table: str) -> bool:
        """Whether a table is there."""

    def create(self) -> None:
        """Make the tables that are not there yet."""

    def empty(self) -> None:
        """Throw away the rows that are derived. Whoever reads meanwhile sees them until it is committed."""

    def drop(self) -> None:
        """Throw away the tables that are derived."""

    def fill(self, table: Table, rows: Iterable[Values]) -> None:
        """Rows of another library, as they are. Numbers that are given later go on behind theirs."""

    def say(self, columns: Sequence[str], rows: Sequence[Values], words: Sequence[str]) -> None:
        """Rows of `said`, and the tokens that each is found by, with blanks between them."""

    def unindex(self, rows: Iterable[tuple[int, str]]) -> None:
        """Rows that are about to go, with the tokens that they were indexed by."""

    def matching(self, terms: Sequence[Sequence[str]]) -> tuple[str, list[Any]]:
        """SQL that gives the numbers of rows of `said` in which of each term some token stands, and its values. A token that
        ends with `*` is the beginning of one."""

    def found(self, terms: Sequence[Sequence[str]], few: int) -> Found:
        """These rows. So many are few, and all of them quickly found."""

    def size(self) -> int:
        """Bytes that it takes."""

    def compact(self) -> None:
        """Give back what is free: what was deleted is not in it any more."""

    def close(self) -> None: ...


def insert(db: Database, table: str, columns: Sequence[str], rows: Iterable[Values]) -> None:
    """Put rows into a table."""
    some = list(rows)
    if some:
        db.run_many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places(columns)})", some)


def places(values: Collection[Any]) -> str:
    """The marks for so many values, as they stand between brackets."""
    return ", ".join("?" * len(values))


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """The values in their order, as many at a time as one statement takes."""
    every = iter(sorted(values))
    while some := list(islice(every, MANY)):
        yield some


def rows_in(db: Database, sql: str, values: Iterable[str], before: Values = ()) -> Iterator[Row]:
    """The rows of a statement that ends with IN, for all these values. `before`: those of the marks in front."""
    for some in batches(values):
        yield from db.rows(f"{sql} ({places(some)})", [*before, *some])
