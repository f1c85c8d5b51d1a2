"""The lines of Codex's session files. What they hold stays plain JSON: its kinds come and go with versions."""

from typing import Any, Final

from msgspec import Struct, field

from dragoman._wire.jsontext import Reader


class Line(Struct, kw_only=True, gc=False):
    type: str = ""
    timestamp: str | None = None
    ordinal: int | None = None
    """Its place in the thread's history, over all files of the thread; the legacy form has none."""
    payload: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] | None = None


TYPES: Final = frozenset(
    (
        "session_meta", "event_msg", "response_item", "turn_context", "token_usage_record", "compacted",
        "world_state", "retained_context", "inter_agent_communication_metadata",
    )
)  # fmt: skip


class Header(Struct):
    type: str = ""


def choose(header: Header | Line) -> type[Line] | None:
    """What a line is read as; None if this version does not know its type."""
    return Line if header.type in TYPES else None


READER: Reader[Header | Line, Line] = Reader(Header, choose, Line, Line)
