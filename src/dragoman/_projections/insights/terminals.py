"""Terminals that an ACP agent has its client run: each is shown as a tool, unless a tool call of the agent's own
embeds it. Begun while no tool is open it is shown at once; else when it has ended and nobody embedded it. It has ended
when its output is read after its exit, or it is released: agents wait for the exit first and then read the output."""

from typing import Any

from msgspec import Struct

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev
from dragoman._model.content import ContentBlock, TerminalBlock


class Terminal(Struct):
    session: Any
    invocation: m.ToolInvocationEvent
    shown: bool
    output: str = ""
    exit: dict[str, Any] | None = None
    """How it ended, once that was told."""
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
        for block in content:
            if isinstance(block, TerminalBlock) and block.terminal_id is not None:
                self._embedded.add(block.terminal_id)

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
        self._made[event.request_id] = Terminal(given.get("sessionId"), invocation, shown=not tools_open)
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
        waited = request.method == "terminal/wait_for_exit" and event.error is None
        status = result if waited else result.get("exitStatus")
        terminal.exit = status if isinstance(status, dict) else terminal.exit
        read = request.method == "terminal/output" and terminal.exit is not None
        return self._end(str(id), terminal) if read or request.method == "terminal/release" else []

    def finish(self, session: str) -> list[m.InsightsEvent]:
        """The session's turn is over: the ends of those that have exited, though nobody read their output since."""
        if not self._known:
            return []
        left = [
            (id, terminal)
            for id, terminal in self._known.items()
            if terminal.exit is not None and not terminal.over and terminal.session == session
        ]
        return [item for id, terminal in left for item in self._end(id, terminal)]

    def _end(self, id: str, terminal: Terminal) -> list[m.InsightsEvent]:
        terminal.over = True
        return [] if id in self._embedded else _completion(terminal)


def _completion(terminal: Terminal) -> list[m.InsightsEvent]:
    code = terminal.exit.get("exitCode") if terminal.exit is not None else None
    exit_code = code if type(code) is int else None
    completion = m.ToolCompletionEvent(
        call_id=terminal.invocation.call_id,
        status="failed" if exit_code else "completed",
        is_error=bool(exit_code),
        content=[m.TerminalContent(output=terminal.output, exit_code=exit_code)],
    )
    return [completion] if terminal.shown else [terminal.invocation, completion]
