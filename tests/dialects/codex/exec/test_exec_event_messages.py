"""The event messages that Codex spoke before it had items, alone and as notifications."""

import base64
from typing import Any

import pytest

from dragoman._dialects import detect
from dragoman._model import events as ev
from tests.dialects.codex.exec.exec_lines import read
from tests.interpreted import of

ADDED = {"/w/a.txt": {"add": {"content": "x\n"}}}
MOVED = {"/w/a.txt": {"update": {"unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": "/w/b.txt"}}}


def plain(*messages: dict[str, Any]) -> list[Any]:
    return read(*({"id": "0", "msg": message} for message in messages))


def notified(*messages: dict[str, Any]) -> list[Any]:
    return read(*({"method": f"codex/event/{m['type']}", "params": {"id": "0", "msg": m}} for m in messages))


def stored(*messages: dict[str, Any]) -> list[Any]:
    return read(*({"type": "event_msg", "payload": message} for message in messages))


TURN: list[dict[str, Any]] = [
    {
        "type": "session_configured",
        "session_id": "s-1",
        "model": "gpt-5",
        "cwd": "/w",
        "approval_policy": "never",
    },
    {"type": "task_started", "model_context_window": 1000},
    {"type": "user_message", "message": "Go"},
    {"type": "agent_reasoning_delta", "delta": "Let me "},
    {"type": "agent_reasoning_delta", "delta": "see"},
    {"type": "agent_reasoning", "text": "Let me see"},
    {"type": "agent_reasoning_section_break"},
    {"type": "exec_command_begin", "call_id": "c1", "command": ["bash", "-lc", "ls"], "cwd": "/w"},
    {
        "type": "exec_command_output_delta",
        "call_id": "c1",
        "stream": "stdout",
        "chunk": base64.b64encode("ä\n".encode()).decode(),
    },
    {
        "type": "exec_command_end",
        "call_id": "c1",
        "stdout": "ä\n",
        "stderr": "",
        "exit_code": 2,
        "duration": {"secs": 1, "nanos": 500_000_000},
    },
    {"type": "patch_apply_begin", "call_id": "c2", "auto_approved": True, "changes": ADDED},
    {"type": "patch_apply_end", "call_id": "c2", "stdout": "ok", "stderr": "", "success": True},
    {
        "type": "mcp_tool_call_begin",
        "call_id": "c3",
        "invocation": {"server": "db", "tool": "query", "arguments": {"q": 1}},
    },
    {
        "type": "mcp_tool_call_end",
        "call_id": "c3",
        "invocation": {"server": "db", "tool": "query", "arguments": {"q": 1}},
        "result": {"Err": "no such table"},
    },
    {"type": "web_search_begin", "call_id": "c4"},
    {"type": "web_search_end", "call_id": "c4", "query": "rust"},
    {"type": "plan_update", "plan": [{"step": "A", "status": "in_progress"}, {"step": "B", "status": "odd"}]},
    {"type": "stream_error", "message": "Reconnecting... 1/5"},
    {"type": "background_event", "message": "indexing"},
    {"type": "agent_message_delta", "delta": "Do"},
    {"type": "agent_message", "message": "Done"},
    {
        "type": "token_count",
        "info": {
            "total_token_usage": {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55},
            "last_token_usage": {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55},
            "model_context_window": 1000,
        },
        "rate_limits": {"primary": {"used_percent": 12.5, "window_minutes": 300, "resets_at": 1_700_000_000}},
    },
    {"type": "task_complete", "last_agent_message": "Done"},
]


@pytest.mark.parametrize("wrapped", [plain, notified, stored])
def test_a_whole_turn(wrapped: Any) -> None:
    events = wrapped(*TURN)
    assert of(events, ev.NativeUnknown) == []
    (session,), (turn,), (ended,) = (
        of(events, ev.SessionStarted),
        of(events, ev.TurnStarted),
        of(events, ev.TurnEnded),
    )
    assert (session.session, session.model, session.permission_mode) == ("s-1", "gpt-5", "never")
    assert (turn.prompt, ended.outcome, ended.text) == ("Go", "completed", "Done")
    assert ended.usage is not None
    assert ended.usage.input_tokens == 50
    tools = [(t.name, t.kind, t.server) for t in of(events, ev.ToolStarted)]
    assert tools == [
        ("shell", "execute", None),
        ("apply_patch", "edit", None),
        ("query", "mcp", "db"),
        ("web_search", "browse", None),
    ]
    command, patch, query, search = of(events, ev.ToolEnded)
    assert (command.status, command.output, command.exit_code, command.duration_ms) == (
        "failed",
        "ä\n",
        2,
        1500,
    )
    assert patch.status == search.status == "completed"
    assert (query.status, query.error) == ("failed", ev.ErrorInfo(message="no such table"))
    assert [(m.role, m.kind, m.text) for m in of(events, ev.Message)] == [
        ("user", "text", "Go"),
        ("assistant", "thinking", "Let me see"),
        ("assistant", "text", "Done"),
    ]
    assert [d.text for d in of(events, ev.Delta)] == ["Let me ", "see", "ä\n", "Do", "ne"]
    assert [entry.status for entry in of(events, ev.PlanUpdated)[0].entries] == ["in_progress", "pending"]
    (limit,) = of(events, ev.RateLimit)
    assert limit.resets_at == 1_700_000_000
    assert limit.windows[0]["used_percent"] == 12.5
    assert of(events, ev.Retry)[0].max_attempts == 5


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (ADDED, ("/w/a.txt", "created", None)),
        ({"/w/a.txt": {"delete": {"content": "x\n"}}}, ("/w/a.txt", "deleted", None)),
        (MOVED, ("/w/a.txt", "moved", "/w/b.txt")),
        ({"/w/a.txt": {"type": "add", "content": "x\n"}}, ("/w/a.txt", "created", None)),
        (
            {"/w/a.txt": {"type": "update", "unified_diff": "@@\n", "move_path": None}},
            ("/w/a.txt", "modified", None),
        ),
    ],
)
@pytest.mark.parametrize("success", [True, False])
def test_changes_in_all_their_forms(changes: Any, expected: Any, success: bool) -> None:
    events = plain(
        {"type": "patch_apply_begin", "call_id": "c", "changes": changes},
        {"type": "patch_apply_end", "call_id": "c", "success": success, "changes": changes, "stderr": "no"},
    )
    proposed, done = of(events, ev.FileChanged)
    assert (proposed.path, proposed.change, proposed.move_to) == expected
    assert (proposed.phase, done.phase) == ("proposed", "applied" if success else "failed")
    assert done.diff is not None
    assert done.diff.startswith("--- ")


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("interrupted", "cancelled"), ("replaced", "cancelled"), ("budget_limited", "limited")],
)
def test_turns_that_were_aborted(reason: str, outcome: str) -> None:
    events = plain({"type": "task_started"}, {"type": "turn_aborted", "reason": reason})
    assert [(e.outcome, e.reason) for e in of(events, ev.TurnEnded)] == [(outcome, reason)]


def test_approvals_are_asked() -> None:
    events = plain(
        {"type": "exec_approval_request", "call_id": "c", "command": ["rm", "x"], "reason": "why"},
        {"type": "apply_patch_approval_request", "call_id": "d", "changes": ADDED, "grant_root": "/w"},
        {"type": "task_complete", "last_agent_message": None},
    )
    shell, patch = of(events, ev.PermissionRequested)
    assert (shell.tool_name, shell.kind, shell.reason) == ("shell", "execute", "why")
    assert (patch.tool_name, patch.kind, patch.blocked_path) == ("apply_patch", "edit", "/w")
    # No line of the client's is there, and the agent went on: it was answered.
    assert [r.outcome for r in of(events, ev.PermissionResolved)] == ["allowed", "allowed"]


def test_without_marks_prompts_make_the_turns() -> None:
    events = stored(
        {"type": "user_message", "message": "one"},
        {"type": "agent_message", "message": "1"},
        {"type": "user_message", "message": "two"},
        {"type": "agent_message", "message": "2"},
        {"type": "user_message", "message": "three"},
    )
    assert [t.prompt for t in of(events, ev.TurnStarted)] == ["one", "two", "three"]
    assert [(e.outcome, e.text, e.synthesized) for e in of(events, ev.TurnEnded)] == [
        ("completed", "1", True),
        ("completed", "2", True),
        ("truncated", None, True),
    ]


@pytest.mark.parametrize(
    ("line", "dialect"),
    [
        (b'{"type":"thread.started","thread_id":"t"}', "codex_exec"),
        (b'{"type":"item.updated","item":{}}', "codex_exec"),
        (b'{"type":"error","message":"x"}', "codex_exec"),
        (b'{"type":"approval.required","id":"a"}', "codex_exec"),
        (b'{"id":"0","msg":{"type":"task_started"}}', "codex_exec"),
        (b'{"method":"codex/event/token_count","params":{"msg":{}}}', "codex_exec"),
        (b'{"type":"session_meta","payload":{"id":"t"}}', "codex_exec"),
        (b'{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"t"}}', "codex_rollout"),
        (
            b'{"timestamp":"2026-01-01T00:00:00Z","ordinal":3,"type":"event_msg","payload":{}}',
            "codex_rollout",
        ),
        (b'{"type":"system","subtype":"init","session_id":"s"}', "claude_stream"),
        (b'{"type":"error","error":{"message":"x"}}', "claude_stream"),
        (b'{"type":"user","uuid":"u","sessionId":"s","message":{}}', "claude_transcript"),
    ],
)
def test_which_dialect_a_line_is(line: bytes, dialect: str) -> None:
    assert detect([line]) == dialect
