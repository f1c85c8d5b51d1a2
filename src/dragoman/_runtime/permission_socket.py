"""Where a running program is asked for permissions by agents that it did not start itself.

async with dragoman.permission_listener(path, approve): ...
"""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from dragoman._model.commands import Answer
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.log import log
from dragoman._runtime.permission_server import permission_request
from dragoman._runtime.requests import ApproveHandler, handler_reply, response_to

LONGEST: Final = 64 * 1024 * 1024
"""Bytes that a tool's input may have."""

_CUT: Final = (anyio.IncompleteRead, anyio.DelimiterNotFound, anyio.BrokenResourceError)


@asynccontextmanager
async def permission_listener(
    path: str | os.PathLike[str], approve: ApproveHandler, *, agent: str = "claude"
) -> AsyncIterator[None]:
    """Answer permission servers (`dragoman permission-server --ask PATH`) as long as the block lasts. `approve` is a
    handler as a session has one; it cannot answer LATER."""
    listener = await anyio.create_unix_listener(path, mode=0o600)
    error: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, lambda stream: _serve(stream, approve, agent))
            try:
                yield
            except Exception as raised:  # outside the group it is itself again, not one of several
                error = raised
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await listener.aclose()
            await anyio.Path(path).unlink(missing_ok=True)
    if error is not None:
        raise error


async def _serve(stream: SocketStream, approve: ApproveHandler, agent: str) -> None:
    async with stream:
        answer = await _answer(stream, approve, agent)
        with suppress(anyio.BrokenResourceError):  # it has hung up
            await stream.send(json.dumps(answer).encode() + b"\n")


async def _answer(stream: SocketStream, approve: ApproveHandler, agent: str) -> dict[str, Any]:
    try:
        line = await BufferedByteReceiveStream(stream).receive_until(b"\n", LONGEST)
        arguments = json.loads(line)
        request = PermissionRequest(
            permission_request(arguments if isinstance(arguments, dict) else {}, agent)
        )
    except (ValueError, RecursionError, *_CUT) as error:
        return {"behavior": "deny", "message": f"Denied: the request was not understood ({error})."}
    try:
        answer = response_to(request.event, await handler_reply(approve, request))
    except Exception as error:
        log.exception("the handler failed on a permission for %s", request.tool)
        return {"behavior": "deny", "message": f"Denied: the handler that was asked failed with {error!r}."}
    if not isinstance(answer, Answer) or answer.decision == "deny":
        why = answer.message if isinstance(answer, Answer) else None
        return {"behavior": "deny", "message": why or "Denied."}
    updated = answer.updated_input if answer.updated_input is not None else request.input
    return {"behavior": "allow", "updatedInput": updated}
