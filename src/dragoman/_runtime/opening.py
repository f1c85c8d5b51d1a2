"""An agent that does not answer when it is started: it is told of, and not waited for without end."""

from collections.abc import Sequence
from typing import Final

import anyio

from dragoman._model.events import AnyEvent
from dragoman._runtime.log import log
from dragoman._runtime.process.timeouts import Stop
from dragoman._runtime.run import Run
from dragoman._runtime.streams import EventStream

PATIENCE: Final = 5.0
"""Seconds before it is told that an agent does not answer."""
LIMIT: Final = 60.0
FETCHING: Final = 300.0
"""Seconds for an answer; where the agent may have to be fetched first, longer."""


class OpeningWatch(EventStream):
    """Listens to a run until the agent has answered what it was told first, or has refused it."""

    def __init__(self, run: Run, limit: float | None) -> None:
        super().__init__()
        self._run = run
        self._limit = limit or (LIMIT if run.plan.fetched_by is None else FETCHING)
        self._answered = anyio.Event()

    def put(self, batch: Sequence[AnyEvent]) -> None:
        if self._run.machine.ready or self._run.ledger.refusal is not None:
            self.end()

    def end(self) -> None:
        super().end()
        self._answered.set()

    async def watch(self, stop: Stop) -> None:
        """Stop the run if no answer comes in time."""
        plan, waiting = self._run.plan, "does not answer"
        if plan.fetched_by is not None:
            waiting += f"; {plan.fetched_by} may still be fetching it"
        with anyio.move_on_after(min(PATIENCE, self._limit)):
            await self._answered.wait()
            return
        log.warning("%s %s; it is given up after %g s", plan.agent, waiting, self._limit)
        with anyio.move_on_after(self._limit - PATIENCE):
            await self._answered.wait()
            return
        await stop("timeout", f"{plan.agent} did not answer within {self._limit:g} s of its start")
