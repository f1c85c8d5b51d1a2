"""The native messages of `codex exec --json`, as far as they mean something.

Fields that nothing is made of are not listed: the frame keeps the bytes. Everything is optional, because a
message that lacks a field is still a message. web_search items have two keys `id`; the second one counts, as
in every reader of JSON, and it is the id that the session file uses (capture exec_web_search).
"""

from typing import Any, ClassVar, Literal, get_args

import msgspec
from msgspec import Struct, field

from dragoman._wire.jsontext import REFUSED, Invalid, Ragged, Reader, Unknown

Phase = Literal["started", "updated", "completed"]
"""Of an item."""


class Item(Struct, kw_only=True, gc=False):
    """A piece of a turn; which fields it has depends on its type."""

    id: str = ""
    type: str = ""
    status: str | None = None
    text: Ragged | None = None
    phase: str | None = None
    message: str | None = None
    command: Any = None
    aggregated_output: Ragged | None = None
    exit_code: int | None = None
    changes: Any = None
    file_path: str | None = None
    diff: str | None = None
    server: str | None = None
    tool: str | None = None
    name: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None
    prompt: str | None = None
    receiver_thread_ids: list[str] | None = None
    agents_states: dict[str, Any] | None = None
    query: str | None = None
    action: Any = None
    items: list[dict[str, Any]] | None = None
    questions: list[Any] | None = None


class Message(Struct, kw_only=True, gc=False, tag_field="type"):
    """One line."""

    method: str = ""
    """What makes it an old event, whatever its type is."""


class ThreadStarted(Message, tag="thread.started"):
    thread_id: str | None = None


class TurnStarted(Message, tag="turn.started"):
    turn_id: str | None = None


class TurnCompleted(Message, tag="turn.completed"):
    usage: dict[str, Any] | None = None


class TurnFailed(Message, tag="turn.failed"):
    error: Any = None


class ItemMessage(Message):
    item: Item = field(default_factory=Item)
    phase: ClassVar[Phase]


class ItemStarted(ItemMessage, tag="item.started"):
    phase = "started"


class ItemUpdated(ItemMessage, tag="item.updated"):
    phase = "updated"


class ItemCompleted(ItemMessage, tag="item.completed"):
    phase = "completed"


class Error(Message, tag="error"):
    message: str | None = None


class ApprovalRequired(Message, tag="approval.required"):
    """Specification 004 §4.2; no version since items speaks so."""

    id: str = ""
    action_type: str | None = None
    description: str | None = None
    command: Any = None
    tool_name: str | None = None
    tool_input: Any = None
    file_path: str | None = None


class SessionMeta(Message, tag="session_meta"):
    payload: dict[str, Any] = field(default_factory=dict)


class EventMessage(Message, tag="event_msg"):
    payload: dict[str, Any] = field(default_factory=dict)


class OldParams(Struct):
    msg: dict[str, Any] = field(default_factory=dict)


class OldEvent(Message, tag=False):
    """An event message on its own, or in a `codex/event/*` notification."""

    msg: dict[str, Any] = field(default_factory=dict)
    params: OldParams = field(default_factory=OldParams)


_Typed = (
    ThreadStarted | TurnStarted | TurnCompleted | TurnFailed | ItemStarted | ItemUpdated | ItemCompleted | Error
    | ApprovalRequired | SessionMeta | EventMessage
)  # fmt: skip

NAMES: dict[type, str] = {kind: str(kind.__struct_config__.tag) for kind in get_args(_Typed)}

TYPES: dict[str, type[Message]] = {name: kind for kind, name in NAMES.items()}


class Header(Struct):
    type: str = ""
    method: str = ""
    msg: Any = None


def choose(header: Header) -> type[Message] | None:
    """What a line is read as; None if this version does not know it."""
    if header.method.startswith("codex/event/") or (not header.type and header.msg is not None):
        return OldEvent
    return TYPES.get(header.type)


_READER: Reader[Header, Message] = Reader(Header, choose)
_TYPED: msgspec.json.Decoder[Message] = msgspec.json.Decoder(_Typed)
decode = _TYPED.decode
"""The message on a line with a type, as `read` gives it; it raises REFUSED for what it does not take, and takes an old
event for what its type says."""


def read(line: bytes) -> Message | Unknown | Invalid:
    """The message on a line. Lines with a type are decoded at once, which takes half as long as to read the type first;
    all others, and what does not fit, go the general way."""
    try:
        message = _TYPED.decode(line)
        if not message.method:
            return message
    except REFUSED:
        pass
    return _READER.read(line)


def name_of(message: object) -> str | None:
    """What a message is called, if it has a type; one about an item, with the item's type."""
    name = NAMES.get(type(message))
    return f"{name}/{message.item.type}" if isinstance(message, ItemMessage) else name


class Response(Struct):
    """How a client answered approval.required."""

    approval_id: str | None = None
    decision: str | None = None
    message: str | None = None


class ClientLine(Struct):
    method: str = ""
    params: Response = field(default_factory=Response)


CLIENT: Reader[ClientLine, ClientLine] = Reader(ClientLine, lambda line: ClientLine)
