"""Child processes: how they start, how they end, and whatever they started themselves."""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, Final, cast

import anyio
from anyio import to_thread

from dragoman._model.errors import SpawnFailed
from dragoman._runtime.process.descendants import LOOK, MARK, Descendants
from dragoman._runtime.process.pipes import Stdin, ready
from dragoman._runtime.process.watchdog import Watchdog

SWEEP_GRACE: Final = 1.0
TRACKING: Final = 2.0
"""Seconds between two looks at what a program has started."""


def spawn(
    argv: list[str], *, agent: str, cwd: str | None, env: dict[str, str], spool: bool = False
) -> "Child":
    """Start a program in a session of its own, with pipes (or a file for its stdout) and exactly this
    environment."""
    file = cast("IO[bytes]", TemporaryFile()) if spool else None  # noqa: SIM115 - Child.close closes it
    watchdog = Watchdog(env.get(MARK, ""))
    try:
        popen = subprocess.Popen(
            argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if file is None else file,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        watchdog.dismiss()
        if file is not None:
            file.close()
        raise SpawnFailed(_why(argv[0], agent, cwd, error), agent=agent) from error
    return Child(popen, watchdog, mark=env.get(MARK, ""), spool=file)


def _why(program: str, agent: str, cwd: str | None, error: OSError | ValueError) -> str:
    if cwd is not None and not os.path.isdir(cwd):
        return f"{agent} did not start: there is no directory {cwd}; create it or give another cwd"
    if cwd is not None and not os.access(cwd, os.X_OK):
        return f"{agent} did not start: the directory {cwd} may not be entered; give another cwd"
    if isinstance(error, FileNotFoundError) and os.path.exists(program):
        return f"{agent} did not start: the interpreter that {program} names does not exist; install it"
    if isinstance(error, FileNotFoundError):
        return f"{agent} did not start: there is no program {program}; install it or give another executable"
    if isinstance(error, PermissionError):
        return f"{agent} did not start: {program} may not be executed; chmod +x it or give another executable"
    why = getattr(error, "strerror", None) or str(error)
    return f"{agent} did not start: {program} cannot be run ({why}); give another executable"


class Process:
    """A started program."""

    def __init__(self, popen: "subprocess.Popen[bytes]", mark: str = "") -> None:
        self._popen = popen
        self.descendants = Descendants(popen.pid, mark)
        """Whom it has started: once it is gone they are nobody's children."""
        self.exited = anyio.Event()

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def code(self) -> int | None:
        """What it exited with; None if a signal ended it, or nobody knows."""
        code = self._popen.returncode
        return code if code is not None and code >= 0 else None

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it."""
        code = self._popen.returncode
        if code is None or code >= 0:
            return None
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"

    async def reap(self) -> None:
        """Wait for its end in a thread: the one way that works on every loop, in every thread."""
        one = anyio.CapacityLimiter(1)
        await to_thread.run_sync(self._popen.wait, abandon_on_cancel=True, limiter=one)
        self.exited.set()

    def give_up(self) -> None:
        """It cannot be killed (it hangs in the kernel): go on without it."""
        self.exited.set()

    def send_signal(self, name: str) -> None:
        with suppress(ProcessLookupError):
            self._popen.send_signal(signal.Signals[name])

    # --- what it started ---------------------------------------------------------------------------------

    async def track(self) -> None:
        """Take note of whom it has started, in a thread: a look costs as much as there are processes."""
        self.descendants.known = await to_thread.run_sync(self.descendants.seen)

    async def sweep(self) -> None:
        """End all that it started and that is still there: first they are asked, then they are made to."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with anyio.move_on_after(SWEEP_GRACE):
                while self.descendants.press(number):  # noqa: ASYNC110 - nobody tells us of their end
                    await anyio.sleep(LOOK)

    async def end(self) -> None:
        """End it, with all it started: first it is asked, then it is made to."""
        self.descendants.look()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.reap)
            self.send_signal("SIGTERM")
            with anyio.move_on_after(SWEEP_GRACE):
                await self.exited.wait()
            self.descendants.look()
            self.send_signal("SIGKILL")
            with anyio.move_on_after(SWEEP_GRACE):
                await self.exited.wait()
            tasks.cancel_scope.cancel()
        await self.sweep()

    def kill(self) -> None:
        """At once, with all it started: for when there is no time left to be gentle."""
        self.descendants.look()
        self.send_signal("SIGKILL")
        self.descendants.press(signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout=1.0)


class Child(Process):
    """An agent: a program with which lines are exchanged."""

    def __init__(
        self,
        popen: "subprocess.Popen[bytes]",
        watchdog: Watchdog,
        *,
        mark: str = "",
        spool: IO[bytes] | None = None,
    ) -> None:
        super().__init__(popen, mark)
        self._watchdog = watchdog
        watchdog.tell(self.descendants)
        self.stdin = Stdin(ready(popen.stdin))
        self.stdout = ready(popen.stdout) if spool is None else spool
        self.stderr = ready(popen.stderr)

    async def keep_track(self, at_work: Callable[[], bool]) -> None:
        """While it works, know what would be left behind if it crashed, or if we were killed."""
        while not self.exited.is_set():
            await anyio.sleep(TRACKING)
            if at_work():
                await self.track()
                self._watchdog.tell(self.descendants)

    def close(self) -> None:
        self.stdin.close()
        self.stdout.close()
        self.stderr.close()
        self._watchdog.dismiss()
