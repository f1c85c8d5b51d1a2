"""One program at a desk: its orders are taken in, and it is told what there is to tell. Nothing that it says raises, and it is
hung up on if it does not listen."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import anyio
from anyio import TASK_STATUS_IGNORED
from anyio.abc import SocketStream, TaskGroup, TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import MsgspecError

from dragoman._model.commands import Close
from dragoman._runtime.desk_lines import GONE, LONGEST, Failure, Order, Said, read_number, read_order, written

MOST_AT_ONCE: Final = 64
"""Orders that may be carried out at the same time, and lines that may wait to be taken."""
PATIENCE: Final = 10.0
"""Seconds for a line to be taken."""

_NOT_READ: Final = (MsgspecError, UnicodeDecodeError, RecursionError)


class Caller:
    """`carry_out` does what is asked for, and gives what is said of it. Orders are begun in the order in which they come;
    one that takes its time holds up no other."""

    def __init__(self, stream: SocketStream, carry_out: Callable[[Order], Awaitable[Said]]) -> None:
        self._stream = stream
        self._carry_out = carry_out
        self._at_work = 0
        self._to_say, self._waiting = anyio.create_memory_object_stream[bytes](MOST_AT_ONCE)
        self._life = anyio.CancelScope()

    def say(self, said: Said) -> None:
        """Have it told."""
        line = written(said)
        if len(line) > LONGEST:
            line = written(Said(id=said.id, error=Failure("this is too long to be told at the desk")))
        try:
            self._to_say.send_nowait(line)
        except anyio.WouldBlock:
            self._life.cancel()
        except GONE:
            pass

    async def serve(self) -> None:
        """Until it hangs up, or is hung up on."""
        with self._life, self._to_say, self._waiting:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write)
                await self._read(tasks)
                self._to_say.close()  # what was said is still written

    async def _write(self) -> None:
        with suppress(TimeoutError, *GONE):
            async for line in self._waiting:
                with anyio.fail_after(PATIENCE):
                    await self._stream.send(line)
        self._life.cancel()

    async def _read(self, tasks: TaskGroup) -> None:
        lines = BufferedByteReceiveStream(self._stream)
        try:
            while True:
                await self._hear(await lines.receive_until(b"\n", LONGEST), tasks)
        except anyio.DelimiterNotFound:
            self.say(Said(error=Failure(f"a line has more than {LONGEST} bytes; send less")))
        except GONE:
            pass

    async def _hear(self, line: bytes, tasks: TaskGroup) -> None:
        try:
            order = read_order(line)
        except _NOT_READ as error:
            why = f"this is no order ({error}); docs/sessions.md says what is one"
            self.say(Said(id=_number(line), error=Failure(why)))
            return
        if self._at_work >= MOST_AT_ONCE:
            why = f"{MOST_AT_ONCE} orders are not done yet; wait for their answers"
            self.say(Said(id=order.id, error=Failure(why)))
        else:
            await tasks.start(self._do, order)

    async def _do(self, order: Order, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        self._at_work += 1
        task_status.started()
        try:
            if isinstance(order.command, Close):  # the desk is closed then
                self.say(Said(id=order.id, ok=True))
                await self._carry_out(order)
            else:
                self.say(await self._carry_out(order))
        finally:
            self._at_work -= 1


def _number(line: bytes) -> int | None:
    """The number that an order would have."""
    try:
        return read_number(line).id
    except _NOT_READ:
        return None
