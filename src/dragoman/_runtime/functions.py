"""The caller's functions that the agent of one run may call: tools and hooks.

Claude Code asks for them in its own stream; other agents start a bridge that comes back to a socket of ours.
"""

import glob
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from dragoman._model.commands import Reply
from dragoman._model.errors import UsageError
from dragoman._model.events import HostCalled
from dragoman._model.hooks import GUARDS, HookHandler
from dragoman._model.tools import SERVER, Tool, checked_tools
from dragoman._policy.rules import Rule
from dragoman._runtime.bridge_socket import BridgeSocket, Served
from dragoman._runtime.hooks import AFTERWARDS, Hooks
from dragoman._runtime.toolbox import Toolbox
from dragoman._wire import fields, jsonrpc

_HOOK: Final = "dragoman.hook."
"""Before the name of a hook's event: what it is called to agents."""

_DAY: Final = 86_400.0

_BLOCKS, _FAILS = 2, 1
"""What a hook exits with that cannot ask us: that it is against it, or just that it failed."""


class Functions:
    """Tools and hooks of one run; sessions of it may have tools of their own."""

    def __init__(
        self,
        agent: str,
        tools: Sequence[Tool] = (),
        hooks: Mapping[str, HookHandler] | None = None,
        timeout: float | None = None,
    ) -> None:
        self._timeout = timeout
        self._boxes = {SERVER: Toolbox(tools, timeout)}
        """By the MCP server that they are of."""
        self.settings: dict[str, Any] = {}
        """What the agent has to be told of the MCP server beside how it is started."""
        self._inside = self._boxes[SERVER].server()
        self.hooks: Hooks = Hooks(agent, hooks or {}, timeout)
        self.socket: BridgeSocket = BridgeSocket(self._find)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Those of all sessions."""
        return self._boxes[SERVER].tools

    @property
    def agent_waits(self) -> float:
        """Seconds that an agent is to wait for a tool, where that can be said: longer than we do."""
        return self._timeout + AFTERWARDS if self._timeout is not None else _DAY

    @property
    def is_bridged(self) -> bool:
        """Whether an agent was told to start a bridge: then the socket has to be there before it is."""
        return self.socket.was_named

    # --- how an agent is told of them --------------------------------------------------------------------

    def server(self, name: str = SERVER) -> dict[str, Any]:
        """The MCP server that has the tools, as a program to be started."""
        command, *args = self.socket.command(name)
        return {"command": command, "args": args, **self.settings}

    def hook_ids(self) -> dict[str, str]:
        """What each hook is called in an agent's own stream, by event."""
        return {event: _HOOK + event for event in self.hooks.events}

    def hook_commands(self) -> dict[str, list[str]]:
        """The program for each hook, by event."""
        return {
            event: self.socket.command(id, _BLOCKS if event in GUARDS else _FAILS)
            for event, id in self.hook_ids().items()
        }

    def more(self, given: Any) -> dict[str, dict[str, Any]]:
        """The MCP server with the tools of one more session, by its name; nothing if it has none. No two have the same name:
        opencode has the servers of all its sessions in one place (1.18.33). Raises UsageError."""
        if not (own := checked_tools(given)):
            return {}
        name = f"{SERVER}{len(self._boxes)}"
        self._boxes[name] = Toolbox(own, self._timeout)
        return {name: self.server(name)}

    def granted(self) -> list[Rule]:
        """They are the caller's own, so that nobody is asked for leave, unless a rule of a file says otherwise."""
        return [
            Rule(
                effect="allow",
                name="tools",
                server=server,
                tool=[glob.escape(tool.name) for tool in box.tools],
            )
            for server, box in self._boxes.items()
            if box.tools
        ]

    # --- when they are called ----------------------------------------------------------------------------

    def does(self, call: HostCalled) -> bool:
        """Whether what an agent asks of its client is a call of one of them."""
        if call.method == "mcp_message":
            return bool(self.tools) and fields.text(call.params, "server_name") == SERVER
        return (
            call.method == "hook_callback"
            and self._event(fields.text(call.params, "callback_id")) is not None
        )

    async def do(self, call: HostCalled) -> Reply:
        """The answer to such a call."""
        if call.method == "hook_callback":
            event = self._event(fields.text(call.params, "callback_id")) or ""
            return Reply(result=await self.hooks.answer(event, fields.value(call.params, "input")))
        message = jsonrpc.classify(fields.value(call.params, "message"))
        if not isinstance(message, jsonrpc.Request):
            return Reply(result={})
        said = await self._boxes[SERVER].answer(self._inside, message)
        if isinstance(said, jsonrpc.RpcError):
            return Reply(error=said.message, code=said.code)
        return Reply(result=said)

    def _find(self, name: str) -> Served | None:
        if (event := self._event(name)) is None:
            return self._boxes.get(name)

        async def answer(native: Any) -> bytes:
            return msgspec.json.encode(await self.hooks.answer(event, native)) + b"\n"

        return answer

    def _event(self, id: str | None) -> str | None:
        event = (id or "").removeprefix(_HOOK)
        return event if event != id and event in self.hooks.events else None


def check_server_names(given: Iterable[str], ours: Iterable[str] = (SERVER,)) -> None:
    """Raises UsageError if an MCP server has the name of one of ours."""
    for name in set(given) & set(ours):
        raise UsageError(
            f"with tools there is an MCP server {name!r} already: name yours in mcp_servers otherwise"
        )
