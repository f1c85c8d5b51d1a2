"""Tools, and the subagents that some of them start."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._model import events as ev
from tests.dialects.claude.transcript.transcript_files import NEW, OLD, files, lines, read
from tests.interpreted import of


@pytest.mark.parametrize("version", [OLD, NEW], ids=lambda path: path.name)
def test_parallel_tools_are_all_there(version: Path) -> None:
    """Their results branch the tree: a walk from the leaf sees one of three."""
    events = read(version / "parallel_tools" / "session.jsonl")
    assert [tool.title for tool in of(events, ev.ToolStarted)][:2] == ["sleep 1; echo one", "echo two"]
    assert [tool.output for tool in of(events, ev.ToolEnded)] == ["1\tx\n2\t", "two", "one"]
    assert [tool.call_id for tool in reversed(of(events, ev.ToolEnded))] == [
        tool.call_id for tool in of(events, ev.ToolStarted)
    ]


def test_denied_tools_are_declined() -> None:
    events = read(OLD / "perm_denied_default" / "session.jsonl")
    declined = [tool.call_id for tool in of(events, ev.ToolEnded) if tool.status == "declined"]
    assert len(declined) == 2
    assert [denial.call_id for denial in of(events, ev.TurnEnded)[0].denials] == declined


STOPPED = "Correction to the text above: this call was stopped while running, not refused before it ran."


@pytest.mark.parametrize(("more", "status"), [("", "declined"), (STOPPED, "cancelled")])
def test_what_an_interrupt_stopped_is_cancelled(more: str, status: str) -> None:
    """2.1.325 says so in words alone; the kind of denial is the same."""
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "sleep 9"}}
    text = f"The user doesn't want to proceed with this tool use. {more}"
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": text}
    [ended] = of(
        lines(
            {"type": "assistant", "sessionId": "s", "uuid": "u1", "message": {"id": "m1", "role": "assistant", "content": [use]}},
            {"type": "user", "sessionId": "s", "uuid": "u2", "toolDenialKind": "user-rejected", "message": {"role": "user", "content": [result]}},
        ),
        ev.ToolEnded,
    )  # fmt: skip
    assert ended.status == status


def test_an_open_tool_is_abandoned() -> None:
    (tool,) = of(read(OLD / "kill_sigterm" / "session.jsonl"), ev.ToolEnded)
    assert (tool.status, tool.synthesized) == ("abandoned", True)


def test_mcp_tools() -> None:
    events = read(OLD / "mcp_tool" / "session.jsonl")
    tool = of(events, ev.ToolStarted)[0]
    assert (tool.name, tool.server, tool.native_name, tool.kind) == ("echo", "demo", "mcp__demo__echo", "mcp")
    assert [ended.status for ended in of(events, ev.ToolEnded)] == [
        "completed",
        "completed",
        "failed",
        "completed",
        "completed",
    ]


def test_a_background_command_ends_with_its_notification() -> None:
    events = read(OLD / "bash_background" / "session.jsonl")
    (updated,) = of(events, ev.ToolUpdated)
    assert (updated.output or "").startswith("Command running in background")
    (ended,) = of(events, ev.ToolEnded)
    assert (ended.status, ended.exit_code, ended.turn) == ("completed", 0, 2)
    assert [turn.prompt for turn in of(events, ev.TurnStarted)] == ["bg", None]


def test_plans() -> None:
    plans = of(read(OLD / "todo" / "session.jsonl"), ev.PlanUpdated)
    assert [[(entry.text, entry.status) for entry in plan.entries] for plan in plans] == [
        [("First", "pending")],
        [("First", "in_progress")],
        [("First", "completed")],
    ]


def test_structured_output() -> None:
    (turn,) = of(read(OLD / "json_schema_ok" / "session.jsonl"), ev.TurnEnded)
    assert turn.structured_output == {"name": "Bob", "age": 5}


@pytest.mark.parametrize(
    "scenario",
    [OLD / "subagent", OLD / "subagent_background", NEW / "subagent_bidi"],
    ids=lambda path: path.name,
)
def test_subagents_speak_inside_their_call(scenario: Path) -> None:
    events = read(*files(scenario))
    calls = {tool.call_id: tool for tool in of(events, ev.ToolStarted) if tool.kind == "think"}
    aside = [message for message in of(events, ev.Message) if message.parent is not None]
    assert {message.parent for message in aside} == set(calls)
    prompts = {message.parent: message.text for message in aside if message.role == "user"}
    assert prompts == {call_id: tool.input["prompt"] for call_id, tool in calls.items()}
    assert {agent.call_id for agent in of(events, ev.SubagentStarted)} == set(calls)
    assert [agent.status for agent in of(events, ev.SubagentEnded)] == ["completed"] * len(calls)


def test_a_subagents_file_alone() -> None:
    (path,) = (OLD / "subagent").glob("subagent-*.jsonl")
    events = read(path)
    assert of(events, ev.TurnStarted) == []
    (started,) = of(events, ev.SubagentStarted)
    assert path.name == f"subagent-{started.agent_id}.jsonl"
    (ended,) = of(events, ev.SubagentEnded)
    assert (ended.agent_id, ended.status, ended.summary) == (
        started.agent_id,
        "completed",
        "Sub final report.",
    )


def test_a_meta_file_names_the_call() -> None:
    (meta,) = (OLD / "subagent").glob("subagent-*.meta.json")
    (path,) = (OLD / "subagent").glob("subagent-*.jsonl")
    call_id = json.loads(meta.read_text())["toolUseId"]
    events = read(meta, path)
    assert of(events, ev.NativeUnknown) == []
    assert {message.parent for message in of(events, ev.Message)} == {call_id}


def test_older_files_have_the_branch_inside() -> None:
    def entry(uuid: str, parent: str | None, kind: str, content: Any, aside: bool = False) -> dict[str, Any]:
        return {
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "isSidechain": aside,
            "sessionId": "s",
            "cwd": "/w",
            "version": "1.0.0",
            "message": {"id": f"m{uuid}", "role": kind, "model": "x", "content": content},
        }

    call = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look", "description": "L"}}
    events = lines(
        entry("1", None, "user", "go"),
        entry("2", "1", "assistant", [call]),
        entry("3", None, "user", "look", aside=True),
        entry("4", "3", "assistant", [{"type": "text", "text": "seen"}], aside=True),
        entry("5", "2", "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "seen"}]),
    )
    assert broken(events) == []
    assert [(message.text, message.parent) for message in of(events, ev.Message)] == [
        ("go", None),
        ("look", "t1"),
        ("seen", "t1"),
    ]
