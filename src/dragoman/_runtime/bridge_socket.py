"""Where the programs that agents start (see bridge) come back to the process which has the functions that they want.

The socket is in a folder of the run's own that nobody else can enter, and that ends with it.
"""

import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import SocketListener, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from dragoman._runtime import own_files
from dragoman._runtime.log import log
from dragoman._runtime.toolbox import Toolbox
from dragoman._wire import mcp
from dragoman._wire.jsonrpc import Id, Notification, Peer, Request, RpcError
from dragoman._wire.jsontext import Invalid

PROGRAM: Final = str(Path(__file__).with_name("bridge.py"))
LONGEST: Final = 16 * 1024 * 1024
"""Bytes that a line may have."""
MOST_AT_ONCE: Final = 64
"""Programs that may be connected, and calls that one of them may wait for, at the same time."""
_LONGEST_PATH: Final = 100
"""Bytes that the path of a socket may have, on every system."""
_PARSE_ERROR: Final = -32700

_GONE: Final = (
    anyio.IncompleteRead,
    anyio.DelimiterNotFound,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)

AnswerHook = Callable[[Any], Awaitable[bytes]]
"""Gets what the agent tells a hook; gives the line that it is answered."""
Served = Toolbox | AnswerHook


class BridgeSocket:
    """A socket for the bridges of one run. `find` gives what serves a bridge, by the name that it tells; None if nothing
    does."""

    def __init__(self, find: Callable[[str], Served | None]) -> None:
        self._find = find
        self._path = os.path.join(own_files.new_folder(), "socket")
        self.was_named: bool = False
        """Somebody was told how to come here."""
        self._listener: SocketListener | None = None
        self._connected = 0

    def command(self, name: str, failed: int | None = None) -> list[str]:
        """How an agent starts the bridge to what is called `name`; with `failed`, as a hook that exits so if it gets no
        answer."""
        self.was_named = True
        last = [str(failed)] if failed is not None else []
        return [sys.executable, "-I", "-S", PROGRAM, self._path, name, *last]

    @property
    def is_open(self) -> bool:
        return self._listener is not None

    async def open(self) -> None:
        """Raises OSError."""
        if len(os.fsencode(self._path)) > _LONGEST_PATH:
            raise OSError("its path would be too long: set TMPDIR to a shorter one")
        os.mkdir(os.path.dirname(self._path), 0o700)
        try:
            self._listener = await anyio.create_unix_listener(self._path, mode=0o600)
        except BaseException:
            self._remove()
            raise

    async def serve(self) -> None:
        """Until it is cancelled."""
        assert self._listener is not None
        try:
            await self._listener.serve(self._take)
        finally:
            await self.close()

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            if self._listener is not None:
                await self._listener.aclose()
            self._remove()

    def _remove(self) -> None:
        shutil.rmtree(os.path.dirname(self._path), ignore_errors=True)

    async def _take(self, stream: SocketStream) -> None:
        """One bridge, from its first line to its end. Whatever it says, nothing is raised."""
        self._connected += 1
        try:
            async with stream:
                if self._connected <= MOST_AT_ONCE:
                    await self._converse(stream)
        except _GONE:
            pass  # it is gone, or says what nobody reads: then it is hung up on
        except Exception:
            log.exception("a bridge could not be served")
        finally:
            self._connected -= 1

    async def _converse(self, stream: SocketStream) -> None:
        lines = BufferedByteReceiveStream(stream)
        name = await lines.receive_until(b"\n", 200)
        served = self._find(name.decode(errors="replace"))
        if isinstance(served, Toolbox):
            await _Client(stream, served).speak(lines)
        elif served is not None:
            await stream.send(await served(_read(await _all_of(lines))))


def _read(said: bytes) -> Any:
    """What an agent tells a hook, to the letter; None for what cannot be read so."""
    try:
        return msgspec.json.decode(said)
    except (ValueError, RecursionError):
        return None


async def _all_of(stream: BufferedByteReceiveStream) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        while size <= LONGEST:
            parts.append(await stream.receive())
            size += len(parts[-1])
    except anyio.EndOfStream:
        return b"".join(parts)
    raise anyio.DelimiterNotFound(LONGEST)


class _Client:
    """An MCP client behind a bridge, and its calls."""

    def __init__(self, stream: SocketStream, toolbox: Toolbox) -> None:
        self._stream = stream
        self._toolbox = toolbox
        self._server = toolbox.server()
        self._peer = Peer()
        self._calls: dict[Id, anyio.CancelScope] = {}
        self._writing = anyio.Lock()

    async def speak(self, lines: BufferedByteReceiveStream) -> None:
        """Until it closes; what it still waits for is cancelled then."""
        gone: Exception | None = None
        async with anyio.create_task_group() as tasks:
            try:
                while True:
                    line = await lines.receive_until(b"\n", LONGEST)
                    for message in self._peer.receive(line) if line.strip() else []:
                        if isinstance(message, Request):
                            await tasks.start(self._answer, message)
                        elif isinstance(message, Notification):
                            self._cancel(mcp.cancelled(message))
                        elif isinstance(message, Invalid):
                            await self._say(self._peer.refuse(None, message.reason, _PARSE_ERROR))
            except _GONE as error:  # outside the group it is itself again, not one of several
                gone = error
            tasks.cancel_scope.cancel()
        if gone is not None:
            raise gone

    def _cancel(self, id: Id | None) -> None:
        if id is not None and id in self._calls:
            self._calls[id].cancel()

    async def _answer(
        self, request: Request, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        if request.id in self._calls or len(self._calls) >= MOST_AT_ONCE:
            task_status.started()
            await self._say(self._peer.refuse(request.id, f"{len(self._calls)} other calls are not done yet"))
            return
        with anyio.CancelScope() as scope:
            self._calls[request.id] = scope
            task_status.started()
            try:
                said = await self._toolbox.answer(self._server, request)
            finally:
                del self._calls[request.id]
            await self._say(_line(self._peer, request.id, said))

    async def _say(self, line: bytes) -> None:
        async with self._writing:
            try:
                await self._stream.send(line + b"\n")
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # who reads the other way sees it too


def _line(peer: Peer, id: Id, said: dict[str, Any] | RpcError) -> bytes:
    if isinstance(said, RpcError):
        return peer.refuse(id, said.message, said.code)
    return peer.answer(id, said)
