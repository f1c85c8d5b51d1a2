"""What Gemini CLI's own tools mean beyond themselves: the plan that one keeps, the subagents that one starts."""

from typing import Any, Final, Literal

from dragoman._model.events import PlanEntry, SubagentStarted

SUBAGENT_TOOL: Final = "invoke_agent"
PLAN_TOOLS: Final = ("write_todos", "WriteTodosTool")

_STATUS: Final[dict[str, Literal["pending", "in_progress", "completed"]]] = {
    "pending": "pending",
    "blocked": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}


def plan_entries(input: Any) -> list[PlanEntry]:
    """The entries of write_todos that are to be done or were done; those that were cancelled are left out."""
    todos = input.get("todos") if isinstance(input, dict) else None
    return [
        PlanEntry(text=item["description"], status=_STATUS[status])
        for item in (todos if isinstance(todos, list) else ())
        if isinstance(item, dict)
        and isinstance(item.get("description"), str)
        and isinstance(status := item.get("status", "pending"), str)
        and status in _STATUS
    ]


def subagent_started(call_id: str, input: Any, agent_id: str | None = None) -> SubagentStarted:
    given = input if isinstance(input, dict) else {}
    name, task = given.get("agent_name"), given.get("prompt")
    return SubagentStarted(
        call_id=call_id,
        agent_id=agent_id,
        agent_type=name if isinstance(name, str) else None,
        description=task if isinstance(task, str) else None,
    )
