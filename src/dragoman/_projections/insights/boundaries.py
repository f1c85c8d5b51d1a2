"""Where messages and blocks begin and end in Claude's partial messages: canonical events need no such marks, so they
are taken from the line itself or, where the stream has no lines, from what the line is called."""

from typing import Any, Final

from msgspec import Struct, field

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._wire.native_line import NativeLine

_KINDS: Final[dict[str, m.StreamDeltaKind]] = {
    "message_start": "messageStart",
    "content_block_start": "blockStart",
    "content_block_stop": "blockStop",
    "message_delta": "messageStop",
    "message_stop": "messageStop",
}
"""message_delta comes just before message_stop, and says why the model stopped."""


STREAMED: Final = "stream_event"
"""The type of the lines that have such marks."""


class _Event(Struct):
    type: Any = None


class _Head(Struct):
    """As much of a line as tells whether it is a mark, as most are not."""

    type: Any = None
    event: _Event = field(default_factory=_Event)


def boundary(event: Event, line: NativeLine) -> m.StreamDeltaEvent | None:
    """The mark that the frame of `event` is, if it is one. `line` is its line; empty if unknown."""
    head = line.read(_Head) if line.may_say(STREAMED) else None
    if head is not None and head.type == STREAMED:
        is_mark = isinstance(head.event.type, str) and head.event.type in _KINDS
        return _marked(line.value["event"], line.value.get("parent_tool_use_id")) if is_mark else None
    name = event.native_type or "" if isinstance(event, ev.NativeKnown) else ""
    kind = _KINDS.get(name.removeprefix("stream_event/")) if name.startswith("stream_event/") else None
    return m.StreamDeltaEvent(kind=kind) if kind is not None else None


def _marked(inner: dict[str, Any], parent: Any) -> m.StreamDeltaEvent:
    kind = _KINDS[inner["type"]]
    index = inner.get("index")
    mark = m.StreamDeltaEvent(
        kind=kind,
        parent_call_id=parent if isinstance(parent, str) else None,
        block_index=index if type(index) is int else None,
    )
    block, delta = inner.get("content_block"), inner.get("delta")
    if isinstance(block, dict) and kind == "blockStart":
        if block.get("type") == "thinking":
            mark.extensions = {"block_type": "thinking"}
        if isinstance(block.get("id"), str):
            mark.call_id = block["id"]
            mark.extensions = {"tool_name": block.get("name")}
    if isinstance(delta, dict) and delta.get("stop_reason") is not None:
        mark.extensions = {"claude.stopReason": delta["stop_reason"]}
    return mark
