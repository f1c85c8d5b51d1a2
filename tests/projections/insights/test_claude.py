"""Claude's messages as InsightsEvents, by the model's own table."""

from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.usage import Usage
from tests.projections.insights.claude_lines import INIT, STREAM, S, assistant, claude, result, use, user
from tests.projections.projected import bare, seen, shown


def test_init() -> None:
    [init] = bare(seen("insights", [INIT], "claude_stream"))
    assert init == {
        "event": "session_init",
        "provider": "claude",
        "model": "m",
        "cwd": "/p",
        "availableTools": ["Bash", "Read"],
        "mcpServers": [{"name": "db", "status": "connected"}],
        "permissionMode": "default",
        "slashCommands": [{"name": "help", "description": "", "argumentHint": ""}],
        "extensions": {"claude.apiKeySource": "user", "claude.outputStyle": "default"},
    }


def test_the_answer_to_initialize_is_part_of_it() -> None:
    ready = {
        "commands": [{"name": "help", "description": "Help", "argumentHint": "[topic]"}],
        "models": [{"value": "opus", "displayName": "Opus", "description": "The large one"}],
        "output_style": "default",
        "account": {"email": "a@b.c", "subscriptionType": "max"},
    }
    answer = {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "1", "response": ready},
    }
    [init] = bare(seen("insights", [answer, INIT], "claude_stream"))
    assert init["slashCommands"] == [{"name": "help", "description": "Help", "argumentHint": "[topic]"}]
    assert init["availableModels"] == ready["models"]
    assert init["account"] == ready["account"]


def test_a_second_init_is_told_if_it_says_something_new() -> None:
    assert claude(INIT) == []
    [again] = claude({**INIT, "model": "other"})
    assert (again["event"], again["model"], again["cwd"]) == ("session_init", "other", "/p")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("compacting", [{"event": "session_status", "status": "compacting"}]),
        ("requesting", []),
        (None, []),
    ],
)
def test_status(status: str | None, expected: list[Any]) -> None:
    assert claude({"type": "system", "subtype": "status", **S, "status": status}) == expected


def test_compaction() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        **S,
        "compact_metadata": {"trigger": "manual", "pre_tokens": 50000},
    }
    assert claude(boundary) == [{"event": "context_compaction", "trigger": "manual", "preTokens": 50000}]


def test_texts_have_parent_and_model() -> None:
    said = assistant({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"}, parent="toolu_9")
    texts = [item for item in claude(said) if item["event"] == "text"]
    assert texts == [
        {"event": "text", "text": "hm", "kind": "thinking", "parentCallId": "toolu_9", "model": "m"},
        {"event": "text", "text": "Hi", "kind": "text", "parentCallId": "toolu_9", "model": "m"},
    ]


def test_tools() -> None:
    items = claude(
        assistant(use("t1", "Read", file_path="/a.txt")),
        user(result("t1", "text"), tool_use_result={"type": "text", "file": {"numLines": 1}}),
    )
    assert items == [
        {
            "event": "tool_invocation",
            "callId": "t1",
            "kind": "read",
            "toolName": "Read",
            "title": "/a.txt",
            "input": {"file_path": "/a.txt"},
            "locations": ["/a.txt"],
            "model": "m",
        },
        {
            "event": "tool_completion",
            "callId": "t1",
            "status": "completed",
            "output": {"type": "text", "file": {"numLines": 1}},
            "locations": ["/a.txt"],
        },
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", "execute"),
        ("Read", "read"),
        ("Write", "edit"),
        ("Edit", "edit"),
        ("NotebookEdit", "edit"),
        ("Glob", "search"),
        ("Grep", "search"),
        ("WebFetch", "fetch"),
        ("WebSearch", "browse"),
        ("Task", "think"),
        ("Agent", "think"),
        ("AskUserQuestion", "ask"),
        ("TodoWrite", "memory"),
        ("mcp__db__query", "mcp"),
        ("ExitPlanMode", "other"),
        ("Frobnicate", "other"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    invoked = claude(assistant(use("t1", name)))[0]
    assert (invoked["kind"], invoked["toolName"]) == (kind, name)


@pytest.mark.parametrize("name", ["Task", "Agent"])
def test_subagents(name: str) -> None:
    spawned = claude(assistant(use("t1", name, subagent_type="Explore", description="Look", resume="a1")))[1]
    assert spawned == {
        "event": "subagent_spawn",
        "callId": "t1",
        "agentType": "Explore",
        "description": "Look",
        "isResume": True,
        "resumeAgentId": "a1",
    }
    items = claude(
        assistant(use("t1", name, prompt="Look")),
        assistant({"type": "text", "text": "found"}, parent="t1"),
        user(result("t1", "It is there"), tool_use_result={"agentId": "a1", "status": "completed"}),
    )
    assert [item["event"] for item in items].count("subagent_spawn") == 1
    [complete] = [item for item in items if item["event"] == "subagent_complete"]
    assert complete == {
        "event": "subagent_complete",
        "callId": "t1",
        "agentId": "a1",
        "status": "completed",
        "summary": "It is there",
    }


def test_usage_of_one_call() -> None:
    counts = {"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7}
    items = claude(
        assistant({"type": "text", "text": "Hi"}, id="msg_1", usage={**counts, "output_tokens": 1})
    )
    assert items[1] == {"event": "usage_update", "stepUsage": counts}


def test_users() -> None:
    """Plain text is the client's own; what the CLI says in the user's name is marked."""
    text = {"type": "text", "text": "Hi"}
    assert claude(user(text)) == []
    assert claude(user(text, isSynthetic=True)) == [
        {"event": "text", "text": "Hi", "kind": "text", "extensions": {"claude.isSynthetic": True}}
    ]
    assert claude(user(text, isReplay=True))[0]["extensions"] == {"claude.isReplay": True}


def test_what_the_client_sent_is_user_input() -> None:
    sent = ev.Message(role="user", text="Hi", origin="client", agent="claude", dialect="claude_stream")
    assert bare(shown("insights", [sent])) == [{"event": "user_input", "provider": "claude", "text": "Hi"}]


def test_result() -> None:
    line = {
        "type": "result",
        "subtype": "error_during_execution",
        **S,
        "is_error": True,
        "duration_ms": 5000,
        "duration_api_ms": 4500,
        "num_turns": 2,
        "total_cost_usd": 0.005,
        "result": "no",
        "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 10},
        "modelUsage": {"m": {"inputTokens": 5, "outputTokens": 2, "costUSD": 0.005, "contextWindow": 200000}},
        "permission_denials": [
            {"tool_name": "Bash", "tool_use_id": "toolu_01XYZ", "tool_input": {"command": "rm -rf /"}}
        ],
        "errors": ["Tool execution blocked by user"],
    }
    assert claude(line) == [
        {
            "event": "turn_complete",
            "isError": True,
            "subtype": "error_during_execution",
            "errors": ["Tool execution blocked by user"],
            "result": "no",
            "costUsd": 0.005,
            "durationMs": 5000,
            "durationApiMs": 4500,
            "numTurns": 2,
            "usage": {"inputTokens": 5, "outputTokens": 2, "cacheReadTokens": 10},
            "modelUsage": {
                "m": {"inputTokens": 5, "outputTokens": 2, "costUsd": 0.005, "contextWindow": 200000}
            },
            "permissionDenials": line["permission_denials"],
        }
    ]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("subtype", "reason", "is_error"),
    [
        ("success", "completed", False),
        ("success", "api_error", True),
        ("success", "prompt_too_long", True),
        ("error_max_turns", "max_turns", True),
        ("error_max_budget_usd", "budget_exhausted", True),
        ("error_during_execution", "aborted_tools", True),
        ("error_during_execution", "aborted_streaming", True),
        ("error_during_execution", None, True),
        ("success", None, False),
    ],
)
def test_subtypes(subtype: str, reason: str | None, is_error: bool, native: bool) -> None:
    """As the line has them, where it is at hand; else as they go with the reason that newer versions give."""
    line = {"type": "result", "subtype": subtype, "is_error": is_error, "terminal_reason": reason, **S}
    [done] = claude(line, native=native)
    assert (done["subtype"], done.get("isError", False)) == (subtype, is_error)


def test_the_last_step_is_told_with_the_turn() -> None:
    said = assistant(
        {"type": "text", "text": "Hi"}, id="msg_1", usage={"input_tokens": 3, "output_tokens": 1}
    )
    done = claude(said, {"type": "result", "subtype": "success", **S})[-1]
    assert done["extensions"] == {"lastStepUsage": {"input_tokens": 3}}


def test_can_use_tool() -> None:
    asked = {
        "type": "control_request",
        "request_id": "r1",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "Bash",
            "tool_use_id": "t1",
            "input": {"command": "ls"},
            "blocked_path": "/etc",
            "permission_suggestions": [
                {
                    "type": "addRules",
                    "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}],
                    "behavior": "allow",
                },
                {"type": "addDirectories", "directories": ["/etc"]},
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            ],
        },
    }
    [request] = claude(asked)
    assert request == {
        "event": "permission_request",
        "requestId": "r1",
        "toolName": "Bash",
        "toolKind": "execute",
        "toolInput": {"command": "ls"},
        "toolUseId": "t1",
        "blockedPath": "/etc",
        "suggestions": [
            {"type": "addRules", "description": "allow addRules Bash(ls:*)", "toolName": "Bash"},
            {"type": "addDirectories", "description": "addDirectories /etc", "directory": "/etc"},
            {"type": "setMode", "description": "setMode acceptEdits", "mode": "acceptEdits"},
        ],
    }


def test_a_question_is_a_permission_request() -> None:
    questions = [{"question": "Which?", "options": []}]
    asked = {
        "type": "control_request",
        "request_id": "r1",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "AskUserQuestion",
            "tool_use_id": "t1",
            "input": {"questions": questions},
        },
    }
    [request] = claude(asked)
    assert (request["toolName"], request["toolKind"], request["toolInput"]) == (
        "AskUserQuestion",
        "ask",
        {"questions": questions},
    )


def test_partial_messages() -> None:
    items = [item for item in claude(*STREAM, native=True) if item["event"] == "stream_delta"]
    for item in items:
        del item["event"]
    assert items == [
        {"kind": "messageStart"},
        {"kind": "blockStart", "blockIndex": 0, "extensions": {"block_type": "thinking"}},
        {"kind": "thinking", "blockIndex": 0, "textDelta": "hm"},
        {"kind": "blockStop", "blockIndex": 0},
        {"kind": "blockStart", "blockIndex": 1},
        {"kind": "text", "blockIndex": 1, "textDelta": "Hi"},
        {"kind": "blockStop", "blockIndex": 1},
        {"kind": "blockStart", "blockIndex": 2, "callId": "t1", "extensions": {"tool_name": "Bash"}},
        {"kind": "toolInput", "blockIndex": 2, "callId": "t1", "jsonDelta": "{}"},
        {"kind": "blockStop", "blockIndex": 2},
        {"kind": "messageStop", "extensions": {"claude.stopReason": "tool_use"}},
        {"kind": "messageStop"},
    ]


def test_without_lines_the_marks_are_still_told() -> None:
    kinds = [item["kind"] for item in claude(*STREAM) if item["event"] == "stream_delta"]
    assert kinds == [
        "messageStart",
        "blockStart",
        "thinking",
        "blockStop",
        "blockStart",
        "text",
        "blockStop",
        "blockStart",
        "toolInput",
        "blockStop",
        "messageStop",
        "messageStop",
    ]


def test_every_item_of_a_line_repeats_it() -> None:
    said = assistant({"type": "text", "text": "Hi"}, use("t1", "Task", prompt="Look"))
    items = seen("insights", [INIT, said], "claude_stream", native=True)
    assert [item["event"] for item in items] == ["session_init", "text", "tool_invocation", "subagent_spawn"]
    assert [item["raw"] for item in items] == [INIT, said, said, said]


@pytest.mark.parametrize("line", ["rate_limit_event", "tool_progress", "auth_status"])
def test_what_has_no_place(line: str) -> None:
    fields = {"rate_limit_info": {"status": "allowed"}, "tool_use_id": "t", "isAuthenticating": True}
    assert claude({"type": line, **S, **fields}) == []


def test_input_counts_leave_out_the_cache() -> None:
    ended = ev.TurnEnded(
        outcome="completed",
        agent="claude",
        dialect="claude_stream",
        usage=Usage(input_tokens=110, cache_read_tokens=100, cache_write_tokens=7, output_tokens=1),
    )
    [done] = shown("insights", [ended])
    assert done["usage"] == {
        "inputTokens": 3,
        "outputTokens": 1,
        "cacheReadTokens": 100,
        "cacheCreationTokens": 7,
    }
