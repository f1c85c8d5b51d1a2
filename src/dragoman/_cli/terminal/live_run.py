"""A run as the command line drives it: shown or printed, asked at the keyboard, stopped by a signal."""

import errno
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from logging import DEBUG
from typing import Final

import anyio

from dragoman._cli.terminal import telling
from dragoman._cli.terminal.exit_status import status_of
from dragoman._model.capabilities import Capability
from dragoman._model.commands import Answer
from dragoman._model.config import SessionConfig
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event
from dragoman._model.result import Verdict
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.log import logger
from dragoman._runtime.requests import AnswerHandler, ApproveHandler
from dragoman._wire.event_json import encode
from dragoman._wire.redaction import Redactor
from dragoman.api import open as open_session

_EVENTS: Final = logger("dragoman.events")

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE: Final = 10.0
"""Seconds that an agent has to end its turn after Ctrl-C. Then it is stopped, so that one Ctrl-C is enough."""
KILL_AFTER: Final = 1.0
"""Seconds between that, or a second signal, and the end of an agent that does not listen."""

NO_TERMINAL = "Denied: there is no terminal to ask at. Run dragoman at a terminal, or with --approve edits or --approve all."


async def nobody(request: PermissionRequest) -> Answer:
    """The answer where no one can be asked."""
    return Answer(message=NO_TERMINAL, by="policy", rule="no terminal")


class LiveRun:
    """One prompt, from the agent's start to its end. `see` gets every event."""

    def __init__(
        self,
        config: SessionConfig,
        see: Callable[[Event], None],
        *,
        approve: ApproveHandler = nobody,
        answer: AnswerHandler | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._see = see
        self._tell = tell or telling.tell
        self._verdict = Verdict()
        self._signal: signal.Signals | None = None
        """The last one that told us to end."""
        self._screens = [fd for fd in (1, 2) if os.isatty(fd)]
        self._showing = False
        self._unheard: threading.Timer | None = None
        """A signal came while something was being written; until that is done nobody hears it."""
        self._pid: int | None = None
        self._session = open_session(config, approve=approve, answer=answer)
        self._redactor = self._session._run.plan.options.redactor or Redactor()

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the agent can do."""
        return self._session.capabilities

    def run(self) -> int:
        """The exit status."""
        with telling.told(self._tell):
            return anyio.run(self._run)

    async def _run(self) -> int:
        error: Exception | None = None
        async with anyio.create_task_group() as group:
            with anyio.open_signal_receiver(*SIGNALS) as signals:
                for number in SIGNALS:
                    signal.signal(number, self._on_signal)  # beside the receiver, which hears it all the same
                group.start_soon(self._listen_to_signals, signals)
                try:
                    await self._drive()
                except Exception as raised:  # outside the group it is itself again, not one of several
                    error = raised
            group.cancel_scope.cancel()
        if error is not None:
            raise error
        session = self._session
        return status_of(self._verdict, session.agent, session._run.plan.login, self._signal)

    async def _drive(self) -> None:
        async with self._session as session:
            stream = session.until_done()
            async for event in stream:
                self._take(event)
        for event in stream.drain():
            self._take(event)

    def _take(self, event: Event) -> None:
        self._pid = getattr(event, "pid", None) or self._pid
        self._verdict.see(event)
        if _EVENTS.isEnabledFor(DEBUG):
            _EVENTS.debug("%s", self._redactor.text(encode(event).decode()))
        self._showing = True
        try:
            self._see(event)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            self._leave(self._screens)  # it is gone; the signal that says so is on its way
        finally:
            self._showing = False
            if self._unheard is not None:
                self._unheard.cancel()
                self._unheard = None

    # --- signals -----------------------------------------------------------------------------------------

    async def _listen_to_signals(self, signals: AsyncIterator[signal.Signals]) -> None:
        """Ctrl-C interrupts the turn and stops the agent if that comes to nothing; SIGTERM and SIGHUP stop it in good
        order; a second one stops it at once."""
        async with anyio.create_task_group() as group:
            async for number in signals:
                first, self._signal = self._signal is None, number
                if number == signal.SIGHUP:
                    self._leave(self._screens)
                if first and number == signal.SIGINT:
                    self._say(f"interrupting; stops in {GRACE:g} s, Ctrl-C again stops at once")
                    group.start_soon(self._interrupt_then_stop)
                elif first:
                    group.start_soon(self._session.stop, "cancelled")
                else:
                    group.start_soon(self._stop_at_once)

    def _say(self, text: str) -> None:
        with suppress(OSError):  # whatever became of the screen, the agent is stopped
            self._tell(text)

    async def _interrupt_then_stop(self) -> None:
        async with anyio.create_task_group() as group:
            if not await self._interrupt():
                group.start_soon(self._session.stop, "cancelled")
            await anyio.sleep(GRACE)
            if self._session.exit is None:
                self._say("stopping")
            group.start_soon(self._stop_at_once)

    async def _stop_at_once(self) -> None:
        """Stopping in good order takes its time, which a person who asks twice does not want to give."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._session.stop, "cancelled")
            await anyio.sleep(KILL_AFTER)
            if self._session.exit is None and self._pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)

    def _on_signal(self, number: int, frame: object) -> None:
        """Where a reader of our output has stopped reading, a write waits for it and we with it. It does not wait for
        ever after a signal: the second one, or the same again after the grace, ends the output."""
        if not self._showing:
            return
        if self._unheard is not None:
            self._leave([1])
        else:
            self._unheard = threading.Timer(GRACE, os.kill, (os.getpid(), number))
            self._unheard.daemon = True
            self._unheard.start()

    def _leave(self, outputs: Sequence[int]) -> None:
        """Nobody takes what would be shown there: it goes nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for output in outputs:
            os.dup2(nowhere, output)
        os.close(nowhere)

    async def _interrupt(self) -> bool:
        """Whether the agent was told to stop its turn. One that has not answered yet has none."""
        if not self._session._run.machine.ready:
            return False
        try:
            with anyio.move_on_after(KILL_AFTER):
                await self._session.interrupt()
        except DragomanError:
            return False
        return True


def interactive() -> bool:
    """Whether there is someone to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()
