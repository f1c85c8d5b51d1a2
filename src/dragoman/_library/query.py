"""What a person looks for, as terms: which tokens a text must have, and what must stand in it.

Words, "phrases in quotes", parts of words (`val*`, `*alue*`). What is more than one word, such as `parse_message`, means
these one after the other. Nothing of it is ever an operator.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Final

from msgspec import Struct

from dragoman._library.sessions import Filter
from dragoman._library.tokens import (
    INNER,
    LETTER,
    LONGEST,
    PAIRED,
    folded,
    following,
    is_paired,
    pairs,
    parts,
)

FEWEST: Final = 2
"""Letters that a part of a word must have."""
_LONGEST_REST: Final = 200
"""Letters that a `*` stands for, so that no text takes long."""

_TERM: Final = re.compile(r'"([^"]*)"?|([^\s"]+)')
_WORD: Final = re.compile(rf"(?:{LETTER}|\*)+|[{PAIRED}]+")
_BEGINS: Final = rf"(?:(?<!{LETTER})|{INNER})"
_ENDS: Final = rf"(?:(?!{LETTER})|{INNER})"
_APART: Final = rf"(?:[\W_]+|{INNER})"
"""Between two words that are apart in the query: in the text they may be written as one, in camel case."""
_ADJOINED: Final = r"[\W_]*"
_KNOWN: Final = re.compile(r"[^*]*|\*?[^*]+\*")
"""A word, its beginning, or what stands in it: tokens tell. Of its end they do not, since long ones are cut."""
_REST: Final = rf"{LETTER}{{0,{_LONGEST_REST}}}"


class Search(Struct, frozen=True, kw_only=True):
    """A question. What is not given does not matter."""

    text: str
    roles: Sequence[str] = ()
    tools: Sequence[str] = ()
    """By name, or by a pattern such as `*_issue`."""
    path: str | None = None
    """Of the file that a tool was given: a part of it, or a pattern such as `*.py`."""
    session: str | None = None
    """The library's id of the only one that is meant."""
    among: Filter = Filter(subagents=True)
    """Sessions that are meant; `since` and `until` are about when it was said."""
    limit: int = 20
    each: int | None = None
    """Hits of one session at most."""
    after: str | None = None
    """`Answer.more` of the page before."""


class Term(Struct, frozen=True):
    """Something that must stand in a text."""

    tokens: tuple[tuple[str, ...], ...]
    """Of each of these some token must be in the index. One with a `*` stands for all that are like it."""
    letters: re.Pattern[str]
    """What must at least stand there, in lower case: it is found quickly."""
    pattern: re.Pattern[str]
    """What must stand there, in a folded text."""
    by_index: bool
    """A text with these tokens has it, without looking."""

    def places(self, text: str, lower: str) -> Iterator[tuple[int, int]]:
        """Where it stands in a folded text, which is given in lower case too."""
        near = self.letters.search(lower)
        while near is not None:
            found = self.pattern.match(text, near.start())
            if found is not None:
                yield found.span()
            near = self.letters.search(lower, found.end() if found is not None else near.start() + 1)


def terms_of(text: str) -> tuple[Term, ...]:
    """The terms of a query, each once; none if it has no letter or digit."""
    found: dict[str, Term] = {}
    for phrase, bare in _TERM.findall(text):
        for run in _runs(folded(bare or phrase.replace("*", " "))):
            term = _term(run)
            found.setdefault(term.pattern.pattern, term)
    return tuple(found.values())


def too_short(terms: tuple[Term, ...]) -> str | None:
    """A part of a word that has too few letters to be looked for."""
    stars = (token for term in terms for some in term.tokens for token in some if "*" in token)
    return next(
        (token for token in stars if len(token.replace("*", "")) < FEWEST and not is_paired(token)), None
    )


class _Word(Struct):
    text: str
    apart: bool
    """Something stands between it and the one before."""


def _runs(text: str) -> Iterator[list[_Word]]:
    """Words that must follow each other. A `*` alone stands for anything."""
    run: list[_Word] = []
    end = 0
    for word in _WORD.finditer(text):
        if word[0].strip("*"):
            run.append(_Word(word[0], word.start() > end))
        elif run:
            yield run
            run = []
        end = word.end()
    if run:
        yield run


def _term(run: list[_Word]) -> Term:
    tokens: list[tuple[str, ...]] = []
    pattern, letters, by_index = "", [], len(run) == 1
    last: tuple[str, ...] = ()
    for number, word in enumerate(run):
        if number:
            pattern += _APART if word.apart else _ADJOINED
        if is_paired(word.text):
            tokens += [(pair,) for pair in pairs(word.text)] or [(f"{word.text}*",)]
            pattern += re.escape(word.text)
            letters.append(re.escape(word.text))
            by_index = by_index and len(word.text) <= 2
            last = ()
            continue
        own, whole = parts(word.text), _token(word.text)
        tokens += [(whole,)] if len(own) == 1 else [(_token(part), whole) for part in own]
        if "*" in whole:
            last = ()
        else:
            forms = [_token(part) for part in own]
            if last:
                tokens.append(
                    tuple(following(*both) for both in product(last, dict.fromkeys((forms[0], whole))))
                )
            tokens += [(following(*both), whole) for both in pairwise(forms)]
            last = tuple(dict.fromkeys((forms[-1], whole)))
        before, after = "" if own[0][0] == "*" else _BEGINS, "" if own[-1][-1] == "*" else _ENDS
        inner = _ADJOINED.join(map(_starred, own))
        pattern += f"{before}(?i:{inner}){after}"
        letters.append(inner)
        by_index = (
            by_index and len(own) == 1 and _KNOWN.fullmatch(whole) is not None and len(word.text) <= LONGEST
        )
    return Term(tuple(tokens), re.compile(_ADJOINED.join(letters)), re.compile(pattern), by_index)


def _token(word: str) -> str:
    """The token of a word, or the pattern of tokens; what is cut off a long one is verified in the text."""
    text = re.sub(r"\*+", "*", word.lower())
    return text[:LONGEST] if "*" not in text[:LONGEST] else text


def _starred(part: str) -> str:
    """The regular expression of a part of a word; at its ends a `*` is no more than that it may go on there."""
    return _REST.join(re.escape(piece) for piece in re.split(r"\*+", part.strip("*")))
