"""The tools of one session, and the calls of them."""

import math
from collections.abc import Sequence
from typing import Any, Final

import anyio
from msgspec import ValidationError

from dragoman._model.tools import Tool
from dragoman._runtime.calling import called
from dragoman._runtime.log import log
from dragoman._wire import mcp
from dragoman._wire.jsonrpc import Request, RpcError

_SHOWN: Final = {"anthropic/alwaysLoad": True}
"""Claude Code tells its model of them from the start: else it may have to search for them (2.1.325)."""


class Toolbox:
    """Functions of the caller's, called for an agent. `timeout` is how many seconds a call may take."""

    def __init__(self, tools: Sequence[Tool], timeout: float | None = None) -> None:
        self.tools: tuple[Tool, ...] = tuple(tools)
        self._named = {tool.name: tool for tool in tools}
        self._timeout = timeout

    def server(self) -> mcp.Server:
        """What speaks with one client about them."""
        return mcp.Server(
            [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "inputSchema": tool.input_schema,
                    "_meta": _SHOWN,
                }
                for tool in self.tools
            ],
            # Codex tells its model of the tools only when it searches, and of a server as much as that says (0.166.0).
            f"Tools of the program that has started you: {', '.join(self._named)}.",
        )

    async def answer(self, server: mcp.Server, request: Request) -> dict[str, Any] | RpcError:
        """The answer to a request of a client's. A call that fails is one, too, with the reason for the model to read."""
        said = server.take(request)
        return await self._outcome(server, said) if isinstance(said, mcp.Call) else said

    async def _outcome(self, server: mcp.Server, call: mcp.Call) -> dict[str, Any]:
        try:
            made = self._named[call.name].call_of(call.arguments)
        except (ValidationError, RecursionError) as error:
            return mcp.failure(f"The arguments do not fit: {error}")
        try:
            with anyio.move_on_after(self._timeout):
                return server.result_of(await called(made))
        except (Exception, SystemExit) as error:
            log.exception("the tool %s failed", call.name)
            return mcp.failure(f"{type(error).__name__}: {error}")
        except anyio.get_cancelled_exc_class() as error:
            if anyio.current_effective_deadline() == -math.inf:
                raise
            return mcp.failure(
                type(error).__name__
            )  # it is the function's own: nobody has cancelled the call
        return mcp.failure(f"It took longer than {self._timeout:g} s.")
