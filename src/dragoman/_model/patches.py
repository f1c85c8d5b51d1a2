"""Unified diffs, from what agents say about a change: hunks, or the texts before and after."""

from collections.abc import Iterable, Mapping
from typing import Any

NO_NEWLINE = "\\ No newline at end of file"


def from_hunks(path: str, hunks: Any, *, created: bool = False) -> str | None:
    """The unified diff of Claude's `structuredPatch` (oldStart, oldLines, newStart, newLines, lines); None
    if there is no hunk in it."""
    parts = [part for hunk in hunks if (part := _hunk(hunk))] if isinstance(hunks, list) else []
    return "".join((_header(path, created=created), *parts)) if parts else None


def from_texts(path: str, before: str | None, after: str | None) -> str | None:
    """The unified diff between two texts; a missing text is a file that is not there. None if they are equal."""
    if before == after:
        return None
    from dragoman._model.hunks import hunks

    header = _header(path, created=before is None, deleted=after is None)
    lines = hunks(_lines(before), _lines(after))
    return header + "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}\n" for line in lines)


class TextsDiff:
    """The unified diff between two texts, made when it is wanted, and once: most are never read."""

    __slots__ = ("_made", "_texts")

    def __init__(self, path: str, before: str | None, after: str | None) -> None:
        self._texts: tuple[str, str | None, str | None] | None = (path, before, after)
        self._made: str | None = None

    def made(self) -> str | None:
        if self._texts is not None:
            self._made, self._texts = from_texts(*self._texts), None
        return self._made

    def __eq__(self, other: object) -> bool:
        return self.made() == (other.made() if isinstance(other, TextsDiff) else other)

    def __hash__(self) -> int:
        return hash(self.made())

    def __repr__(self) -> str:
        return repr(self.made())


def between(path: str, before: str | None, after: str | None) -> Any:
    """The same as `from_texts`, for the field of an event, which makes it when it is read or encoded."""
    return None if before == after else TextsDiff(path, before, after)


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
