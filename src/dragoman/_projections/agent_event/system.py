"""What agents say of themselves, as `systemEvent`: which subtype each canonical event is, and back."""

from typing import Any, Final

import msgspec

from dragoman._model import events as ev
from dragoman._model.events import Event

SYSTEM: Final[dict[type[Event], str]] = {
    ev.SessionUpdated: "init",
    ev.SessionStatus: "status",
    ev.SessionMode: "mode",
    ev.SessionOptions: "options",
    ev.SessionCommands: "commands",
    ev.ContextCompacted: "compact_boundary",
    ev.Hook: "hook_response",
    ev.Auth: "auth_status",
    ev.RateLimit: "rate_limit",
    ev.Notice: "notice",
}
"""Claude's own words where it has one."""

_EVENTS: Final = {subtype: cls for cls, subtype in SYSTEM.items()}
_ENVELOPE: Final = frozenset(Event.__struct_fields__)


def own_fields(event: Event) -> dict[str, Any]:
    """What an event says beside its envelope; what is unknown or empty is left out."""
    values = {name: getattr(event, name) for name in event.__struct_fields__ if name not in _ENVELOPE}
    return {
        name: value for name, value in values.items() if value is not None and value != [] and value != {}
    }


def event_of(subtype: str, data: dict[str, Any]) -> Event | None:
    """The canonical event that a systemEvent was; None if it was never one."""
    cls = _EVENTS.get(subtype)
    if cls is None:
        return None
    try:
        return msgspec.convert({**data, "type": cls.__struct_config__.tag}, cls)
    except (msgspec.ValidationError, UnicodeError):
        return None
