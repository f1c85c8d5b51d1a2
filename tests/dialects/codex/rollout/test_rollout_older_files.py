"""Files of versions that no capture is of: without marks of turns, with the shell's old answers."""

from typing import Any

import pytest

from dragoman._model import events as ev
from tests.dialects.codex.rollout.rollout_files import lines
from tests.interpreted import of

META = ("session_meta", {"id": "s-1", "cwd": "/w", "cli_version": "0.40.0"})


def user(text: str) -> tuple[str, dict[str, Any]]:
    return "response_item", {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }


def assistant(text: str) -> tuple[str, dict[str, Any]]:
    content = [{"type": "output_text", "text": text}]
    return "response_item", {"type": "message", "role": "assistant", "content": content}


def event(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return "event_msg", {"type": kind, **fields}


def call(name: str, arguments: str, call_id: str = "c") -> tuple[str, dict[str, Any]]:
    return "response_item", {
        "type": "function_call",
        "name": name,
        "arguments": arguments,
        "call_id": call_id,
    }


def output(value: Any, call_id: str = "c") -> tuple[str, dict[str, Any]]:
    return "response_item", {"type": "function_call_output", "call_id": call_id, "output": value}


def totals(total: int, last: int) -> tuple[str, dict[str, Any]]:
    info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": {"input_tokens": last}}
    return event("token_count", info=info)


def test_prompts_make_the_turns_and_nothing_is_said_twice() -> None:
    events = lines(
        META,
        user("<environment_context>…</environment_context>"),
        user("one"),
        event("user_message", message="one"),
        totals(10, 10),
        event("agent_message", message="1"),
        assistant("1"),
        user("two"),
        event("user_message", message="two"),
        event("agent_message", message="2"),
        assistant("2"),
        totals(25, 15),
    )
    assert [(m.role, m.text) for m in of(events, ev.Message) if not m.synthetic] == [
        ("user", "one"),
        ("assistant", "1"),
        ("user", "two"),
        ("assistant", "2"),
    ]
    ended = of(events, ev.TurnEnded)
    assert [(e.outcome, e.text, e.usage.input_tokens if e.usage else None) for e in ended] == [
        ("completed", "1", 10),
        ("completed", "2", 15),
    ]


def test_a_thread_that_goes_on_from_elsewhere_counts_from_its_first_call() -> None:
    base = {"thread_id": "s-0", "end_ordinal_exclusive": 4}
    events = lines(
        ("session_meta", {"id": "s-1", "history_base": base, "forked_from_id": "s-0"}),
        event("task_started", turn_id="t"),
        event("user_message", message="go"),
        totals(500, 100),
        totals(650, 150),
        event("task_complete", last_agent_message="done"),
    )
    (ended,) = of(events, ev.TurnEnded)
    assert ended.usage is not None
    assert ended.usage.input_tokens == 250


def test_a_total_outside_a_turn_is_a_baseline() -> None:
    events = lines(
        ("session_meta", {"id": "s-1", "forked_from_id": "s-0"}),
        totals(500, 100),
        event("task_started", turn_id="t"),
        totals(650, 150),
        event("task_complete", last_agent_message="done"),
    )
    (ended,) = of(events, ev.TurnEnded)
    assert ended.usage is not None
    assert ended.usage.input_tokens == 150


@pytest.mark.parametrize(
    ("said", "status", "text", "code"),
    [
        ('{"output":"hi\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}', "completed", "hi\n", 0),
        ('{"output":"no\\n","metadata":{"exit_code":7}}', "failed", "no\n", 7),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nbad\n", "failed", "bad\n", 1),
        (
            "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok",
            "completed",
            "ok",
            0,
        ),
        (
            "Wall time: 7.9 seconds\naborted by user",
            "cancelled",
            "Wall time: 7.9 seconds\naborted by user",
            None,
        ),
        ("aborted by user after 1.0s", "cancelled", "aborted by user after 1.0s", None),
        ("patch rejected by user", "declined", "patch rejected by user", None),
        ('exec_command failed: X { message: "Rejected(\\"rejected by user\\")" }', "declined", None, None),
        (
            'exec_command failed: X { message: "Rejected(\\"approval request failed\\")" }',
            "failed",
            None,
            None,
        ),
        ("unsupported call: x", "failed", "unsupported call: x", None),
        ({"content": "plain", "success": False}, "failed", "plain", None),
        ({"content": "plain", "success": True}, "completed", "plain", None),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}],
            "completed",
            "a\nb",
            None,
        ),
        ("Process exited with code 9 is what it printed", "completed", None, None),
    ],
)
def test_outputs(said: Any, status: str, text: str | None, code: int | None) -> None:
    (ended,) = of(lines(META, call("shell", '{"command":["ls"]}'), output(said)), ev.ToolEnded)
    assert (ended.status, ended.exit_code) == (status, code)
    assert text is None or ended.output == text
    assert (ended.error is None) == (status == "completed")


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("shell", '{"command":["bash","-lc","ls -l"],"workdir":"/w"}', ("shell", "shell", "ls -l")),
        ("exec_command", '{"cmd":"pwd"}', ("shell", "exec_command", "pwd")),
        ("view_image", '{"path":"a.png"}', ("view_image", None, "a.png")),
        ("update_plan", '{"plan":[]}', ("update_plan", None, None)),
        ("odd", "{", ("odd", None, None)),
    ],
)
def test_calls(name: str, arguments: str, expected: Any) -> None:
    (started,) = of(lines(META, call(name, arguments)), ev.ToolStarted)
    assert (started.name, started.native_name, started.title) == expected


def test_calls_of_mcp_tools_have_their_server_in_the_namespace() -> None:
    item = {
        "type": "function_call",
        "name": "query",
        "namespace": "mcp__db",
        "arguments": "{}",
        "call_id": "c",
    }
    (started,) = of(lines(META, ("response_item", item)), ev.ToolStarted)
    assert (started.server, started.name, started.kind) == ("db", "query", "mcp")


def test_a_parent_copied_behind_the_first_line() -> None:
    events = lines(
        ("session_meta", {"id": "s-2", "forked_from_id": "s-1"}),
        META,
        event("user_message", message="one"),
        event("agent_message", message="1"),
    )
    assert [s.session for s in of(events, ev.SessionStarted)] == ["s-2"]
    assert [t.session for t in of(events, ev.TurnStarted)] == ["s-2"]


def test_a_thread_that_stops_before_the_next_is_truncated() -> None:
    events = lines(
        META,
        event("task_started", turn_id="t"),
        event("user_message", message="x"),
        ("session_meta", {"id": "s-9"}),
    )
    assert [(e.session, e.outcome) for e in of(events, ev.TurnEnded)] == [("s-1", "truncated")]


def test_unknown_parts_are_named() -> None:
    events = lines(
        META,
        ("response_item", {"type": "hologram"}),
        event("something_new"),
        event("item_completed", item={"type": "Hologram", "id": "h"}),
    )
    assert [e.native_type for e in of(events, ev.NativeUnknown)] == [
        "response_item/hologram",
        "event_msg/something_new",
        "event_msg/item_completed/Hologram",
    ]
