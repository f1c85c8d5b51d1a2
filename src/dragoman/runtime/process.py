"""Child processes: how they start, how they end, and whatever they started themselves."""

import os
import signal
import subprocess
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, Final, cast

import anyio
import psutil
from anyio import to_thread

from dragoman.model.errors import SpawnFailed
from dragoman.runtime.pipes import Stdin, ready

SWEEP_GRACE: Final = 1.0
SWEEP_LOOK: Final = 0.02


def spawn(
    argv: list[str], *, agent: str, cwd: str | None, env: dict[str, str], spool: bool = False
) -> "Child":
    """Start a program in a session of its own, with pipes (or a file for its stdout) and exactly this
    environment."""
    file = cast("IO[bytes]", TemporaryFile()) if spool else None
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
        if file is not None:
            file.close()
        raise SpawnFailed(_why(argv[0], agent, cwd, error), agent=agent) from error
    return Child(popen, file)


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

    def __init__(self, popen: "subprocess.Popen[bytes]") -> None:
        self._popen = popen
        self._descendants: set[psutil.Process] = set()
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

    def remember_descendants(self) -> None:
        """Note whom it has started, while it can still be asked: once it is gone they are nobody's children.

        Agents give their tools sessions of their own, which a kill of the process group would miss; orphans in
        the agent's session are no longer in its tree. psutil tells a process from a later one with its pid.
        """
        if self.exited.is_set():
            return
        with suppress(psutil.Error):
            self._descendants.update(psutil.Process(self.pid).children(recursive=True))
        self.remember_session()

    def remember_session(self) -> None:
        """Note who is in the session that it leads, or led until just now: its number is soon another's."""
        for pid in psutil.pids():
            with suppress(psutil.Error, OSError):
                if pid != self.pid and os.getsid(pid) == self.pid:
                    self._descendants.add(psutil.Process(pid))

    async def sweep(self) -> None:
        """End the descendants that were remembered and are still there."""
        for name in ("SIGTERM", "SIGKILL"):
            if not self._signal_descendants(name):
                return
            with anyio.move_on_after(SWEEP_GRACE):
                while any(map(_alive, self._descendants)):  # noqa: ASYNC110 - nobody tells us of their end
                    await anyio.sleep(SWEEP_LOOK)

    def _signal_descendants(self, name: str) -> int:
        left = [process for process in self._descendants if _alive(process)]
        for process in left:
            with suppress(psutil.Error):
                process.send_signal(signal.Signals[name])
        return len(left)

    async def end(self) -> None:
        """End it, with all it started: first it is asked, then it is made to."""
        self.remember_descendants()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.reap)
            self.send_signal("SIGTERM")
            with anyio.move_on_after(SWEEP_GRACE):
                await self.exited.wait()
            self.remember_descendants()
            self.send_signal("SIGKILL")
            with anyio.move_on_after(SWEEP_GRACE):
                await self.exited.wait()
            tasks.cancel_scope.cancel()
        await self.sweep()

    def kill(self) -> None:
        """At once, with all it started: for when there is no time left to be gentle."""
        self.remember_descendants()
        self.send_signal("SIGKILL")
        self._signal_descendants("SIGKILL")
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout=1.0)


def _alive(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


class Child(Process):
    """An agent: a program with which lines are exchanged."""

    def __init__(self, popen: "subprocess.Popen[bytes]", spool: IO[bytes] | None = None) -> None:
        super().__init__(popen)
        self.stdin = Stdin(ready(popen.stdin))
        self.stdout = ready(popen.stdout) if spool is None else spool
        self.stderr = ready(popen.stderr)

    def close(self) -> None:
        self.stdin.close()
        self.stdout.close()
        self.stderr.close()
