"""The events of a live run, on disk: whoever comes late, or was cut off, reads on from where he was, and none of it is held
in memory for him."""

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dragoman._model.events import Event
from dragoman._wire import event_json
from dragoman._wire.jsontext import Invalid

PIECE: Final = 1_000
"""Events that are read at a time, where all are wanted."""


class EventLog:
    """Events by their number, counted from 1 as `seq` is."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="dragoman-", buffering=0)  # noqa: SIM115
        self._ends = array("Q", [0])
        """Where each event ends, and with it the next one begins."""

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, events: Iterable[Event]) -> None:
        """These come after those that are there. Raises OSError if they cannot be kept; then none of them is."""
        lines = [event_json.encode(event) for event in events]
        at = end = self._ends[-1]
        rest = memoryview(b"".join(lines))
        while rest:
            written = os.pwrite(self._file.fileno(), rest, at)
            rest, at = rest[written:], at + written
        for line in lines:
            end += len(line)
            self._ends.append(end)

    def read(self, first: int, last: int) -> Sequence[Event]:
        """Those from one number to another, both with it, as far as they are there."""
        return list(self._read(max(first, 1), min(last, len(self))))

    def all(self) -> Iterator[Event]:
        """All that are there now."""
        for first in range(1, len(self) + 1, PIECE):
            yield from self.read(first, first + PIECE - 1)

    def _read(self, first: int, last: int) -> Iterator[Event]:
        if first > last:
            return
        start = self._ends[first - 1]
        data = os.pread(self._file.fileno(), self._ends[last] - start, start)
        for number in range(first, last + 1):
            event = event_json.decode(data[self._ends[number - 1] - start : self._ends[number] - start])
            if not isinstance(event, Invalid):
                yield event

    def close(self) -> None:
        self._file.close()
