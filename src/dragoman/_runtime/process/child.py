"""Child processes: how they start, how they end, and whatever they started themselves."""

import os
import signal
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO, Final, cast

import anyio

from dragoman._model.errors import SpawnFailed
from dragoman._runtime.process.launcher import Started, start_meanwhile
from dragoman._runtime.process.pipes import Stdin, pipe

SWEEP_GRACE: Final = 1.0
"""Seconds in which those who are asked to end may do so, before they are made to."""
KILL_LIMIT: Final = 2.0
"""Seconds that a kill is waited for where nothing else can go on meanwhile."""


async def spawn(
    argv: list[str], *, agent: str, cwd: str | None, env: dict[str, str], spool: bool = False
) -> "Child":
    """Start a program in a session of its own, with pipes (or a file for its stdout) and exactly this
    environment. If cancelled, whatever was started ends."""
    with ExitStack() as theirs, ExitStack() as ours:
        try:
            to_it, stdin = pipe(ours, theirs, "wb")
            if spool:
                from_it = ours.enter_context(cast("IO[bytes]", TemporaryFile()))  # noqa: SIM115 - Child.close
                stdout = from_it.fileno()
            else:
                from_it, stdout = pipe(ours, theirs, "rb")
            errors, stderr = pipe(ours, theirs, "rb")
            program = await start_meanwhile(argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr)
        except (OSError, ValueError) as error:
            raise SpawnFailed(_why(argv[0], agent, cwd, error), agent=agent) from error
        ours.pop_all()
    return Child(program, to_it, from_it, errors)


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

    def __init__(self, program: Started) -> None:
        self._program = program
        self.exited = anyio.Event()

    @property
    def pid(self) -> int | None:
        """None for one that is played in this process."""
        return self._program.pid

    @property
    def failure(self) -> Exception | None:
        """What whoever opened the session is to hear, where the agent was played: that it could not go on."""
        return getattr(self._program, "failure", None)

    @property
    def code(self) -> int | None:
        """What it exited with; None if a signal ended it, or nobody knows."""
        status = self._program.status
        return status if status is not None and status >= 0 else None

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it."""
        status = self._program.status
        if status is None or status >= 0:
            return None
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"

    async def reap(self) -> None:
        """Wait for its end."""
        await self._program.until_exit()
        self.exited.set()

    def give_up(self) -> None:
        """It cannot be killed (it hangs in the kernel): go on without it."""
        self.exited.set()

    def send_signal(self, name: str) -> None:
        self._program.signal(signal.Signals[name])

    async def end(self) -> None:
        """End it with all it started, or what it left behind: first they are asked, then they are made to."""
        await self._program.end(SWEEP_GRACE)

    def kill(self) -> None:
        """At once, with all it started: for when there is no time left to be gentle."""
        self._program.kill(KILL_LIMIT)

    def close(self) -> None:
        """Let go of it: what it left behind and nobody has ended may stay."""
        self._program.close()


class Child(Process):
    """An agent: a program with which lines are exchanged."""

    def __init__(self, program: Started, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> None:
        super().__init__(program)
        self.stdin = Stdin(stdin)
        self.stdout = stdout
        self.stderr = stderr

    def close(self) -> None:
        self.stdin.close()
        self.stdout.close()
        self.stderr.close()
        super().close()
