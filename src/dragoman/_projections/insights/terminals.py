"""Terminals that an ACP agent has its client run: each is shown as a tool, unless a tool call of the agent's own
embeds it. Begun while no tool is open it is shown at once; else when it has ended and nobody embedded it."""

from typing import Any

from msgspec import Struct

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev
from dragoman._model.content import ContentBlock, TerminalBlock


class Terminal(Struct):
    invocation: m.ToolInvocationEvent
    shown: bool
    output: str = ""
    over: bool = False


class Terminals:
    """The terminals of one connection."""

    def __init__(self) -> None:
        self._requests: dict[str, ev.HostCalled] = {}
        self._made: dict[str, Terminal] = {}
        """By the request that made them, until they have an id."""
        self._known: dict[str, Terminal] = {}
        self._embedded: set[str] = set()

    def embed(self, content: list[ContentBlock]) -> None:
        """A tool call shows these."""
        self._embedded.update(
            block.terminal_id
            for block in content
            if isinstance(block, TerminalBlock) and block.terminal_id is not None
        )

    def on_request(self, event: ev.HostCalled, *, tools_open: bool) -> list[m.InsightsEvent]:
        if not event.method.startswith("terminal/"):
            return []
        self._requests[event.request_id] = event
        if event.method != "terminal/create":
            return []
        given = event.params if isinstance(event.params, dict) else {}
        words = [given.get("command"), *(given["args"] if isinstance(given.get("args"), list) else [])]
        command = " ".join(str(word) for word in words if word is not None)
        invocation = m.ToolInvocationEvent(
            call_id=f"terminal-{event.request_id}",
            kind="execute",
            tool_name="terminal",
            title=command or None,
            input={key: value for key, value in given.items() if key != "sessionId"},
        )
        self._made[event.request_id] = Terminal(invocation, shown=not tools_open)
        return [] if tools_open else [invocation]

    def on_answer(self, event: ev.HostAnswered) -> list[m.InsightsEvent]:
        request = self._requests.pop(event.request_id, None)
        result = event.result if isinstance(event.result, dict) else {}
        if request is None:
            return []
        if request.method == "terminal/create":
            made, id = self._made.pop(event.request_id, None), result.get("terminalId")
            if made is not None and isinstance(id, str):
                self._known[id] = made
            return []
        given = request.params if isinstance(request.params, dict) else {}
        id = given.get("terminalId")
        terminal = self._known.get(id) if isinstance(id, str) else None
        if terminal is None or terminal.over:
            return []
        if isinstance(result.get("output"), str):
            terminal.output = result["output"]
        status = result if request.method == "terminal/wait_for_exit" else result.get("exitStatus")
        if not isinstance(status, dict) and request.method != "terminal/release":
            return []
        terminal.over = True
        return [] if str(id) in self._embedded else _completion(terminal, status)


def _completion(terminal: Terminal, status: Any) -> list[m.InsightsEvent]:
    code = status.get("exitCode") if isinstance(status, dict) else None
    exit_code = code if type(code) is int else None
    completion = m.ToolCompletionEvent(
        call_id=terminal.invocation.call_id,
        status="failed" if exit_code else "completed",
        is_error=bool(exit_code),
        content=[m.TerminalContent(output=terminal.output, exit_code=exit_code)],
    )
    return [completion] if terminal.shown else [terminal.invocation, completion]
