"""An MCP server with one tool, for agents that ask a tool whether they may: Claude Code's --permission-prompt-tool.

It answers by the same policy as a session. Where the policy says "ask", a program that listens on a socket is asked
(see permission_socket); with nobody there the answer is no. An answer for the rest of the session is kept here: the
CLI takes none (2.1.197 and 2.1.325 refuse the call), and its server lives as long as its session.
"""

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, Final, Literal

from dragoman._model import commands, toolnames
from dragoman._model.events import PermissionRequested
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy
from dragoman._runtime.log import log
from dragoman._runtime.requests import NOBODY
from dragoman._wire import mcp
from dragoman._wire.jsonrpc import Id, Peer, Request, RpcError
from dragoman._wire.jsontext import Invalid, parse, repaired
from dragoman._wire.lines import LineSplitter

TOOL: Final = "approve"
_TOOLS: Final = [
    {
        "name": TOOL,
        "description": "Decides whether a tool may be used, by Dragoman's policy.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool_name": {"type": "string"},
                "input": {"type": "object"},
                "tool_use_id": {"type": "string"},
            },
            "required": ["tool_name"],
        },
    }
]

LONGEST: Final = 16 * 1024 * 1024
"""Bytes that an answer, or a tool's input, may have."""
PATIENCE: Final = 300.0
"""Seconds for an answer: a person may be asked."""
MOST_WAITING: Final = 32
"""Questions that may wait for their answers at the same time."""
GRACE: Final = 2.0
"""Seconds for the answers that are still to come when the other side has closed."""

Answer = dict[str, Any]
"""`{"behavior": "allow", "updatedInput": …}` or `{"behavior": "deny", "message": …}`; from a program that is asked also
`allowAlways` and `denyAlways`."""

_LASTING: Final[dict[Any, Literal["allow", "deny"]]] = {"allowAlways": "allow", "denyAlways": "deny"}
"""Answers for the rest of the session, and what they are for once."""
Decide = Callable[[dict[str, Any]], Answer | Callable[[], Answer]]
"""Gets the arguments of a call; gives the answer, or what has to be called for it and may take its time."""


def denial(why: str) -> Answer:
    return {"behavior": "deny", "message": f"Denied: {why}."}


def serve(lines: BinaryIO, write: Callable[[bytes], None], decide: Decide) -> None:
    """Speak MCP until the other side closes. A question that waits for its answer keeps nobody else waiting.
    Whatever goes wrong here is a denial."""
    server = _Server(write, decide)
    peer = Peer()
    for line in _lines(lines):
        for message in peer.receive(line):
            if isinstance(message, Request):
                server.take(message, line)
            elif isinstance(message, Invalid):
                server.refuse(line)
        if not server.is_heard:
            return
    server.finish()


class _Server:
    def __init__(self, write: Callable[[bytes], None], decide: Decide) -> None:
        self._write = write
        self._decide = decide
        self._peer = Peer()
        self._mcp = mcp.Server(_TOOLS)
        self._lock = threading.Lock()
        self.is_heard = True
        """Somebody takes the answers."""
        self._waiting: list[threading.Thread] = []

    def take(self, request: Request, line: bytes) -> None:
        """Answer a request, now or later. What was not read as it was written is not allowed: another input than the
        one that was judged would be used, or the judged one would not be the agent's."""
        said = self._mcp.take(request)
        if isinstance(said, RpcError):
            self._say(self._peer.refuse(request.id, said.message, said.code))
        elif not isinstance(said, mcp.Call):
            self._say(self._peer.answer(request.id, said))
        elif not is_exact(line):
            self._settle(
                request.id, denial("the input is nested too deeply, or has broken characters or numbers")
            )
        else:
            self._call(request.id, said.arguments)

    def refuse(self, line: bytes) -> None:
        """A line that nobody can read may be a request that somebody waits for."""
        found = _ID.search(line)
        if found is not None and b'"tools/call"' in line:
            id: Id = json.loads(found[1] or found[2])
            self._settle(id, denial("the request cannot be read; it may be nested too deeply"))

    def finish(self) -> None:
        """The other side has closed: give those who are asked a last moment."""
        end = time.monotonic() + GRACE
        for thread in self._waiting:
            thread.join(max(0.0, end - time.monotonic()))

    def _call(self, id: Id, arguments: Any) -> None:
        decision = _tried(lambda: self._decide(arguments if isinstance(arguments, dict) else {}))
        if not callable(decision):
            self._settle(id, decision)
            return
        self._waiting = [thread for thread in self._waiting if thread.is_alive()]
        if len(self._waiting) >= MOST_WAITING:
            self._settle(id, denial(f"{MOST_WAITING} other questions wait for their answers"))
            return
        ask = decision
        thread = threading.Thread(target=lambda: self._settle(id, _tried(ask)), daemon=True)
        self._waiting.append(thread)
        thread.start()

    def _settle(self, id: Id, answer: Any) -> None:
        """Say the answer, if it is one that can be said."""
        try:
            self._say(_said(self._peer, id, answer if is_answer(answer) else denial("no decision was made")))
        except Exception as error:
            self._say(_said(self._peer, id, denial(f"the answer cannot be written ({type(error).__name__})")))

    def _say(self, line: bytes) -> None:
        with self._lock:
            try:
                if self.is_heard:
                    self._write(line + b"\n")
            except (OSError, ValueError):  # it is closed
                self.is_heard = False


def _tried(decide: Callable[[], Any]) -> Any:
    """What it gives, or a denial if it fails."""
    try:
        return decide()
    except Exception as error:
        if not isinstance(error, RecursionError):
            log.exception("a permission could not be decided")
        return denial(f"the request could not be judged ({type(error).__name__})")


_ID: Final = re.compile(
    rb'\A\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,60}"\s*,)*\s*"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,200}")\s*,'
    rb'|"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,200}")\s*\}\s*\Z'
)
"""The id of a request, before its params or behind them."""


def is_exact(line: bytes) -> bool:
    """Whether a line was read as it was written: no depth was cut, no character and no number replaced."""
    try:
        return bool(json.loads(line.decode(), parse_constant=_no_number) == repaired(parse(line)))
    except (ValueError, RecursionError):
        return False


def for_once(answer: Any) -> Any:
    """The answer without its "always"; anything else as it is."""
    match answer:
        case {"behavior": "allowAlways" | "denyAlways" as behavior}:
            return {**answer, "behavior": _LASTING[behavior]}
    return answer


def is_answer(answer: Any) -> bool:
    """Whether it is an answer for once, and nothing beside it."""
    match answer:
        case {"behavior": "allow", "updatedInput": dict()} | {"behavior": "deny", "message": str()}:
            return len(answer) == 2
    return False


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    splitter = LineSplitter()
    with suppress(OSError, ValueError):  # it is closed
        while chunk := stream.read1(65536) if hasattr(stream, "read1") else stream.read(65536):
            yield from (line for line in splitter.feed(chunk) if line.strip())
    if rest := splitter.close():
        yield rest


def _said(peer: Peer, id: Id, answer: Answer) -> bytes:
    text = json.dumps(answer, allow_nan=False)
    return peer.answer(id, {"content": [{"type": "text", "text": text}]})


def by_policy(
    policy: Policy, agent: str, cwd: str | None, ask: str | None = None, timeout: float = PATIENCE
) -> Decide:
    """Decides as a session with this policy would. `ask` is the socket of a program to be asked, `timeout` how many
    seconds it has."""

    def decide(arguments: dict[str, Any]) -> Answer | Callable[[], Answer]:
        request = PermissionRequest(permission_request(arguments, agent), cwd)
        decision = policy.decide(request)
        if decision.effect == "allow":
            return {"behavior": "allow", "updatedInput": request.input}
        if decision.effect == "deny":
            return {"behavior": "deny", "message": decision.message or "Denied."}
        if ask is None:
            return {"behavior": "deny", "message": NOBODY}
        return lambda: _kept(policy, request, asked_at(ask, arguments, cwd, timeout))

    return decide


def _kept(policy: Policy, request: PermissionRequest, answer: Answer) -> Answer:
    """The answer for once; the policy keeps one that is for longer, unless it is about another input than was asked
    about."""
    once: Answer = for_once(answer)
    if once != answer and once.get("updatedInput", request.input) == request.input:
        lasting = commands.Answer(
            decision=once["behavior"], message=once.get("message"), remember=["session"]
        )
        if not policy.remember(request, lasting):
            log.warning("the answer holds this once only: the call names nothing that a rule could be about")
    return once


def permission_request(arguments: dict[str, Any], agent: str) -> PermissionRequested:
    """The call as a permission request. The specification calls the input `tool_input`, the CLI `input`."""
    name = str(arguments.get("tool_name", ""))
    given = arguments.get("input", arguments.get("tool_input"))
    call_id = arguments.get("tool_use_id")
    return PermissionRequested(
        request_id=str(call_id or "permission"),
        call_id=call_id if isinstance(call_id, str) else None,
        tool_name=name,
        kind=toolnames.kind_of(name),
        input=given if isinstance(given, dict) else {},
        title=toolnames.title_of(name, given),
        agent=agent,
    )


def asked_at(
    path: str, arguments: dict[str, Any], cwd: str | None = None, timeout: float = PATIENCE
) -> Answer:
    """What the program behind a socket says: one line there, one line back, all of it within `timeout` seconds."""
    end = time.monotonic() + timeout
    try:
        line = json.dumps({**arguments, "cwd": cwd}, allow_nan=False).encode() + b"\n"
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(path)
            connection.sendall(line)
            answer = json.loads(_line_from(connection, end), parse_constant=_no_number)
    except TimeoutError:
        return denial(f"no answer came from {path} within {timeout:g} s")
    except (OSError, ValueError, RecursionError) as error:
        return denial(f"nobody answers at {path} ({error})")
    return answer if is_answer(for_once(answer)) else denial(f"what came from {path} is no answer")


def _line_from(connection: socket.socket, end: float) -> bytes:
    """One line, whole before the clock says `end`."""
    parts: list[bytes] = []
    size = 0
    while size <= LONGEST:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(65536)
        parts.append(part.partition(b"\n")[0])
        if not part or b"\n" in part:
            return b"".join(parts)
        size += len(part)
    raise ValueError("more than an answer may have")


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")
