"""An MCP server with one tool, for agents that ask a tool whether they may: Claude Code's --permission-prompt-tool.

It answers by the same policy as a session. Where the policy says "ask", a program that listens on a socket is asked
(see permission_socket); with nobody there the answer is no.
"""

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from dragoman._model import toolnames
from dragoman._model.events import PermissionRequested
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy
from dragoman._runtime.requests import NOBODY
from dragoman._version import __version__
from dragoman._wire.jsonrpc import Peer, Request
from dragoman._wire.lines import LineSplitter

TOOL: Final = "approve"
PROTOCOL: Final = "2025-06-18"
_INPUT: Final = {
    "type": "object",
    "properties": {
        "tool_name": {"type": "string"},
        "input": {"type": "object"},
        "tool_use_id": {"type": "string"},
    },
    "required": ["tool_name"],
}

Answer = dict[str, Any]
"""`{"behavior": "allow", "updatedInput": …}` or `{"behavior": "deny", "message": …}`."""


def serve(
    lines: BinaryIO, write: Callable[[bytes], None], decide: Callable[[dict[str, Any]], Answer]
) -> None:
    """Speak MCP until the other side closes. `decide` gets the arguments of a call."""
    peer = Peer()
    for line in _lines(lines):
        for message in peer.receive(line):
            if isinstance(message, Request):
                write(_answer(peer, message, decide) + b"\n")


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    splitter = LineSplitter()
    while chunk := stream.read1(65536) if hasattr(stream, "read1") else stream.read(65536):
        yield from (line for line in splitter.feed(chunk) if line.strip())
    if rest := splitter.close():
        yield rest


def _answer(peer: Peer, request: Request, decide: Callable[[dict[str, Any]], Answer]) -> bytes:
    params = request.params if isinstance(request.params, dict) else {}
    if request.method == "initialize":
        result: dict[str, Any] = {
            "protocolVersion": params.get("protocolVersion", PROTOCOL),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "dragoman", "version": __version__},
        }
    elif request.method == "ping":
        result = {}
    elif request.method == "tools/list":
        about = "Decides whether a tool may be used, by Dragoman's policy."
        result = {"tools": [{"name": TOOL, "description": about, "inputSchema": _INPUT}]}
    elif request.method == "tools/call" and params.get("name") == TOOL:
        arguments = params.get("arguments")
        decision = decide(arguments if isinstance(arguments, dict) else {})
        result = {"content": [{"type": "text", "text": json.dumps(decision)}]}
    else:
        return peer.refuse(request.id, f"no such method or tool: {request.method}")
    return peer.answer(request.id, result)


def by_policy(policy: Policy, agent: str, cwd: str | None, ask: str | None = None) -> Callable[[Any], Answer]:
    """Decides as a session with this policy would. `ask` is the socket of a program to be asked."""

    def decide(arguments: dict[str, Any]) -> Answer:
        request = PermissionRequest(permission_request(arguments, agent), cwd)
        decision = policy.decide(request)
        if decision.effect == "allow":
            return {"behavior": "allow", "updatedInput": request.input}
        if decision.effect == "deny":
            return {"behavior": "deny", "message": decision.message or "Denied."}
        return asked_at(ask, arguments) if ask is not None else {"behavior": "deny", "message": NOBODY}

    return decide


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


def asked_at(path: str, arguments: dict[str, Any]) -> Answer:
    """What the program behind a socket says: one line there, one line back."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(json.dumps(arguments).encode() + b"\n")
            with connection.makefile("rb") as answers:
                answer = json.loads(answers.readline())
        if isinstance(answer, dict):
            return answer
    except (OSError, ValueError) as error:
        return {"behavior": "deny", "message": f"Denied: nobody answers at {path} ({error})."}
    return {"behavior": "deny", "message": f"Denied: no answer came from {path}."}
