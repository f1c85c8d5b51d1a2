"""A session that the server drives itself."""

from collections.abc import Awaitable, Callable
from logging import ERROR, WARNING

import anyio
from anyio.abc import TaskStatus

from dragoman import api
from dragoman._model.config import SessionConfig
from dragoman._model.errors import DragomanError
from dragoman._runtime.desk import carry_out, left_to_others
from dragoman._runtime.desk_lines import Asked
from dragoman._runtime.log import log
from dragoman._runtime.session import Session
from dragoman._server.live import LiveRun


class Hosted:
    """The owner of a run of this process. Whatever is asked waits until somebody answers."""

    def __init__(self, run: LiveRun, config: SessionConfig) -> None:
        self._over = anyio.Event()
        self._run = run
        self._session: Session = api.open(config, approve=left_to_others, answer=left_to_others)

    async def drive(
        self,
        began: Callable[[LiveRun], object],
        ended: Callable[[LiveRun], Awaitable[object]],
        *,
        task_status: TaskStatus[None],
    ) -> None:
        """From the agent's start to its end. Raises DragomanError if it does not start; after that nothing."""
        run, started = self._run, False
        try:
            async with self._session as session:
                run.ledger, run.capabilities, run.owner = session._run.ledger, session.capabilities, self
                run.approve = session._connection._requests.policy.mode
                session._connection._requests.on_asides = self._look_aside
                began(run)
                started = True
                task_status.started()
                stream = session.events()
                while batch := await stream.batch():
                    run.take(batch)
        except Exception as error:
            if not started:
                raise
            log.log(WARNING if isinstance(error, DragomanError) else ERROR, "run %s: %s", run.id, error)
        finally:
            self._over.set()
            run.owner = None
        await ended(run)

    async def close(self) -> None:
        """End it. Comes back when all that it said is told."""
        await self._session.stop("cancelled" if self._session.busy else "closed")
        await self._over.wait()

    async def send(self, command: Asked, who: str) -> None:
        await carry_out(self._session, command, who)
        self._run.approve = self._session._connection._requests.policy.mode
        self._run.touch()

    def _look_aside(self) -> None:
        """What the host is about to do is asked, though no line of the agent's asks for it."""
        asides = self._session._connection._requests.asides
        self._run.aside = {id: aside.event for id, aside in asides.items()}
        self._run.touch()
