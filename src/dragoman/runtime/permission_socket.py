"""Where a running program is asked for permissions by agents that it did not start itself.

    async with permission_socket.listen(path, handler): ...

`handler(request)` gets a PermissionRequested and says True, False or an Answer, as a session's handler does.
"""

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from dragoman.model.commands import Answer
from dragoman.model.events import PermissionRequested
from dragoman.runtime.permission_server import requested

Handler = Callable[[PermissionRequested], Awaitable[bool | Answer]]

LONGEST = 64 * 1024 * 1024
"""Bytes that a tool's input may have."""


@asynccontextmanager
async def listen(
    path: str | os.PathLike[str], handler: Handler, agent: str = "claude"
) -> AsyncIterator[None]:
    """Answer permission servers (`dragoman permission-server --ask PATH`) as long as the block lasts."""
    async with anyio.create_task_group() as tasks:
        listener = await anyio.create_unix_listener(path, mode=0o600)
        try:
            tasks.start_soon(listener.serve, lambda stream: _serve(stream, handler, agent))
            yield
        finally:
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await listener.aclose()
                await anyio.Path(path).unlink(missing_ok=True)


async def _serve(stream: SocketStream, handler: Handler, agent: str) -> None:
    async with stream:
        try:
            line = await BufferedByteReceiveStream(stream).receive_until(b"\n", LONGEST)
            arguments = json.loads(line)
            request = requested(arguments if isinstance(arguments, dict) else {}, agent)
            answer = _worded(request, await handler(request))
        except (ValueError, anyio.IncompleteRead, anyio.DelimiterNotFound) as error:
            answer = {"behavior": "deny", "message": f"Denied: the request was not understood ({error})."}
        await stream.send(json.dumps(answer).encode() + b"\n")


def _worded(request: PermissionRequested, verdict: bool | Answer) -> dict[str, Any]:
    answer = verdict if isinstance(verdict, Answer) else None
    allowed = answer.decision == "allow" if answer is not None else bool(verdict)
    if not allowed:
        return {"behavior": "deny", "message": (answer.message if answer is not None else None) or "Denied."}
    updated = (
        answer.updated_input if answer is not None and answer.updated_input is not None else request.input
    )
    return {"behavior": "allow", "updatedInput": updated}
