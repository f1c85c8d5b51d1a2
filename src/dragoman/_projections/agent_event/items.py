"""Single events as items, where no memory is needed: stateless and total."""

from typing import Any, Final

from dragoman._dialects.agent_event import messages as m
from dragoman._model import events as ev
from dragoman._model.events import Event

_ENVELOPE: Final = frozenset(Event.__struct_fields__)


def tool_started(event: ev.ToolStarted) -> m.ToolStartedEvent:
    """Under the agent's own name for the tool."""
    return m.ToolStartedEvent(
        tool_id=event.call_id, tool_name=event.native_name or event.name, arguments=arguments(event.input)
    )


def tool_completed(event: ev.ToolEnded) -> m.ToolCompletedEvent:
    success = event.status == "completed"
    said = event.error.message if event.error is not None else None
    return m.ToolCompletedEvent(
        tool_id=event.call_id,
        success=success,
        result=event.output if event.output is not None else event.structured,
        error=None if success else said or event.status,
    )


def file_changes(event: ev.FileChanged) -> list[m.FileChangedEvent]:
    """A file that moved is deleted here and created there."""
    if event.change != "moved":
        return [_changed(event, event.path, event.change)]
    gone = m.FileChangedEvent(file_path=event.path, change_type="deleted")
    return [gone, _changed(event, event.move_to or event.path, "created")]


def _changed(event: ev.FileChanged, path: str, change: m.FileChangeType) -> m.FileChangedEvent:
    return m.FileChangedEvent(
        file_path=path, change_type=change, diff=event.diff, before=event.before, after=event.after
    )


def todo_list(event: ev.PlanUpdated) -> m.TodoListEvent:
    return m.TodoListEvent(
        items=[
            m.TodoItem(text=entry.text, completed=entry.status == "completed", status=entry.status)
            for entry in event.entries
        ]
    )


def retry(event: ev.Retry) -> m.RetryEvent:
    return m.RetryEvent(
        attempt=event.attempt,
        max_attempts=event.max_attempts,
        delay_ms=event.delay_ms,
        message=event.reason,
    )


def system(event: Event) -> m.SystemEvent:
    """What an event says beside its envelope; what is unknown or empty is left out."""
    values = {name: getattr(event, name) for name in event.__struct_fields__ if name not in _ENVELOPE}
    data = {
        name: value for name, value in values.items() if value is not None and value != [] and value != {}
    }
    return m.SystemEvent(subtype=m.SUBTYPES[type(event)], data=data)


def arguments(input: Any) -> dict[str, Any]:
    if isinstance(input, dict):
        return input
    return {} if input is None else {"input": input}
