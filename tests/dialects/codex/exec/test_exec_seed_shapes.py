"""Specification 004 §4: every shape it prints, as it prints it."""

import json
from typing import Any

import pytest

from dragoman._model import events as ev
from tests.dialects.codex.exec.exec_lines import read
from tests.interpreted import of

FLOW = """\
{"type":"thread.started","thread_id":"sess_abc123"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"1","type":"reasoning","text":""}}
{"type":"item.updated","item":{"id":"1","type":"reasoning","text":"I need to analyze the auth module first..."}}
{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"I need to analyze the auth module first..."}}
{"type":"item.started","item":{"id":"2","type":"command_execution","command":"cat src/auth.ts","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.updated","item":{"id":"2","type":"command_execution","command":"cat src/auth.ts","aggregated_output":"export function login() {...","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"cat src/auth.ts","aggregated_output":"export function login() {...","exit_code":0,"status":"completed"}}
{"type":"item.started","item":{"id":"3","type":"file_change","changes":[{"path":"src/auth.ts","kind":"update"}],"status":"in_progress"}}
{"type":"item.completed","item":{"id":"3","type":"file_change","changes":[{"path":"src/auth.ts","kind":"update"}],"status":"completed"}}
{"type":"item.started","item":{"id":"4","type":"agent_message","text":""}}
{"type":"item.updated","item":{"id":"4","type":"agent_message","text":"I've refactored the login function to be async."}}
{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"I've refactored the login function to be async."}}
{"type":"turn.completed","usage":{"input_tokens":1250,"cached_input_tokens":500,"output_tokens":487}}
"""


def test_the_whole_flow() -> None:
    events = read(*FLOW.encode().splitlines())
    told = [(event.frame, str(event.__struct_config__.tag)) for event in events if event.frame]
    assert told == [
        (1, "session.started"),
        (2, "turn.started"),
        (3, "delta"),
        (4, "delta"),
        (5, "message"),
        (6, "tool.started"),
        (7, "delta"),
        (8, "tool.ended"),
        (9, "tool.started"),
        (9, "file.changed"),
        (10, "file.changed"),
        (10, "tool.ended"),
        (11, "delta"),
        (12, "delta"),
        (13, "message"),
        (14, "usage.updated"),
        (14, "turn.ended"),
    ]
    assert {event.session for event in events[1:]} == {"sess_abc123"}
    (ended,) = of(events, ev.TurnEnded)
    assert ended.text == "I've refactored the login function to be async."
    assert ended.usage is not None
    assert (ended.usage.input_tokens, ended.usage.cache_read_tokens, ended.usage.output_tokens) == (
        1250,
        500,
        487,
    )


PRINTED: list[tuple[str, list[Any]]] = [
    (
        """
{
  "type": "thread.started",
  "thread_id": "sess_abc123xyz"
}
""",
        [ev.SessionStarted],
    ),
    (
        """
{
  "type": "session_meta",
  "payload": {
    "id": "sess_abc123xyz",
    "cwd": "/path/to/project",
    "timestamp": "2025-01-15T10:30:00Z",
    "model_provider": "openai",
    "git": {
      "branch": "main",
      "remote_url": "https://github.com/user/repo.git"
    }
  }
}
""",
        [ev.SessionStarted],
    ),
    (
        """
{
  "type": "approval.required",
  "id": "approval_001",
  "turn_id": "turn_001",
  "action_type": "shell",
  "description": "Run: npm test",
  "tool_name": "bash",
  "tool_input": {
    "command": "npm test"
  },
  "command": "npm test",
  "file_path": null
}
""",
        [ev.TurnStarted, ev.PermissionRequested],
    ),
    (
        """
{
  "type": "event_msg",
  "payload": {
    "type": "user_message",
    "message": "Analyze the authentication module"
  }
}
""",
        [ev.TurnStarted, ev.Message],
    ),
    (
        """
{
  "type": "event_msg",
  "payload": {
    "type": "agent_message",
    "message": "I'll analyze the authentication module for you."
  }
}
""",
        [ev.TurnStarted, ev.Message],
    ),
    ('{\n  "type": "turn.started"\n}', [ev.TurnStarted]),
    (
        """
{
  "type": "item.started",
  "item": {
    "id": "item_001",
    "type": "agent_message",
    "text": ""
  }
}
""",
        [ev.TurnStarted, ev.Delta],
    ),
    (
        """
{
  "type": "item.completed",
  "item": {
    "id": "item_001",
    "type": "agent_message",
    "text": "I'll help you refactor the authentication module."
  }
}
""",
        [ev.TurnStarted, ev.Message],
    ),
    (
        """
{
  "type": "item.updated",
  "item": {
    "id": "item_002",
    "type": "command_execution",
    "command": "npm test",
    "aggregated_output": "[PASS] auth.test.js\\n[PASS] user.test.js\\n",
    "exit_code": null,
    "status": "in_progress"
  }
}
""",
        [ev.TurnStarted, ev.ToolStarted, ev.Delta],
    ),
    (
        """
{
  "type": "item.completed",
  "item": {
    "id": "item_002",
    "type": "command_execution",
    "command": "npm test",
    "aggregated_output": "[PASS] auth.test.js\\n[PASS] user.test.js\\n",
    "exit_code": 0,
    "status": "completed"
  }
}
""",
        [ev.TurnStarted, ev.ToolStarted, ev.ToolEnded],
    ),
    (
        """
{
  "type": "item.updated",
  "item": {
    "id": "item_003",
    "type": "file_change",
    "changes": [
      {
        "path": "src/auth.ts",
        "kind": "update"
      }
    ],
    "status": "in_progress"
  }
}
""",
        [ev.TurnStarted, ev.ToolStarted, ev.FileChanged],
    ),
    (
        """
{
  "type": "item.completed",
  "item": {
    "id": "item_003",
    "type": "file_change",
    "changes": [
      {
        "path": "src/auth.ts",
        "kind": "update"
      }
    ],
    "status": "completed"
  }
}
""",
        [ev.TurnStarted, ev.ToolStarted, ev.FileChanged, ev.ToolEnded],
    ),
    (
        """
{
  "type": "item.updated",
  "item": {
    "id": "item_004",
    "type": "mcp_tool_call",
    "server": "database",
    "tool": "query",
    "arguments": {"sql": "SELECT * FROM users"},
    "result": null,
    "error": null,
    "status": "in_progress"
  }
}
""",
        [ev.TurnStarted, ev.ToolStarted, ev.ToolUpdated],
    ),
    (
        """
{
  "type": "item.completed",
  "item": {
    "id": "item_004",
    "type": "mcp_tool_call",
    "server": "database",
    "tool": "query",
    "arguments": {"sql": "SELECT * FROM users"},
    "result": {
      "content": [{"type": "text", "text": "[{\\"id\\":1,\\"name\\":\\"Alice\\"}]"}],
      "structured_content": null
    },
    "error": null,
    "status": "completed"
  }
}
""",
        [ev.TurnStarted, ev.ToolStarted, ev.ToolEnded],
    ),
    (
        """
{
  "type": "item.updated",
  "item": {
    "id": "item_005",
    "type": "reasoning",
    "text": "I need to analyze the authentication flow..."
  }
}
""",
        [ev.TurnStarted, ev.Delta],
    ),
    (
        """
{
  "type": "item.updated",
  "item": {
    "id": "item_006",
    "type": "web_search",
    "query": "typescript async await best practices 2025"
  }
}
""",
        [ev.TurnStarted, ev.ToolStarted, ev.ToolUpdated],
    ),
    (
        """
{
  "type": "item.updated",
  "item": {
    "id": "item_007",
    "type": "todo_list",
    "items": [
      {"text": "Analyze current auth implementation", "completed": true},
      {"text": "Refactor to async/await", "completed": false},
      {"text": "Update tests", "completed": false}
    ]
  }
}
""",
        [ev.TurnStarted, ev.PlanUpdated],
    ),
    (
        """
{
  "type": "item.updated",
  "item": {
    "id": "item_008",
    "type": "error",
    "message": "Command exited with non-zero status"
  }
}
""",
        [ev.Error],
    ),
    (
        """
{
  "type": "turn.completed",
  "usage": {
    "input_tokens": 1250,
    "cached_input_tokens": 500,
    "output_tokens": 487
  }
}
""",
        [ev.TurnStarted, ev.UsageUpdated, ev.TurnEnded],
    ),
    (
        """
{
  "type": "turn.failed",
  "error": {
    "message": "Tool execution failed: permission denied"
  }
}
""",
        [ev.TurnStarted, ev.TurnEnded],
    ),
    (
        """
{
  "type": "error",
  "message": "Session terminated unexpectedly"
}
""",
        [ev.Error],
    ),
]


@pytest.mark.parametrize(("printed", "expected"), PRINTED, ids=lambda value: "")
def test_each_shape_alone(printed: str, expected: list[Any]) -> None:
    line = json.dumps(json.loads(printed)).encode()
    events = read(line)
    assert [type(event) for event in events if event.frame] == expected


def test_the_printed_message_goes_another_way_when_it_is_complete() -> None:
    events = read(
        {"type": "item.started", "item": {"id": "item_001", "type": "agent_message", "text": ""}},
        {
            "type": "item.updated",
            "item": {"id": "item_001", "type": "agent_message", "text": "I'll help you refactor..."},
        },
        {
            "type": "item.completed",
            "item": {
                "id": "item_001",
                "type": "agent_message",
                "text": "I'll help you refactor the authentication module.",
            },
        },
    )
    first, last = of(events, ev.Message)
    assert (first.text, first.synthesized) == ("I'll help you refactor...", True)
    assert (last.text, last.synthesized) == ("I'll help you refactor the authentication module.", False)
    assert first.message_id == last.message_id == "item_001"


NOTIFIED = b'{"type":"approval.required","id":"approval_1","turn_id":"turn_1","action_type":"shell","description":"Run: npm test","command":"npm test","tool_name":"bash","tool_input":{"command":"npm test"},"file_path":null}'
ALLOWED = b'{"jsonrpc":"2.0","id":3,"method":"respondToApproval","params":{"approval_id":"approval_1","decision":"allow"}}'
DENIED = b'{"jsonrpc":"2.0","id":4,"method":"respondToApproval","params":{"approval_id":"approval_1","decision":"deny","message":"Reason for denial"}}'


@pytest.mark.parametrize(
    ("answer", "outcome", "message"), [(ALLOWED, "allowed", None), (DENIED, "denied", "Reason for denial")]
)
def test_approvals(answer: bytes, outcome: str, message: str | None) -> None:
    events = read({"type": "turn.started"}, NOTIFIED, (answer,), {"type": "turn.completed", "usage": {}})
    (asked,), (resolved,) = of(events, ev.PermissionRequested), of(events, ev.PermissionResolved)
    assert (asked.request_id, asked.tool_name, asked.kind) == ("approval_1", "bash", "execute")
    assert (asked.title, asked.input) == ("Run: npm test", {"command": "npm test"})
    assert [option.id for option in asked.options] == ["allow", "deny", "allow_always", "deny_always"]
    assert (resolved.outcome, resolved.by, resolved.message) == (outcome, "client", message)
    assert resolved.origin == "client"


@pytest.mark.parametrize("kind", ["command_execution", "tool_call", "shell"])
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("completed", "completed"),
        ("success", "completed"),
        ("failed", "failed"),
        ("declined", "declined"),
        ("skipped", "skipped"),
    ],
)
def test_aliases_of_items_and_statuses(kind: str, status: str, expected: str) -> None:
    events = read(
        {"type": "item.started", "item": {"id": "a", "type": kind, "command": "ls", "status": "in_progress"}},
        {"type": "item.completed", "item": {"id": "a", "type": kind, "command": "ls", "status": status}},
    )
    (started,), (ended,) = of(events, ev.ToolStarted), of(events, ev.ToolEnded)
    assert (started.name, started.kind, started.title) == ("shell", "execute", "ls")
    assert ended.status == expected
    assert (ended.error is None) == (expected == "completed")


def test_a_file_edit() -> None:
    edit = {
        "id": "e",
        "type": "file_edit",
        "file_path": "a.py",
        "diff": "@@ -1 +1 @@\n-a\n+b\n",
        "status": "completed",
    }
    events = read({"type": "item.completed", "item": edit})
    (change,), (started,) = of(events, ev.FileChanged), of(events, ev.ToolStarted)
    assert (change.path, change.change, change.phase) == ("a.py", "modified", "applied")
    assert change.diff == "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert (started.name, started.kind) == ("apply_patch", "edit")


@pytest.mark.parametrize(
    ("status", "action"), [("completed", "accepted"), ("declined", "declined"), ("failed", "cancelled")]
)
def test_an_input_request(status: str, action: str) -> None:
    request = {"id": "q", "type": "input_request", "text": "Which database?"}
    events = read(
        {"type": "item.started", "item": request},
        {"type": "item.completed", "item": {**request, "status": status}},
    )
    (asked,), (answered,) = of(events, ev.QuestionAsked), of(events, ev.QuestionAnswered)
    assert (asked.request_id, asked.message) == ("q", "Which database?")
    assert answered.action == action


def test_an_input_request_that_nobody_answers() -> None:
    events = read(
        {"type": "item.started", "item": {"id": "q", "type": "input_request", "text": "?"}},
        {"type": "turn.failed", "error": {"message": "no answer"}},
    )
    (answered,) = of(events, ev.QuestionAnswered)
    assert answered.synthesized


def test_event_messages_as_notifications() -> None:
    """§4.2: token usage may still come as codex/event/token_count."""
    info = {
        "total_token_usage": {"input_tokens": 9, "output_tokens": 1},
        "last_token_usage": {"input_tokens": 9},
    }
    message = {"type": "token_count", "info": info}
    call, session = of(
        read({"method": "codex/event/token_count", "params": {"id": "1", "msg": message}}), ev.UsageUpdated
    )
    assert call.usage is not None
    assert (call.scope, call.usage.input_tokens) == ("call", 9)
    assert session.usage is not None
    assert (session.scope, session.usage.output_tokens) == ("session", 1)
