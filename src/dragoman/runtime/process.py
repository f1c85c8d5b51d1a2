"""A child process: its pipes, its end, and whatever it started itself.

The pipes are read and written without any layer between: readiness from the event loop, then one system call.
So no reader has a line limit, nothing is buffered twice, and a grandchild that keeps a pipe open holds up nobody.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

import anyio
import psutil
from anyio import to_thread

from dragoman.model.errors import SpawnFailed

PIPE_SIZE: Final = 1 << 20
"""What a pipe may hold, where the system lets us say so: claude drops what a slow reader leaves behind."""
SWEEP_GRACE: Final = 1.0
SWEEP_LOOK: Final = 0.02


def spawn(argv: list[str], *, agent: str, cwd: str | None, env: dict[str, str]) -> "Child":
    """Start a program in a session of its own, with pipes and exactly this environment."""
    try:
        popen = subprocess.Popen(
            argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise SpawnFailed(_why(argv[0], agent, cwd, error), agent=agent) from error
    return Child(popen)


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


class Child:
    """A started program."""

    def __init__(self, popen: "subprocess.Popen[bytes]") -> None:
        self._popen = popen
        self._descendants: set[psutil.Process] = set()
        self.exited = anyio.Event()
        self.stdin = Stdin(_pipe(popen.stdin))
        self.stdout = _pipe(popen.stdout)
        self.stderr = _pipe(popen.stderr)

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

    def close(self) -> None:
        self.stdin.close()
        self.stdout.close()
        self.stderr.close()

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


# --- pipes -------------------------------------------------------------------------------------------------


def _pipe(file: IO[bytes] | None) -> IO[bytes]:
    assert file is not None
    os.set_blocking(file.fileno(), False)
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(file.fileno(), fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    return file


async def pump(pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
    """Read to the end, as fast as it comes. If cancelled, take what is there already: the agent is gone and
    an outsider holds the pipe, but what the agent wrote before is in it."""
    fd = pipe.fileno()
    try:
        while True:
            await anyio.wait_readable(fd)
            chunk = _read(fd)
            if chunk:
                take(chunk)
            elif chunk is not None:
                return
    except anyio.get_cancelled_exc_class():
        if chunk := _read(fd):
            take(chunk)
        raise


def _read(fd: int) -> bytes | None:
    """Some bytes; none at the end; None if there is nothing to read now."""
    try:
        return os.read(fd, PIPE_SIZE)
    except BlockingIOError:
        return None


class Stdin:
    """Lines on their way to the agent. Putting one never waits; `run` writes them."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._lines: list[bytes] = []
        self._ending = False
        self._news = anyio.Event()

    def put(self, line: bytes) -> None:
        self._lines += (line, b"\n")
        self._news.set()

    def end(self) -> None:
        """Close it, once all that was put is written."""
        self._ending = True
        self._news.set()

    async def run(self) -> None:
        """A reader that is gone is no error here: how the run ended tells."""
        with suppress(BrokenPipeError, ConnectionResetError):
            while True:
                await self._news.wait()
                self._news = anyio.Event()
                lines, self._lines = self._lines, []
                await self._write(b"".join(lines))
                if self._ending and not self._lines:
                    break
        self.close()

    async def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            await anyio.wait_writable(self._pipe.fileno())
            with suppress(BlockingIOError):
                rest = rest[os.write(self._pipe.fileno(), rest) :]

    def close(self) -> None:
        with suppress(OSError):
            self._pipe.close()
