"""Cost, as counts: the steps that Python takes, the memory that is taken on the way, and what is kept."""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class TooMany(Exception):
    """More steps than were allowed."""


class Steps:
    """Counts the lines of Python that run as long as the block lasts; those of a loop count each time."""

    def __init__(self, limit: int) -> None:
        self.taken = 0
        self._limit = limit

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._count)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.settrace(self._before)

    def _count(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.taken += 1
        if self.taken > self._limit:
            raise TooMany
        return self._count


def steps(work: Callable[[], object], limit: int = sys.maxsize) -> int:
    """How many it takes. Raises TooMany as soon as there are more than `limit`."""
    with Steps(limit) as counted:
        work()
    return counted.taken


def peak(work: Callable[[], object]) -> int:
    """Bytes that are needed at once, beyond those that were there before: a copy of all that was said shows here."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def kept(build: Callable[[], object]) -> int:
    """Bytes that what was built holds."""
    gc.collect()
    tracemalloc.start()
    try:
        built = build()
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
        del built
        return size
    finally:
        tracemalloc.stop()
