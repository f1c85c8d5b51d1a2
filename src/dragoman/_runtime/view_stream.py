"""A running session as other programs want to see it: the items of a published view, as they come."""

from collections import deque

from msgspec import Struct

from dragoman._projections.published import Projector
from dragoman._runtime.streams import EventStream


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
        while not self._items and not self._over:
            try:
                self._items.extend(self._projector.feed(await anext(self._events)))
            except StopAsyncIteration:
                self._over = True
                self._items.extend(self._projector.end())
        if not self._items:
            raise StopAsyncIteration
        return self._items.popleft()

    async def aclose(self) -> None:
        await self._events.aclose()
