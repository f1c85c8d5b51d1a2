"""Stops a run that has spent enough."""

from collections.abc import Awaitable, Callable, Sequence

import anyio

from dragoman._model.events import AnyEvent
from dragoman._model.frames import StopReason
from dragoman._policy.limits import Limits, Spent
from dragoman._runtime.streams import EventStream
from dragoman._settings import own_prices


class LimitWatch(EventStream):
    """Listens to a run and stops it when it has spent enough."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self.reached: str | None = None
        """The limit that was, in words."""
        prices = own_prices.load().prices if limits.max_cost_usd is not None else None
        self._spent = Spent(limits, prices)
        self._full = anyio.Event()

    def put(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            reached = self._spent.feed(event)
            if reached is not None and self.reached is None:
                self.reached = reached
                self._full.set()

    async def watch(self, stop: Callable[[StopReason, str], Awaitable[None]]) -> None:
        await self._full.wait()
        await stop("limited", self.reached or "")
