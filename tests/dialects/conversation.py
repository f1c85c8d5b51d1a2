"""A conversation with a machine, line by line: `agent` is what the agent writes, `say` what we ask of it.

Dialects add what their agents are usually told and answer, and what a line of ours must look like.
"""

import json
from typing import Any, TypeVar

from dragoman._contract.invariants import broken
from dragoman._model.commands import Command
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire import note_frames
from dragoman._wire.machine import Machine, Output, StartOptions, play
from tests.interpreted import of

E = TypeVar("E", bound=Event)


class Conversation:
    def __init__(self, machine: Machine, launch: Launch, options: StartOptions | None = None) -> None:
        self.machine = machine
        self.events: list[Event] = []
        self.sent: list[Any] = []
        self.frames: list[Frame] = []
        self._launch = launch
        self._take(machine.start(launch, options))

    def agent(self, *messages: Any) -> list[Event]:
        """What these lines become; what is answered at once, is sent."""
        before = len(self.events)
        for message in messages:
            self._receive("out", message if isinstance(message, bytes) else json.dumps(message).encode())
        return self.events[before:]

    def say(self, command: Command, note: note_frames.Note | None = None) -> list[Event]:
        before = len(self.events)
        lines = self.machine.send(command)
        if note is not None:
            self.note(note)
        self._send(lines)
        return self.events[before:]

    def note(self, note: note_frames.Note) -> None:
        self._receive("note", note_frames.write(note))

    def end(self, **exit: Any) -> list[Event]:
        """What the end becomes: all that always holds, holds, and the frames alone give the same events."""
        before = len(self.events)
        self.events += self.machine.end(Exit(**exit)).events
        assert broken(self.events, frames=[frame.n for frame in self.frames if frame.dir == "out"]) == []
        again = type(self.machine)(self._launch.agent)
        assert list(play(self.frames, again, self._launch, lambda: Exit(**exit))) == self.events
        return self.events[before:]

    def of(self, kind: type[E]) -> list[E]:
        return of(self.events, kind)

    def check(self, message: Any) -> None:
        """Whether a line of ours is one that the agent can read."""

    def _take(self, output: Output) -> None:
        self.events += output.events
        self._send(output.lines)

    def _send(self, lines: list[bytes]) -> None:
        for line in lines:
            message = json.loads(line)
            self.check(message)
            self.sent.append(message)
            self._receive("in", line)

    def _receive(self, direction: Any, line: bytes) -> None:
        self.frames.append(Frame(len(self.frames) + 1, direction, line))
        self._take(self.machine.receive(self.frames[-1]))
