"""What the structured results of Claude Code's own tools say, on the wire (`tool_use_result`) and on disk
(`toolUseResult`) alike. Pure and total: a result is any JSON."""

import re
from typing import Any, Final

from msgspec import Struct

from dragoman._model.events import FileChanged, PlanEntry
from dragoman._model.patches import between, from_hunks
from dragoman._wire import fields


def file_change(call_id: str, result: Any) -> FileChanged | None:
    """The change in the result of Write, Edit, MultiEdit or NotebookEdit; None if it has none (capture
    tools_basic)."""
    if not isinstance(result, dict):
        return None
    notebook = fields.text(result, "notebook_path")
    if notebook is not None and "updated_file" in result:
        before, after = (fields.text(result, key) for key in ("original_file", "updated_file"))
        diff = between(notebook, before, after)
        return FileChanged(
            path=notebook, change="modified", diff=diff, before=before, after=after, call_id=call_id
        )
    path = fields.text(result, "filePath")
    if path is None or "structuredPatch" not in result:
        return None
    created = result.get("type") == "create"
    after = fields.text(result, "content")
    diff = from_hunks(path, result["structuredPatch"], created=created)
    if diff is None and created:  # a new file has no hunks, only its content
        diff = between(path, None, after)
    return FileChanged(
        path=path,
        change="created" if created else "modified",
        diff=diff,
        before=fields.text(result, "originalFile"),
        after=after,
        call_id=call_id,
    )


def change_of(call_id: str, input: Any, result: Any, text: str, *, failed: bool) -> FileChanged | None:
    """The change that an edit made, or tried to make. Results inside subagents have no structure: there the
    call's input and the result's text must do (capture subagent_bidi)."""
    change = file_change(call_id, result)
    path = fields.text(input, "file_path") or fields.text(input, "notebook_path")
    if change is None and path is not None:
        created = "created successfully" in text
        before = None if created else fields.text(input, "old_string")
        after = fields.text(input, "content" if created else "new_string")
        diff = between(path, before, after) if after is not None else None
        change = FileChanged(
            path=path, change="created" if created else "modified", diff=diff, call_id=call_id
        )
    if change is not None and failed:
        change.phase, change.diff = "failed", None
    return change


_BACKGROUND: Final = ("Command running in background with ID", "Async agent launched successfully")


def in_background(result: Any, text: str = "") -> bool:
    """Whether a result only says that the work goes on in the background (captures bash_background,
    subagent_bidi)."""
    if isinstance(result, dict):
        return result.get("status") == "async_launched" or type(result.get("backgroundTaskId")) is str
    return result is None and text.startswith(_BACKGROUND)


_EXIT: Final = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")
_BACKGROUND_EXIT: Final = re.compile(r"\(exit code (\d{1,3})\)")


def exit_code(output: str) -> int | None:
    """The exit code at the beginning of a failed Bash's output (capture tool_error)."""
    match = _EXIT.match(output)
    return int(match[1]) if match else None


# --- task notifications --------------------------------------------------------------------------------------


class Notification(Struct):
    """A message of a background task, which the CLI writes in the user's name."""

    text: str
    task_id: str | None = None
    call_id: str | None = None
    status: str | None = None
    summary: str | None = None
    result: str | None = None

    @property
    def exit_code(self) -> int | None:
        match = _BACKGROUND_EXIT.search(self.summary or "")
        return int(match[1]) if match else None


_TAG: Final = re.compile(r"<(task-id|tool-use-id|status|summary|result)>(.*?)</\1>", re.DOTALL)


def notification_of(text: str) -> Notification | None:
    if not text.lstrip().startswith("<task-notification>"):
        return None
    found: dict[str, str] = {}
    for match in _TAG.finditer(text):
        found.setdefault(match[1], match[2].strip())
    return Notification(
        text,
        found.get("task-id"),
        found.get("tool-use-id"),
        found.get("status"),
        found.get("summary"),
        found.get("result"),
    )


# --- plans ---------------------------------------------------------------------------------------------------


_PLANNING: Final = frozenset(("TodoWrite", "TaskList", "TaskCreate", "TaskUpdate"))


class TaskPlan:
    """The to-do list as TodoWrite, TaskCreate, TaskUpdate and TaskList leave it (capture tools_basic)."""

    def __init__(self) -> None:
        self._entries: dict[str, PlanEntry] = {}

    def on_tool_result(self, name: str, input: Any, result: Any) -> list[PlanEntry] | None:
        """Take in a completed tool. Returns the whole list if it changed, else None."""
        if name not in _PLANNING:
            return None
        arguments, outcome = fields.as_mapping(input), fields.as_mapping(result)
        before = self._entries.copy()
        if name == "TodoWrite":
            self._entries = _entries(fields.mappings(arguments, "todos"), "content")
        elif name == "TaskList" and isinstance(outcome.get("tasks"), list):
            self._entries = _entries(fields.mappings(outcome, "tasks"), "subject")
        elif name == "TaskCreate" and isinstance(task := outcome.get("task"), dict):
            self._entries |= _entries([{**arguments, **task}], "subject")
        elif name == "TaskUpdate" and fields.flag(outcome, "success"):
            self._update(str(outcome.get("taskId")), arguments)
        return list(self._entries.values()) if self._entries != before else None

    def _update(self, task: str, arguments: dict[str, Any]) -> None:
        if arguments.get("status") == "deleted":
            self._entries.pop(task, None)
            return
        old = self._entries.get(task)
        merged = {
            "id": task,
            "subject": old.text if old else task,
            "status": old.status if old else "pending",
            **arguments,
        }
        self._entries |= _entries([merged], "subject")


def _entries(items: list[dict[str, Any]], key: str) -> dict[str, PlanEntry]:
    """Plan entries by id, or by place where they have none. Always new ones, so that lists handed out before
    stay as they were."""
    entries: dict[str, PlanEntry] = {}
    for item in items:
        if (text := fields.text(item, key)) is not None:
            status: Any = item.get("status")
            if status not in ("pending", "in_progress", "completed"):
                status = "pending"
            entries[str(item.get("id", len(entries)))] = PlanEntry(text=text, status=status)
    return entries
