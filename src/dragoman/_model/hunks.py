"""The hunks of a unified diff between two lists of lines, in bounded time. Only `patches` imports this, when a diff is
wanted: difflib takes as long to import as all the events."""

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Final

CONTEXT: Final = 3
"""Lines around a change."""

MOST_PAIRS = 4_000_000
"""Of lines, old times new: beyond this the lines that are not common to both ends are one hunk. Finding out which
of them moved could take minutes, and whoever writes the texts would choose how many."""

FIRST_STEPS = 50_000
STEPS_A_LINE = 10
"""Of looking for what both have in common, where lines repeat: so many, and so many more for each line of both. Beyond
them, too, it is one hunk. A step takes 60 to 120 ns, so a diff takes 6 ms and 1.2 µs a line at most; without this bound
20,000 lines of which every other one is the same, against 199 such, took 100 million steps. None of 748 edits of real
files of 300 to 2,000 lines, with up to half of the lines changed, took as many; the most were 63,000 for 3,300 lines."""


def hunks(old: list[str], new: list[str]) -> list[str]:
    """The lines of all hunks, each with its place before it; none if there is no difference."""
    if old == new:
        return []
    if old and new and len(old) * len(new) <= MOST_PAIRS:
        try:
            return list(_matched(old, new))
        except _TooLong:
            pass
    return _one_hunk(old, new)


class _TooLong(Exception):
    """There are too many steps to take."""


class _Matcher(SequenceMatcher[str]):
    """What difflib's own finds, within its steps."""

    b2j: dict[str, list[int]]
    """Where each line is in the new text, as difflib keeps it."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new)
        self._steps = [0, *accumulate(1 + len(self.b2j.get(line, ())) for line in old)]
        """For all lines before each: what is looked at when a match is sought from there on."""
        self._left = FIRST_STEPS + STEPS_A_LINE * (len(old) + len(new))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        self._left -= self._steps[-1 if ahi is None else ahi] - self._steps[alo]
        if self._left < 0:
            raise _TooLong
        return super().find_longest_match(alo, ahi, blo, bhi)


def _matched(old: list[str], new: list[str]) -> Iterator[str]:
    """The hunks as difflib.unified_diff has them."""
    for group in _Matcher(old, new).get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        yield _place(first[1], last[2], first[3], last[4])
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                yield from _marked(" ", old[start:end])
            else:
                yield from _marked("-", old[start:end])
                yield from _marked("+", new[new_start:new_end])


def _one_hunk(old: list[str], new: list[str]) -> list[str]:
    """A hunk that replaces all that lies between the first and the last difference."""
    head, shortest = 0, min(len(old), len(new))
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start, end = max(head - CONTEXT, 0), max(tail - CONTEXT, 0)
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    return [
        _place(start, len(old) - end, start, len(new) - end),
        *_marked(" ", old[start:head]),
        *_marked("-", gone),
        *_marked("+", come),
        *_marked(" ", old[len(old) - tail : len(old) - end]),
    ]


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    return (mark + line for line in lines)


def _place(start: int, end: int, new_start: int, new_end: int) -> str:
    return f"@@ -{_span(start, end)} +{_span(new_start, new_end)} @@\n"


def _span(start: int, end: int) -> str:
    """Lines from `start` up to `end`, as a hunk's header has them: counted from 1, and nothing is after a line."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + 1 if count else start},{count}"
