"""The book of a dialect: what is known to be sent and named by no type, in all captures of tested versions.

`known/<dialect>.txt` has a line for each message and, below it, one for each field with the kinds of JSON that were
seen there. `make golden` writes it from the captures.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from dragoman._drift.survey import REFUSED, UNKNOWN, Sight, Spot, Survey

FOLDER: Final = Path(__file__).parent / "known"

What = Literal["message", "field", "type", "request"]
"""A message of an unknown type; a field that no type names; one of another type than before; a request that could not
be answered."""

Book = dict[str, dict[str, set[str]]]
"""Kinds of JSON by message and path."""


class Finding(Struct, omit_defaults=True, frozen=True):
    """What is new: not named by a type, and in no book."""

    what: What
    message: str
    field: str = ""
    kind: str = ""
    expected: tuple[str, ...] = ()
    count: int = 0
    frame: int = 0
    """Where it was seen first."""
    source: str = ""
    """In which file that is, where several were read."""


@cache
def known(dialect: str) -> Book:
    """The book of a dialect; empty, where there is none."""
    path = FOLDER / f"{dialect}.txt"
    return read(path.read_text("utf-8")) if path.exists() else {}


def news(survey: Survey, book: Book) -> list[Finding]:
    """What a survey has that the book does not, each once: not what is inside of a field that is new itself."""
    found: list[Finding] = []
    for spot, sight in survey.sights.items():
        finding = _finding(spot, sight, book.get(spot.name, {}))
        if finding is not None and not _is_inside(finding, found):
            found.append(finding)
    return found


def _finding(spot: Spot, sight: Sight, paths: dict[str, set[str]]) -> Finding | None:
    kinds = paths.get(spot.path)
    if spot.path in (UNKNOWN, REFUSED):
        what: What = "message" if spot.path == UNKNOWN else "request"
        return None if kinds is not None else Finding(what, spot.name, count=sight.count, frame=sight.frame)
    if kinds is not None and (spot.kind in kinds or (not sight.expected and _is_open(spot.kind, kinds))):
        return None
    expected = sight.expected or tuple(sorted((kinds or set()) - {"null"}))
    return Finding(
        "type" if expected else "field", spot.name, spot.path, spot.kind, expected, sight.count, sight.frame
    )


def _is_open(kind: str, kinds: set[str]) -> bool:
    """Whether nothing can be said against a kind: null is no value, and nobody knows what it stands for."""
    return kind == "null" or kinds == {"null"}


def _is_inside(finding: Finding, found: list[Finding]) -> bool:
    """Whether a field was told already, or is in one that is new as a whole."""
    fields = [other for other in found if other.field and other.message == finding.message]
    return any(
        finding.field == other.field
        or (other.what == "field" and finding.field.startswith((f"{other.field}.", f"{other.field}[")))
        for other in fields
    )


# --- its text ------------------------------------------------------------------------------------------------


def gathered(spots: Iterable[Spot]) -> Book:
    book: Book = defaultdict(lambda: defaultdict(set))
    for spot in spots:
        book[spot.name][spot.path].add(spot.kind)
    return book


def write(book: Book, versions: Iterable[str]) -> str:
    """The text of a book, with the versions that it was made of."""
    return "".join(f"{line}\n" for line in (f"# seen in {', '.join(versions)}", *_lines(book)))


def _lines(book: Book) -> Iterator[str]:
    for name, paths in sorted(book.items()):
        yield name
        for path, kinds in sorted(paths.items()):
            yield f"  {path} {'|'.join(sorted(kinds))}".rstrip()


def read(text: str) -> Book:
    """The book of a text."""
    book: Book = {}
    paths: dict[str, set[str]] = {}
    for line in text.splitlines():
        if line.startswith("  "):
            path, _, kinds = line[2:].rpartition(" ") if line[2] != "(" else (line[2:], "", "")
            paths[path] = set(kinds.split("|"))
        elif not line.startswith("#"):
            paths = book[line] = {}
    return book
