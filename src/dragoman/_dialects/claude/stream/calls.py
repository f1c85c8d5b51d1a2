"""Tool calls, the subagents and background tasks that they start, and the plan that some of them keep."""

from typing import Any, Final

from msgspec import Struct

from dragoman._dialects.claude.shared import results
from dragoman._dialects.claude.stream import messages as m
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._wire import fields
from dragoman._wire.content import text_and_blocks, text_of_content
from dragoman._wire.ledger import Ledger

_AGENT_TOOLS: Final = ("Task", "Agent")
_REJECTED: Final = "User rejected tool use"
_DENIED: Final = ("Claude requested permissions to ", "Permission to use ", "This command requires approval")
"""How the CLI words a denial by its own rules, which 2.1.197 marks in no other way (capture
perm_denied_default)."""
_TASK_STATUS: Final[dict[str, ev.ToolStatus]] = {
    "completed": "completed",
    "failed": "failed",
    "stopped": "cancelled",
    "killed": "cancelled",
}


class Call(Struct):
    name: str
    input: Any
    parent: str | None
    background: bool = False
    """Its result only said that it runs on; the end comes with a task_notification."""
    withdrawn: bool = False
    """The agent took its permission request back: an interrupt, not a denial."""


class Calls:
    """The calls that have not ended, their subagents and tasks, and the plan."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._calls: dict[str, Call] = {}
        self._tasks: dict[str, str] = {}
        """Call ids by task id."""
        self._agents: set[str] = set()
        """Calls whose subagent was seen."""
        self._plan = results.TaskPlan()

    def parent_of(self, call_id: str | None) -> str | None:
        call = self._calls.get(call_id) if call_id is not None else None
        return call.parent if call is not None else None

    def withdraw(self, call_id: str | None) -> None:
        if call_id is not None and call_id in self._calls:
            self._calls[call_id].withdrawn = True

    # --- starts ------------------------------------------------------------------------------------------

    def begin(self, call_id: str, name: str, input: Any, parent: str | None, model: str | None) -> None:
        self._calls[call_id] = Call(name, input, parent)
        started = toolnames.tool_started(call_id, name, input)
        started.parent, started.model = parent, model
        self._ledger.put(started)

    def ensure_subagent(self, parent: str, message: m.Assistant | m.User) -> None:
        """Start the subagent that a line is from, if no task_started did."""
        if parent not in self._agents:
            self._agents.add(parent)
            self._ledger.put(
                ev.SubagentStarted(
                    call_id=parent,
                    agent_id=message.agent_id,
                    agent_type=message.subagent_type,
                    description=message.task_description,
                    parent=self.parent_of(parent),
                )
            )

    def on_permission_denied(self, message: m.PermissionDenied) -> None:
        """A tool denied by the agent's own rules: a permission request that nobody was asked, and its
        answer."""
        call_id = message.tool_use_id
        request_id = call_id or message.uuid or ""
        call = self._calls.get(call_id) if call_id is not None else None
        name = message.tool_name or (call.name if call is not None else None)
        parent = self.parent_of(call_id)
        self._ledger.put(
            ev.PermissionRequested(
                request_id=request_id,
                call_id=call_id,
                tool_name=name,
                kind=toolnames.kind_of(name or ""),
                input=call.input if call is not None else None,
                reason=message.decision_reason,
                parent=parent,
                synthesized=True,
            )
        )
        self._ledger.put(
            ev.PermissionResolved(
                request_id=request_id,
                outcome="denied",
                by="agent",
                rule=message.decision_reason_type,
                message=message.message,
                parent=parent,
            )
        )

    def progress(self, message: m.ToolProgress) -> None:
        """A tool_progress. The id of a shell's is made up (`bash-progress-0`), and the call's id is in
        parent_tool_use_id (capture tool_progress_remote); the specification has the call's own id."""
        ids = (message.tool_use_id, message.parent_tool_use_id)
        call_id = next((id for id in ids if id in self._calls), message.tool_use_id)
        if call_id is not None:
            self._ledger.put(
                ev.ToolUpdated(
                    call_id=call_id, elapsed=message.elapsed_time_seconds, parent=self.parent_of(call_id)
                )
            )

    # --- results -----------------------------------------------------------------------------------------

    def end(self, result: dict[str, Any], structured: Any, meta: dict[str, Any], parent: str | None) -> None:
        """Take in a tool_result block. `structured` is the line's tool_use_result, None if the line has
        several results."""
        call_id = result.get("tool_use_id")
        if not isinstance(call_id, str):
            return
        call = self._calls.get(call_id) or Call("", None, parent)
        text, blocks = text_and_blocks(result.get("content"))
        if results.in_background(structured, text):
            call.background = True
            self._ledger.put(
                ev.ToolUpdated(call_id=call_id, output=text, structured=structured, parent=call.parent)
            )
            return
        failed = result.get("is_error") is True
        status = self._status(call_id, call, text, structured, meta) if failed else "completed"
        if status in ("completed", "failed") and toolnames.kind_of(call.name) == "edit":
            change = results.change_of(call_id, call.input, structured, text, failed=failed)
            if change is not None:
                change.parent = call.parent
                self._ledger.put(change)
        if not failed:
            entries = self._plan.on_tool_result(call.name, call.input, structured)
            if entries is not None:
                self._ledger.put(ev.PlanUpdated(entries=entries, parent=call.parent))
        if call.name in _AGENT_TOOLS and (not failed or call_id in self._agents):
            self._put_agent_end(call_id, call, text, structured, failed)
        self._close(
            ev.ToolEnded(
                call_id=call_id,
                status=status,
                output=text,
                structured=structured,
                content=blocks,
                error=ev.ErrorInfo(message=text) if failed else None,
                exit_code=results.exit_code(text) if failed and call.name == "Bash" else None,
                parent=call.parent,
            )
        )

    def skip(self, call_id: str) -> None:
        """End a call that a hook put off: the turn ended without it (capture hook_defers)."""
        if self._ledger.tool_open(call_id):
            self._close(ev.ToolEnded(call_id=call_id, status="skipped", parent=self.parent_of(call_id)))

    def _close(self, ended: ev.ToolEnded) -> None:
        self._ledger.put(ended)
        self._calls.pop(ended.call_id, None)

    def _status(
        self, call_id: str, call: Call, text: str, structured: Any, meta: dict[str, Any]
    ) -> ev.ToolStatus:
        """The status of a call that ended with is_error: a denial, an interrupt and a failure differ in
        nothing else but their text."""
        if self._ledger.tool_denied(call_id) or text.startswith(_DENIED):
            return "declined"
        if fields.value(meta.get("permission_decision"), "decision") == "reject":
            return "declined"
        if structured == _REJECTED or meta.get("non_execution_kind") == "user-rejected":
            asked = self._ledger.tool_asked(call_id) and not call.withdrawn
            return "declined" if asked else "cancelled"
        return "failed"

    # --- subagents and background tasks ------------------------------------------------------------------

    def _put_agent_end(self, call_id: str, call: Call, text: str, structured: Any, failed: bool) -> None:
        said = fields.as_mapping(structured)
        report = text_of_content(said["content"]) if "content" in said else text
        self._agents.add(call_id)
        self._ledger.put(
            ev.SubagentEnded(
                call_id=call_id,
                agent_id=fields.text(said, "agentId"),
                status="failed" if failed else fields.text(said, "status") or "completed",
                summary=report or None,
                parent=call.parent,
            )
        )

    def task(self, message: m.Task) -> None:
        task_id = message.task_id or ""
        call_id = message.tool_use_id or self._tasks.get(task_id)
        if call_id is None:
            self._ledger.put(_task_status(message))
            return
        self._tasks[task_id] = call_id
        if message.subtype == "task_started" and message.task_type == "local_agent":
            self._agents.add(call_id)
            self._ledger.put(
                ev.SubagentStarted(
                    call_id=call_id,
                    agent_id=message.task_id,
                    agent_type=message.subagent_type,
                    description=message.description,
                    parent=self.parent_of(call_id),
                )
            )
        elif message.subtype == "task_notification":
            self._on_notification(call_id, message)
        else:
            self._ledger.put(self._task_update(call_id, message))

    def _task_update(self, call_id: str, message: m.Task) -> ev.ToolUpdated:
        spent = fields.number(message.usage, "duration_ms")
        status = (message.patch or {}).get("status") or message.status
        ext = {"claude.taskId": message.task_id, "claude.taskStatus": status}
        return ev.ToolUpdated(
            call_id=call_id,
            title=message.description if message.subtype == "task_progress" else None,
            elapsed=spent / 1000 if spent is not None else None,
            parent=self.parent_of(call_id),
            ext={name: value for name, value in ext.items() if value is not None},
        )

    def _on_notification(self, call_id: str, message: m.Task) -> None:
        call = self._calls.get(call_id)
        if call is not None and _repeats_the_task(call, message):
            self._ledger.put(self._task_update(call_id, message))
            return
        if call_id in self._agents:
            self._ledger.put(
                ev.SubagentEnded(
                    call_id=call_id,
                    agent_id=message.task_id,
                    status=message.status,
                    summary=message.summary,
                    parent=self.parent_of(call_id),
                )
            )
        if call is not None and call.background:
            self._close(
                ev.ToolEnded(
                    call_id=call_id,
                    status=_TASK_STATUS.get(message.status or "", "failed"),
                    output=message.summary,
                    parent=call.parent,
                )
            )
        elif call_id not in self._agents:
            self._ledger.put(self._task_update(call_id, message))


def _repeats_the_task(call: Call, message: m.Task) -> bool:
    """Whether a notification only repeats the task of a subagent: in 2.1.197 the report is in the tool's
    result (capture subagent)."""
    task = fields.value(call.input, "description")
    return not call.background and message.status == "completed" and message.summary == task


def _task_status(message: m.Task) -> ev.SessionStatus:
    """The event for a task that belongs to no known call."""
    status = (message.patch or {}).get("status") or message.status or message.subtype.removeprefix("task_")
    return ev.SessionStatus(
        status=f"task_{status}",
        message=message.summary or message.description,
        ext={"claude.taskId": message.task_id} if message.task_id else {},
    )
