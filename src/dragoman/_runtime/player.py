"""The player: recorded frames through a fresh machine give the events of the live run, at once or in their time."""

from collections.abc import Iterable, Iterator

import anyio
from anyio.lowlevel import checkpoint

from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.machine import Machine


def play(
    frames: Iterable[Frame], machine: Machine, launch: Launch, exit: Exit | None = None
) -> Iterator[Event]:
    """All events, at once. What the machine would answer is dropped: the answers are frames already."""
    yield from machine.start(launch).events
    for frame in frames:
        yield from machine.receive(frame).events
    yield from machine.end(exit or Exit()).events


class Replay:
    """The same events for `async for`, each when it came; `speed` 2 is twice as fast as life."""

    def __init__(
        self,
        frames: Iterable[Frame],
        machine: Machine,
        launch: Launch,
        exit: Exit | None = None,
        *,
        speed: float = 1.0,
    ) -> None:
        self._events = play(frames, machine, launch, exit)
        self._speed = speed
        self._started: float | None = None

    def __aiter__(self) -> "Replay":
        return self

    async def __anext__(self) -> Event:
        event = next(self._events, None)
        if event is None:
            raise StopAsyncIteration
        now = anyio.current_time()
        if self._started is None:
            self._started = now
        due = self._started + (event.at or 0.0) / self._speed
        if due > now:
            await anyio.sleep(due - now)
        else:
            await checkpoint()
        return event
