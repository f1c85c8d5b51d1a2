"""What the real runs become, as one reads it from their lines."""

from typing import Any

import pytest

from dragoman._model import events as ev
from tests.dialects.codex.exec.exec_lines import capture
from tests.interpreted import of

OK = ("shell", "execute", "completed", 0)
PATCH = ("apply_patch", "edit", "completed", None)
SEARCH = ("web_search", "browse", "completed", None)
TOO_MANY = "exceeded retry limit, last status: 429 Too Many Requests"
ODD = (ev.NativeUnknown, ev.NativeInvalid, ev.NativeKnown)
CUT = "stream disconnected before completion: stream closed before response.completed"

RUNS: dict[str, dict[str, Any]] = {
    "simple_text": {"answer": "Hello from the mock.", "input": 100},
    "reasoning": {"answer": "Done thinking.", "input": 100},
    "apply_patch": {"answer": "patched", "input": 800, "tools": [PATCH] * 6},
    "codemode": {"answer": "code mode done", "input": 300, "tools": [OK, PATCH]},
    "multi_parallel": {"answer": "done", "input": 200, "tools": [OK, OK, PATCH]},
    "web_search": {"answer": "searched", "input": 100, "tools": [SEARCH] * 3},
    "plan": {"answer": "planned", "input": 500, "tools": [OK]},
    "image": {"answer": "saw it", "input": 200},
    "odd_tool_calls": {"answer": "ok", "input": 300},
    "stdin_dash": {"answer": "read stdin", "input": 100},
    "sandbox_readonly": {"answer": "tried", "input": 400, "tools": [OK]},
    "unknown_model": {"answer": "x", "input": 100, "warnings": 1},
    "sandbox_readonly_legacy_landlock": {"answer": "tried", "input": 400, "warnings": 1},
    "shell_ok_fail_long": {
        "answer": "All run.",
        "input": 500,
        "tools": [OK, ("shell", "execute", "failed", 3), OK, ("shell", "execute", "abandoned", None)],
    },
    "err_disconnect_then_ok": {"answer": "whole answer", "input": 100, "retries": [(1, 1, None)]},
    "err_401": {"error": "unexpected status 401", "retries": [(1, 1, 401)], "errors": 1},
    "err_429": {"error": TOO_MANY, "retries": [(1, 1, 429)], "errors": 1},
    "err_500": {"error": "We’re currently experiencing high demand", "retries": [(1, 1, None)], "errors": 1},
    "err_429_usage_limit": {"error": "You’ve hit your usage limit.", "errors": 1},
    "err_context_length": {"error": "Codex ran out of room", "errors": 1},
    "err_disconnect_always": {"error": CUT, "retries": [(1, 1, None)], "errors": 1},
    "err_response_failed": {"error": "stream disconnected before", "retries": [(1, 1, None)], "errors": 1},
    "err_connrefused": {"outcome": "truncated", "retries": [(None, None, None)] * 4},
    "sigint_jswrapper": {"outcome": "truncated"},
    "sigint_in_command": {"outcome": "truncated", "tools": [("shell", "execute", "abandoned", None)]},
    "sigterm_in_command": {"outcome": "truncated", "tools": [("shell", "execute", "abandoned", None)]},
}


@pytest.mark.parametrize("name", RUNS)
def test_turns_tools_and_troubles(name: str) -> None:
    said, events = RUNS[name], capture(name)
    (started,), (ended,) = of(events, ev.TurnStarted), of(events, ev.TurnEnded)
    outcome = said.get("outcome") or ("failed" if "error" in said else "completed")
    assert (ended.outcome, ended.text) == (outcome, said.get("answer"))
    assert (ended.error.message if ended.error else "").startswith(said.get("error", ""))
    assert (ended.error is not None) == ("error" in said)
    assert (ended.usage.input_tokens if ended.usage else None) == said.get("input")
    assert not started.synthesized
    begun = {event.call_id: event for event in of(events, ev.ToolStarted)}
    over = {event.call_id: event for event in of(events, ev.ToolEnded)}
    found = [(t.name, t.kind, over[id].status, over[id].exit_code) for id, t in begun.items()]
    assert found == said.get("tools", [])
    retries = of(events, ev.Retry)
    assert [(r.attempt, r.max_attempts, r.status_code) for r in retries] == said.get("retries", [])
    by_severity = [error.severity for error in of(events, ev.Error)]
    assert (by_severity.count("error"), by_severity.count("warning")) == (
        said.get("errors", 0),
        said.get("warnings", 0),
    )
    assert not [event for event in events if isinstance(event, ODD)]


@pytest.mark.parametrize("name", ["bad_config", "bad_flag", "output_schema_bad", "stdin_empty"])
def test_runs_that_never_began(name: str) -> None:
    events = capture(name)
    assert [type(event) for event in events] == [ev.RunStarted, ev.RunEnded]
    assert events[-1].outcome == "failed"  # type: ignore[attr-defined]


def test_changed_files() -> None:
    changes = of(capture("apply_patch"), ev.FileChanged)
    short = [(c.path.rpartition("/")[2], c.change, c.phase) for c in changes]
    assert short[:4] == [
        ("new.txt", "created", "proposed"),
        ("new.txt", "created", "applied"),
        ("a.txt", "modified", "proposed"),
        ("a.txt", "modified", "applied"),
    ]
    assert ("del.txt", "deleted", "applied") in short
    assert short[8:12] == [
        ("a.txt", "modified", "proposed"),
        ("m1.txt", "created", "proposed"),
        ("a.txt", "modified", "applied"),
        ("m1.txt", "created", "applied"),
    ]
    assert {c.call_id for c in changes} == {f"item_{n}" for n in range(6)}


def test_mcp_tools() -> None:
    events = capture("mcp")
    started, ended = of(events, ev.ToolStarted), of(events, ev.ToolEnded)
    assert {(t.server, t.kind) for t in started} == {("tiny", "mcp")}
    assert [t.name for t in started] == ["echo", "fail", "rpcfail", "structured", "slow", "danger", "ask"]
    assert started[0].native_name == "mcp__tiny__echo"
    assert (ended[0].status, ended[0].output, ended[0].error) == ("completed", "echo: hi", None)
    assert (ended[1].status, ended[1].output) == ("failed", "it broke")
    assert ended[1].error == ev.ErrorInfo(message="it broke")
    assert ended[2].status == "failed"
    assert ended[2].error is not None
    assert "rpc broke" in ended[2].error.message
    assert ended[3].structured == {"a": 1}
    assert [type(block).__name__ for block in ended[3].content] == ["TextBlock", "ImageBlock"]


def test_a_search_is_known_when_it_is_over() -> None:
    events = capture("web_search")
    titles = [event.title for event in of(events, ev.ToolUpdated)]
    assert titles == ["rust async book", "https://example.org/", "'foo' in https://example.org/"]
    assert [event.title for event in of(events, ev.ToolStarted)] == [None] * 3
    # Of two keys `id` the second counts.
    assert of(events, ev.ToolStarted)[0].call_id == "ws_fcf3f27f0013"


def test_plans() -> None:
    plans = of(capture("plan"), ev.PlanUpdated)
    done = [[entry.status for entry in plan.entries] for plan in plans]
    assert done == [
        ["pending", "pending"],
        ["completed", "pending"],
        ["completed", "completed"],
        ["completed", "completed"],
    ]
    assert [entry.text for entry in plans[0].entries] == ["Look", "Do"]


def test_reasoning_is_thinking() -> None:
    kinds = [(m.kind, m.text) for m in of(capture("reasoning"), ev.Message)]
    assert kinds[0][0] == "thinking"
    assert kinds[1:] == [("text", "Interim note."), ("text", "Done thinking.")]


def test_the_long_output_is_whole() -> None:
    ended = of(capture("shell_ok_fail_long"), ev.ToolEnded)[2]
    assert ended.output == "".join(f"{n}\n" for n in range(1, 20001))


def test_a_command_is_titled_by_its_script() -> None:
    started = of(capture("shell_ok_fail_long"), ev.ToolStarted)[0]
    assert started.title == "echo hi; pwd"
    assert started.input == {"command": "/bin/bash -lc 'echo hi; pwd'"}
