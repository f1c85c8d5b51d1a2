"""Every row of the translation tables of specification 004 §7.5, with the messages of §3.5, §4.8 and §5.5."""

from typing import Any

import pytest

from tests.projections.projected import bare, seen

Lines = list[dict[str, Any]]


def said(items: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """The type of each item, with these fields."""
    return [(item["type"], *(item.get(name) for name in names)) for item in items]


# --- from Claude Code --------------------------------------------------------------------------------------

S = {"uuid": "u", "session_id": "sess_abc123"}
INIT = {"type": "init", "session_id": "sess_abc123"}
SYSTEM_INIT = {
    "type": "system",
    "subtype": "init",
    **S,
    "claude_code_version": "1.0.32",
    "cwd": "/path/to/project",
    "tools": ["Read", "Edit"],
    "mcp_servers": [{"name": "server1", "status": "connected"}],
    "model": "claude-sonnet-4-20250514",
    "permissionMode": "default",
}
MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hello"}]}
TOOL_USE = {
    "type": "tool_use",
    "id": "toolu_01ABC123",
    "name": "Edit",
    "input": {"file_path": "/src/auth.ts"},
}
TOOL_RESULT = {
    "type": "tool_result",
    "tool_use_id": "toolu_01ABC123",
    "content": "File updated successfully",
    "is_error": False,
}
RESULT = {"type": "result", "subtype": "success", **S, "is_error": False, "result": "Done!"}
RESULT_ERROR = {
    "type": "result",
    "subtype": "error_during_execution",
    **S,
    "is_error": True,
    "errors": ["Tool execution blocked by user"],
}
ERROR = {
    "type": "error",
    "error": {"type": "permission_denied", "message": "Tool execution blocked by user"},
}
BOUNDARY = {
    "type": "system",
    "subtype": "compact_boundary",
    **S,
    "compact_metadata": {"trigger": "auto", "pre_tokens": 50000},
}
STREAM_EVENT = {
    "type": "stream_event",
    **S,
    "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I'll"}},
    "parent_tool_use_id": None,
}
STARTED = ("sessionStarted", None)
ENDED = ("sessionEnded", "completed")

CLAUDE_ROWS: dict[str, tuple[Lines, list[tuple[Any, ...]]]] = {
    "init": ([INIT], [("sessionStarted", None, None)]),
    "message": ([INIT, MESSAGE], [("sessionStarted", None, None), ("textChunk", "Hello", False)]),
    "message (partial: true)": (
        [INIT, {**MESSAGE, "partial": True}],
        [("sessionStarted", None, None), ("textChunk", "Hello", True)],
    ),
    "tool_use": ([INIT, TOOL_USE], [("sessionStarted", None, None), ("toolStarted", None, None)]),
    "tool_result": (
        [INIT, TOOL_USE, TOOL_RESULT],
        [("sessionStarted", None, None), ("toolStarted", None, None), ("toolCompleted", None, None)],
    ),
}


@pytest.mark.parametrize("row", CLAUDE_ROWS)
def test_claude(row: str) -> None:
    lines, expected = CLAUDE_ROWS[row]
    items = seen("agent-event", lines, "claude_stream")
    assert said(items, "content", "isPartial")[: len(expected)] == expected
    rest = items[len(expected) :]
    assert [item["type"] for item in rest] == ["sessionEnded"]  # the stream ends, and nothing else is said


@pytest.mark.parametrize(
    ("last", "reason", "error"),
    [
        (RESULT, "completed", None),
        (RESULT_ERROR, "failed", "Tool execution blocked by user"),
        (ERROR, "failed", "Tool execution blocked by user"),
    ],
    ids=["result (success)", "result (error)", "error"],
)
def test_claude_ends(last: dict[str, Any], reason: str, error: str | None) -> None:
    items = seen("agent-event", [SYSTEM_INIT, MESSAGE, last], "claude_stream", exit=0)
    assert said(items, "reason", "error")[1:] == [("textChunk", None, None), ("sessionEnded", reason, error)]


def test_claude_system_init_starts_the_session_unless_a_flat_one_did() -> None:
    """C9: `SystemEvent (informational)` is for a second one."""
    [first, *_] = seen("agent-event", [SYSTEM_INIT], "claude_stream", extended=True)
    assert first["type"] == "sessionStarted"
    assert first["config"] == {
        "agentType": "claude",
        "workingDirectory": "/path/to/project",
        "model": "claude-sonnet-4-20250514",
        "approvalMode": "ask",
    }
    both = seen("agent-event", [INIT, SYSTEM_INIT], "claude_stream", extended=True)
    assert said(both, "subtype")[:2] == [("sessionStarted", None), ("systemEvent", "init")]
    assert both[1]["data"]["model"] == "claude-sonnet-4-20250514"


@pytest.mark.parametrize(
    ("line", "subtype", "data"),
    [
        (BOUNDARY, "compact_boundary", {"trigger": "auto", "before_tokens": 50000}),
        (
            {"type": "system", "subtype": "status", **S, "status": "compacting"},
            "status",
            {"status": "compacting"},
        ),
        (
            {
                "type": "system",
                "subtype": "hook_response",
                **S,
                "hook_name": "PreToolUse",
                "hook_event": "Edit",
                "stdout": "Hook output...",
                "stderr": "",
                "exit_code": 0,
            },
            "hook_response",
            {
                "name": "PreToolUse",
                "event": "Edit",
                "phase": "ended",
                "output": "Hook output...",
                "exit_code": 0,
            },
        ),
        (
            {
                "type": "auth_status",
                **S,
                "isAuthenticating": True,
                "output": ["Authenticating with API key..."],
                "error": None,
            },
            "auth_status",
            {"status": "authenticating", "message": "Authenticating with API key..."},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_claude_system_events(line: dict[str, Any], subtype: str, data: dict[str, Any]) -> None:
    """Informational: only where more than the strict schema is wanted."""
    assert "systemEvent" not in {item["type"] for item in seen("agent-event", [INIT, line], "claude_stream")}
    items = bare(seen("agent-event", [INIT, line], "claude_stream", extended=True))
    assert items[1] == {"type": "systemEvent", "subtype": subtype, "data": data}


def test_claude_stream_events_are_for_verbose_use() -> None:
    stream = [SYSTEM_INIT, STREAM_EVENT]
    assert said(seen("agent-event", stream, "claude_stream"))[1:] == [("sessionEnded",)]
    extended = seen("agent-event", stream, "claude_stream", extended=True)
    assert said(extended, "kind", "content")[1] == ("rawDelta", "text", "I'll")
    live = seen("agent-event", stream, "claude_stream", profile="live")
    assert said(live, "content", "isPartial")[1] == ("textChunk", "I'll", True)


# --- from Codex CLI ----------------------------------------------------------------------------------------

THREAD = {"type": "thread.started", "thread_id": "sess_abc123"}
TURN = {"type": "turn.started"}


def item(phase: str, type: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{phase}", "item": {"id": "item_001", "type": type, **fields}}


RUNNING = {"command": "npm test", "aggregated_output": "", "exit_code": None, "status": "in_progress"}
PASSED = "[PASS] auth.test.js\n[PASS] user.test.js\n"
CHANGES = {"changes": [{"path": "src/auth.ts", "kind": "update"}]}
QUERY = {"server": "database", "tool": "query", "arguments": {"sql": "SELECT * FROM users"}}
ANSWER = '[{"id":1,"name":"Alice"}]'
TODO = [
    {"text": "Analyze current auth implementation", "completed": True},
    {"text": "Refactor to async/await", "completed": False},
]

CODEX_ROWS: dict[str, tuple[Lines, list[dict[str, Any]]]] = {
    "agent_message": (
        [
            item("started", "agent_message", text=""),
            item("updated", "agent_message", text="I'll help you refactor..."),
            item("completed", "agent_message", text="I'll help you refactor the authentication module."),
        ],
        [
            {"type": "textChunk", "content": "", "isPartial": True, "role": "assistant"},
            {
                "type": "textChunk",
                "content": "I'll help you refactor...",
                "isPartial": True,
                "role": "assistant",
            },
            {
                "type": "textChunk",
                "content": "I'll help you refactor the authentication module.",
                "isPartial": False,
                "role": "assistant",
            },
        ],
    ),
    "agent_message that grows": (
        [
            item("started", "agent_message", text="One"),
            item("updated", "agent_message", text="One, two"),
            item("completed", "agent_message", text="One, two, three"),
        ],
        [
            {"type": "textChunk", "content": "One", "isPartial": True, "role": "assistant"},
            {"type": "textChunk", "content": "One, two", "isPartial": True, "role": "assistant"},
            {"type": "textChunk", "content": "One, two, three", "isPartial": False, "role": "assistant"},
        ],
    ),
    "reasoning": (
        [
            item("started", "reasoning", text=""),
            item("updated", "reasoning", text="I need"),
            item("completed", "reasoning", text="I need to"),
        ],
        [
            {"type": "reasoning", "content": "", "isPartial": True},
            {"type": "reasoning", "content": "I need", "isPartial": True},
            {"type": "reasoning", "content": "I need to", "isPartial": False},
        ],
    ),
    "command_execution": (
        [
            item("started", "command_execution", **RUNNING),
            item("updated", "command_execution", **{**RUNNING, "aggregated_output": "[PASS] auth.test.js\n"}),
            item("updated", "command_execution", **{**RUNNING, "aggregated_output": PASSED}),
            item(
                "completed",
                "command_execution",
                command="npm test",
                aggregated_output=PASSED,
                exit_code=0,
                status="completed",
            ),
        ],
        [
            {
                "type": "toolStarted",
                "toolId": "item_001",
                "toolName": "shell",
                "arguments": {"command": "npm test"},
            },
            {"type": "toolProgress", "toolId": "item_001", "output": "[PASS] auth.test.js\n"},
            {"type": "toolProgress", "toolId": "item_001", "output": PASSED},
            {"type": "toolCompleted", "toolId": "item_001", "success": True, "result": PASSED},
        ],
    ),
    "file_change": (
        [
            item("started", "file_change", **CHANGES, status="in_progress"),
            item("updated", "file_change", **CHANGES, status="in_progress"),
            item("completed", "file_change", **CHANGES, status="completed"),
        ],
        [{"type": "fileChanged", "filePath": "src/auth.ts", "changeType": "modified"}] * 3,
    ),
    "mcp_tool_call": (
        [
            item("started", "mcp_tool_call", **QUERY, status="in_progress"),
            item("updated", "mcp_tool_call", **QUERY, result=None, error=None, status="in_progress"),
            item(
                "completed",
                "mcp_tool_call",
                **QUERY,
                result={"content": [{"type": "text", "text": ANSWER}], "structured_content": None},
                error=None,
                status="completed",
            ),
        ],
        [
            {
                "type": "toolStarted",
                "toolId": "item_001",
                "toolName": "mcp__database__query",
                "arguments": {"sql": "SELECT * FROM users"},
            },
            {"type": "toolProgress", "toolId": "item_001"},
            {"type": "toolCompleted", "toolId": "item_001", "success": True, "result": ANSWER},
        ],
    ),
    "web_search": (
        [
            item("started", "web_search", query="async"),
            item("updated", "web_search", query="async await"),
            item("completed", "web_search", query="async await"),
        ],
        [
            {
                "type": "toolStarted",
                "toolId": "item_001",
                "toolName": "web_search",
                "arguments": {"query": "async", "action": None},
            },
            {"type": "toolProgress", "toolId": "item_001"},
            {"type": "toolCompleted", "toolId": "item_001", "success": True},
        ],
    ),
    "todo_list": (
        [item("started", "todo_list", items=TODO), item("updated", "todo_list", items=TODO)],
        [
            {
                "type": "todoList",
                "items": [
                    {**TODO[0], "status": "completed"},
                    {**TODO[1], "status": "pending"},
                ],
            }
        ]
        * 2,
    ),
    "error item": (
        [item("updated", "error", message="Command exited with non-zero status")],
        [{"type": "error", "message": "Command exited with non-zero status", "severity": "warning"}],
    ),
}


@pytest.mark.parametrize("row", CODEX_ROWS)
def test_codex_items(row: str) -> None:
    lines, expected = CODEX_ROWS[row]
    stream = [THREAD, TURN, *lines, {"type": "turn.completed", "usage": None}]
    items = bare(seen("agent-event", stream, "codex_exec", extended=True, exit=0))
    assert items[:2] == [
        {"type": "sessionStarted", "agentType": "codex", "config": {"agentType": "codex"}},
        {"type": "turnStarted"},
    ]
    assert items[2:-2] == expected
    strict = bare(seen("agent-event", stream, "codex_exec", exit=0))
    informational = ("turnStarted", "reasoning", "todoList", "error")
    assert strict == [item for item in items if item["type"] not in informational]


@pytest.mark.parametrize(
    ("last", "exit", "expected"),
    [
        (
            [{"type": "turn.completed", "usage": {"input_tokens": 1250, "output_tokens": 487}}],
            0,
            [("turnCompleted", None, None), ("sessionEnded", "completed", None)],
        ),
        (
            [{"type": "turn.failed", "error": {"message": "Tool execution failed: permission denied"}}],
            1,
            [("sessionEnded", "failed", "Tool execution failed: permission denied")],
        ),
        (
            [{"type": "error", "message": "Session terminated unexpectedly"}],
            1,
            [("sessionEnded", "failed", "Session terminated unexpectedly")],
        ),
        ([], 0, [("sessionEnded", "completed", None)]),
        ([], None, [("sessionEnded", "completed", None)]),
        ([], 2, [("sessionEnded", "failed", "exit code 2")]),
    ],
    ids=["turn.completed", "turn.failed", "error", "process exit 0", "end of a bare file", "process exit 2"],
)
def test_codex_ends(last: Lines, exit: int | None, expected: list[Any]) -> None:
    items = seen("agent-event", [THREAD, TURN, *last], "codex_exec", exit=exit)
    assert said(items, "reason", "error")[1:] == expected


# --- from Gemini CLI ---------------------------------------------------------------------------------------

G_INIT = {"type": "init", "session_id": "abc123-def456-7890", "model": "gemini-2.0-flash-exp"}
G_USER = {"type": "message", "role": "user", "content": "Analyze the auth module"}
G_SAID = {"type": "message", "role": "assistant", "content": "I'll analyze the authentication module..."}
G_USE = {
    "type": "tool_use",
    "tool_name": "Bash",
    "tool_id": "bash-123",
    "parameters": {"command": "ls -la src/auth/"},
}
G_RESULT = {"type": "tool_result", "tool_id": "bash-123", "status": "success", "output": "total 16"}
G_FAILED = {
    "type": "tool_result",
    "tool_id": "bash-123",
    "status": "error",
    "error": {"type": "TOOL_ERROR", "message": "no such directory"},
}
STATS = {
    "total_tokens": 350,
    "input_tokens": 100,
    "output_tokens": 250,
    "thought_tokens": 0,
    "cache_tokens": 0,
    "tool_tokens": 0,
    "duration_ms": 5000,
    "tool_calls": 2,
}

GEMINI_ROWS: dict[str, tuple[Lines, list[dict[str, Any]]]] = {
    "message (role: user)": ([G_USER], []),
    "message (role: assistant)": (
        [G_SAID],
        [{"type": "textChunk", "content": G_SAID["content"], "isPartial": False, "role": "assistant"}],
    ),
    "message (delta: true)": (
        [{**G_SAID, "delta": True}],
        [{"type": "textChunk", "content": G_SAID["content"], "isPartial": True, "role": "assistant"}],
    ),
    "tool_use, tool_result (success)": (
        [G_USE, G_RESULT],
        [
            {
                "type": "toolStarted",
                "toolId": "bash-123",
                "toolName": "Bash",
                "arguments": {"command": "ls -la src/auth/"},
            },
            {"type": "toolCompleted", "toolId": "bash-123", "success": True, "result": "total 16"},
        ],
    ),
    "tool_result (error)": (
        [G_USE, G_FAILED],
        [
            {
                "type": "toolStarted",
                "toolId": "bash-123",
                "toolName": "Bash",
                "arguments": {"command": "ls -la src/auth/"},
            },
            {"type": "toolCompleted", "toolId": "bash-123", "success": False, "error": "no such directory"},
        ],
    ),
    "content (legacy)": (
        [{"type": "content", "value": "Hello"}],
        [{"type": "textChunk", "content": "Hello", "isPartial": True, "role": "assistant"}],
    ),
    "tool_call (legacy)": (
        [
            {
                "type": "tool_call",
                "tool_id": "t1",
                "tool_name": "read_file",
                "parameters": {"path": "a"},
                "output": "b",
            }
        ],
        [
            {"type": "toolStarted", "toolId": "t1", "toolName": "read_file", "arguments": {"path": "a"}},
            {"type": "toolCompleted", "toolId": "t1", "success": True, "result": "b"},
        ],
    ),
}


@pytest.mark.parametrize("row", GEMINI_ROWS)
def test_gemini(row: str) -> None:
    lines, expected = GEMINI_ROWS[row]
    stream = [G_INIT, *lines, {"type": "result", "status": "success"}]
    items = bare(seen("agent-event", stream, "gemini_stream", exit=0))
    assert items[0]["type"] == "sessionStarted"
    assert items[1:-2] == expected


def test_gemini_retry() -> None:
    """Informational; strict has no word for it."""
    stream = [G_INIT, {"type": "retry", "attempt": 1, "max_attempts": 3, "delay_ms": 1000}]
    items = bare(seen("agent-event", stream, "gemini_stream", extended=True))
    assert items[1] == {"type": "retry", "attempt": 1, "maxAttempts": 3, "delayMs": 1000}
    assert said(seen("agent-event", stream, "gemini_stream"))[1:] == [("sessionEnded",)]


USAGE = {"inputTokens": 100, "outputTokens": 250, "cachedTokens": 0, "reasoningTokens": 0, "totalTokens": 350}


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (
            {"type": "result", "status": "success", "stats": STATS},
            [
                {"type": "turnCompleted", "usage": USAGE, "durationMs": 5000},
                {"type": "sessionEnded", "reason": "completed", "finalUsage": USAGE},
            ],
        ),
        (
            {
                "type": "result",
                "status": "error",
                "stats": None,
                "error": {"code": "EXECUTION_FAILED", "message": "Tool execution timed out"},
            },
            [{"type": "sessionEnded", "reason": "failed", "error": "Tool execution timed out"}],
        ),
        (
            {"type": "result", "status": "cancelled"},
            [{"type": "sessionEnded", "reason": "cancelled"}],
        ),
        (
            {"type": "error", "severity": "error", "message": "Stream is invalid"},
            [{"type": "sessionEnded", "reason": "failed", "error": "Stream is invalid"}],
        ),
        (
            {"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"},
            [{"type": "sessionEnded", "reason": "failed", "error": "Loop detected, stopping execution"}],
        ),
    ],
    ids=["result (success)", "result (error)", "result (cancelled)", "error", "error (warning)"],
)
def test_gemini_ends(last: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    items = bare(seen("agent-event", [G_INIT, G_USER, last], "gemini_stream"))
    assert items[1:] == expected
