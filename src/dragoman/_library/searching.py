"""Search: rows that may be meant are read, and what stands in them decides. Both databases give the same answer."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec
from msgspec import Struct, field

from dragoman._library import sessions
from dragoman._library.candidates import FIRST, Candidate, Candidates, Key
from dragoman._library.database import Database
from dragoman._library.query import FEWEST, Search, Term, terms_of, too_short
from dragoman._library.sessions import StoredSession
from dragoman._library.snippets import Snippet, snippet, stands
from dragoman._library.tokens import MARKS, ROLE, TOOL, WITH_PATH, tool_like

MOST_WORDS: Final = 2_000
"""Words that a part of one may stand for."""
_READ_TO_COUNT: Final = 300
"""Texts that are read only to count sessions."""
_ASKED: Final = 60
"""Tokens that the database is asked for; what else a long query has is looked for in the text."""
_AT_ONCE: Final = 25
"""Texts that are read at once."""


class Hit(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An event in which it stands."""

    session: str
    turn: int
    seq: int
    unit: int
    role: str
    tool: str | None = None
    path: str | None = None
    """Of the file that the tool was given."""
    at: float | None = None
    """Seconds since 1970."""
    snippet: Snippet


class Answer(Struct, kw_only=True):
    """What was found."""

    hits: list[Hit] = field(default_factory=list)
    sessions: dict[str, StoredSession] = field(default_factory=dict)
    """Those of the hits, by their ids."""
    count: int = 0
    """Sessions in which it stands."""
    at_least: bool = False
    """There may be more: not all were looked at."""
    more: str | None = None
    """Where the next page begins, if there may be one: `Search.after`."""
    problem: str | None = None
    """Why it was not looked for, or not everywhere."""


def search(db: Database, wanted: Search) -> Answer:
    """Never raises for what is looked for."""
    terms = terms_of(wanted.text)
    if not terms:
        return Answer(problem="there is no word to look for; a word has letters or digits")
    if (part := too_short(terms)) is not None:
        return Answer(problem=f"{part} may be almost any word; give at least {FEWEST} letters of it")
    asked: list[list[str]] = []
    for some in _asked(terms):
        like = [word for token in some for word in _words_like(db, token)]
        if len(like) > MOST_WORDS:
            return Answer(problem=f"{some[0]} may be more than {MOST_WORDS:,} words; give more letters of it")
        asked.append(like)
    asked += _marks(db, wanted)
    return _answer(db, wanted, terms, Candidates(db, wanted, asked)) if all(asked) else Answer()


def _answer(db: Database, wanted: Search, terms: Sequence[Term], candidates: Candidates) -> Answer:
    after, had = _read_mark(wanted.after)
    answer = _page(db, wanted, terms, candidates.walk(after), had)
    answer.count = len({hit.session for hit in answer.hits})
    if wanted.after is not None or answer.more is not None:
        answer.at_least = not candidates.are_few or not _count(db, terms, candidates, answer)
    answer.sessions = sessions.some(db, {hit.session for hit in answer.hits})
    return answer


def _page(
    db: Database, wanted: Search, terms: Sequence[Term], candidates: Iterable[Candidate], had: dict[str, int]
) -> Answer:
    """The hits among candidates, as far as they are wanted. `had`: how many of a session there were before."""
    page, rest = Answer(), iter(candidates)
    last: Candidate | None = None
    most = wanted.each if wanted.each is not None else sys.maxsize
    while some := list(islice((one for one in rest if had.get(one.session, 0) < most), _AT_ONCE)):
        texts = _texts(db, some)
        for one in some:
            if had.get(one.session, 0) >= most or (last is not None and one.event == last.event):
                continue
            found = snippet(texts.get(one.id, ""), terms)
            if found is None:
                continue
            if len(page.hits) >= wanted.limit:
                page.more = _mark(last, had[last.session]) if last is not None else wanted.after
                return page
            page.hits.append(
                Hit(
                    session=one.session, turn=one.turn, seq=one.seq, unit=one.unit, role=one.role, tool=one.tool,
                    path=one.path, at=one.at, snippet=found,
                )
            )  # fmt: skip
            had[one.session], last = had.get(one.session, 0) + 1, one
    return page


def _count(db: Database, terms: Sequence[Term], candidates: Candidates, answer: Answer) -> bool:
    """Count the sessions of all candidates; whether that is all. Those that the index is not sure of are read, as far as
    that is quick."""
    known = {hit.session for hit in answer.hits}
    sure = _index_knows(terms)
    all_of_them = candidates.sessions() if sure else None
    if all_of_them is not None:
        answer.count = len(all_of_them)
        return True
    every = list(candidates.walk())
    if sure:
        known.update(one.session for one in every)
    others = [one for one in every if one.session not in known]
    for start in range(0, min(len(others), _READ_TO_COUNT), _AT_ONCE):
        some = [one for one in others[start : start + _AT_ONCE] if one.session not in known]
        texts = _texts(db, some)
        known.update(one.session for one in some if stands(texts.get(one.id, ""), terms))
    answer.count = len(known)
    return all(one.session in known for one in others[_READ_TO_COUNT:])


def _index_knows(terms: Sequence[Term]) -> bool:
    """Whether all candidates are meant, without looking."""
    return len(terms) <= _ASKED and all(term.by_index for term in terms)


def _texts(db: Database, some: Sequence[Candidate]) -> dict[int, str]:
    ids = [one.id for one in some]
    places = ", ".join("?" * len(ids))
    return dict(db.rows(f"SELECT id, body FROM said WHERE id IN ({places})", ids)) if ids else {}


def _asked(terms: Sequence[Term]) -> list[tuple[str, ...]]:
    """What the database is asked for: of a long query marks, and the tokens that are longest, since they are rare."""
    every = list(dict.fromkeys(some for term in terms for some in term.tokens))
    return sorted(every, key=lambda some: (some[0] not in MARKS, -len(some[0])))[:_ASKED]


def _marks(db: Database, wanted: Search) -> Iterator[list[str]]:
    """What the database is asked for beside it. Names of tools and paths are looked at again."""
    if wanted.roles:
        yield [ROLE[role] for role in wanted.roles if role in ROLE]
    if wanted.tools:
        found = [word for tool in wanted.tools for word in _words_like(db, tool_like(tool))]
        if len(found) <= MOST_WORDS:
            yield found
    if wanted.path:
        yield [WITH_PATH]


def _words_like(db: Database, token: str) -> list[str]:
    """The tokens that one with a `*` stands for, one more than may be at most; the beginning of a token the index finds
    by itself."""
    if "*" not in token[:-1]:
        return [token]
    others = "" if token.startswith(TOOL) else f"{TOOL}%"
    rows = db.rows(
        "SELECT token FROM word WHERE token LIKE ? AND token NOT LIKE ? LIMIT ?",
        (token.replace("*", "%"), others, MOST_WORDS + 1),
    )
    return [row[0] for row in rows]


def _mark(last: Candidate, had: int) -> str:
    """The place behind a hit, and how many hits its session had by then."""
    return msgspec.json.encode((last.key, had)).decode()


def _read_mark(mark: str | None) -> tuple[Key, dict[str, int]]:
    if mark is None:
        return FIRST, {}
    try:
        key, had = msgspec.json.decode(mark, type=tuple[Key, int])
    except (msgspec.DecodeError, UnicodeError):
        return FIRST, {}
    return key, {key[1]: had}
