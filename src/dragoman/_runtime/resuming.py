"""A run that is to go on with a session, and answers in another one, is stopped: it would work for nobody."""

from collections.abc import Awaitable, Callable, Sequence

import anyio

from dragoman._model.events import AnyEvent, Error
from dragoman._model.frames import StopReason
from dragoman._runtime.streams import EventStream


class ResumeWatch(EventStream):
    """Listens to a run for the error that its session is not the one that was asked for (`sessionNotFound`)."""

    def __init__(self) -> None:
        super().__init__()
        self._why = ""
        self._astray = anyio.Event()

    def put(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            if type(event) is Error and event.kind == "sessionNotFound" and not self._why:
                self._why = event.message
                self._astray.set()

    async def watch(self, stop: Callable[[StopReason, str], Awaitable[None]]) -> None:
        await self._astray.wait()
        await stop("cancelled", self._why)
