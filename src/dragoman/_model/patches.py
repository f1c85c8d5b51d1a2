"""Unified diffs, from what agents say about a change: hunks, or the texts before and after."""

from collections.abc import Iterable, Mapping
from typing import Any

CONTEXT = 3
"""Lines around a change."""

MOST_PAIRS = 4_000_000
"""Of lines, old times new: beyond this the lines that are not common to both ends are one hunk. Finding out which
of them moved could take minutes, and whoever writes the texts would choose how many."""

NO_NEWLINE = "\\ No newline at end of file"


def from_hunks(path: str, hunks: Any, *, created: bool = False) -> str | None:
    """The unified diff of Claude's `structuredPatch` (oldStart, oldLines, newStart, newLines, lines); None
    if there is no hunk in it."""
    parts = [part for hunk in hunks if (part := _hunk(hunk))] if isinstance(hunks, list) else []
    return "".join((_header(path, created=created), *parts)) if parts else None


def from_texts(path: str, before: str | None, after: str | None) -> str | None:
    """The unified diff between two texts; a missing text is a file that is not there. None if they are equal."""
    from difflib import unified_diff  # takes as long to import as all the events

    if before == after:
        return None
    old, new = _lines(before), _lines(after)
    if len(old) * len(new) > MOST_PAIRS:
        lines = _one_hunk(old, new)
    else:
        lines = list(unified_diff(old, new, n=CONTEXT))[2:]
    header = _header(path, created=before is None, deleted=after is None)
    return header + "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}\n" for line in lines)


class TextsDiff:
    """The unified diff between two texts, made when it is wanted: most are never read."""

    __slots__ = ("_after", "_before", "_path")

    def __init__(self, path: str, before: str | None, after: str | None) -> None:
        self._path, self._before, self._after = path, before, after

    def made(self) -> str | None:
        return from_texts(self._path, self._before, self._after)

    def __eq__(self, other: object) -> bool:
        return self.made() == (other.made() if isinstance(other, TextsDiff) else other)

    def __hash__(self) -> int:
        return hash(self.made())

    def __repr__(self) -> str:
        return repr(self.made())


def between(path: str, before: str | None, after: str | None) -> Any:
    """The same as `from_texts`, for the field of an event, which makes it when it is read or encoded."""
    return None if before == after else TextsDiff(path, before, after)


def _one_hunk(old: list[str], new: list[str]) -> list[str]:
    """The lines of a hunk that replaces all that lies between the first and the last difference."""
    head, shortest = 0, min(len(old), len(new))
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start, end = max(head - CONTEXT, 0), max(tail - CONTEXT, 0)
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    before, after = old[start:head], old[len(old) - tail : len(old) - end]
    around = len(before) + len(after)
    place = f"@@ -{start + 1},{len(gone) + around} +{start + 1},{len(come) + around} @@\n"
    kept = ([f" {line}" for line in lines] for lines in (before, after))
    first, last = kept
    return [place, *first, *(f"-{line}" for line in gone), *(f"+{line}" for line in come), *last]


def _header(path: str, *, created: bool = False, deleted: bool = False) -> str:
    old = "/dev/null" if created else f"a/{path.lstrip('/')}"
    new = "/dev/null" if deleted else f"b/{path.lstrip('/')}"
    return f"--- {old}\n+++ {new}\n"


def _hunk(hunk: Any) -> str:
    if not isinstance(hunk, Mapping) or not isinstance(lines := hunk.get("lines"), list):
        return ""
    body = [line for line in lines if isinstance(line, str)]
    old = _span(hunk.get("oldStart"), hunk.get("oldLines"), body, "+")
    new = _span(hunk.get("newStart"), hunk.get("newLines"), body, "-")
    return "\n".join((f"@@ -{old} +{new} @@", *body, "")) if body else ""


def _span(start: Any, count: Any, body: Iterable[str], other: str) -> str:
    """`start,count` as a hunk's header has it; counted where the agent did not."""
    if type(count) is not int:
        count = sum(not line.startswith((other, "\\")) for line in body)
    if type(start) is not int:
        start = 1 if count else 0
    return f"{start}" if count == 1 else f"{start},{count}"


def _lines(text: str | None) -> list[str]:
    """Lines with their newlines. Only `\\n` ends a line here: U+0085 and U+2028 occur inside lines."""
    if not text:
        return []
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
