"""The Untether model: three events, one action, one token."""

from typing import Any, Literal

from msgspec import Struct, field

ActionKind = Literal[
    "command", "tool", "file_change", "web_search", "subagent", "note", "turn", "warning", "telemetry"
]
Phase = Literal["started", "updated", "completed"]
Level = Literal["debug", "info", "warning", "error"]


class ResumeToken(Struct, frozen=True, omit_defaults=True):
    """How a session is taken up again."""

    engine: str
    value: str
    is_continue: bool = False
    """The most recent session, whichever it is: `value` is no id then."""


class Action(Struct, frozen=True):
    """One thing that the agent did, or a note."""

    id: str
    """Stable, and unique within a run."""
    kind: ActionKind
    title: str
    detail: dict[str, Any] = field(default_factory=dict)


class StartedEvent(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="started"):
    """Once per token."""

    engine: str
    resume: ResumeToken
    title: str | None = None
    meta: dict[str, Any] | None = None


class ActionEvent(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="action"):
    """Something done, or worth a note. One that is over may come without its start."""

    engine: str
    action: Action
    phase: Phase
    ok: bool | None = None
    message: str | None = None
    level: Level | None = None


class CompletedEvent(
    Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="completed"
):
    """The last event, exactly one per stream."""

    engine: str
    ok: bool
    answer: str
    resume: ResumeToken | None = None
    error: str | None = None
    usage: dict[str, Any] | None = None


UntetherEvent = StartedEvent | ActionEvent | CompletedEvent
