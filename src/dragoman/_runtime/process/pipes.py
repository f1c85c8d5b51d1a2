"""Pipes without any layer between: readiness from the event loop, then one system call.

So no reader has a line limit, nothing is buffered twice, and a grandchild that keeps a pipe open holds up nobody.
"""

import fcntl
import os
import sys
import termios
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import IO, Final, Literal

import anyio
from anyio.lowlevel import checkpoint

PIPE_SIZE: Final = 1 << 20
"""What a pipe may hold, where the system lets us say so: claude drops what a slow reader leaves behind."""


LOOK: Final = 0.02
"""Seconds between two looks at a file that grows: nobody tells of that."""


def pipe(ours: ExitStack, theirs: ExitStack, mode: Literal["rb", "wb"]) -> tuple[IO[bytes], int]:
    """A new pipe: our end of it, opened in this mode, and theirs. Each is put on the stack that closes it."""
    reader, writer = os.pipe()
    mine, other = (reader, writer) if mode == "rb" else (writer, reader)
    theirs.callback(os.close, other)
    file = ours.enter_context(open(mine, mode, buffering=0))  # noqa: SIM115 - it lasts as long as `ours`
    os.set_blocking(mine, False)
    with suppress(AttributeError, OSError):
        fcntl.fcntl(mine, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    return file, other


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


async def follow(file: IO[bytes], take: Callable[[bytes], None], over: anyio.Event) -> None:
    """Read a file as it grows, until nobody writes to it any more."""
    offset = 0
    while True:
        last = over.is_set()
        while chunk := os.pread(file.fileno(), PIPE_SIZE, offset):
            offset += len(chunk)
            take(chunk)
            await checkpoint()
        if last:
            return
        with anyio.move_on_after(LOOK):
            await over.wait()


def drain(pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
    """Take what is there now, and no more: one that never stops writing must not hold us up."""
    left = int.from_bytes(fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)
    while left > 0 and (chunk := _read(pipe.fileno())):
        left -= len(chunk)
        take(chunk)


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
