"""Tool calls, the subagents and background tasks that they start, and the plan that some of them keep."""

from collections.abc import Callable
from typing import Any, Final

from dragoman._dialects.claude.shared import results
from dragoman._dialects.claude.transcript import messages as m
from dragoman._dialects.claude.transcript import translate
from dragoman._dialects.claude.transcript.sidechains import Sidechains
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._wire import fields
from dragoman._wire.content import text_of_content

SUBAGENT_TOOLS: Final = ("Task", "Agent")
_NOTIFIED: Final[dict[str, ev.ToolStatus]] = {"completed": "completed", "failed": "failed"}
"""What became of a background task, by the notification's word; killed and stopped ones were cancelled."""


class Calls:
    """All calls of the run by id, because results do not repeat what was called. `spent_by` tells what the subagent of a
    call has used."""

    def __init__(
        self,
        put: Callable[[Event], None],
        sidechains: Sidechains,
        spent_by: Callable[[str], Usage | None],
    ) -> None:
        self._put = put
        self._sidechains = sidechains
        self._spent_by = spent_by
        self._calls: dict[str, ev.ToolStarted] = {}
        self._plan = results.TaskPlan()

    def on_block(self, part: Any, model: str | None) -> bool:
        """Take in a block of an answer. Returns whether it is a tool call, or the result of a tool that the
        API runs itself."""
        kind = fields.text(part, "type") or ""
        if kind.endswith("tool_use") and (call_id := fields.text(part, "id")) is not None:
            self._begin(call_id, fields.text(part, "name") or "unknown", part.get("input"), model)
        elif kind.endswith("_tool_result") and (call_id := fields.text(part, "tool_use_id")) is not None:
            self._put(translate.server_tool_ended(call_id, part.get("content")))
        else:
            return False
        return True

    def _begin(self, call_id: str, name: str, input: Any, model: str | None) -> None:
        started = toolnames.tool_started(call_id, name, input)
        started.model = model
        self._calls[call_id] = started
        self._put(started)
        if name in SUBAGENT_TOOLS:
            self._sidechains.add_call(call_id, fields.text(input, "prompt"))
            self._put(
                ev.SubagentStarted(
                    call_id=call_id,
                    agent_type=fields.text(input, "subagent_type"),
                    description=fields.text(input, "description"),
                )
            )

    def on_result(self, part: dict[str, Any], entry: m.User, structured: Any) -> ev.Denial | None:
        """Take in a tool_result. Returns the denial, if it is one."""
        call_id = fields.text(part, "tool_use_id")
        if call_id is None:
            return None
        self._sidechains.on_launch(fields.text(structured, "agentId"), call_id)
        said = text_of_content(part.get("content"))
        if results.in_background(structured, said):
            self._put(ev.ToolUpdated(call_id=call_id, output=said, structured=structured))
            return None
        ended = translate.tool_ended(call_id, part, entry, structured)
        call = self._calls.get(call_id)
        name = _native(call)
        if call is not None and ended.status in ("completed", "failed"):
            self._put_effects(call, ended)
        self._end(ended)
        if ended.status != "declined":
            return None
        return ev.Denial(tool_name=name, call_id=call_id, input=call.input if call is not None else None)

    def _put_effects(self, call: ev.ToolStarted, ended: ev.ToolEnded) -> None:
        """Put the change of a file or of the plan that a call made."""
        failed = ended.status == "failed"
        if call.kind == "edit":
            change = results.change_of(
                call.call_id, call.input, ended.structured, ended.output or "", failed=failed
            )
            if change is not None:
                self._put(change)
        if not failed:
            entries = self._plan.on_tool_result(_native(call) or "", call.input, ended.structured)
            if entries is not None:
                self._put(ev.PlanUpdated(entries=entries))

    def on_notification(self, note: results.Notification) -> None:
        """End the call that started a background task, because the task has ended."""
        if note.call_id is None or note.status is None:
            return
        output = note.result or note.summary
        ended = ev.ToolEnded(
            call_id=note.call_id,
            status=_NOTIFIED.get(note.status, "cancelled"),
            output=output,
            exit_code=note.exit_code,
        )
        if ended.status == "failed":
            ended.error = ev.ErrorInfo(message=output or note.status)
        self._end(ended, note.task_id)

    def _end(self, ended: ev.ToolEnded, agent_id: str | None = None) -> None:
        if _native(self._calls.get(ended.call_id)) in SUBAGENT_TOOLS:
            result = fields.as_mapping(ended.structured)
            self._put(
                ev.SubagentEnded(
                    call_id=ended.call_id,
                    agent_id=agent_id or fields.text(result, "agentId"),
                    status=ended.status,
                    summary=text_of_content(result.get("content")) or ended.output,
                    # Its result has a `usage` too, which is that of its last call alone.
                    usage=self._spent_by(ended.call_id),
                )
            )
        self._put(ended)


def _native(call: ev.ToolStarted | None) -> str | None:
    """The tool's name as the agent has it: an MCP server's Task is no Task."""
    return (call.native_name or call.name) if call is not None else None
