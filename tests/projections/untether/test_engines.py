"""What is told differently for each engine: Claude, Codex, OpenCode, and those without rules of their own."""

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._projections.untether import ResumeToken
from tests.projections.untether.showing import actions, completed, said, seen, started

CLAUDE = b"""\
{"type":"system","subtype":"init","session_id":"s1","model":"opus","cwd":"/w","tools":["Bash"],"permissionMode":"default","apiKeySource":"none","output_style":"default","mcp_servers":[{"name":"m","status":"connected"}]}
{"type":"assistant","session_id":"s1","message":{"id":"m1","model":"opus","content":[{"type":"thinking","thinking":"Hmm."},{"type":"text","text":"I will look."},{"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/w/a","content":"x"}}]}}
{"type":"user","session_id":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"written"}]}}
{"type":"result","subtype":"success","session_id":"s1","is_error":false,"result":"All done.","num_turns":2,"duration_ms":10,"duration_api_ms":8,"total_cost_usd":0.25,"usage":{"input_tokens":3,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":2}}
"""

CODEX = b"""\
{"type":"thread.started","thread_id":"th1"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"i0","type":"reasoning","text":"Let"}}
{"type":"item.updated","item":{"id":"i0","type":"reasoning","text":"Let me see"}}
{"type":"item.completed","item":{"id":"i0","type":"reasoning","text":"Let me see"}}
{"type":"item.completed","item":{"id":"i1","type":"agent_message","phase":"commentary","text":"Working on it"}}
{"type":"item.started","item":{"id":"i2","type":"command_execution","command":"make","status":"in_progress"}}
{"type":"item.updated","item":{"id":"i2","type":"command_execution","command":"make","aggregated_output":"cc","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i2","type":"command_execution","command":"make","aggregated_output":"cc","exit_code":2,"status":"failed"}}
{"type":"item.completed","item":{"id":"i3","type":"file_change","changes":[{"path":"a","kind":"add"},{"path":"b","kind":"update"},{"path":"c","kind":"delete"}],"status":"completed"}}
{"type":"item.started","item":{"id":"i4","type":"mcp_tool_call","server":"fs","tool":"read","arguments":{"p":1},"status":"in_progress"}}
{"type":"item.completed","item":{"id":"i4","type":"mcp_tool_call","server":"fs","tool":"read","arguments":{"p":1},"result":{"content":[{"type":"text","text":"x"}]},"status":"completed"}}
{"type":"item.completed","item":{"id":"i5","type":"web_search","query":"docs"}}
{"type":"item.started","item":{"id":"i6","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":false}]}}
{"type":"item.updated","item":{"id":"i6","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":true}]}}
{"type":"item.completed","item":{"id":"i6","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":true}]}}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"error","message":"Reconnecting... 2/5"}
{"type":"item.completed","item":{"id":"i7","type":"error","message":"old model"}}
{"type":"item.completed","item":{"id":"i8","type":"agent_message","text":"Built."}}
"""
USED = {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}
DONE = b'{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}\n'


# --- Claude ------------------------------------------------------------------------------------------------


def test_a_run_of_claude() -> None:
    items = seen(CLAUDE)
    [start] = started(items)
    assert (start.resume, start.title) == (ResumeToken("claude", "s1"), "opus")
    assert start.meta == {
        "model": "opus",
        "permissionMode": "default",
        "cwd": "/w",
        "tools": ["Bash"],
        "output_style": "default",
        "apiKeySource": "none",
        "mcp_servers": [{"name": "m", "status": "connected"}],
    }
    thought, begun, done = actions(items)
    assert (thought.action.id, thought.action.kind, thought.action.title) == (
        "claude.thinking.1",
        "note",
        "Hmm.",
    )
    assert (thought.phase, thought.ok) == ("completed", True)
    write = {"name": "Write", "input": {"file_path": "/w/a", "content": "x"}}
    changes = {"changes": [{"path": "/w/a", "kind": "update"}]}
    assert (begun.phase, begun.action.kind, begun.action.title) == ("started", "file_change", "a")
    assert begun.action.detail == write | changes
    told = {"tool_use_id": "t1", "result_preview": "written", "result_len": 7, "is_error": False}
    assert (done.ok, done.action.detail) == (True, write | changes | told)
    last = completed(items)
    assert (last.ok, last.answer, last.error) == (True, "All done.", None)
    assert last.usage == {
        "total_cost_usd": 0.25,
        "duration_ms": 10,
        "duration_api_ms": 8,
        "num_turns": 2,
        "subtype": "success",
        "usage": {
            "input_tokens": 3,
            "cache_creation_input_tokens": 7,
            "cache_read_input_tokens": 5,
            "output_tokens": 2,
        },
    }


def test_without_a_result_text_claude_answers_with_its_last_one() -> None:
    assert completed(seen(CLAUDE.replace(b'"result":"All done.",', b""))).answer == "I will look."


def test_several_turns_answer_with_the_last_and_cost_all_together() -> None:
    again = CLAUDE.replace(b"All done.", b"Even more.").replace(b"0.25", b"0.75").replace(b'"t1"', b'"t2"')
    items = seen(CLAUDE + again.replace(b'"m1"', b'"m2"'))
    assert len(started(items)) == 1
    last = completed(items)
    assert last.answer == "Even more."
    assert last.usage is not None
    assert last.usage["total_cost_usd"] == pytest.approx(0.75)


def test_a_turn_that_is_projected_by_itself_starts_the_session_too() -> None:
    events = said(
        "claude",
        ev.TurnStarted(),
        ev.ToolStarted(call_id="c", name="Bash", input={"command": "ls"}),
        ev.TurnEnded(outcome="completed", text="ok"),
    )
    items = seen(events, profile="live")
    assert [item.resume.value for item in started(items)] == ["s-1"]
    assert items.index(started(items)[0]) == 0
    assert completed(items).answer == "ok"


def test_a_result_of_no_known_call_is_a_nameless_tool() -> None:
    line = b'{"type":"user","session_id":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":"?"}]}}\n'
    [action] = actions(seen(line, "claude_stream"))
    assert (action.phase, action.action.kind, action.action.title) == ("completed", "tool", "tool result")


def test_a_permission_is_a_warning_until_it_is_resolved() -> None:
    events = said(
        "claude",
        ev.ToolStarted(call_id="c", name="Bash", input={}),
        ev.PermissionRequested(request_id="r", call_id="c", tool_name="Bash"),
        ev.PermissionResolved(request_id="r", outcome="denied"),
        ev.PermissionResolved(request_id="unasked", outcome="denied"),
        ev.QuestionAsked(request_id="q", message="Which?", questions=[1]),
        ev.QuestionAnswered(request_id="q", action="accepted"),
    )
    call, asked, resolved, question, answered = actions(seen(events))
    assert (call.phase, call.action.id) == ("started", "c")
    assert asked.action.title == "Permission Request [CanUseTool] - tool: Bash"
    assert (asked.action.id, asked.action.kind) == ("claude.control.1", "warning")
    assert asked.action.detail == {"request_id": "r", "request_type": "CanUseTool"}
    assert (resolved.action.id, resolved.action.title, resolved.ok) == (
        "claude.control.1",
        "Permission resolved",
        False,
    )
    assert (question.action.id, question.action.title, answered.ok) == ("claude.control.2", "Which?", True)


AT = datetime(2026, 1, 1, tzinfo=UTC)
FINE = [ev.RateLimit(status="allowed_warning"), ev.RateLimit()]
LIMITED = [
    ev.RateLimit(status="rejected", resets_at=AT.timestamp() + 30, time=AT),
    ev.RateLimit(windows=[{"retry_after_ms": 60_000, "tokens_remaining": 0, "tokens_limit": 9}]),
    ev.RateLimit(status="rejected", resets_at=float("inf"), time=AT),
]


@pytest.mark.parametrize(
    ("engine", "profile", "notes"),
    [("claude", "seed", 5), ("claude", "live", 3), ("codex", "seed", 3), ("codex", "live", 3)],
)
def test_a_rate_limit_is_a_note(engine: str, profile: str, notes: int) -> None:
    """Claude's are all told in the seed profile; else only such as are ones."""
    told = actions(seen(said(engine, *FINE, *LIMITED), profile=profile))
    starts, ends = told[::2], told[1::2]
    assert [start.action for start in starts] == [end.action for end in ends]
    assert {(start.phase, start.ok, start.level) for start in starts} == {("started", None, None)}
    assert {(end.phase, end.ok, end.level) for end in ends} == {("completed", True, "info")}
    assert [end.action.id for end in ends] == [f"rate_limit_{place}" for place in range(1, notes + 1)]
    assert [end.action.title for end in ends[-3:]] == [
        "⏳ Rate limited — retrying in 30s",
        "⏳ Rate limited — retrying in 60s",
        "⏳ Rate limited — waiting to retry",
    ]
    assert ends[-2].action.detail == {"tokens_remaining": 0, "retry_after_ms": 60_000}


@pytest.mark.parametrize(
    ("reason", "outcome", "subtype"),
    [
        ("completed", "completed", "success"),
        ("api_error", "failed", "success"),
        ("max_turns", "limited", "error_max_turns"),
        ("aborted_tools", "cancelled", "error_during_execution"),
        ("error_during_execution", "failed", "error_during_execution"),
    ],
)
def test_the_subtype_in_usage_is_that_of_the_result(reason: str, outcome: Any, subtype: str) -> None:
    """Not the reason that newer versions give beside it."""
    usage = completed(seen(said("claude", ev.TurnEnded(outcome=outcome, reason=reason)))).usage
    assert usage == {"subtype": subtype}


def test_a_failed_result_says_why() -> None:
    failed = CLAUDE.replace(b'"is_error":false,"result":"All done."', b'"is_error":true,"result":"No credit"')
    last = completed(seen(failed))
    assert (last.ok, last.answer, last.error) == (False, "No credit", "No credit")


def test_what_a_chat_need_not_see_is_taken_out_of_stderr() -> None:
    tail = "fatal: /home/me/.claude/x failed, see https://example.com/help\n"
    last = completed(seen(said("claude", ev.RunEnded(outcome="failed", exit_code=3, stderr_tail=tail))))
    assert last.error == "claude failed (rc=3).\nsession: s-1 · new\nfatal: […] failed, see […]"


# --- Codex -------------------------------------------------------------------------------------------------


def test_a_run_of_codex() -> None:
    items = seen(CODEX + DONE)
    told = [
        (item.action.id, item.action.kind, item.phase, item.ok, item.action.title) for item in actions(items)
    ]
    assert told == [
        ("turn_0", "turn", "started", None, "turn started"),
        ("i0", "note", "started", None, "Let"),
        ("i0", "note", "updated", None, "Let me see"),
        ("i0", "note", "completed", True, "Let me see"),
        ("i1", "note", "completed", True, "Working on it"),
        ("i2", "command", "started", None, "make"),
        ("i2", "command", "updated", None, "make"),
        ("i2", "command", "completed", False, "make"),
        ("i3", "file_change", "completed", True, "a, b, c"),
        ("i4", "tool", "started", None, "fs.read"),
        ("i4", "tool", "completed", True, "fs.read"),
        ("i5", "web_search", "completed", True, "docs"),
        ("i6", "note", "started", None, "todo 1/2: two"),
        ("i6", "note", "updated", None, "todo 2/2: done"),
        ("i6", "note", "completed", True, "todo 2/2: done"),
        ("codex.reconnect", "note", "started", None, "Reconnecting... 1/5"),
        ("codex.reconnect", "note", "updated", None, "Reconnecting... 2/5"),
        ("i7", "warning", "completed", False, "old model"),
        ("codex.reconnect", "note", "completed", True, "Reconnecting... 2/5"),
    ]
    last = completed(items)
    assert (last.ok, last.answer, last.resume, last.usage) == (
        True,
        "Built.",
        ResumeToken("codex", "th1"),
        USED,
    )


def test_the_details_of_codex() -> None:
    details = {item.action.id: item.action.detail for item in actions(seen(CODEX + DONE))}
    assert details["i1"] == {"phase": "commentary"}
    assert details["i2"] == {"exit_code": 2, "status": "failed"}
    assert details["i5"] == {"query": "docs"}
    assert details["i6"] == {"done": 2, "total": 2}
    assert details["i7"] == {"message": "old model"}
    changes = [{"path": "a", "kind": "add"}, {"path": "b", "kind": "update"}, {"path": "c", "kind": "delete"}]
    assert details["i3"] == {"changes": changes, "status": "completed", "error": None}
    summary = {"content_blocks": 1, "has_structured": False}
    assert details["i4"] == {
        "server": "fs",
        "tool": "read",
        "status": "completed",
        "arguments": {"p": 1},
        "result_summary": summary,
        "error_message": None,
    }


def test_a_plan_without_an_item_of_its_own_grows_until_the_end() -> None:
    """The app server has one plan per turn, and tells no end of it."""
    one = ev.PlanUpdated(entries=[ev.PlanEntry(text="Look", status="in_progress")])
    told = [
        (item.action.id, item.phase, item.action.title, item.action.detail)
        for item in actions(seen(said("codex", ev.PlanUpdated(), one, dialect="codex_app")))
    ]
    assert told == [
        ("todo_1", "started", "todo", {"done": 0, "total": 0}),
        ("todo_1", "updated", "todo 0/1: Look", {"done": 0, "total": 1}),
        ("todo_1", "completed", "todo 0/1: Look", {"done": 0, "total": 1}),
    ]


def test_what_goes_wrong_is_a_note_with_a_message() -> None:
    """A warning, whatever the severity."""
    [note] = actions(seen(said("claude", ev.Error(message="too long", severity="error"))))
    assert (note.action.id, note.action.title) == ("claude.note.1", "too long")
    assert (note.message, note.level, note.ok) == ("too long", "warning", False)


@pytest.mark.parametrize(
    ("end", "exit", "ok", "error"),
    [
        (b"", None, True, None),
        (b"", 0, True, None),
        (b"", 1, False, "codex failed (rc=1).\nsession: th1 · new"),
        (b'{"type":"error","message":"stream lost"}\n', None, False, "stream lost"),
        (b'{"type":"turn.failed","error":{"message":"no"}}\n', 1, False, "no"),
        (b'{"type":"error","message":"bad"}\n' + DONE, 0, True, None),
    ],
)
def test_codex_may_end_without_a_result(end: bytes, exit: int | None, ok: bool, error: str | None) -> None:
    """An exit without an error is a success where the thread is known; an error in between ends nothing."""
    last = completed(seen(CODEX + end, exit=exit))
    assert (last.ok, last.error) == (ok, error)
    assert last.answer == "Built."


def test_codex_without_a_thread_is_no_success() -> None:
    last = completed(seen(b'{"type":"turn.started"}\n', "codex_exec", exit=0))
    assert (last.ok, last.error) == (False, "codex finished but no session_id was captured")


# --- others ------------------------------------------------------------------------------------------------


def opencode(*events: Event, **how: Any) -> list[Any]:
    return seen(said("opencode", *events, dialect="acp"), **how)


def test_opencode_shows_the_titles_that_it_gives() -> None:
    items = opencode(
        ev.SessionStarted(model="m"),
        ev.TurnStarted(),
        ev.ToolStarted(call_id="c", name="bash", kind="execute", title="bash", input={}),
        ev.ToolUpdated(call_id="c", title="List files", input={"command": "ls"}),
        ev.ToolUpdated(call_id="c", title="List all files"),
        ev.ToolEnded(call_id="c", status="completed", output="a"),
        ev.Delta(text="One. ", message_id="1"),
        ev.Message(role="assistant", text="One. ", message_id="1"),
        ev.Message(role="assistant", text="Two.", message_id="2"),
        ev.TurnEnded(
            outcome="completed", text="Two.", cost_usd=0.5, usage=Usage(input_tokens=1, reasoning_tokens=2)
        ),
    )
    assert [(item.phase, item.action.kind, item.action.title) for item in actions(items)] == [
        ("started", "command", "List files"),
        ("updated", "command", "List all files"),
        ("completed", "command", "List all files"),
    ]
    last = completed(items)
    assert last.answer == "One. Two."
    assert last.usage == {"total_cost_usd": 0.5, "usage": {"input_tokens": 1, "reasoning_tokens": 2}}


def test_opencode_answers_with_the_error_if_it_has_nothing_else() -> None:
    last = completed(opencode(ev.TurnStarted(), ev.Error(message="no model")))
    assert (last.ok, last.answer, last.error) == (False, "no model", "no model")


def test_a_retry_takes_back_what_it_replaces() -> None:
    items = opencode(
        ev.TurnStarted(),
        ev.Delta(text="Half of", message_id="1"),
        ev.Retry(attempt=1, max_attempts=3, reason="cut", discards=["1"]),
        ev.Message(role="assistant", text="Whole.", message_id="2"),
        ev.TurnEnded(outcome="completed"),
    )
    assert [(item.action.id, item.action.title) for item in actions(items)] == [("retry_1", "retry 1/3: cut")]
    assert completed(items).answer == "Whole."


def test_texts_of_subagents_and_of_history_are_no_answer() -> None:
    items = opencode(
        ev.Message(role="assistant", text="Old.", replay=True),
        ev.ToolStarted(call_id="c", name="bash", input={"command": "ls"}, replay=True),
        ev.Message(role="assistant", text="Inner.", parent="c"),
        ev.Message(role="assistant", text="Mine."),
        ev.Message(role="assistant", text="Mine."),
        ev.TurnEnded(outcome="completed"),
    )
    assert completed(items).answer == "Mine.Mine."
    assert actions(items) == []


def test_an_engine_without_rules_of_its_own_has_its_own_name() -> None:
    items = seen(
        said(
            "goose", ev.SessionStarted(), ev.TurnEnded(outcome="limited", reason="max_tokens"), dialect="acp"
        )
    )
    last = completed(items)
    assert (last.engine, last.ok, last.error) == ("goose", False, "goose: the turn was limited (max_tokens)")
    assert last.resume == ResumeToken("goose", "s-1")


def test_the_vendor_decides_where_it_is_given() -> None:
    items = seen(said("claude-code-acp", ev.SessionStarted(model="m"), dialect="acp"), vendor="claude")
    assert [(item.engine, item.title) for item in started(items)] == [("claude", "m")]


def test_pi_tells_when_its_context_is_compacted() -> None:
    [note] = actions(seen(said("pi", ev.ContextCompacted(), dialect="acp")))
    assert (note.action.id, note.action.title) == ("compaction_1", "context compacted")
    assert actions(seen(said("claude", ev.ContextCompacted()))) == []
