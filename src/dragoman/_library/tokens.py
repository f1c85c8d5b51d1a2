"""The words of a text, as both databases index them: one tokeniser of ours, so that both find the same.

A text is folded: marks are stripped (İstanbul is Istanbul), forms of one letter are one. A word is a run of letters and
digits; one in camel case is its parts as well (`parseMessage`: parse, message, parsemessage). Chinese, Japanese and
Korean letters are indexed in pairs. Marks say which words follow each other, whose text it is, and which tool's. The
database gives candidates by all of these; what a person looks for is verified in the text itself.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final
from zlib import crc32

LONGEST: Final = 64
"""Letters of a token; the rest of a longer word is left to verification."""

PAIRED: Final = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts without blanks between words, as a class of a regular expression has them."""
LETTER: Final = rf"[^\W_{PAIRED}]"
"""A letter or digit of any other script."""
INNER: Final = r"(?:(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]))"
"""Where a part of a word in camel case ends and the next begins."""

_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_WORD: Final = re.compile(rf"{LETTER}+|[{PAIRED}]+")
_INNER: Final = re.compile(INNER)
_OTHER: Final = re.compile(r"[^\x00-\x7f]+")
_IS_PAIRED: Final = re.compile(f"[{PAIRED}]")
_KEPT_MARKS: Final = "\u3099\u309a"
"""Marks that make another letter of one: が is not か."""

_FOLLOWING: Final = tuple(map(chr, range(0xE000, 0xF000)))
"""Marks of two words that follow each other. They are letters of nobody, so that no word is one, and few, so that they take
little room: some pairs of words have one in common."""
_LAST: Final = len(_FOLLOWING) - 1
ROLES: Final = ("user", "assistant", "thinking", "system", "input", "output")
"""Who says something; `input` and `output` are a tool's."""
ROLE: Final = dict(zip(ROLES, map(chr, range(0xF000, 0xF010)), strict=False))
"""The mark of each."""
WITH_PATH: Final = "\uf010"
"""The mark of what has to do with a file."""
MARKS: Final = frozenset((*_FOLLOWING, *ROLE.values(), WITH_PATH))
"""Tokens that are no words."""
TOOL, _SIGN = "\uf011", "\uf012"
"""How the mark of a tool begins, and what stands in it for what is no letter."""
_NO_LETTER: Final = re.compile(r"[\W_]")
_ANY: Final = re.compile(r"[*?]+|\[.*", re.DOTALL)
"""What stands for other letters in a pattern, or may do so."""
_NAME: Final = 200
"""Characters of a tool's name that are indexed."""


def indexed(role: str, tool: str | None, path: str | None, text: str) -> set[str]:
    """All tokens of a row of `said`."""
    found = tokens(text)
    found.add(ROLE[role])
    if tool is not None:
        found.add(tool_token(tool))
    if path is not None:
        found.add(WITH_PATH)
    return found


def tokens(text: str) -> set[str]:
    """All tokens of a text: its words in all their forms, and which follow each other."""
    own = words(folded(text))
    found = {_FOLLOWING[5 * a + b & _LAST] for a, b in pairwise(map(_code, own))}
    several = set()
    for word in set(own):
        if len(word) <= LONGEST and word.isascii() and (word.islower() or word.isdecimal()):
            found.add(word)
        else:
            forms = _forms(word)
            found.update(forms)
            if len(forms) > 1 and not is_paired(word):
                found.update(following(a, b) for a, b in pairwise(forms[1:]))
                several.add(word)
    if several:
        for a, b in pairwise(own):
            if a in several or b in several:
                found.update(_between(a, b))
    return found


def following(before: str, after: str) -> str:
    """The mark of two words that follow each other, each as it is indexed."""
    return _FOLLOWING[5 * _code(before) + _code(after) & _LAST]


def tool_token(name: str) -> str:
    """The mark of a tool."""
    return TOOL + _NO_LETTER.sub(_SIGN, name.lower()[:_NAME])


def tool_like(pattern: str) -> str:
    """The marks of tools whose names may be like a pattern: a `*` in it stands for anything."""
    like = "*".join(_NO_LETTER.sub(_SIGN, part) for part in _ANY.split(pattern.lower()))
    return TOOL + (like if len(like) <= _NAME else f"{like[:_NAME]}*")


def words(text: str) -> list[str]:
    """The words of a folded text, in their order."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def parts(word: str) -> list[str]:
    """The parts of a word in camel case, lower; of any other the word."""
    return [part.lower() for part in _INNER.split(word)]


def is_paired(word: str) -> bool:
    """Whether a word is of letters that are indexed in pairs."""
    return _IS_PAIRED.match(word) is not None


def pairs(word: str) -> list[str]:
    """The tokens of such a word: any two letters that follow each other."""
    return [word[n : n + 2] for n in range(len(word) - 1)]


def folded(text: str) -> str:
    """A text without marks and what is not seen, each letter in one form; ASCII as it is, all other letters lower."""
    return text if text.isascii() else _OTHER.sub(lambda run: _folded(run[0]), text)


def places(text: str) -> list[int]:
    """Where each character of the folded text stands in the text, and where it ends."""
    if text.isascii():
        return list(range(len(text) + 1))
    starts: list[int] = []
    at = 0
    for run in _OTHER.finditer(text):
        starts += range(at, run.start())
        at = run.end()
        whole, single = _folded(run[0]), [_folded(char) for char in run[0]]
        if "".join(single) == whole:
            starts += (run.start() + n for n, form in enumerate(single) for _ in form)
        else:  # letters of several characters: about where they are
            starts += (run.start() + n * len(run[0]) // len(whole) for n in range(len(whole)))
    starts += range(at, len(text) + 1)
    return starts


@lru_cache(100_000)
def _forms(word: str) -> tuple[str, ...]:
    """The tokens of a word: itself, and its parts if it has several. Of one that is indexed in pairs also the last letter, so
    that a single one is the beginning of a token, wherever it stands."""
    if is_paired(word):
        return (*pairs(word), word[-1])
    own = parts(word)
    return tuple(form[:LONGEST] for form in ((word.lower(), *own) if len(own) > 1 else own))


@lru_cache(100_000)
def _between(before: str, after: str) -> tuple[str, ...]:
    """Marks of two words that follow each other, in all their forms."""
    a, b = _forms(before), _forms(after)
    return tuple(following(last, first) for last in {a[0], a[-1]} for first in b[:2])


@lru_cache(100_000)
def _code(word: str) -> int:
    return crc32(word[:LONGEST].lower().encode()) & _LAST


def _folded(run: str) -> str:
    return _fold(run) if len(run) > 8 else _fold_again(run)


def _fold(run: str) -> str:
    form = _OTHER.sub(lambda rest: rest[0].casefold(), _unmarked(run))
    return form if form.isascii() else _unmarked(form)


_fold_again = lru_cache(20_000)(_fold)


def _unmarked(text: str) -> str:
    """Letters without their marks. Those of Korean are put together again: apart they would be other letters."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).translate(_kept))


class _Kept(dict[int, int | None]):
    """What becomes of a character when marks are stripped, looked up once."""

    def __missing__(self, code: int) -> int | None:
        category = unicodedata.category(chr(code))
        dropped = (category[0] == "M" and chr(code) not in _KEPT_MARKS) or category == "Cf"
        self[code] = None if dropped else code
        return self[code]


_kept: Final = _Kept()
