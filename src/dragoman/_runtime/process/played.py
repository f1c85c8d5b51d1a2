"""An agent that is played in this process: a function in a thread, at the other end of pipes like any agent's.

So all of the runtime is as with a program: lines, limits, stopping. What can be asked of `Played` is what can be asked of
a program that was started (launcher.Kept)."""

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Final

import anyio

from dragoman._runtime.process.child import Child
from dragoman._runtime.process.pipes import pipe

CHUNK: Final = 1 << 16


class Stopped(Exception):
    """A signal ends the agent that is played."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Stage:
    """The agent's end of the pipes. Every call raises Stopped once a signal has come."""

    def __init__(self, stdin: int, stdout: int, stderr: int, waking: int) -> None:
        self._stdin, self._stdout, self._stderr, self._waking = stdin, stdout, stderr, waking
        self._heard = bytearray()
        self._signal = 0
        for fd in (stdin, stdout, stderr):
            os.set_blocking(fd, False)

    def line(self, seconds: float | None = None) -> bytes | None:
        """The next line of the client's, without its newline; None where there is none any more. Raises TimeoutError where
        none has come after so many seconds."""
        until = None if seconds is None else time.monotonic() + seconds
        while (end := self._heard.find(b"\n")) < 0:
            self._wait([self._stdin], [], until)
            with suppress(BlockingIOError):
                if not (chunk := os.read(self._stdin, CHUNK)):
                    return None
                self._heard += chunk
        line = bytes(self._heard[:end])
        del self._heard[: end + 1]
        return line

    def say(self, line: bytes, eol: bool = True) -> None:
        self._write(self._stdout, line, eol)

    def complain(self, line: bytes, eol: bool = True) -> None:
        """The same on stderr."""
        self._write(self._stderr, line, eol)

    def pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with suppress(TimeoutError):
            while True:
                self._wait([], [], until)

    def wake(self, number: int) -> None:
        """A signal, from another thread."""
        self._signal = number

    def _write(self, fd: int, line: bytes, eol: bool) -> None:
        rest = memoryview(line + b"\n" if eol else line)
        while rest:
            self._wait([], [fd], None)
            with suppress(BlockingIOError):
                rest = rest[os.write(fd, rest) :]

    def _wait(self, readable: list[int], writable: list[int], until: float | None) -> None:
        poll = select.poll()
        poll.register(self._waking, select.POLLIN)
        for fd in readable:
            poll.register(fd, select.POLLIN)
        for fd in writable:
            poll.register(fd, select.POLLOUT)
        ready = dict(poll.poll(None if until is None else max(0.0, until - time.monotonic()) * 1000))
        if self._waking in ready:
            raise Stopped(self._signal)
        if not ready:
            raise TimeoutError


Player = Callable[[Stage], int]
"""Plays an agent; what it exits with: a code, or below zero a signal. What it raises, whoever opened the session hears."""


class Played:
    """A program that is a function."""

    pid = None

    def __init__(self, play: Player, stdin: int, stdout: int, stderr: int) -> None:
        self.status: int | None = None
        self.failure: Exception | None = None
        """What the player raised."""
        waking, self._wake = os.pipe()
        self._over, over = os.pipe()
        self._theirs = (stdin, stdout, stderr, waking, over)
        self._stage = Stage(stdin, stdout, stderr, waking)
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, args=(play,), name="dragoman-played", daemon=True)
        self._thread.start()

    def _run(self, play: Player) -> None:
        status = 1
        try:
            status = play(self._stage)
        except Stopped as stopped:
            status = -stopped.number
        except BrokenPipeError:
            status = -signal.SIGPIPE
        except Exception as error:
            self.failure = error
            with suppress(Exception):
                self._stage.complain(f"{type(error).__name__}: {error}".encode("utf-8", "replace"))
        finally:
            with self._lock:
                self.status = status
                for fd in self._theirs:
                    os.close(fd)

    async def until_exit(self) -> None:
        await anyio.wait_readable(self._over)

    def signal(self, number: int) -> None:
        with self._lock:
            if self.status is None:
                self._stage.wake(number)
                os.write(self._wake, b"!")

    async def end(self, grace: float) -> None:
        self.signal(signal.SIGTERM)
        with anyio.move_on_after(grace):
            await self.until_exit()

    def kill(self, limit: float) -> None:
        self.signal(signal.SIGKILL)
        self._thread.join(limit)

    def close(self) -> None:
        """Let go of it: it ends, if it has not."""
        self.signal(signal.SIGKILL)
        for fd in (self._wake, self._over):
            os.close(fd)


def start(play: Player) -> Child:
    """A child that is played."""
    with ExitStack() as theirs, ExitStack() as ours:
        to_it, stdin = pipe(ours, theirs, "wb")
        from_it, stdout = pipe(ours, theirs, "rb")
        errors, stderr = pipe(ours, theirs, "rb")
        child = Child(Played(play, stdin, stdout, stderr), to_it, from_it, errors)
        theirs.pop_all()
        ours.pop_all()
    return child
