"""Events as the page takes them: without what it never shows, cut where they are long, with Markdown and diffs already read.

It is done for every event of all live sessions, so most take the short road: an event whose whole line is short has nothing
that could be cut.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from dragoman._exports.markdown_nodes import nodes
from dragoman._model.events import (
    Delta,
    Event,
    FileChanged,
    Message,
    NativeKnown,
    Retry,
    ToolEnded,
    ToolStarted,
)
from dragoman._reports.diffs import DiffRow, counted, diff_of, diff_rows
from dragoman._server.answers import PageEvent
from dragoman._wire import event_json
from dragoman._wire.jsontext import MAX_DEPTH, REFUSED, bounded, repaired, repaired_text

LONG: Final = 20_000
"""Characters of a text that the page gets at first."""
IMAGE: Final = 8_000_000
"""Characters of an image, which is of no use when it is cut."""


def page_event(event: Event) -> PageEvent:
    """An event as the page takes it. Never raises, and JSON holds it."""
    if type(event) is FileChanged:
        return _file_changed(event)
    found = _cut(_slim(event))
    if type(event) is Message and event.role == "assistant" and event.kind != "error":
        text = _text_of(found)
        if text:
            found["nodes"] = nodes(text)
    return found


def whole_event(event: Event) -> dict[str, Any]:
    """The canonical event, nothing left out. Never raises, and JSON holds it."""
    return _decoded(event, event_json.encode(event))


def leave_out(events: Sequence[Event], *, over: bool = False) -> set[int]:
    """The numbers of those events that a window leaves out: deltas of what is there as a whole, or was discarded; and what says
    nothing. `over`: the run is, so all that grew in it is there as a whole, if not among these events."""
    left_out: set[int] = set()
    whole: set[object] = set()
    for event in reversed(events):
        if isinstance(event, Delta):
            if over or not whole.isdisjoint(_grows(event)):
                left_out.add(event.seq)
        elif isinstance(event, NativeKnown):
            left_out.add(event.seq)
        elif isinstance(event, Message):
            # whether a text is commentary or an error is often known only when it is whole
            kind = event.kind if event.kind in ("thinking", "plan") else "text"
            whole.add((kind, event.session, event.parent, event.message_id, event.block))
        elif isinstance(event, ToolStarted):
            whole.add(("tool_input", event.session, event.call_id))
        elif isinstance(event, ToolEnded):
            whole.add(("tool_output", event.session, event.call_id))
        elif isinstance(event, Retry):
            whole.update(("discarded", event.session, id) for id in event.discards)
    return left_out


def _grows(delta: Delta) -> tuple[object, ...]:
    """What it is a piece of, by the names that `leave_out` has for that."""
    if delta.kind in ("tool_input", "tool_output"):
        return ((delta.kind, delta.session, delta.call_id),)
    block = (delta.kind, delta.session, delta.parent, delta.message_id, delta.block)
    return block, ("discarded", delta.session, delta.message_id)


# --- what is in them -----------------------------------------------------------------------------------------


def _file_changed(event: FileChanged) -> PageEvent:
    """A change with the lines of its diff in place of texts."""
    diff = repaired_text(diff_of(event))
    found = _cut(_slim(replace(event, diff=None, before=None, after=None)))
    if len(diff) > LONG:
        found.setdefault("cut", {})["diff"] = len(diff)
    rows = diff_rows(diff)
    found["rows"] = _first(rows)
    found["added"], found["removed"] = counted(rows)
    return found


def _first(rows: list[DiffRow]) -> list[DiffRow]:
    """Those that come first, of LONG characters at most."""
    room, kept = LONG, list[DiffRow]()
    for kind, text in rows:
        if room <= 0:
            break
        kept.append((kind, text[:room]))
        room -= len(text) + 1
    return kept


def _text_of(message: PageEvent) -> str:
    """What a message says, also where it comes in blocks."""
    if "text" in message:
        return str(message["text"])
    blocks = message.get("blocks", ())
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _slim(event: Event) -> Event:
    """The event without what an agent's own line repeats."""
    if event.ext or event.line is not None or event.line_b64 is not None:
        return replace(event, ext={}, line=None, line_b64=None, eol=True)
    return event


def _cut(event: Event) -> PageEvent:
    """The event as JSON, its long texts cut; `cut` says how long they are, by their places."""
    line = event_json.encode(event)
    found = _decoded(event, line)
    if len(line) > LONG:
        cut = dict(_shortened(found))
        if cut:
            found["cut"] = cut
    return found


def _shortened(event: PageEvent) -> list[tuple[str, int]]:
    """Cut what is too long; where that was, and how long."""
    cut: list[tuple[str, int]] = []
    waiting: list[tuple[str, Any]] = [("", event)]
    while waiting:
        place, value = waiting.pop()
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(item, str):
                if len(item) > LONG and not _is_image(value, key, item):
                    value[key] = item[:LONG]
                    cut.append((f"{place}{key}", len(item)))
            elif isinstance(item, dict | list):
                waiting.append((f"{place}{key}.", item))
    return cut


def _is_image(block: Any, key: object, text: str) -> bool:
    return key == "data" and isinstance(block, dict) and block.get("type") == "image" and len(text) <= IMAGE


def _decoded(event: Event, line: bytes) -> dict[str, Any]:
    """The event's line as values, no deeper than can be written again wherever that is done."""
    try:
        found: dict[str, Any] = msgspec.json.decode(line)
    except REFUSED:
        found = repaired(event_json.plain(event))
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH:
        found = bounded(found)
    return found
