"""Following: a recording that is still being written, as events, as far as it has come.

They are the events of the run itself, and what `convert` makes of the same file. Only damage differs: `convert` refuses a
file that is damaged before whole rows, whoever watches wants to see what comes after.
"""

import os
import stat
from io import FileIO
from typing import Final

from dragoman._dialects import machine_for
from dragoman._files.recording import meaning, read_row
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.lines import LineSplitter
from dragoman._wire.machine import Machine

AT_ONCE: Final = 2 << 20
"""Bytes that are read at a time."""


class Follower:
    """Reads the recording at `path`, which need not be there yet. Nothing here waits or raises."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.launch: Launch | None = None
        """How the run began, once its header is there."""
        self.machine: Machine | None = None
        """What is known of the run, from then on."""
        self.more: bool = False
        """There is more to read at once."""
        self.ended: bool = False
        """All of it was said."""
        self.damaged: int = 0
        """Lines that are no rows, and were passed over."""
        self.wrong: str | None = None
        """Why it cannot be followed, if it cannot."""
        self._file: FileIO | None = None
        self._splitter = LineSplitter()
        self._lines = 0

    def read(self) -> list[Event]:
        """The events of the whole rows that have come since the last call, or of the first of them: see `more`."""
        lines = self._splitter.feed(self._chunk())
        return [event for line in lines for event in self._take(line)]

    def end(self) -> list[Event]:
        """Whoever wrote it is gone and says no more: the events of what is there and, if it does not say how the run ended,
        those of an end of which nobody knows how it came."""
        events = self.read()
        while self.more:
            events += self.read()
        if (rest := self._splitter.close()) is not None and read_row(rest) is not None:
            events += self._take(rest)
        return events + self._over(Exit())

    def close(self) -> None:
        """Let go of the file."""
        self.more = False
        if self._file is not None:
            self._file.close()

    # ---------------------------------------------------------------------------------------------------------

    def _chunk(self) -> bytes:
        try:
            self._file = self._file or _opened(self.path)
            chunk = b"" if self._file.closed else self._file.read(AT_ONCE)
        except FileNotFoundError:
            return b""
        except (OSError, ValueError) as error:
            self.wrong = f"{self.path} cannot be followed: {getattr(error, 'strerror', None) or error}"
            chunk = b""
        self.more = len(chunk or b"") == AT_ONCE
        return chunk or b""

    def _take(self, line: bytes) -> list[Event]:
        """The events that a line means."""
        self._lines += 1
        row = read_row(line)
        if row is None:
            self.damaged += bool(line.strip())
            return []
        try:
            said = meaning(row, line, self._lines, self.path)
            if isinstance(said, Launch):
                return self._begin(said)
        except DragomanError as error:
            self.damaged += 1
            self.wrong = self.wrong or (str(error) if self.machine is None else None)
            return []
        if isinstance(said, Exit):
            return self._over(said)
        return self._receive(said)

    def _begin(self, launch: Launch) -> list[Event]:
        if self.machine is not None:
            return []
        machine = machine_for(launch.dialect, launch.agent)
        self.launch, self.machine = launch, machine
        return list(machine.start(launch).events)

    def _receive(self, frame: Frame) -> list[Event]:
        if self.machine is None or self.ended:
            self.damaged += 1
            return []
        return list(self.machine.receive(frame).events)

    def _over(self, exit: Exit) -> list[Event]:
        if self.machine is None or self.ended:
            return []
        self.ended = True
        return list(self.machine.end(exit).events)


def _opened(path: str) -> FileIO:
    """A recording has an end, so it is a file; a pipe or a device would be waited for."""
    file = FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is no regular file")
    return file
