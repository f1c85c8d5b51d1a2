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

from dragoman._runtime.loops import is_asyncio

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

    def read() -> bool:
        """Take some; whether there may be more."""
        chunk = _read(fd)
        if chunk:
            take(chunk)
        return chunk != b""

    try:
        await (_called_by_asyncio if is_asyncio() else _whenever_readable)(fd, read)
    except anyio.get_cancelled_exc_class():
        read()
        raise


async def _whenever_readable(fd: int, read: Callable[[], bool]) -> None:
    while True:
        await anyio.wait_readable(fd)
        if not read():
            return


async def _called_by_asyncio(fd: int, read: Callable[[], bool]) -> None:
    """The loop is told of the pipe once, and calls `read` itself: to wait anew for each read costs as much as to read and
    understand ten lines, and a turn of the loop before the first of them is understood."""
    import asyncio  # not at the top: on trio nobody needs it

    with suppress(ImportError):
        from sniffio import current_async_library_cvar

        # What a loop calls is in no task, by which anyio knows asyncio; the context is this task's, and nobody else's.
        current_async_library_cvar.set("asyncio")
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def called() -> None:
        if over.done():  # it was cancelled in this very turn
            return
        try:
            if read():
                return
        except BaseException as error:
            over.set_exception(error)
        else:
            over.set_result(None)
        loop.remove_reader(fd)

    loop.add_reader(fd, called)
    try:
        await over
    finally:
        loop.remove_reader(fd)


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
    """Lines on their way to the agent. Putting one never waits: it is written at once where the pipe has room, which
    halves the time of an answer; else `run` writes it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._rest = bytearray()
        """What is not written yet."""
        self._ending = False
        self._news = anyio.Event()

    def put(self, line: bytes) -> None:
        if self._pipe.closed:  # nobody reads it any more
            return
        data = line + b"\n"
        written = self._write(data) if not self._rest else 0
        if written < len(data):
            self._rest += data[written:]
            self._news.set()

    def end(self) -> None:
        """Close it, once all that was put is written."""
        self._ending = True
        self._news.set()

    async def run(self) -> None:
        """Write what `put` could not. A reader that is gone is no error here: how the run ended tells."""
        with suppress(BrokenPipeError, ConnectionResetError):
            while self._rest or not self._ending:
                if self._rest:
                    await anyio.wait_writable(self._pipe.fileno())
                    with suppress(BlockingIOError):
                        del self._rest[: os.write(self._pipe.fileno(), self._rest)]
                else:
                    await self._news.wait()
                    self._news = anyio.Event()
        self.close()

    def _write(self, data: bytes) -> int:
        """How much of it the pipe takes now."""
        try:
            return os.write(self._pipe.fileno(), data)
        except OSError:  # it is full, or nobody reads it: that is for `run` to find
            return 0

    def close(self) -> None:
        with suppress(OSError):
            self._pipe.close()
