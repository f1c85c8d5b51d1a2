"""The other side of a desk: how another program has the agent of a shared run told something."""

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count
from types import TracebackType
from typing import Any, Final, Self

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import MsgspecError

from dragoman._model.commands import Command
from dragoman._model.errors import DragomanError, TimedOut, UsageError
from dragoman._model.result import error_class
from dragoman._runtime.desk_lines import GONE, LONGEST, Asked, Order, Said, read_said, written
from dragoman._runtime.log import log

PATIENCE: Final = 60.0
"""Seconds for an order to be answered."""
WRITING: Final = 10.0
"""Seconds for it to be taken."""
MOST_NEWS: Final = 1000
"""What may wait to be heard."""

_LEAVES: Final = (*GONE, anyio.WouldBlock, anyio.DelimiterNotFound, MsgspecError, UnicodeDecodeError)
"""Why one goes: nobody is there any more, nobody hears what is told, or what is told makes no sense."""


class _Reply:
    """What is said to an order."""

    def __init__(self) -> None:
        self.came = anyio.Event()
        self.said: Said | None = None
        """None if nobody is there any more."""


class DeskClient:
    """Goes to the desk at `path`, with `async with`; that raises OSError if nobody is there. Iterating gives what is told
    unasked (`asked`, `settled`, `policy`), until the owner hangs up."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._numbers = count(1)
        self._replies: dict[int, _Reply] = {}
        self._over = False
        self._why_over = "the program that drives it has hung up; look whether it still runs"

    async def __aenter__(self) -> Self:
        self._stream = await anyio.connect_unix(self._path)
        self._heard, self._news = anyio.create_memory_object_stream[Said](MOST_NEWS)
        self._writing = anyio.Lock()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._listen)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
        self._news.close()

    def __aiter__(self) -> AsyncIterator[Said]:
        return aiter(self._news)

    async def send(self, command: Command, who: str) -> Any:
        """Have a command carried out in the name of `who`; what the agent says to it. Raises DragomanError: what the owner
        raises, or that it does not answer; UsageError for a command that is none of those of a desk."""
        if not isinstance(command, Asked):
            raise UsageError(
                f"{command.__struct_config__.tag} is not done at a desk; its own program can do it"
            )
        number, reply = next(self._numbers), _Reply()
        self._replies[number] = reply
        try:
            with anyio.move_on_after(PATIENCE) as patience:
                await self._write(written(Order(number, command, who)))
                if not self._over:
                    await reply.came.wait()
        finally:
            self._replies.pop(number, None)
        if patience.cancelled_caught:
            raise TimedOut(
                f"the program that drives it gives no answer in {PATIENCE:g} s; look at its terminal"
            )
        if reply.said is None:
            raise DragomanError(self._why_over)
        if (error := reply.said.error) is not None:
            raise (DragomanError if error.kind == "unknown" else error_class(error.kind))(error.message)
        return reply.said.result

    # ---------------------------------------------------------------------------------------------------------

    async def _write(self, line: bytes) -> None:
        """A line is said to its end, or nothing more is."""
        with anyio.move_on_after(WRITING, shield=True) as patience, suppress(*GONE):
            async with self._writing:
                await self._stream.send(line)
        if patience.cancelled_caught:
            self._tasks.cancel_scope.cancel()

    async def _listen(self) -> None:
        lines = BufferedByteReceiveStream(self._stream)
        try:
            async with self._stream:
                while True:
                    self._hear(read_said(await lines.receive_until(b"\n", LONGEST)))
        except _LEAVES as error:
            log.debug("the desk at %s is left: %s", self._path, error or type(error).__name__)
        finally:
            self._over = True
            self._heard.close()
            for reply in self._replies.values():
                reply.came.set()

    def _hear(self, said: Said) -> None:
        if said.id is None and said.error is not None:
            self._why_over = said.error.message
        elif said.id is None:
            self._heard.send_nowait(said)
        elif (reply := self._replies.get(said.id)) is not None:
            reply.said = said
            reply.came.set()
