"""Specification 001, section by section: its own examples, as it prints them, in the seed profile."""

import json
from typing import Any

import pytest

from dragoman._files.convert import convert
from dragoman._model.events import NativeInvalid, ToolEnded, ToolStarted
from dragoman._projections.untether import Action, ActionEvent, CompletedEvent, ResumeToken, StartedEvent
from tests.projections.untether.showing import actions, completed, said, seen, started

INIT = b'{"type":"init","session_id":"abc123def","model":"gemini-2.0-flash-exp"}\n'
TOOL_USE = (
    b'{"type":"tool_use","tool_name":"Bash","tool_id":"tool_1","parameters":{"command":"echo hello"}}\n'
)
TOOL_RESULT = b'{"type":"tool_result","tool_id":"tool_1","status":"success","output":"hello"}\n'
MESSAGE = b'{"type":"message","role":"assistant","content":"Done."}\n'
RESULT = b'{"type":"result","status":"success","stats":{"input_tokens":100,"output_tokens":50,"total_cost_usd":0.0025}}\n'
ERROR = b'{"type":"error","message":"API key invalid or expired"}\n'

TOKEN = ResumeToken("gemini", "abc123def")
BASH = {"tool_name": "Bash", "input": {"command": "echo hello"}, "tool_id": "tool_1"}


def gemini(*lines: bytes, **how: Any) -> list[Any]:
    return seen(b"".join(lines), "gemini_stream", **how)


def test_the_whole_example() -> None:
    """§2, §4.1 to §4.5, §6."""
    assert gemini(INIT, TOOL_USE, TOOL_RESULT, MESSAGE, RESULT) == [
        StartedEvent(engine="gemini", resume=TOKEN, meta={"model": "gemini-2.0-flash-exp"}),
        ActionEvent(engine="gemini", action=Action("tool_1", "command", "echo hello", BASH), phase="started"),
        ActionEvent(
            engine="gemini",
            action=Action("tool_1", "command", "echo hello", {**BASH, "output_preview": "hello"}),
            phase="completed",
            ok=True,
        ),
        CompletedEvent(
            engine="gemini",
            ok=True,
            answer="Done.",
            resume=TOKEN,
            usage={"total_cost_usd": 0.0025, "usage": {"input_tokens": 100, "output_tokens": 50}},
        ),
    ]


@pytest.mark.parametrize("profile", ["seed", "live"])
def test_an_error_fails_the_run_with_what_was_said_before_it(profile: str) -> None:
    """§4.6. Both profiles agree where no result follows."""
    assert gemini(INIT, MESSAGE, ERROR, profile=profile)[1:] == [
        CompletedEvent(
            engine="gemini", ok=False, answer="Done.", resume=TOKEN, error="API key invalid or expired"
        )
    ]


def test_nothing_follows_an_error() -> None:
    """§4.6: it completes the run; what comes after it is dropped, the result too."""
    items = gemini(INIT, ERROR, TOOL_USE, TOOL_RESULT, MESSAGE, RESULT)
    assert items[1:] == [
        CompletedEvent(engine="gemini", ok=False, answer="", resume=TOKEN, error="API key invalid or expired")
    ]


def test_live_an_error_waits_for_the_result() -> None:
    """In the real CLI a result follows every error, and a warning is none."""
    warning = b'{"type":"error","severity":"warning","message":"Careful"}\n'
    items = gemini(INIT, warning, ERROR, MESSAGE, RESULT, profile="live")
    [note] = actions(items)
    assert (note.action.kind, note.action.title, note.level, note.ok) == (
        "warning",
        "Careful",
        "warning",
        False,
    )
    last = completed(items)
    assert (last.ok, last.answer, last.error) == (False, "Done.", "API key invalid or expired")


@pytest.mark.parametrize(("status", "ok"), [("success", True), ("error", False), ("weird", False)])
def test_a_tool_result_is_ok_if_its_status_is_success(status: str, ok: bool) -> None:
    """§4.3."""
    line = json.dumps({"type": "tool_result", "tool_id": "tool_1", "status": status}).encode() + b"\n"
    action = actions(gemini(INIT, TOOL_USE, line, RESULT))[-1]
    assert (action.phase, action.ok, action.action.detail) == ("completed", ok, BASH)


@pytest.mark.parametrize("profile", ["seed", "live"])
def test_a_command_that_exits_badly_is_ok_if_its_status_is_success(profile: str) -> None:
    """§4.3. Gemini CLI says so of every command that it could run (capture tool_errors)."""
    said = {"tool_id": "tool_1", "status": "success", "output": "Command exited with code: 3"}
    line = json.dumps({"type": "tool_result", **said}).encode() + b"\n"
    action = actions(gemini(INIT, TOOL_USE, line, RESULT, profile=profile))[-1]
    assert (action.phase, action.ok) == ("completed", True)


def test_the_output_is_cut_to_500_characters() -> None:
    """§4.3."""
    line = json.dumps({"type": "tool_result", "tool_id": "tool_1", "status": "success", "output": "x" * 501})
    action = actions(gemini(INIT, TOOL_USE, line.encode() + b"\n", RESULT))[-1]
    assert action.action.detail["output_preview"] == "x" * 500


def test_a_tool_result_ends_its_own_call_once() -> None:
    """§4.2, §4.3: pending actions are told apart by id, and taken off when they end."""
    second = TOOL_USE.replace(b"tool_1", b"tool_2")
    items = gemini(
        INIT, TOOL_USE, second, TOOL_RESULT.replace(b"tool_1", b"tool_2"), TOOL_RESULT, TOOL_RESULT, RESULT
    )
    assert [(item.action.id, item.phase) for item in actions(items)] == [
        ("tool_1", "started"),
        ("tool_2", "started"),
        ("tool_2", "completed"),
        ("tool_1", "completed"),
    ]


def test_a_result_of_no_known_call_is_dropped() -> None:
    """§4.3 pops a pending action; where there is none, there is nothing to complete. Live it is shown."""
    assert actions(gemini(INIT, TOOL_RESULT, RESULT)) == []
    phases = [item.phase for item in actions(gemini(INIT, TOOL_RESULT, RESULT, profile="live"))]
    assert phases == ["started", "completed"]


def test_assistant_texts_add_up_and_make_no_event() -> None:
    """§4.4: whole messages and deltas, joined as they came; the user's are not part of it."""
    user = b'{"type":"message","role":"user","content":"Do it."}\n'
    delta = b'{"type":"message","role":"assistant","content":" And more.","delta":true}\n'
    items = gemini(INIT, user, MESSAGE, TOOL_USE, TOOL_RESULT, delta, delta, RESULT)
    assert completed(items).answer == "Done. And more. And more."
    assert len(items) == 4


@pytest.mark.parametrize(
    ("result", "profile", "error"),
    [
        ({"status": "error"}, "seed", "gemini result status: error"),
        (
            {"status": "error", "error": {"type": "X", "message": "no quota"}},
            "seed",
            "gemini result status: error",
        ),
        ({"status": "error", "error": {"type": "X", "message": "no quota"}}, "live", "no quota"),
        ({"status": "cancelled"}, "seed", "gemini result status: cancelled"),
    ],
)
def test_a_result_without_success_fails_the_run(result: dict[str, Any], profile: str, error: str) -> None:
    """§4.5: ok is status == "success"."""
    line = json.dumps({"type": "result", **result}).encode() + b"\n"
    last = completed(gemini(INIT, MESSAGE, line, profile=profile))
    assert (last.ok, last.answer, last.error, last.resume) == (False, "Done.", error, TOKEN)


def test_unknown_events_are_ignored_and_malformed_lines_warned_of() -> None:
    """§4.7."""
    unknown, malformed = b'{"type":"telemetry","x":1}\n', b'{"type":"mess\n'
    items = gemini(INIT, unknown, malformed, MESSAGE, RESULT)
    [note] = actions(items)
    assert (note.action.id, note.action.kind, note.level) == ("gemini.note.1", "warning", "warning")
    assert note.action.title == note.message == "invalid JSON from gemini; ignoring line"
    assert note.action.detail["frame"] == 3
    assert completed(items).ok


def test_a_malformed_line_is_repeated_where_it_is_kept() -> None:
    [note] = actions(seen(convert(INIT + b"oops\n" + RESULT, "gemini_stream", native=True)))
    assert note.action.detail["line"] == "oops"
    assert actions(seen(said("gemini", NativeInvalid())))[0].action.detail == {}


@pytest.mark.parametrize(
    ("stats", "usage"),
    [
        ({"input_tokens": 1, "output_tokens": 2}, {"usage": {"input_tokens": 1, "output_tokens": 2}}),
        ({"total_cost_usd": 0.5}, {"total_cost_usd": 0.5, "usage": {}}),
        ({"input_tokens": 0}, {"usage": {"input_tokens": 0}}),
        ({}, None),
        (None, None),
    ],
)
def test_usage_comes_from_the_stats(stats: dict[str, Any] | None, usage: dict[str, Any] | None) -> None:
    """§6: None if they are empty or missing."""
    line = json.dumps({"type": "result", "status": "success", "stats": stats}).encode() + b"\n"
    assert completed(gemini(INIT, line)).usage == usage


def test_live_usage_has_what_the_program_adds() -> None:
    stats = {"input_tokens": 9, "output_tokens": 2, "cached": 4, "duration_ms": 70, "thought_tokens": 1}
    line = json.dumps({"type": "result", "status": "success", "stats": stats}).encode() + b"\n"
    counts = {"input_tokens": 9, "output_tokens": 2, "cache_read_tokens": 4}
    assert completed(gemini(INIT, line, profile="live")).usage == {"duration_ms": 70, "usage": counts}


def test_the_token_is_the_session_id_of_init() -> None:
    """§2."""
    assert [item.resume for item in started(gemini(INIT, INIT, RESULT))] == [TOKEN]
    assert completed(gemini(MESSAGE, RESULT)).resume is None


@pytest.mark.parametrize(
    ("lines", "exit", "error"),
    [
        ([INIT, MESSAGE], 0, "gemini finished without a result event"),
        ([MESSAGE], 0, "gemini finished but no session_id was captured"),
        ([INIT, MESSAGE], 1, "gemini failed (rc=1).\nsession: abc123de · new"),
        ([INIT, MESSAGE], -15, "gemini failed (rc=-15 (SIGTERM)).\nsession: abc123de · new"),
    ],
)
def test_a_stream_that_just_stops(lines: list[bytes], exit: int, error: str) -> None:
    items = gemini(*lines, exit=exit)
    last = completed(items)
    assert (last.ok, last.answer, last.error) == (False, "Done.", error)
    notes = [(note.action.kind, note.action.title, note.message, note.level) for note in actions(items)]
    assert notes == ([("warning", error, error, "warning")] if exit else [])


def test_a_start_waits_until_something_is_known_of_the_call() -> None:
    """A call with no input is shown when it ends, or when a permission is asked for it."""
    events = [ToolStarted(call_id="c", name="tool", input={}), ToolEnded(call_id="c", status="completed")]
    items = seen(said("gemini", events[0]))
    assert actions(items) == []
    assert [item.phase for item in actions(seen(said("gemini", *events)))] == ["started", "completed"]
