"""The lines of Copilot CLI's session files. What they hold stays plain JSON: its kinds come and go with versions."""

from typing import Any, Final

from msgspec import Struct, field

from dragoman._wire.jsontext import Reader


class Line(Struct, kw_only=True, gc=False):
    type: str = ""
    id: str | None = None
    timestamp: str | None = None
    parentId: str | None = None
    """The line before it, whoever wrote that."""
    agentId: str | None = None
    """The subagent whose line it is."""
    data: dict[str, Any] = field(default_factory=dict)


SPEAKING: Final = frozenset(
    (
        "session.start", "session.resume", "session.shutdown", "session.error", "session.info",
        "session.warning", "session.model_change", "session.mode_changed", "session.context_changed",
        "session.context_cleared", "session.truncation", "session.compaction_complete",
        "session.usage_record", "session.task_complete",
        "user.message", "system.notification", "abort",
        "assistant.message", "assistant.reasoning",
        "tool.user_requested", "tool.execution_start", "tool.execution_complete",
        "permission.requested", "permission.completed",
        "subagent.started", "subagent.completed", "subagent.failed",
        "hook.start", "hook.end",
    )
)  # fmt: skip
"""The types that become events."""

QUIET: Final = frozenset(
    (
        "assistant.turn_start", "assistant.turn_end", "system.message",
        "model.turn_started", "model.model_call_started", "model.model_call_success", "model.message",
        "model.response", "model.turn_ended", "model.messages_snapshot",
        "session.compaction_start", "session.usage_checkpoint",
        "subagent.configured", "subagent.selected", "subagent.deselected",
    )
)  # fmt: skip
"""Those that say nothing which others do not: what each call to the model was, prompts of the CLI's own, running totals."""


class Header(Struct):
    type: str = ""


def choose(header: Header | Line) -> type[Line] | None:
    """What a line is read as; None if this version does not know its type."""
    return Line if header.type in SPEAKING or header.type in QUIET else None


READER: Reader[Header | Line, Line] = Reader(Header, choose, Line, Line)
