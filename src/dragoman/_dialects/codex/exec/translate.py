"""What single items mean, where no memory is needed: stateless and total."""

from collections.abc import Callable
from typing import Any, Final

from dragoman._dialects.codex.exec import messages as m
from dragoman._dialects.codex.shared import values as v
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._wire import fields
from dragoman._wire.jsontext import repaired_text

Ext = dict[str, Any]

COMMANDS: Final = frozenset(("command_execution", "tool_call", "shell"))
"""The specification's aliases of one thing."""
CHANGES: Final = frozenset(("file_change", "file_edit"))
TEXTS: Final[dict[str, ev.MessageKind]] = {"agent_message": "text", "reasoning": "thinking"}

_ACTIONS: Final[dict[str, ev.ToolKind]] = {
    "shell": "execute",
    "file_write": "edit",
    "file_read": "read",
    "mcp_tool": "mcp",
}
_DECISIONS: Final[dict[str, str]] = {
    "allow": "allow_once",
    "deny": "reject_once",
    "allow_always": "allow_always",
    "deny_always": "reject_always",
}


def message(item: m.Item) -> ev.Message:
    kind = TEXTS[item.type]
    if kind == "text" and item.phase == "commentary":
        kind = "commentary"
    return ev.Message(role="assistant", kind=kind, text=item.text or "", message_id=item.id or None)


def delta(item: m.Item) -> ev.Delta:
    kind: ev.DeltaKind = "thinking" if item.type == "reasoning" else "text"
    return ev.Delta(kind=kind, text=item.text or "", message_id=item.id or None)


# --- tools -------------------------------------------------------------------------------------------------


def tool_started(item: m.Item) -> ev.ToolStarted:
    """The start of a tool, from its item."""
    return _STARTS.get(item.type, _command_started)(item, {"codex.itemType": item.type})


def _command_started(item: m.Item, ext: Ext) -> ev.ToolStarted:
    name = item.name or item.tool
    if item.command is None and name is not None:
        return _with(ext, v.tool_started(item.id, name, None, item.arguments))
    return v.shell_started(item.id, item.command, None, ext=ext)


def _mcp_started(item: m.Item, ext: Ext) -> ev.ToolStarted:
    return v.mcp_started(item.id, item.server, item.tool or item.name, item.arguments, ext)


def _search_started(item: m.Item, ext: Ext) -> ev.ToolStarted:
    given = {"query": item.query, "action": item.action}
    return ev.ToolStarted(
        call_id=item.id, name="web_search", kind="browse", title=item.query or None, input=given, ext=ext
    )


def _collab_started(item: m.Item, ext: Ext) -> ev.ToolStarted:
    given = {"prompt": item.prompt, "receiver_thread_ids": item.receiver_thread_ids or []}
    return _with(ext, toolnames.tool_started(item.id, item.tool or "spawn_agent", given))


def _with(ext: Ext, started: ev.ToolStarted) -> ev.ToolStarted:
    started.ext = ext
    return started


_STARTS: Final[dict[str, Callable[[m.Item, Ext], ev.ToolStarted]]] = {
    "mcp_tool_call": _mcp_started,
    "web_search": _search_started,
    "collab_tool_call": _collab_started,
}
"""By an item's type; of all others it is that of a command."""


def patch_started(item: m.Item, changes: list[ev.FileChanged]) -> ev.ToolStarted:
    """The start of a patch with these changes."""
    return v.patch_started(item.id, changes, native_changes(item), {"codex.itemType": item.type})


def tool_ended(item: m.Item) -> ev.ToolEnded:
    """The end of a tool, from its item. Its status is the item's `status`; where that is missing or no end,
    `error` and `exit_code` decide."""
    if item.type == "mcp_tool_call":
        result = v.Result(item.result, item.error)
        output, structured, content = result.output, result.structured, result.content
        error = result.error
    else:
        said: Any = item.aggregated_output
        output, content = said if said is None or said.isascii() else repaired_text(said), []
        structured = item.result if item.result is not None else item.agents_states or None
        error = v.error_of(item.error)
    failed = error is not None or item.exit_code not in (0, None)
    status = v.STATUSES.get(item.status or "") or ("failed" if failed else "completed")
    if error is None and status != "completed":
        error = _error(item, status, output)
    return ev.ToolEnded(
        call_id=item.id,
        status=status,
        output=output,
        structured=structured,
        content=content,
        error=error,
        exit_code=item.exit_code,
    )


def _error(item: m.Item, status: ev.ToolStatus, output: str | None) -> ev.ErrorInfo:
    if item.exit_code is not None:
        return ev.ErrorInfo(message=f"exit code {item.exit_code}")
    said = output if item.type == "mcp_tool_call" else item.message
    return ev.ErrorInfo(message=said or status)


def native_changes(item: m.Item) -> Any:
    if item.type == "file_edit":
        return [{"path": item.file_path, "kind": "update", "diff": item.diff}]
    return item.changes


def changes(item: m.Item, *, over: bool) -> list[ev.FileChanged]:
    """One event for each file in the item's `changes`; proposed while the item is not `over`."""
    phase: v.Phase = "proposed"
    if over:
        phase = "applied" if v.STATUSES.get(item.status or "", "completed") == "completed" else "failed"
    return v.changes_of(native_changes(item), item.id, phase)


# --- plans, questions, permissions -------------------------------------------------------------------------


def plan(item: m.Item, phase: str) -> ev.PlanUpdated:
    items = item.items or []
    return ev.PlanUpdated(
        entries=[
            ev.PlanEntry(
                text=fields.text(entry, "text") or "",
                status="completed" if fields.flag(entry, "completed") else "pending",
            )
            for entry in items
        ],
        ext={"codex.todoItems": items, "codex.itemId": item.id, "codex.itemPhase": phase},
    )


def question(item: m.Item) -> ev.QuestionAsked:
    return ev.QuestionAsked(
        request_id=item.id,
        message=item.text or item.message or item.prompt,
        questions=item.questions or [],
    )


def answer(item: m.Item) -> ev.QuestionAnswered:
    status = v.STATUSES.get(item.status or "", "completed")
    action: Any = {"completed": "accepted", "declined": "declined"}.get(status, "cancelled")
    return ev.QuestionAnswered(request_id=item.id, action=action, answers=item.result)


def permission(asked: m.ApprovalRequired) -> ev.PermissionRequested:
    given = asked.tool_input
    if given is None and asked.command is not None:
        given = {"command": asked.command}
    return ev.PermissionRequested(
        request_id=asked.id,
        tool_name=asked.tool_name or asked.action_type,
        kind=_ACTIONS.get(asked.action_type or "", "other"),
        input=given,
        title=asked.description,
        blocked_path=asked.file_path,
        options=[ev.PermissionOption(id=id, name=id, kind=kind) for id, kind in _DECISIONS.items()],
    )


def decision(response: m.Response) -> ev.PermissionResolved | None:
    if response.approval_id is None:
        return None
    allowed = (response.decision or "").startswith("allow")
    return ev.PermissionResolved(
        request_id=response.approval_id,
        outcome="allowed" if allowed else "denied",
        option_id=response.decision,
        message=response.message,
    )
