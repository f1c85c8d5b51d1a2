"""The native events of Gemini CLI's stream-json, as far as they mean something."""

import json
from typing import Any, Final, get_args

import msgspec
from msgspec import Struct

from dragoman._wire.jsontext import Header, Invalid, Ragged, Reader, Unknown


class Native(Struct, kw_only=True, gc=False, tag_field="type"):
    """What every event carries."""

    timestamp: str | None = None


class Init(Native, tag="init"):
    session_id: str | None = None
    model: str | None = None


class Said(Native, tag="message"):
    """`message`. Today's assistant only sends deltas, never a whole message."""

    role: str = "assistant"
    content: Ragged = ""
    delta: bool | None = None


class ToolUse(Native, tag="tool_use"):
    tool_name: str | None = None
    tool_id: str = ""
    parameters: Any = None


class ToolResult(Native, tag="tool_result"):
    """It does not repeat the tool's name: the id has it."""

    tool_id: str = ""
    status: str | None = None
    output: Any = None
    error: Any = None


class Failure(Native, tag="error"):
    """`error`. A result always follows; by itself it ends nothing."""

    severity: str | None = None
    message: str | None = None
    error: Any = None


class Result(Native, tag="result"):
    status: str | None = None
    stats: dict[str, Any] | None = None
    error: Any = None


# --- older versions ----------------------------------------------------------------------------------------


class Content(Native, tag="content"):
    value: Ragged = ""


class Thought(Native, tag="thought"):
    """A text, or subject and description."""

    value: Any = None
    content: Any = None


class ToolCall(Native, tag="tool_call"):
    """A call together with what came of it. The names of the fields differed between versions."""

    value: dict[str, Any] | None = None
    tool_id: str | None = None
    id: str | None = None
    tool_name: str | None = None
    name: str | None = None
    parameters: Any = None
    args: Any = None
    status: str | None = None
    output: Any = None
    result: Any = None
    error: Any = None


class Retry(Native, tag="retry"):
    attempt: int | None = None
    max_attempts: int | None = None
    delay_ms: float | None = None
    message: str | None = None
    reason: str | None = None
    status_code: int | None = None


_Typed = Init | Said | ToolUse | ToolResult | Failure | Result | Content | Thought | ToolCall | Retry

NAMES: dict[type[Native], str] = {kind: str(kind.__struct_config__.tag) for kind in get_args(_Typed)}

TYPES: dict[str, type[Native]] = {name: kind for kind, name in NAMES.items()}

START = b'{"type"'
"""How every event begins."""

DECODER: Final[msgspec.json.Decoder[Native]] = msgspec.json.Decoder(_Typed)
"""Reads events as they should be; what it refuses is for `read`."""


READER: Reader[Header, Native] = Reader(Header, lambda header: TYPES.get(header.type), _Typed)


def read(line: bytes) -> Native | Unknown | Invalid:
    """The event on a line. Other programs' words may stand before it, for want of a newline of their own."""
    message = _halved(line) or READER.read(line)
    if type(message) is Invalid and (start := line.find(START)) > 0:
        behind = READER.read(line[start:])
        return behind if isinstance(behind, Native) else message
    return message


def _halved(line: bytes) -> Said | None:
    """The piece of an answer that begins or ends within a character, as one does wherever an emoji is cut in two
    (capture unicode2); None if the line is none. msgspec refuses half a character in JSON, but not in a value: such a
    piece took ten times as long as others."""
    if b"\\ud" not in line:
        return None
    try:
        said = msgspec.convert(json.loads(line.decode()), Said)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    told = (said.timestamp or "") + said.role
    return said if told.isascii() else None
