"""Single events as items and their parts, where no memory is needed: stateless and total."""

from typing import Any, Final

from dragoman._dialects.agent_event import messages as m
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage

_ENVELOPE: Final = frozenset(Event.__struct_fields__)

_APPROVAL: Final[dict[str, m.ApprovalMode]] = {
    "ask": "ask",
    "dangerous": "askDangerous",
    "edits": "autoEdit",
    "all": "autoAll",
    # what the agents themselves call it (specification 004 §6.4)
    "default": "ask",
    "untrusted": "ask",
    "on-request": "askDangerous",
    "acceptEdits": "autoEdit",
    "auto_edit": "autoEdit",
    "autoEdit": "autoEdit",
    "bypassPermissions": "autoAll",
    "never": "autoAll",
    "yolo": "autoAll",
}
"""Our words first. Codex's `never` means: ask nothing, do all; ours is said by `approve` and has no equal."""

_SANDBOX: Final[dict[str, m.SandboxMode]] = {
    "none": "none",
    "read-only": "readOnly",
    "workspace": "workspaceWrite",
    "full": "fullAccess",
}


def tool_started(event: ev.ToolStarted) -> m.ToolStartedEvent:
    """Under the agent's own name for the tool."""
    return m.ToolStartedEvent(
        tool_id=event.call_id, tool_name=event.native_name or event.name, arguments=arguments(event.input)
    )


def tool_completed(event: ev.ToolEnded) -> m.ToolCompletedEvent:
    success = event.status == "completed"
    message = event.error.message if event.error is not None else None
    return m.ToolCompletedEvent(
        tool_id=event.call_id,
        success=success,
        result=event.output if event.output is not None else event.structured,
        error=None if success else message or event.status,
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


# --- configuration and counts ------------------------------------------------------------------------------


def config_of(vendor: str, run: ev.RunStarted | None, session: ev.SessionStarted) -> m.SessionConfig:
    """What was asked for when the run was launched, else what the agent says of its session."""
    config = run.config if run is not None else {}
    approve = config.get("approve")
    mode = session.permission_mode or session.mode
    return m.SessionConfig(
        agent_type=vendor,
        working_directory=session.cwd or (run.cwd if run is not None else None),
        model=session.model,
        approval_mode=_word(_APPROVAL, None if approve == "never" else approve or mode),
        sandbox_mode=_word(_SANDBOX, config.get("sandbox")),
        allowed_tools=_texts(config.get("allowed_tools")),
        blocked_tools=_texts(config.get("blocked_tools")),
        max_turns=config["max_turns"] if type(config.get("max_turns")) is int else None,
    )


def _word(table: dict[str, Any], word: Any) -> Any:
    return table.get(word) if isinstance(word, str) else None


def _texts(value: Any) -> list[str] | None:
    return [str(item) for item in value] if isinstance(value, list) and value else None


def token_usage(usage: Usage | None) -> m.TokenUsage | None:
    """The counts, where the three that the schema requires are known or follow from each other."""
    if usage is None:
        return None
    read, written, total = usage.input_tokens, usage.output_tokens, usage.total_tokens
    if read is None and total is not None and written is not None:
        read = total - written
    elif written is None and total is not None and read is not None:
        written = total - read
    if read is None or written is None:
        return None
    return m.TokenUsage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=usage.cache_read_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        total_tokens=total if total is not None else read + written,
    )
