"""Rows of `said` that may be meant by a question: the database finds them by their tokens, in the order of the answer.

That order is by sessions, newest first, and in a session as things happened.
"""

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import cached_property
from itertools import groupby
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from dragoman._library.database import Database, Numbers, Row
from dragoman._library.query import Search
from dragoman._library.sessions import askable

FEW: Final = 1_500
"""Candidates, or units of them, that are all looked at. Where there are more, sessions are gone through from the newest on."""
_BATCHES: Final = (32, 256)
"""Sessions that are gone through at once, at first. If that is not enough, it is asked where the others are."""
_BATCH: Final = 2_048
"""Sessions that are gone through at once if they are everywhere."""
_AT_ONCE: Final = 100, 2_000
"""Rows that are read at once, about and at most."""

Key = tuple[float, str, float, int, int, int]
"""Of a candidate: time of its session, its session, time of its unit, its unit, its event, which piece of its text."""
FIRST: Final[Key] = (float("-inf"), "", 0, 0, 0, 0)
"""Before all others."""


class Candidate(NamedTuple):
    key: Key
    id: int
    session: str
    turn: int
    at: float | None
    role: str
    tool: str | None
    path: str | None

    @property
    def unit(self) -> int:
        return self.key[3]

    @property
    def seq(self) -> int:
        return self.key[4]

    @property
    def event(self) -> tuple[Any, ...]:
        """What the pieces of one text have in common."""
        return self.key[:-1]


_Times = dict[tuple[int, str], tuple[float | None, ...]]
"""When a session was last heard of, and when a unit of it began: by unit and session."""
_Places = tuple[list[Row], Numbers]
"""Units with their sessions and the times of both, in the order of sessions; the numbers of rows in these units."""
_COLUMNS: Final = "t.unit, t.session, t.seq, t.piece, t.id, t.turn, t.at, t.role, t.tool, t.path"


class Candidates:
    """Those that have of each of `asked` some token, and fit the question."""

    def __init__(self, db: Database, wanted: Search, asked: list[list[str]]) -> None:
        self._db, self._wanted, self._asked = db, wanted, asked
        self._tools = [_like(tool) for tool in wanted.tools]
        self._paths = _paths(wanted.path)
        self._found = db.found(asked, FEW)
        self.are_few = self._found.are_few
        """Whether they can all be looked at."""

    def walk(self, after: Key = FIRST) -> Iterator[Candidate]:
        """Those behind `after`, as they are asked for: session by session."""
        for times, numbers in self._some(after):
            rows = (row for row in self._rows(numbers) if row[:2] in times)
            found = (_candidate(*times[row[:2]], *row) for row in rows)
            yield from sorted(one for one in found if one.key > after and self._fits(one))

    def sessions(self) -> set[str] | None:
        """The sessions of a few; None if their rows have to be looked at."""
        among = self._wanted.among
        if self._tools or self._paths or among.since is not None or among.until is not None:
            return None
        every, of = self._all
        numbers = (number for some in of.values() for number in some)
        there = set(self._db.rows(f"SELECT unit, session FROM said WHERE id IN ({_listed(numbers)})"))
        return {row[1] for row in every or () if row[:2] in there}

    def _some(self, after: Key) -> Iterator[tuple[_Times, set[int]]]:
        """Some sessions at a time, and the numbers of rows that may be theirs."""
        times: _Times = {}
        numbers: set[int] = set()
        done: tuple[float, str] = FIRST[:2]
        for parts, of in self._places(after):
            for session, group in groupby(parts, key=_session_of):
                if session < after[:2] or session <= done:
                    continue
                for unit, id, *both in group:
                    if unit in of:
                        times[unit, id] = tuple(both)
                        numbers.update(of[unit])
                if len(numbers) > _AT_ONCE[0]:
                    yield times, numbers
                    times, numbers = {}, set()
                done = session
        yield times, numbers

    def _places(self, after: Key) -> Iterator[_Places]:
        """Of the newest sessions, of more, and at last of all."""
        start = 0
        for size in () if self.are_few else _BATCHES:
            parts = self._from(after, size, start)
            yield parts, self._found.of({row[0] for row in parts})
            start += size
        every, of = self._all
        if every is not None:
            yield every, of
            return
        while parts := self._from(after, _BATCH, start):
            yield parts, of or self._found.of({row[0] for row in parts})
            start += _BATCH

    @cached_property
    def _all(self) -> tuple[list[Row] | None, Numbers]:
        """Of all sessions with candidates; None if these are in many units."""
        of = self._found.every()
        if of is None or len(of) > FEW:
            return None, of or {}
        where, values = self._of_sessions()
        rows = self._db.rows(
            "SELECT p.unit, s.id, s.updated, p.created FROM part p JOIN session s ON s.id = p.session"
            " LEFT JOIN label l ON l.session = s.id"
            f" WHERE p.shown = 1 AND p.unit IN ({_listed(of)}) AND {where}",
            values,
        )
        return sorted(rows, key=_session_of), of

    def _from(self, after: Key, size: int, start: int) -> list[Row]:
        """Units of so many sessions, in the order of these."""
        where, values = self._of_sessions()
        if after is not FIRST:
            where, values = f"{where} AND (s.updated <= ? OR s.updated IS NULL)", [*values, -after[0]]
        rows = self._db.rows(
            "SELECT p.unit, s.id, s.updated, p.created FROM (SELECT s.id, s.updated FROM session s"
            f" LEFT JOIN label l ON l.session = s.id WHERE {where} ORDER BY s.updated DESC NULLS LAST, s.id"
            " LIMIT ? OFFSET ?) s LEFT JOIN part p ON p.session = s.id AND p.shown = 1",
            [*values, size, start],
        )
        return sorted(rows, key=_session_of)

    def _rows(self, numbers: Iterable[int]) -> Iterator[Row]:
        ordered = sorted(numbers)
        for start in range(0, len(ordered), _AT_ONCE[1]):
            some = _listed(ordered[start : start + _AT_ONCE[1]])
            yield from self._db.rows(f"SELECT {_COLUMNS} FROM said t WHERE t.id IN ({some})")

    # --- what fits ----------------------------------------------------------------------------------------

    def _of_sessions(self) -> tuple[str, list[Any]]:
        """SQL about a session `s` and its label `l`."""
        until = self._wanted.among.until
        where, values = replace(self._wanted.among, until=None).where()
        if until is not None:
            where, values = f"{where} AND (s.created < ? OR s.created IS NULL)", [*values, until]
        if self._wanted.session is not None:
            where, values = f"{where} AND s.id = ?", [*values, askable(self._wanted.session)]
        return where, values

    def _fits(self, one: Candidate) -> bool:
        """When it was said, and names, which databases do not compare alike."""
        among = self._wanted.among
        at = one.at if one.at is not None else -one.key[0]
        return (
            (among.since is None or at >= among.since)
            and (among.until is None or at < among.until)
            and (not self._tools or any(tool.fullmatch((one.tool or "").lower()) for tool in self._tools))
            and (not self._paths or any(path.fullmatch((one.path or "").lower()) for path in self._paths))
        )


def _candidate(updated: float | None, created: float | None, *row: Any) -> Candidate:
    unit, session, seq, piece, id, turn, at, role, tool, path = row
    key = (-(updated or 0.0), session, created or 0.0, unit, seq, piece)
    return Candidate(key, id, session, turn, at, role, tool, path)


def _like(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.lower()))


def _paths(wanted: str | None) -> list[re.Pattern[str]]:
    """Patterns of whole paths: as it is written, or at the end of a longer one; without `*`, `?` or `[` any part."""
    if not wanted:
        return []
    if not re.search(r"[*?\[]", wanted):
        return [re.compile(f"(?s:.*{re.escape(wanted.lower())}.*)")]
    return [_like(wanted), _like(f"*/{wanted}")]


def _session_of(part: Row) -> tuple[float, str]:
    """The session of a part, for their order: as it stands in a key."""
    return -(part[2] or 0.0), part[1]


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers)) or "NULL"
