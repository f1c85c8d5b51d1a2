"""Subagents: they have threads of their own, and what they do belongs to the session that sent them."""

import json
from typing import Any

import pytest

from dragoman import (
    Capability,
    Message,
    PermissionRequested,
    PermissionResolved,
    SubagentEnded,
    SubagentStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from dragoman.testing import Hold, Script, script, tool, turn
from tests.real.capability_marks import exercises
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio

TOUCH = tool("exec_command", cmd="touch counted")


def wait_for_it(request: Any) -> Any:
    """The id of the subagent is in what the model was told of it."""
    agent = json.loads(request.messages[-1]["output"])["agent_id"]
    return tool("multi_agent_v1.wait_agent", targets=[agent], timeout_ms=30_000)


def counting(*child: Any) -> Script:
    """Someone is sent to count, and waited for."""
    spawn = tool("multi_agent_v1.spawn_agent", message="[[count]] Count the files.")
    return script([spawn, wait_for_it, "It counted seven."], routes={"count": child})


@exercises(Capability.SUBAGENTS)
async def test_a_subagent_that_is_waited_for(codex: Pinned) -> None:
    async with codex.open(counting(TOUCH, "Seven files."), approve="all") as run:
        said = await run.turn("How many files?")
        told = json.dumps(run.model.requests_of("main")[-1].messages)
        assert len(run.model.requests_of("count")) == 2
    assert (codex.cwd / "counted").exists()
    assert "Seven files." in told
    spawn, wait = said.of(ToolStarted, parent=None)
    assert (spawn.name, wait.name) == ("spawn_agent", "wait")
    [shell] = [call for call in said.of(ToolStarted) if call.parent == spawn.call_id]
    assert (shell.name, shell.title) == ("shell", "touch counted")
    started, ended = said.one(SubagentStarted), said.one(SubagentEnded)
    assert started.call_id == ended.call_id == spawn.call_id
    assert started.agent_id == ended.agent_id != run.session.id
    assert (ended.status, ended.summary) == ("completed", "Seven files.")
    assert ended.usage is not None
    assert ended.usage.output_tokens == 40
    assert {done.call_id: done.status for done in said.of(ToolEnded)} == {
        call.call_id: "completed" for call in (spawn, wait, shell)
    }
    assert said.one(Message, role="assistant", parent=spawn.call_id).text == "Seven files."
    assert [m.text for m in said.of(Message, role="assistant", parent=None)] == ["It counted seven."]
    assert {event.session for event in said} == {run.session.id}
    assert said.ended.text == "It counted seven."
    assert said.ended.usage is not None
    assert said.ended.usage.output_tokens == 60  # without what the subagent used
    assert len(run.events.of(TurnEnded)) == 1


async def test_a_subagent_asks_for_permission(codex: Pinned) -> None:
    async with codex.open(counting(TOUCH, "I was not allowed to."), approve=lambda request: False) as run:
        said = await run.turn("How many files?")
    assert list(codex.cwd.iterdir()) == []
    [spawn] = said.of(ToolStarted, name="spawn_agent")
    request = said.one(PermissionRequested)
    assert (request.title, request.parent) == ("touch counted", spawn.call_id)
    assert said.one(PermissionResolved).outcome == "denied"
    assert said.one(ToolEnded, call_id=request.call_id).status == "declined"
    assert said.one(SubagentEnded).summary == "I was not allowed to."


async def test_closing_stops_a_subagent_at_work(codex: Pinned) -> None:
    lines = counting(turn("Never said.", hold=Hold("never")))
    async with codex.open(lines, approve="all") as run:
        run.session.prompt("How many files?")
        await run.held("never")
        await run.until(ToolStarted, name="wait")
    assert run.events.one(TurnEnded).outcome == "cancelled"
    assert run.events.of(Message, text="Never said.") == []
    assert len(run.events.of(SubagentStarted)) == 1


async def test_ask_does_not_wait_for_a_subagent_that_codex_does_not_wait_for(codex: Pinned) -> None:
    """It never begins a turn by itself: there is nothing to wait for."""
    spawn = tool("multi_agent_v1.spawn_agent", message="[[count]] Count the files.")
    lines = script(
        [spawn, "I have sent someone."], routes={"count": [turn("Never said.", hold=Hold("never"))]}
    )
    result = await codex.ask(lines, "How many files?", approve="all")
    assert (result.outcome, result.text) == ("completed", "I have sent someone.")
    assert [event for event in result.events if isinstance(event, SubagentStarted)]
