"""The native events of Gemini CLI's stream-json, as far as they mean something."""

from typing import Any

from msgspec import Struct

from dragoman._wire.jsontext import Header, Invalid, Ragged, Reader, Unknown


class Native(Struct, kw_only=True, gc=False):
    """What every event carries."""

    timestamp: str | None = None


class Init(Native):
    session_id: str | None = None
    model: str | None = None


class Said(Native):
    """`message`. Today's assistant only sends deltas, never a whole message."""

    role: str = "assistant"
    content: Ragged = ""
    delta: bool | None = None


class ToolUse(Native):
    tool_name: str | None = None
    tool_id: str = ""
    parameters: Any = None


class ToolResult(Native):
    """It does not repeat the tool's name: the id has it."""

    tool_id: str = ""
    status: str | None = None
    output: Any = None
    error: Any = None


class Failure(Native):
    """`error`. A result always follows; by itself it ends nothing."""

    severity: str | None = None
    message: str | None = None
    error: Any = None


class Result(Native):
    status: str | None = None
    stats: dict[str, Any] | None = None
    error: Any = None


# --- older versions ----------------------------------------------------------------------------------------


class Content(Native):
    value: Ragged = ""


class Thought(Native):
    """A text, or subject and description."""

    value: Any = None
    content: Any = None


class ToolCall(Native):
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


class Retry(Native):
    attempt: int | None = None
    max_attempts: int | None = None
    delay_ms: float | None = None
    message: str | None = None
    reason: str | None = None
    status_code: int | None = None


TYPES: dict[str, type[Native]] = {
    "init": Init,
    "message": Said,
    "tool_use": ToolUse,
    "tool_result": ToolResult,
    "error": Failure,
    "result": Result,
    "content": Content,
    "thought": Thought,
    "tool_call": ToolCall,
    "retry": Retry,
}

START = b'{"type"'
"""How every event begins."""

NAMES: dict[type[Native], str] = {kind: name for name, kind in TYPES.items()}

READER: Reader[Header, Native] = Reader(Header, lambda header: TYPES.get(header.type))


def read(line: bytes) -> Native | Unknown | Invalid:
    """The event on a line. Other programs' words may stand before it, for want of a newline of their own."""
    message = READER.read(line)
    start = line.find(START)
    if isinstance(message, Invalid) and start > 0:
        behind = READER.read(line[start:])
        return behind if isinstance(behind, Native) else message
    return message
