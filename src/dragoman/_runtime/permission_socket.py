"""Where a running program is asked for permissions by agents that it did not start itself.

async with dragoman.permission_listener(path, approve): ...
"""

import json
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from dragoman._model.commands import Answer
from dragoman._model.errors import UsageError
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy
from dragoman._runtime.calling import called
from dragoman._runtime.log import log
from dragoman._runtime.permission_server import LONGEST, denial, for_once, is_answer, permission_request
from dragoman._runtime.requests import ApproveHandler, response_to

MOST_AT_ONCE: Final = 64
"""Programs that may be connected at the same time."""
PATIENCE: Final = 10.0
"""Seconds for a question to be told, and for the answer to be taken."""

_CUT: Final = (
    anyio.IncompleteRead,
    anyio.DelimiterNotFound,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)


@asynccontextmanager
async def permission_listener(
    path: str | os.PathLike[str], approve: ApproveHandler, *, agent: str = "claude"
) -> AsyncIterator[None]:
    """Answer permission servers (`dragoman permission-server --ask PATH`) as long as the block lasts. `approve` is a
    handler as a session has one; it cannot answer LATER. Only the owner may connect. A socket that nobody listens at any
    more is replaced. Raises UsageError if somebody does, or if there can be no socket at that place."""
    place = os.fspath(path)
    _check_place(place)
    try:
        listener = await anyio.create_unix_listener(place, mode=0o600)
        made = os.lstat(place)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"no socket can be made at {place}: {getattr(error, 'strerror', None) or error}"
        ) from error
    desk = _Desk(approve, agent)
    error_within: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, desk.serve)
            try:
                yield
            except Exception as raised:  # outside the group it is itself again, not one of several
                error_within = raised
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await listener.aclose()
            with suppress(OSError):
                if os.path.samestat(os.lstat(place), made):
                    os.unlink(place)
    if error_within is not None:
        raise error_within


def _check_place(path: str) -> None:
    """Raises UsageError for what may not be replaced."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise UsageError(f"{path} is there and is no socket; name another place")
    except OSError:
        return  # nothing is there, or making the socket says what is wrong
    with socket.socket(socket.AF_UNIX) as connection:
        connection.setblocking(False)
        try:
            connection.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return  # nobody listens
        except OSError as error:
            if not isinstance(error, BlockingIOError):
                raise UsageError(f"{path} may be in use: {error.strerror}") from error
    raise UsageError(f"another program listens at {path}; name another place")


class _Desk:
    """Where the questions arrive."""

    def __init__(self, approve: ApproveHandler, agent: str) -> None:
        self._approve = approve
        self._agent = agent
        self._connected = 0

    async def serve(self, stream: SocketStream) -> None:
        self._connected += 1
        try:
            async with stream:
                if self._connected > MOST_AT_ONCE:
                    answer = denial(f"{MOST_AT_ONCE} other programs are connected")
                else:
                    answer = await self._answer(stream)
                with (
                    anyio.move_on_after(PATIENCE),
                    suppress(anyio.BrokenResourceError, anyio.ClosedResourceError),
                ):
                    await stream.send(_line(answer))  # else it has hung up
        finally:
            self._connected -= 1

    async def _answer(self, stream: SocketStream) -> dict[str, Any]:
        request: PermissionRequest | None = None
        try:
            with anyio.move_on_after(PATIENCE):
                line = await BufferedByteReceiveStream(stream).receive_until(b"\n", LONGEST)
                request = self._request(json.loads(line))
        except (ValueError, RecursionError, *_CUT) as error:
            return denial(f"the request was not understood ({error or type(error).__name__})")
        except Exception as error:
            log.exception("a permission request could not be read")
            return denial(f"the request was not understood ({type(error).__name__})")
        if request is None:
            return denial(f"no request came within {PATIENCE:g} s")
        try:
            answer = response_to(request.event, await called(self._approve, request))
        except Exception as error:
            log.exception("the handler failed on a permission for %s", request.tool)
            return denial(f"the handler that was asked failed with {error!r}")
        if not isinstance(answer, Answer):
            return {"behavior": "deny", "message": "Denied."}
        lasting = "Always" if self._lasts(request, answer) else ""
        if answer.decision != "allow":
            return {"behavior": f"deny{lasting}", "message": answer.message or "Denied."}
        updated = answer.updated_input if answer.updated_input is not None else request.input
        return {"behavior": f"allow{lasting}", "updatedInput": updated}

    def _lasts(self, request: PermissionRequest, answer: Answer) -> bool:
        """Whether the server that asks shall keep the answer. One for ever is written to the user's rules, too."""
        if "always" in answer.remember:
            try:
                Policy().remember(request, answer)
            except OSError as error:
                log.warning("the answer holds for this session only: %s", error)
        return "always" in answer.remember or "session" in answer.remember

    def _request(self, arguments: Any) -> PermissionRequest:
        """The request on a line. Where the agent works, its permission server adds."""
        arguments = arguments if isinstance(arguments, dict) else {}
        cwd = arguments.pop("cwd", None)
        return PermissionRequest(
            permission_request(arguments, self._agent), cwd if isinstance(cwd, str) else None
        )


def _line(answer: dict[str, Any]) -> bytes:
    """An answer as it is sent; a denial if it is none, or JSON cannot say it."""
    try:
        if is_answer(for_once(answer)):
            return json.dumps(answer, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):
        pass
    return json.dumps(denial("the handler's answer cannot be written")).encode() + b"\n"
