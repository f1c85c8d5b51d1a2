"""A conversation with an ACP agent as specification 000 prints it, for tests; and how it is seen."""

import json
from typing import Any

from dragoman._files.convert import convert
from dragoman._model import events as ev
from tests.projections.projected import bare, shown

SESSION = "sess-abc-123"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {"fileSystem": True, "terminals": True}},
}
INITIALIZED = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {"protocolVersion": 1, "agentCapabilities": {"streaming": True, "loadSession": True}},
}
NEW = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "session/new",
    "params": {"cwd": "/Users/zaf/project", "mcpServers": []},
}
CREATED = {"jsonrpc": "2.0", "id": 2, "result": {"sessionId": SESSION}}
PROMPT = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "session/prompt",
    "params": {"sessionId": SESSION, "prompt": [{"type": "text", "text": "Fix the login bug"}]},
}
ANSWERED = {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}

Traffic = list[tuple[str, dict[str, Any]]]
OPENING: Traffic = [("in", INITIALIZE), ("out", INITIALIZED), ("in", NEW), ("out", CREATED), ("in", PROMPT)]


def update(**fields: Any) -> tuple[str, dict[str, Any]]:
    params = {"sessionId": SESSION, "update": fields}
    return "out", {"jsonrpc": "2.0", "method": "session/update", "params": params}


def events_of(traffic: Traffic) -> list[ev.Event]:
    rows = [json.dumps({"dir": where, "line": json.dumps(line)}).encode() for where, line in traffic]
    return list(convert(rows, "acp", native=True))


def acp(*more: tuple[str, dict[str, Any]], profile: Any = "seed") -> list[dict[str, Any]]:
    """What is said after the opening."""
    return bare(shown("insights", events_of([*OPENING, *more]), profile=profile), "raw")[2:]
