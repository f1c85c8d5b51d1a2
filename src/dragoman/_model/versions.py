"""Versions of agents, against those that were tested."""

import re
from collections.abc import Iterable
from typing import Final, Literal

Standing = Literal["tested", "older", "between", "newer"]
"""Where a version stands: it was tested itself, or it is older than all that were, newer, or between two of them."""

IN_WORDS: Final[dict[Standing, str]] = {
    "tested": "tested",
    "older": "older than tested",
    "between": "between tested versions",
    "newer": "newer than tested",
}

_NUMBER: Final = re.compile(r"\d+")


def standing(version: str, tested: Iterable[str]) -> Standing | None:
    """Where a version stands among those that were tested; None if none was, or if it has no number."""
    known, version = list(tested), version.partition(" ")[0]  # `0.36.0 (commit 7c61e5bb)`, auggie
    if version in known:
        return "tested"
    if not known or _NUMBER.search(version) is None:
        return None
    place, places = _place(version), [_place(other) for other in known]
    return "older" if place < min(places) else "newer" if place > max(places) else "between"


def _place(version: str) -> tuple[list[int], bool, list[int]]:
    """What a version is ordered by. One with a word behind it (`0.62.0-nightly.3`) comes before the one without; what
    is behind a plus is its build, and of no account."""
    release, _, before = version.partition("+")[0].partition("-")
    numbers = [int(number) for number in _NUMBER.findall(release)]
    while numbers and numbers[-1] == 0:
        numbers.pop()  # 1.0 is 1.0.0
    return numbers, not before, [int(number) for number in _NUMBER.findall(before)]
