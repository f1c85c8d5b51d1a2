"""Subagents: those the agent waits for, and those that report later, in a turn of their own."""

from typing import Any

import pytest

from dragoman import (
    Capability,
    Message,
    SubagentEnded,
    SubagentStarted,
    ToolEnded,
    ToolStarted,
    ToolUpdated,
    TurnEnded,
)
from dragoman.testing import Hold, script, tool, turn
from tests.real.capability_marks import exercises
from tests.real.driving import Events, Pinned, told

pytestmark = pytest.mark.anyio

NOT_BEHIND_OUR_BACK = {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}
TASK = {
    "description": "Count files",
    "prompt": "[[count]] Count the files.",
    "subagent_type": "general-purpose",
}


@exercises(Capability.SUBAGENTS)
async def test_a_subagent_that_is_waited_for(claude: Pinned) -> None:
    lines = script(
        [tool("Task", **TASK), "It counted seven."],
        routes={"count": [tool("Bash", command="touch counted"), "Seven files."]},
    )
    async with claude.open(lines, approve="all", env=NOT_BEHIND_OUR_BACK) as run:
        said = await run.turn("How many files?")
        answer = told(run.model)
        assert len(run.model.requests_of("count")) == 2
    assert (claude.cwd / "counted").exists()
    assert "Seven files." in answer
    task, bash = said.of(ToolStarted)
    assert (task.name, task.parent) == ("Task", None)
    assert (bash.name, bash.parent) == ("Bash", task.call_id)
    started, ended = said.one(SubagentStarted), said.one(SubagentEnded)
    assert started.call_id == ended.call_id == task.call_id
    assert started.description == "Count files"
    assert ended.status == "completed"
    assert "Seven files." in (ended.summary or "")
    assert {done.call_id: done.status for done in said.of(ToolEnded)} == {
        task.call_id: "completed",
        bash.call_id: "completed",
    }
    assert [m.text for m in said.of(Message, role="assistant", parent=None)] == ["It counted seven."]
    assert said.ended.text == "It counted seven."
    assert said.ended.cost_usd is not None
    assert len(run.events.of(TurnEnded)) == 1


def behind_our_back(claude: Pinned) -> dict[str, Any]:
    """A task that is not waited for."""
    return TASK | ({"run_in_background": True} if claude.differs("tasks_are_waited_for") else {})


async def test_a_subagent_that_reports_in_a_turn_of_its_own(claude: Pinned) -> None:
    lines = script(
        [tool("Task", **behind_our_back(claude)), "I have sent someone.", "Seven, I hear."],
        routes={"count": [turn("Seven files.", hold=Hold("count"))]},
    )
    in_one_turn = claude.differs("a_turn_waits_for_its_tasks")
    async with claude.open(lines, approve="all") as run:
        stream = run.session.prompt("How many files?")
        await run.until(Message, text="I have sent someone.")
        if not in_one_turn:
            await run.until(TurnEnded)
        assert run.events.one(SubagentStarted).description == "Count files"
        assert run.events.of(SubagentEnded) == []
        assert run.events.of(ToolEnded) == []
        assert run.events.of(ToolUpdated)
        run.model.open("count")
        ended = await run.until(SubagentEnded)
        last = await run.until(TurnEnded)
        first = Events([event async for event in stream])
        answer = told(run.model, 2)
    assert first.said() == ["I have sent someone.", "Seven, I hear."][: 2 if in_one_turn else 1]
    assert ended.call_id == first.one(ToolStarted).call_id
    assert ended.status == "completed"
    assert "Seven files." in answer
    assert (last.turn, last.outcome, last.text) == (1 if in_one_turn else 2, "completed", "Seven, I hear.")
    assert run.events.one(ToolEnded).status == "completed"
    silent = claude.differs("tasks_in_the_background_are_silent")
    found = [message.parent for message in run.events.of(Message, text="Seven files.")]
    assert found == ([] if silent else [ended.call_id])


async def test_ask_waits_for_what_a_subagent_finds(claude: Pinned) -> None:
    lines = script(
        [tool("Task", **behind_our_back(claude)), "First words.", "Last words."],
        routes={"count": ["Seven files."]},
    )
    result = await claude.ask(lines, "How many files?", approve="all")
    assert (result.outcome, result.text) == ("completed", "Last words.")
    assert any(isinstance(event, SubagentEnded) for event in result.events)
