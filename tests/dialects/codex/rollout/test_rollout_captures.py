"""What the real files become, as one reads it from their lines."""

from typing import Any

import pytest

from dragoman._model import events as ev
from tests.dialects.codex.rollout.rollout_files import CAPTURES, capture, read
from tests.interpreted import of

TURNS: dict[str, list[tuple[str | None, str, str | None, int | None]]] = {
    "basic": [("go", "completed", "All done now.", 700), ("again", "completed", "Second turn answer", 100)],
    "legacy": [("x", "completed", "done", 300), ("y", "completed", "second", 100)],
    "codemode": [("x", "completed", "code mode done", 300)],
    "mcp": [("use mcp", "completed", "mcp done", 900)],
    "odd_tool_calls": [("x", "completed", "ok", 300)],
    "err_429": [("x", "failed", None, None)],
    "disconnect_then_ok": [("x", "completed", "whole answer", 100)],
    "sigint_in_command": [("x", "cancelled", None, 100)],
    "interrupt_steer": [
        ("stream", "cancelled", None, None),
        ("cmd", "cancelled", None, 100),
        ("steerme", "completed", "after steer", 200),
    ],
    "fork": [("fork prompt", "completed", "forked answer", 100)],
    "fork_after_parent": [
        ("remember 42", "completed", "first answer", 100),
        ("what number", "completed", "second answer", 200),
        ("again", "completed", "third answer", 100),
        ("fork prompt", "completed", "forked answer", 100),
    ],
    "revert_after_parent": [
        ("first question", "completed", "answer one", 100),
        ("second question", "completed", "answer two", 100),
        ("after revert q", "completed", "after revert", 100),
        (None, "completed", None, 100),
        ("post compact", "completed", "after compact", 100),
        ("resumed q", "completed", "resumed answer", 100),
        (None, "completed", None, 0),
    ],
    "subagent_with_child": [("PARENT go", "completed", "parent done", 300)],
    "subagent_child": [("CHILDTASK do it", "completed", "child final answer", 200)],
    "subagent_v2_with_child": [("PARENT go", "completed", "parent done", 300)],
}


@pytest.mark.parametrize("name", TURNS)
def test_turns(name: str) -> None:
    events = capture(name)
    turns = zip(of(events, ev.TurnStarted), of(events, ev.TurnEnded), strict=True)
    found = [(s.prompt, e.outcome, e.text, e.usage.input_tokens if e.usage else None) for s, e in turns]
    assert found == TURNS[name]


def test_every_file_is_read_without_riddles() -> None:
    for folder in CAPTURES.glob("*/"):
        events = capture(folder.name)
        assert not of(events, ev.NativeUnknown)
        assert not of(events, ev.NativeInvalid)
        times = {event.agent_time is not None for event in events if event.frame}
        assert times == {True}


def tools(name: str) -> list[tuple[str, str, str, int | None]]:
    events = capture(name)
    over = {event.call_id: event for event in of(events, ev.ToolEnded)}
    return [
        (t.name, t.kind, over[t.call_id].status, over[t.call_id].exit_code)
        for t in of(events, ev.ToolStarted)
    ]


TOOLS: dict[str, list[Any]] = {
    "basic": [
        ("shell", "execute", "completed", 0),
        ("update_plan", "memory", "completed", None),
        ("apply_patch", "edit", "completed", None),
        ("echo", "mcp", "completed", None),
        ("slow", "mcp", "completed", None),
        ("web_search", "browse", "completed", None),
        ("shell", "execute", "completed", 0),
        ("write_stdin", "execute", "completed", None),
        ("write_stdin", "execute", "completed", 0),
    ],
    "legacy": [("shell", "execute", "completed", 0), ("apply_patch", "edit", "completed", None)],
    "odd_tool_calls": [
        ("nonexistent_tool", "other", "failed", None),
        ("shell", "execute", "failed", None),
        ("image_generation", "other", "completed", None),
    ],
    "codemode": [
        ("exec", "execute", "completed", None),
        ("shell", "execute", "completed", 0),
        ("apply_patch", "edit", "completed", None),
        ("exec", "execute", "failed", None),
    ],
    "interrupt_steer": [("shell", "execute", "cancelled", None), ("shell", "execute", "completed", 0)],
}


@pytest.mark.parametrize("name", TOOLS)
def test_tools(name: str) -> None:
    assert tools(name) == TOOLS[name]


def test_what_is_said() -> None:
    said = [(m.role, m.kind, m.text) for m in of(capture("basic"), ev.Message) if not m.synthetic]
    assert said == [
        ("user", "text", "go"),
        ("assistant", "thinking", "**Plan**\n\nthink a bit\n**More**"),
        ("assistant", "commentary", "Working on it."),
        ("assistant", "text", "All done now."),
        ("user", "text", "again"),
        ("assistant", "text", "Second turn answer"),
    ]


def test_the_legacy_form_says_it_once_too() -> None:
    said = [(m.role, m.kind, m.text) for m in of(capture("legacy"), ev.Message) if not m.synthetic]
    assert said == [
        ("user", "text", "x"),
        ("assistant", "thinking", "thinking"),
        ("assistant", "text", "done"),
        ("user", "text", "y"),
        ("assistant", "text", "second"),
    ]


def test_what_is_steered_in_is_a_message_of_the_turn() -> None:
    said = [
        (m.turn, m.text)
        for m in of(capture("interrupt_steer"), ev.Message)
        if m.role == "user" and not m.synthetic
    ]
    assert said == [(1, "stream"), (2, "cmd"), (3, "steerme"), (3, "STEERED please"), (3, "SECOND START")]


def test_a_command_that_was_aborted_may_report_later() -> None:
    (late,) = [u for u in of(capture("interrupt_steer"), ev.ToolUpdated) if u.late]
    assert late.output == "begin\n"


def test_a_command_that_goes_on_is_updated() -> None:
    events = capture("basic")
    running = of(events, ev.ToolUpdated)
    assert [u.call_id for u in running] == ["call_87ff464e0800"]
    ended = next(e for e in of(events, ev.ToolEnded) if e.call_id == "call_87ff464e0800")
    assert (ended.output, ended.exit_code) == ("hello\r\nhello\r\n", 0)


def test_changes_have_diffs() -> None:
    moved, created = of(capture("basic"), ev.FileChanged)
    assert (moved.change, moved.move_to) == ("moved", "/home/dev/work/app_basic/README2.md")
    assert moved.diff == (
        "--- a/home/dev/work/app_basic/README.md\n+++ b/home/dev/work/app_basic/README2.md\n@@ -1 +1 @@\n-hello\n+bye\n"
    )
    assert (created.change, created.after) == ("created", "hello\n")
    assert {moved.phase, created.phase} == {"applied"}


def test_facts_of_the_session() -> None:
    (session,) = of(capture("basic"), ev.SessionStarted)
    assert (session.cwd, session.cli_version, session.resumed) == (
        "/home/dev/work/app_basic",
        "0.166.0",
        False,
    )
    assert session.ext["codex.historyMode"] == "paginated"
    updates = of(capture("plan_mode_question"), ev.SessionUpdated)
    assert (updates[0].model, updates[0].permission_mode, updates[0].mode) == (
        "gpt-5.5",
        "on-request",
        "plan",
    )
    assert [u.mode for u in updates] == ["plan", "default"]


def test_a_fork_says_where_its_history_is() -> None:
    (session,) = of(capture("fork"), ev.SessionStarted)
    assert session.resumed
    assert session.ext["codex.historyBase"]["thread_id"] == session.ext["codex.forkedFrom"]


def test_a_fork_read_after_its_parent() -> None:
    events = capture("fork_after_parent")
    parent, fork = of(events, ev.SessionStarted)
    assert fork.ext["codex.forkedFrom"] == parent.session
    sessions = [event.session for event in of(events, ev.TurnStarted)]
    assert sessions == [parent.session] * 3 + [fork.session]


def test_a_revert_goes_on_in_the_same_session() -> None:
    events = capture("revert_after_parent")
    assert len(of(events, ev.SessionStarted)) == 1
    (compacted,) = of(events, ev.ContextCompacted)
    assert (compacted.trigger, compacted.turn) == ("manual", 4)
    assert (compacted.summary or "").endswith("SUMMARY of the conversation")


@pytest.mark.parametrize("name", ["subagent_with_child", "subagent_v2_with_child"])
def test_a_subagent_is_part_of_its_parent(name: str) -> None:
    events = capture(name)
    (began,), (over,) = of(events, ev.SubagentStarted), of(events, ev.SubagentEnded)
    assert began.call_id == over.call_id == of(events, ev.ToolStarted)[0].call_id
    inside = [event for event in events if event.parent is not None]
    assert {event.parent for event in inside} == {began.call_id}
    said = [m.text for m in of(inside, ev.Message) if m.role == "assistant"]
    assert said == [{"subagent_with_child": "child final answer"}.get(name, "child v2 answer")]
    assert len({event.session for event in events[1:]}) == 1
    assert len(of(events, ev.TurnStarted)) == 1


def test_inherited_history_is_played_back() -> None:
    events = capture("subagent_v2_child")
    assert len(of(events, ev.SessionStarted)) == 1
    replayed = [m.text for m in of(events, ev.Message) if m.replay and not m.synthetic]
    assert replayed == ["PARENT go"]
    (ended,) = of(events, ev.TurnEnded)
    assert (ended.outcome, ended.text) == ("completed", "child v2 answer")


def test_a_turn_that_was_killed_and_taken_up_again() -> None:
    events = capture("killed")
    assert [(e.outcome, e.text) for e in of(events, ev.TurnEnded)] == [
        ("truncated", None),
        ("completed", "resumed ok"),
    ]
    assert [t.prompt for t in of(events, ev.TurnStarted)] == ["x", "continue"]
    assert of(events, ev.ToolEnded)[0].status == "abandoned"


def test_a_file_that_just_stops() -> None:
    lines = (CAPTURES / "killed" / "session.jsonl").read_bytes().splitlines()
    events = read(lines[:11])
    assert of(events, ev.TurnEnded)[0].outcome == "truncated"
    assert of(events, ev.RunEnded)[0].outcome == "truncated"


def test_an_error_ends_its_turn() -> None:
    (ended,) = of(capture("err_429"), ev.TurnEnded)
    assert ended.error is not None
    assert ended.error.code == "response_too_many_failed_attempts"
    assert ended.duration_ms == 1198


def test_images_are_blocks() -> None:
    first = next(m for m in of(capture("inputs"), ev.Message) if m.role == "user" and not m.synthetic)
    assert first.text == "see"
    assert [type(block).__name__ for block in first.blocks] == ["TextBlock", "ImageBlock", "ImageBlock"]


def test_reviews() -> None:
    statuses = [(s.status, s.message) for s in of(capture("review"), ev.SessionStatus)]
    assert statuses == [("entered_review", "current changes"), ("exited_review", "because")]
