"""Streams of events, to all who listen. Nothing here ever waits for a listener: the agent is read at its own speed, and
who is slow finds everything still there. Events travel in batches, one per read, since that costs least."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Final
from weakref import ref

from anyio.lowlevel import checkpoint
from msgspec import Struct

from dragoman._model.errors import DragomanError
from dragoman._model.events import AnyEvent, RunEnded, TurnEnded, TurnStarted
from dragoman._projections.published import Projector
from dragoman._runtime.loops import Event, event_type

FEW: Final = 16
"""So few events are given out together with those that came after them."""


class EventStream:
    """Events as they come, for `async for`. Leaving the loop early is fine: a forgotten stream is dropped."""

    listens_on: ClassVar[bool] = False
    """It keeps what comes after its own end."""

    def __init__(self) -> None:
        self._batches: deque[Sequence[AnyEvent]] = deque()
        self._current: Iterator[AnyEvent] = iter(())
        self._event: Callable[[], Event] | None = None
        """What makes an event of the loop in which somebody listens."""
        self._wake: Event | None = None
        self._over = False
        self._error: DragomanError | None = None
        self.listens: bool = True
        """It wants to be given more."""

    def __aiter__(self) -> "EventStream":
        return self

    async def __anext__(self) -> AnyEvent:
        for event in self._current:
            return event
        while batch := await self.batch():
            self._current = iter(batch)
            for event in self._current:
                return event
        raise StopAsyncIteration

    async def batch(self) -> Sequence[AnyEvent]:
        """The next events, as many as came together; none when it is over."""
        if self._batches or self._over:
            await checkpoint()  # a listener with a long backlog must not keep the pumps from running
        while (batch := self.at_hand()) is None:
            if self._event is None:
                self._event = event_type()
            if self._wake is None or self._wake.is_set():
                self._wake = self._event()
            await self._wake.wait()
        return batch

    def at_hand(self) -> Sequence[AnyEvent] | None:
        """The next events without waiting; None if there are none yet."""
        over = self._over  # looked at first: another thread may listen, and the last batch comes before it
        if self._batches:
            batch = self._batches.popleft()
            while self._batches and len(batch) < FEW:  # a turn of the loop less
                batch = [*batch, *self._batches.popleft()]
            return batch
        if not over:
            return None
        error, self._error = self._error, None
        if error is not None:
            raise error
        return ()

    def drain(self) -> list[AnyEvent]:
        """All that is there, without waiting."""
        taken = [*self._current, *(event for batch in self._batches for event in batch)]
        self._batches.clear()
        return taken

    async def aclose(self) -> None:
        """Listen no longer; what was not yet taken is dropped."""
        self._batches.clear()
        self._current = iter(())
        self.end()

    # --- the other side ----------------------------------------------------------------------------------

    def put(self, batch: Sequence[AnyEvent]) -> None:
        self._batches.append(batch)
        if self._wake is not None:
            self._wake.set()

    def end(self) -> None:
        self._over = True
        self.listens = self.listens and self.listens_on
        if self._wake is not None:
            self._wake.set()


class TurnStream(EventStream):
    """The events of one turn: the one that took a certain prompt."""

    def __init__(
        self,
        turn: Callable[[], int | None],
        missed: Callable[[], DragomanError],
        failed: Callable[[TurnEnded], DragomanError | None] = lambda ended: None,
    ) -> None:
        super().__init__()
        self._find_turn = turn
        self._missed = missed
        self._failed = failed
        self._turn: int | None = None

    def put(self, batch: Sequence[AnyEvent]) -> None:
        if self._turn is None:
            self._turn = self._find_turn()
            if self._turn is None:
                return
        mine = [event for event in batch if event.turn == self._turn]
        for place, event in enumerate(mine):
            if type(event) is TurnEnded:
                self._error = self._failed(event)
                super().put(mine[: place + 1])
                super().end()
                return
        if mine:
            super().put(mine)

    def end(self) -> None:
        """The run is over; if the turn never began, that is what the listener must hear."""
        if self._turn is None and not self._over:
            self._error = self._missed()
        super().end()

    async def aclose(self) -> None:
        self._over = True
        await super().aclose()


class DoneStream(EventStream):
    """The events of a session until it has nothing more to do: the turn is over, and no other is to come of a message
    that came too late for it, of a prompt that is held, or of a subagent that works on. `drain` gives what came
    after that."""

    listens_on: ClassVar[bool] = True

    def __init__(self, busy: Callable[[], bool]) -> None:
        super().__init__()
        self._busy = busy
        self._rest: list[AnyEvent] = []
        self._done = False

    def put(self, batch: Sequence[AnyEvent]) -> None:
        if self._done:
            self._rest += batch
            return
        super().put(batch)
        self._look()

    def start(self) -> None:
        """All that was said before is in it."""
        self._look()

    def _look(self) -> None:
        if not self._busy():
            self._done = True
            super().end()

    async def aclose(self) -> None:
        self.listens = False
        self._rest = []
        await super().aclose()

    def drain(self) -> list[AnyEvent]:
        taken, self._rest = [*super().drain(), *self._rest], []
        return taken


EARLY: Final = 10_000
"""How many events are kept for those who listen later."""


class Backlog(EventStream):
    """What was said before anyone could listen: the opening, and the first turn if it began by itself."""

    def __init__(self, said: Sequence[AnyEvent] = ()) -> None:
        super().__init__()
        self.kept: list[AnyEvent] = list(said)
        self.whole: bool = False
        """Until somebody listens, keep also what comes after the first turn."""
        self._has_listener = False
        self._had_turn = False

    def on_prompt(self) -> None:
        """The next turn has a listener of its own."""
        self._has_listener = True

    def on_listener(self) -> None:
        """Somebody listens to everything: of the first turn, nothing needs to be kept any more."""
        self._has_listener = True
        if self._had_turn:
            self._drop()

    def put(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            starts = isinstance(event, TurnStarted)
            ends = isinstance(event, TurnEnded) and (self._has_listener or not self.whole)
            if ends or (self._has_listener and starts) or len(self.kept) == EARLY:
                self._drop()
                return
            self._had_turn = self._had_turn or starts
            self.kept.append(event)

    def _drop(self) -> None:
        self.kept = []
        self.end()


class Fanout:
    """All who listen. Only weakly held: `break` leaves a stream behind that nobody can close."""

    def __init__(self) -> None:
        self._streams: list[ref[EventStream]] = []
        self._over = False

    def add(self, stream: EventStream) -> None:
        if self._over:
            stream.end()
        else:
            self._streams.append(ref(stream))

    def listener(self, backlog: "Backlog", stream: EventStream | None = None) -> EventStream:
        """A stream of all events from now on, after those of the backlog."""
        stream = stream or EventStream()
        if backlog.kept:
            stream.put(list(backlog.kept))
        self.add(stream)
        return stream

    def put(self, batch: Sequence[AnyEvent]) -> None:
        listening = []
        for weak in self._streams:
            stream = weak()
            if stream is not None and stream.listens:
                stream.put(batch)
                listening.append(weak)
        self._streams = listening

    def end(self) -> None:
        self._over = True
        for weak in self._streams:
            if (stream := weak()) is not None:
                stream.end()
        self._streams = []


class Branches(EventStream):
    """Passes the events of each session on to those who listen to it, in one walk over a batch however many sessions
    there are. A run's end is said on the run alone."""

    def __init__(self) -> None:
        super().__init__()
        self._of: dict[str | None, Fanout] = {}

    def begin(self, session: str) -> Fanout:
        """Who listens to a session."""
        branch = self._of[session] = Fanout()
        if self._over:
            branch.end()
        return branch

    def leave(self, session: str) -> None:
        """There is nothing more to hear from it."""
        branch = self._of.pop(session, None)
        if branch is not None:
            branch.end()

    def put(self, batch: Sequence[AnyEvent]) -> None:
        if not self._of:
            return
        said: dict[str | None, list[AnyEvent]] = {}
        for event in batch:
            if event.session in said:
                said[event.session].append(event)
            elif event.session in self._of:
                said[event.session] = [event]
        for session, mine in said.items():
            if type(mine[-1]) is RunEnded:
                mine.pop()
            branch = self._of.get(session)
            if mine and branch is not None:
                branch.put(mine)

    def end(self) -> None:
        super().end()
        for branch in self._of.values():
            branch.end()


class ViewStream:
    """What a view says of a stream of events, item by item."""

    def __init__(self, events: EventStream, projector: Projector) -> None:
        self._events = events
        self._projector = projector
        self._items: deque[Struct] = deque()
        self._over = False

    def encode(self, item: Struct) -> bytes:
        """One line of the view, without its newline."""
        return self._projector.encode(item)

    def __aiter__(self) -> "ViewStream":
        return self

    async def __anext__(self) -> Struct:
        item = await self.next()
        if item is None:
            raise StopAsyncIteration
        return item

    async def next(self) -> Struct | None:
        """The next item; None when it is over."""
        while not self._items and not self._over:
            try:
                self._items.extend(self._projector.feed(await anext(self._events)))
            except StopAsyncIteration:
                self._over = True
                self._items.extend(self._projector.end())
        return self._items.popleft() if self._items else None

    async def aclose(self) -> None:
        await self._events.aclose()
