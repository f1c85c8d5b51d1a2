"""The line of a text in which something stands, and where in it."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from dragoman._library.query import Term
from dragoman._library.tokens import folded, places

WIDTH: Final = 160
"""Characters of a line that are shown."""
_PLACES: Final = 50
"""Places of a term that are looked at."""
_BLANKS: Final = str.maketrans("\n\r\t", "   ")

Span = tuple[int, int]


class Snippet(Struct, frozen=True):
    """A line of a text, or what is around the match if it is long."""

    text: str
    marks: list[Span]
    """Where what was looked for stands in it: first character, and the one behind the last."""


def snippet(text: str, terms: Sequence[Term]) -> Snippet | None:
    """The line in which most of the terms stand; None if one of them is not in the text."""
    found = spans(text, terms)
    if found is None:
        return None
    best = max(
        (span for some in found for span in some), key=lambda span: (_near(text, span, found), -span[0])
    )
    start, end = _line(text, best)
    if end - start > WIDTH:
        start = max(start, min(best[0] - WIDTH // 4, end - WIDTH))
        end = min(end, start + WIDTH)
    while start < best[0] and text[start].isspace():
        start += 1
    before, after = _line(text, best)
    cut = "…" if text[before:start].strip() else ""
    line = cut + text[start:end].translate(_BLANKS).rstrip() + ("…" if text[end:after].strip() else "")
    shift = start - len(cut)
    inside = {(a, b) for some in found for a, b in some if start <= a and b <= end} | {
        (best[0], min(best[1], end))
    }
    return Snippet(line, [(a - shift, b - shift) for a, b in _merged(sorted(inside))])


def narrowed(line: Snippet, width: int) -> Snippet:
    """So many characters of it, among them the first match."""
    if len(line.text) <= width:
        return line
    first, last = line.marks[0] if line.marks else (0, 0)
    start = max(0, min(first - width // 4, len(line.text) - width)) if last > width * 3 // 4 else 0
    end = start + width
    text = line.text[start:end]
    text = "…" + text[1:] if start else text
    text = text[:-1] + "…" if end < len(line.text) else text
    return Snippet(
        text, [(max(a, start) - start, min(b, end) - start) for a, b in line.marks if a < end and b > start]
    )


def stands(text: str, terms: Sequence[Term]) -> bool:
    """Whether all terms stand in a text."""
    plain = folded(text)
    lower = plain.lower()
    return all(next(term.places(plain, lower), None) is not None for term in terms)


def spans(text: str, terms: Sequence[Term]) -> list[list[Span]] | None:
    """Where each term stands in a text; None if one of them does not."""
    plain = folded(text)
    lower = plain.lower()
    found = []
    for term in terms:
        some = list(islice(term.places(plain, lower), _PLACES))
        if not some:
            return None
        found.append(some)
    if plain is text:
        return found
    at = places(text)
    return [[(at[a], max(at[b], at[a] + 1)) for a, b in some] for some in found]


def _near(text: str, span: Span, found: list[list[Span]]) -> int:
    """How many of the terms stand in the same line."""
    start, end = _line(text, span)
    return sum(any(start <= a and b <= end for a, b in some) for some in found) if len(found) > 1 else 0


def _line(text: str, span: Span) -> Span:
    end = text.find("\n", span[1])
    return text.rfind("\n", 0, span[0]) + 1, end if end >= 0 else len(text)


def _merged(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in spans:
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out
