"""The messages of Claude Code's stream-json by name, for `dragoman drift`."""

from collections.abc import Iterator
from typing import Any, Final

from dragoman._dialects.claude.stream import control
from dragoman._dialects.claude.stream import messages as m
from dragoman._model.frames import Direction
from dragoman._wire import fields
from dragoman._wire.jsontext import Header, fit, parse
from dragoman._wire.shapes import Calls, Free, Part

FREE: Final[Free] = {
    "input": "data",
    "tool_input": "data",
    "tool_use_result": "data",
    "tool_response": "data",
    "updatedInput": "data",
    "structured_output": "data",
    "output_schema": "data",
    "requested_schema": "data",
    "request.jsonSchema": "data",
    "mcp_response": "data",
    "message.params": "data",
    "message.result": "data",
    "entries": "data",
    "env": "map",
    "hooks": "map",
    "model_usage": "map",
    "tool_use_meta": "map",
    "by_type": "map",
    "phases": "map",
    "phase_start_ms": "map",
    "unifiedWindows": "map",
}

_REQUESTS: Final = tuple(f"control_request/{subtype}" for subtype in control.REQUESTS)
_UNSUPPORTED: Final = "unsupported control request"


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterator[Part]:
    """One message a line, or an array of them. An answer does not go by its question: stdout alone has only answers."""
    value = parse(line)
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, dict):
            yield _part(item, direction, calls)


def _part(item: dict[str, Any], direction: Direction, calls: Calls) -> Part:
    header = fit(item, Header)
    name = "/".join(part for part in (header.type, header.subtype) if part)
    wanted = m.choose(header)
    if wanted is m.ControlRequest:
        request = fields.mapping(item, "request")
        name = f"{name}/{fields.text(request, 'subtype')}"
        calls.asked[direction, fields.text(item, "request_id") or ""] = name
    answer = fields.mapping(item, "response") if wanted is m.ControlResponse else {}
    refused = direction == "in" and (fields.text(answer, "error") or "").startswith(_UNSUPPORTED)
    if refused:
        name = f"{calls.asked.get(('out', fields.text(answer, 'request_id') or ''), name)} error"
    unknown = direction == "out" and name.startswith("control_request/") and name not in _REQUESTS
    return Part(name, item, wanted, tags=("type", "subtype"), unknown=unknown, refused=refused)
