"""Text of agents, repositories and files as a terminal may show it: nothing obeyed, nothing hidden, nothing dropped.

Single characters are judged, never sequences: what is cut over two pieces of a stream is as harmless as the whole. A
character that would move the cursor, turn text around or not be seen is written as `\\x1b`, `\\u202e` or `\\U000e0041`
(and `\\n`, `\\t`, `\\r` where a line may have none of them). A backslash stays one backslash, so that a command reads as
it is written; on a terminal the escapes are set in reverse, which is how they differ from the same letters in the text.

There are two ways of reading. `visible` is to the letter: for commands, names, paths and all that is approved. `prose`
is for what is only read: lines and tabs stay, and so does what honest writing needs, a joiner between two emoji or two
letters of a script that joins, one variation selector behind a symbol, the blanks of typography.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, Literal

import click

Class = Literal["shown", "blank", "mark", "cover", "joiner", "selector", "newer", "hidden"]

_UNSEEN: Final = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164),
        (0xFFA0, 0xFFA0), (0xFFFC, 0xFFFC), (0x16FE4, 0x16FE4), (0x1D159, 0x1D159), (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)  # fmt: skip
"""Letters, marks and symbols that leave no ink: fillers, the blank Braille cell, selectors of glyph variants."""

_NAMED: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_MARKS: Final = 3
"""Marks that one letter may bear: two in Vietnamese, three in pointed Hebrew. More is a flood over other lines."""

_OVERLAY: Final = 1
"""The combining class of strokes through a letter; like circles around one, they hide it, or terminals leave them out."""

_PLAIN: Final = re.compile(r"[ -~]*")
_PLAIN_PROSE: Final = re.compile(r"[ -~\n\t]*")
_JOINING: Final = ((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x18AF), (0xFB50, 0xFEFC))
"""Arabic, Indic, Burmese, Khmer and Mongolian: scripts that are not written right without (non-)joiners."""
_NEWER: Final = ((0x1F000, 0x1FAFF), (0x20000, 0x323AF))
"""Where Unicode goes on to put emoji and ideographs, which this Python may not know yet."""


def visible(text: str) -> str:
    """`text` on one line, to the letter; whatever would not be seen is an escape."""
    return "".join(piece for piece, _ in spans(text))


def prose(text: str) -> str:
    """`text` as it is read: the same, but that lines, tabs and what honest writing needs stay. CR LF is a newline."""
    return "".join(piece for piece, _ in prose_spans(text))


def echo(text: str, *, err: bool = False) -> None:
    """Write one line, to the letter, on stdout or stderr."""
    click.echo(visible(text), err=err)


def spans(text: str) -> Iterator[tuple[str, bool]]:
    """`visible` in pieces, each with whether it is an escape."""
    return _spans(text, _letter_shown) if not _PLAIN.fullmatch(text) else iter(((text, False),))


def prose_spans(text: str) -> Iterator[tuple[str, bool]]:
    """`prose` in pieces, each with whether it is an escape."""
    if _PLAIN_PROSE.fullmatch(text):
        return iter(((text, False),))
    return _spans(text.replace("\r\n", "\n"), _prose_shown)


def _spans(text: str, shown: Callable[[str, int], bool]) -> Iterator[tuple[str, bool]]:
    start = 0
    for at, char in enumerate(text):
        if " " <= char <= "~" or shown(text, at):
            continue
        if start < at:
            yield text[start:at], False
        yield escape(char), True
        start = at + 1
    if start < len(text):
        yield text[start:], False


def escape(char: str) -> str:
    """A character by its number, as Python and most shells write it."""
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@lru_cache(maxsize=8192)
def _class(char: str) -> Class:
    if "\ufe00" <= char <= "\ufe0f":
        return "selector"
    if char in "\u200c\u200d":
        return "joiner"
    if char in _UNSEEN:
        return "hidden"
    category = unicodedata.category(char)
    if category == "Zs":
        return "shown" if char == " " else "blank"
    if category == "Cn" and _within(char, _NEWER):
        return "newer"
    if (
        category[0] in "CZ"
    ):  # controls, format characters, halves of characters, private and unassigned; separators
        return "hidden"
    if category == "Me" or unicodedata.combining(char) == _OVERLAY:
        return "cover"
    return "mark" if category == "Mn" else "shown"


def _letter_shown(text: str, at: int) -> bool:
    """Whether a character is seen for what it is, among others. A mark is, on a letter: on a quote or an operator it
    might make another one of it."""
    kind = _class(text[at])
    return kind == "shown" or (kind == "mark" and _bearer(text, at)[0:1].isalpha())


def _prose_shown(text: str, at: int) -> bool:
    char = text[at]
    kind = _class(char)
    if kind in ("shown", "blank", "newer") or char in "\n\t":
        return True
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if kind == "selector":  # text or picture, of a symbol, a digit of a keycap
        return char in "\ufe0e\ufe0f" and bool(before) and (_symbol(before) or before in "#*0123456789")
    if kind == "joiner":
        both = bool(before and after)
        return both and (_joins(before, after) or (char == "\u200d" and _picture(before) and _symbol(after)))
    return kind in ("mark", "cover") and (at == 0 or bool(_bearer(text, at)) or before == "\ufe0f")


def _bearer(text: str, at: int) -> str:
    """The character that the mark at `at` stands on; "" if there is none, or if it bears too many."""
    for place in range(at - 1, at - _MARKS - 1, -1):
        if place < 0:
            return ""
        if (kind := _class(text[place])) not in ("mark", "cover"):
            return text[place] if kind == "shown" else ""
    return ""


def _symbol(char: str) -> bool:
    return unicodedata.category(char) == "So" or char in "‼⁉↔↕©®" or _within(char, _NEWER)


def _picture(char: str) -> bool:
    return _symbol(char) or char == "\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff"


def _joins(before: str, after: str) -> bool:
    return (
        _within(before, _JOINING)
        and _within(after, _JOINING)
        and before.isprintable()
        and after.isprintable()
    )


def _within(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(char) <= last for first, last in ranges)
