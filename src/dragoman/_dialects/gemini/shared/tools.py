"""What Gemini CLI's own tools mean beyond themselves: the plan that one keeps, the subagents that one starts."""

from typing import Any, Final, Literal

from dragoman._model.events import PlanEntry, SubagentStarted
from dragoman._wire import fields

SUBAGENT_TOOL: Final = "invoke_agent"
PLAN_TOOLS: Final = ("write_todos", "WriteTodosTool")

_STATUS: Final[dict[str, Literal["pending", "in_progress", "completed"]]] = {
    "pending": "pending",
    "blocked": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}


def plan_entries(input: Any) -> list[PlanEntry]:
    """The entries in `todos`, the argument of write_todos; cancelled ones are left out."""
    return [
        PlanEntry(text=text, status=_STATUS[status])
        for item in fields.mappings(input, "todos")
        if (text := fields.text(item, "description")) is not None
        and isinstance(status := item.get("status", "pending"), str)
        and status in _STATUS
    ]


def subagent_started(call_id: str, input: Any, agent_id: str | None = None) -> SubagentStarted:
    return SubagentStarted(
        call_id=call_id,
        agent_id=agent_id,
        agent_type=fields.text(input, "agent_name"),
        description=fields.text(input, "prompt"),
    )
