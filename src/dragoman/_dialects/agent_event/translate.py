"""What single AgentEvents mean, without memory."""

from typing import Any, Final

import msgspec

from dragoman._dialects.agent_event import messages as m
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.usage import Usage

_DELTAS: Final[dict[str, ev.DeltaKind]] = {"toolInput": "tool_input", "toolOutput": "tool_output"}
_STATUS: Final[tuple[ev.ToolStatus, ...]] = ("declined", "cancelled", "skipped", "abandoned")
_OUTCOMES: Final[dict[str, ev.TurnOutcome]] = {"completed": "completed", "cancelled": "cancelled"}
_SYSTEM: Final = {subtype: cls for cls, subtype in m.SUBTYPES.items()}
_ENVELOPE: Final = frozenset(ev.Event.__struct_fields__)


def session_started(item: m.SessionStartedEvent) -> ev.SessionStarted:
    config = item.config
    return ev.SessionStarted(
        model=config.model if config is not None else None,
        cwd=config.working_directory if config is not None else None,
    )


def turn_completed(item: m.TurnCompletedEvent) -> ev.TurnEnded:
    return ev.TurnEnded(outcome="completed", usage=usage_of(item.usage), duration_ms=item.duration_ms)


def last_turn(item: m.SessionEndedEvent, usage: Usage | None) -> ev.TurnEnded:
    """The turn that ends with its session: `usage` is what it took of `finalUsage`."""
    return ev.TurnEnded(
        outcome=_OUTCOMES.get(item.reason, "failed"),
        error=ev.ErrorInfo(message=item.error) if item.error is not None else None,
        usage=usage,
        synthesized=True,
    )


def session_ended(item: m.SessionEndedEvent) -> ev.SessionStatus:
    return ev.SessionStatus(status="ended", message=item.error)


def raw_delta(item: m.RawDeltaEvent) -> ev.Delta:
    """Of a plan, or of a tool's input or output; pieces of texts need memory."""
    if item.kind == "plan":
        return ev.Delta(kind="plan", text=item.content, message_id="plan")
    return ev.Delta(kind=_DELTAS[item.kind], text=item.content, call_id=item.tool_id)


def tool_started(item: m.ToolStartedEvent) -> ev.ToolStarted:
    return toolnames.tool_started(item.tool_id, item.tool_name, item.arguments)


def tool_progress(item: m.ToolProgressEvent) -> ev.ToolUpdated:
    return ev.ToolUpdated(call_id=item.tool_id, output=item.output, progress=item.progress)


def tool_completed(item: m.ToolCompletedEvent) -> ev.ToolEnded:
    """Where `error` is one of our own words for a tool that did not run, that is its status."""
    status: ev.ToolStatus = "completed"
    if not item.success:
        status = next((word for word in _STATUS if word == item.error), "failed")
    text = item.result if isinstance(item.result, str) else None
    return ev.ToolEnded(
        call_id=item.tool_id,
        status=status,
        output=text,
        structured=None if text is not None else item.result,
        error=None if item.success or item.error is None else ev.ErrorInfo(message=item.error),
    )


def file_changed(item: m.FileChangedEvent) -> ev.FileChanged:
    return ev.FileChanged(
        path=item.file_path, change=item.change_type, diff=item.diff, before=item.before, after=item.after
    )


def todo_list(item: m.TodoListEvent) -> ev.PlanUpdated:
    entries = []
    for todo in item.items:
        status: Any = todo.status
        if status not in ("pending", "in_progress", "completed"):
            status = "completed" if todo.completed else "pending"
        entries.append(ev.PlanEntry(text=todo.text, status=status))
    return ev.PlanUpdated(entries=entries)


def error(item: m.ErrorEvent) -> ev.Error:
    return ev.Error(message=item.message, severity=item.severity, code=item.code)


def retry(item: m.RetryEvent) -> ev.Retry:
    return ev.Retry(
        attempt=item.attempt,
        max_attempts=item.max_attempts,
        delay_ms=item.delay_ms,
        reason=item.message,
    )


def system(item: m.SystemEvent) -> ev.Event:
    """The canonical event whose own fields are in `data`; native.unknown if that is none of ours."""
    cls = _SYSTEM.get(item.subtype)
    unknown = ev.NativeUnknown(native_type=f"systemEvent/{item.subtype}")
    if cls is None:
        return unknown
    own = {name: value for name, value in item.data.items() if name not in _ENVELOPE}
    try:
        return msgspec.convert({**own, "type": cls.__struct_config__.tag}, cls)
    except (msgspec.ValidationError, UnicodeError, RecursionError):
        return unknown


def usage_of(tokens: m.TokenUsage | None) -> Usage | None:
    if tokens is None:
        return None
    return Usage(
        input_tokens=tokens.input_tokens,
        cache_read_tokens=tokens.cached_tokens,
        output_tokens=tokens.output_tokens,
        reasoning_tokens=tokens.reasoning_tokens,
        total_tokens=tokens.total_tokens,
    )
