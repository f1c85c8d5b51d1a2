"""The native messages of `codex exec --json`, as far as they mean something.

Fields that nothing is made of are not listed: the frame keeps the bytes. Everything is optional, because a
message that lacks a field is still a message. web_search items have two keys `id`; the second one counts, as
in every reader of JSON, and it is the id that the session file uses (capture exec_web_search).
"""

from typing import Any

import msgspec
from msgspec import Struct, field

from dragoman._wire.jsontext import Ragged, Reader


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


class Message(Struct, kw_only=True, gc=False):
    """One line."""

    type: str = ""


class ThreadStarted(Message):
    thread_id: str | None = None


class TurnStarted(Message):
    turn_id: str | None = None


class TurnCompleted(Message):
    usage: dict[str, Any] | None = None


class TurnFailed(Message):
    error: Any = None


class ItemStarted(Message):
    item: Item = field(default_factory=Item)


class ItemUpdated(Message):
    item: Item = field(default_factory=Item)


class ItemCompleted(Message):
    item: Item = field(default_factory=Item)


class Error(Message):
    message: str | None = None


class ApprovalRequired(Message):
    """Specification 004 §4.2; no version since items speaks so."""

    id: str = ""
    action_type: str | None = None
    description: str | None = None
    command: Any = None
    tool_name: str | None = None
    tool_input: Any = None
    file_path: str | None = None


class SessionMeta(Message):
    payload: dict[str, Any] = field(default_factory=dict)


class EventMessage(Message):
    payload: dict[str, Any] = field(default_factory=dict)


class OldParams(Struct):
    msg: dict[str, Any] = field(default_factory=dict)


class OldEvent(Message):
    """An event message on its own, or in a `codex/event/*` notification."""

    msg: dict[str, Any] = field(default_factory=dict)
    params: OldParams = field(default_factory=OldParams)


TYPES: dict[str, type[Message]] = {
    "thread.started": ThreadStarted,
    "turn.started": TurnStarted,
    "turn.completed": TurnCompleted,
    "turn.failed": TurnFailed,
    "item.started": ItemStarted,
    "item.updated": ItemUpdated,
    "item.completed": ItemCompleted,
    "error": Error,
    "approval.required": ApprovalRequired,
    "session_meta": SessionMeta,
    "event_msg": EventMessage,
}


class Header(Struct):
    type: str = ""
    method: str = ""
    msg: msgspec.Raw | None = None


def choose(header: Header) -> type[Message] | None:
    """What a line is read as; None if this version does not know it."""
    if header.method.startswith("codex/event/") or (not header.type and header.msg is not None):
        return OldEvent
    return TYPES.get(header.type)


READER: Reader[Header, Message] = Reader(Header, choose)


class Response(Struct):
    """How a client answered approval.required."""

    approval_id: str | None = None
    decision: str | None = None
    message: str | None = None


class ClientLine(Struct):
    method: str = ""
    params: Response = field(default_factory=Response)


CLIENT: Reader[ClientLine, ClientLine] = Reader(ClientLine, lambda line: ClientLine)
