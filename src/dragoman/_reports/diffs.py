"""Unified diffs line by line, as they are shown and counted."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from dragoman._model import patches
from dragoman._model.events import FileChanged

DiffRow = tuple[Literal["+", "-", " ", "@"], str]
"""A line of a diff, and what it is: added, removed, the same in both; or @, what is said of the lines below."""

_HUNK: Final = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_NAMES: Final = ("--- ", "+++ ", "diff ", "index ")
"""What stands before the hunks of a file, and is said elsewhere."""


def diff_of(event: FileChanged) -> str:
    """The unified diff of a change; "" where it is not known. Without one of its own it is that of the texts, where both are
    known, or one of them is nothing."""
    if event.diff is not None:
        return event.diff
    before, after = event.before, event.after
    known = (before is not None or event.change == "created") and (
        after is not None or event.change == "deleted"
    )
    return (patches.from_texts(event.path, before, after) or "") if known else ""


def diff_of_edit(input: Mapping[str, Any]) -> str | None:
    """The unified diff that the input of an edit asks for, by its texts before and after (`old_string`, `new_string`,
    `content`); None if it is none."""
    before, after = input.get("old_string"), input.get(text_after(input))
    if not isinstance(after, str) or not isinstance(before, str | None) or before == after:
        return None
    lines = (patches.from_texts("", before, after) or "").split("\n")
    return "\n".join(line for line in lines if line != patches.NO_NEWLINE)  # pieces, not files


def text_after(input: Mapping[str, Any]) -> str:
    """What the text after is called in the input of an edit."""
    return "new_string" if "new_string" in input else "content"


def diff_rows(diff: str) -> list[DiffRow]:
    """The lines of a diff without the names of its files. Never raises: a line that no diff has is one that says something of
    those below."""
    return list(_rows(diff))


def counted(rows: list[DiffRow]) -> tuple[int, int]:
    """How many lines are added and removed."""
    kinds = [kind for kind, _ in rows]
    return kinds.count("+"), kinds.count("-")


def _rows(diff: str) -> Iterator[DiffRow]:
    """By the numbers at the head of a hunk it is known where it ends: `--- a` may be the name of a file, or how the line `-- a`
    looks that is taken out."""
    old = new = 0
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        kind, text = line[:1], line[1:]
        if kind == "@" and (hunk := _HUNK.match(line)) is not None:
            old, new = (int(count) if count is not None else 1 for count in hunk.groups())
            yield "@", line
        elif (old <= 0 and new <= 0) and (line.startswith(_NAMES) or not line):
            continue
        elif kind == "+":
            new -= 1
            yield "+", text
        elif kind == "-":
            old -= 1
            yield "-", text
        elif kind in (" ", ""):
            old, new = old - 1, new - 1
            yield " ", text
        else:
            yield "@", line
