"""Codex's items as InsightsEvents, by the model's own table."""

from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from tests import golden
from tests.projections.insights.codex_lines import codex, item
from tests.projections.projected import bare, captured, seen, shown


def test_commands() -> None:
    invoked, completed = codex(
        item("started", "command_execution", command="ls", aggregated_output="", status="in_progress"),
        item(
            "completed",
            "command_execution",
            command="ls",
            aggregated_output="a\n",
            exit_code=2,
            status="failed",
        ),
    )
    del invoked["extensions"]
    assert invoked == {
        "event": "tool_invocation",
        "callId": "1",
        "kind": "execute",
        "toolName": "Bash",
        "title": "ls",
        "input": {"command": "ls"},
    }
    assert completed == {
        "event": "tool_completion",
        "callId": "1",
        "status": "failed",
        "isError": True,
        "output": {"stdout": "a\n", "stderr": "", "exit_code": 2},
        "content": [{"type": "terminal", "output": "a\n", "exitCode": 2}],
    }


def test_file_changes() -> None:
    changes = [{"path": "a.txt", "kind": "add"}, {"path": "b.txt", "kind": "update"}]
    invoked, completed = codex(
        item("started", "file_change", changes=changes, status="in_progress"),
        item("completed", "file_change", changes=changes, status="completed"),
    )
    assert (invoked["toolName"], invoked["kind"], invoked["locations"]) == (
        "FileChange",
        "edit",
        ["a.txt", "b.txt"],
    )
    assert invoked["input"] == {"file_path": "a.txt", "paths": ["a.txt", "b.txt"], "changes": changes}
    assert completed["output"] == {"changes": changes}
    assert [block["filePath"] for block in completed["content"]] == ["a.txt", "b.txt"]
    assert {block["type"] for block in completed["content"]} == {"diff"}


def test_a_kind_that_is_an_object() -> None:
    """As the app-server writes it."""
    native = [{"path": "a", "kind": {"type": "update", "move_path": "b"}, "diff": "@@"}]
    started = ev.ToolStarted(
        call_id="1",
        name="apply_patch",
        kind="edit",
        input={"changes": native},
        agent="codex",
        dialect="codex_app",
    )
    [invoked] = shown("insights", [started])
    assert invoked["input"]["changes"] == [{"path": "a", "kind": "update", "move_path": "b", "diff": "@@"}]


def test_mcp_tools() -> None:
    call = {"server": "db", "tool": "query", "arguments": {"sql": "select"}}
    result = {"content": [{"type": "text", "text": "1"}], "structured_content": {"rows": 1}}
    invoked, completed = codex(
        item("started", "mcp_tool_call", **call, status="in_progress"),
        item("completed", "mcp_tool_call", **call, result=result, status="completed"),
    )
    assert (invoked["toolName"], invoked["kind"], invoked["input"]) == ("mcp__db__query", "mcp", call)
    assert completed["output"] == {"rows": 1}


def test_an_mcp_tool_that_failed() -> None:
    call = {"server": "db", "tool": "query", "arguments": {}}
    failed = item("completed", "mcp_tool_call", **call, error={"message": "no table"}, status="failed")
    completed = codex(item("started", "mcp_tool_call", **call), failed)[-1]
    assert (completed["status"], completed["isError"]) == ("failed", True)
    assert completed["output"] == {"message": "no table"}


def test_texts() -> None:
    texts = codex(
        item("completed", "agent_message", text="Hi"),
        {"type": "item.completed", "item": {"id": "2", "type": "reasoning", "text": "hm"}},
    )
    assert texts == [
        {"event": "text", "text": "Hi", "kind": "text"},
        {"event": "text", "text": "hm", "kind": "thinking"},
    ]


def test_exec_repeats_texts_so_there_are_no_deltas_but_live() -> None:
    lines = [item("started", "agent_message", text="a"), item("completed", "agent_message", text="ab")]
    assert [entry["event"] for entry in codex(*lines)] == ["text"]
    live = [entry.get("textDelta") for entry in codex(*lines, profile="live")]
    assert live == ["a", "b", None, None]


def test_plans() -> None:
    todo = [{"text": "One", "completed": True}, {"text": "Two", "completed": False}]
    assert codex(item("started", "todo_list", items=todo)) == [
        {"event": "text", "text": "One\nTwo", "kind": "plan", "extensions": {"codex.todoItems": todo}}
    ]


def test_the_end_of_a_turn() -> None:
    usage = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3}
    [done] = codex({"type": "turn.completed", "usage": usage})
    assert done == {
        "event": "turn_complete",
        "subtype": "success",
        "usage": {"inputTokens": 10, "outputTokens": 3, "cacheReadTokens": 4},
    }
    [failed] = codex({"type": "turn.failed", "error": {"message": "no"}})
    assert (failed["isError"], failed["subtype"], failed["errors"]) == (True, "error_api", ["no"])


def test_errors_are_texts_unless_it_tries_again() -> None:
    assert codex({"type": "error", "message": "lost"})[0] == {
        "event": "text",
        "text": "lost",
        "kind": "error",
    }
    assert codex({"type": "error", "message": "Reconnecting... 1/5"}) == []


def test_c12_the_threads_total_by_the_table_and_the_turns_own_live() -> None:
    where: dict[str, Any] = {"agent": "codex", "dialect": "codex_app", "session": "t"}
    events: list[Event] = [
        ev.SessionStarted(model="gpt", effort="high", **where),
        ev.UsageUpdated(scope="call", usage=Usage(input_tokens=7, output_tokens=1), **where),
        ev.UsageUpdated(
            scope="session", usage=Usage(input_tokens=70, output_tokens=10), context_window=1000, **where
        ),
        ev.TurnEnded(outcome="completed", usage=Usage(input_tokens=7, output_tokens=1), **where),
    ]
    init, step, done = shown("insights", events)
    assert init["reasoningEffort"] == "high"
    assert step["stepUsage"] == {"input_tokens": 7, "output_tokens": 1}
    assert done["usage"] == {"inputTokens": 70, "outputTokens": 10}
    assert done["modelUsage"] == {"gpt": {"inputTokens": 70, "outputTokens": 10, "contextWindow": 1000}}
    assert done["extensions"]["lastStepUsage"] == {"input_tokens": 7, "output_tokens": 1}
    live = shown("insights", events, profile="live")[-1]
    assert live["usage"] == {"inputTokens": 7, "outputTokens": 1}


@pytest.mark.parametrize(
    "window",
    [
        {"name": "primary", "usedPercent": 12.5, "windowDurationMins": 300, "resetsAt": 1},
        {"name": "primary", "used_percent": 12.5, "window_minutes": 300, "resets_at": 1},
    ],
)
def test_rate_limits(window: dict[str, Any]) -> None:
    limit = ev.RateLimit(
        windows=[window], credits={"hasCredits": True, "unlimited": False}, plan="pro", agent="codex"
    )
    assert bare(shown("insights", [limit]), "provider") == [
        {
            "event": "rate_limit_update",
            "primary": {"usedPercent": 12.5, "windowDurationMins": 300, "resetsAt": 1},
            "credits": {"hasCredits": True, "unlimited": False},
            "planType": "pro",
        }
    ]


def test_permissions() -> None:
    where: dict[str, Any] = {"agent": "codex", "dialect": "codex_app", "session": "t"}
    started = ev.ToolStarted(
        call_id="1",
        name="apply_patch",
        kind="edit",
        input={"changes": [{"path": "a", "kind": "add"}]},
        locations=[ev.Location(path="a")],
        **where,
    )
    asked = ev.PermissionRequested(
        request_id="5",
        call_id="1",
        tool_name="apply_patch",
        kind="edit",
        ext={"codex.grantRoot": "/r"},
        **where,
    )
    command = ev.PermissionRequested(
        request_id="6",
        call_id="2",
        tool_name="shell",
        kind="execute",
        input={"command": "ls", "cwd": "/"},
        reason="why",
        ext={"codex.commandActions": []},
        **where,
    )
    _, patch, shell = shown("insights", [started, asked, command])
    assert patch["toolName"] == "FileChange"
    assert patch["toolInput"] == {"file_path": "a", "changes": [{"path": "a", "kind": "add"}]}
    assert patch["extensions"] == {"codex.grantRoot": "/r"}
    assert (shell["toolName"], shell["toolInput"]) == ("Bash", {"command": "ls", "cwd": "/"})
    assert (shell["reason"], shell["toolUseId"]) == ("why", "2")


@pytest.mark.parametrize(
    ("input", "shown_input"),
    [
        ({"changes": []}, {"file_path": "/r"}),
        (
            {"changes": [{"path": "a", "kind": {"type": "add"}}]},
            {"file_path": "a", "changes": [{"path": "a", "kind": "add"}]},
        ),
        ({"changes": {"a": {}, "b": {}}}, {"file_path": "a", "paths": ["a", "b"], "changes": []}),
    ],
)
def test_a_patch_that_no_item_tells_of(input: dict[str, Any], shown_input: dict[str, Any]) -> None:
    asked = ev.PermissionRequested(
        request_id="5",
        call_id="1",
        tool_name="apply_patch",
        kind="edit",
        input=input,
        blocked_path="/r",
        agent="codex",
        dialect="codex_app",
    )
    assert [item["toolInput"] for item in shown("insights", [asked])] == [shown_input]


APP = golden.captures("codex_app")


def test_every_call_of_the_app_server_says_which_item_it_is() -> None:
    types = {
        item["extensions"]["codex.itemType"]
        for capture in APP
        for item in shown("insights", captured(capture))
        if item["event"] == "tool_invocation"
    }
    assert types >= {"commandExecution", "fileChange", "mcpToolCall", "webSearch", "collabAgentToolCall"}


def test_every_patch_that_is_asked_for_names_its_file() -> None:
    asked = [
        item
        for capture in APP
        for item in shown("insights", captured(capture))
        if item["event"] == "permission_request" and item["toolName"] == "FileChange"
    ]
    assert len(asked) >= 3
    for given in (each["toolInput"] for each in asked):
        assert given["file_path"] == given["changes"][0]["path"]


def test_an_exit_code_without_a_status_is_a_failure() -> None:
    item = {"type": "commandExecution", "id": "c", "command": "false"}
    begun, ended = (
        {
            "method": f"item/{phase}",
            "params": {"threadId": "t", "turnId": "1", "item": {**item, **more}},
        }
        for phase, more in (("started", {}), ("completed", {"exitCode": 1, "aggregatedOutput": ""}))
    )
    *_, completed = seen("insights", [begun, ended], "codex_app")
    assert completed["event"] == "tool_completion"
    assert (completed["status"], completed["isError"]) == ("failed", True)


def test_a_mode_is_told() -> None:
    mode = ev.SessionMode(mode="plan", agent="codex", dialect="codex_app", session="t")
    assert [item["currentModeId"] for item in shown("insights", [mode])] == ["plan"]
