"""Recorders that keep what they are given."""

from collections.abc import Sequence

from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire import note_frames


class Frames(list[Frame]):
    """Keeps the frames; the disk is full after `room` of them."""

    def __init__(self, room: float = float("inf")) -> None:
        super().__init__()
        self.room = room
        self.launch: Launch | None = None
        self.exit: Exit | None = None
        self.closed = False

    def begin(self, launch: Launch) -> None:
        if not self.room:
            raise OSError("disk full")
        self.launch = launch

    def frames(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            if len(self) == self.room:
                raise OSError("disk full")
            self.append(frame)

    def end(self, exit: Exit) -> None:
        self.exit = exit

    def close(self) -> None:
        self.closed = True

    def notes(self) -> list[note_frames.Note | None]:
        return [note_frames.read(frame.line) for frame in self if frame.dir == "note"]
