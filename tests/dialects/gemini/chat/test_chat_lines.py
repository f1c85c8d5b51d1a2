"""Session files line by line: updates, rewinds, history, old files."""

import json

import pytest

from dragoman._dialects import detect
from dragoman._files.convert import convert, native_lines
from dragoman._model import events as ev
from dragoman._model.usage import Usage
from tests.dialects.gemini.chat.chat_files import HEAD, call, gemini, read, user
from tests.interpreted import of

OLD = {
    "sessionId": "abc123-def456-7890",
    "projectHash": "sha256hash...",
    "startTime": "2025-12-03T10:00:00.000Z",
    "lastUpdated": "2025-12-03T10:05:00.000Z",
    "messages": [
        {
            "id": "msg-001",
            "timestamp": "2025-12-03T10:00:01.000Z",
            "type": "user",
            "content": "Analyze the auth module",
        },
        {
            "id": "msg-002",
            "timestamp": "2025-12-03T10:00:05.000Z",
            "type": "gemini",
            "content": "I'll analyze the authentication module...",
            "thoughts": [
                {
                    "subject": "Analysis Strategy",
                    "description": "Starting with file structure review...",
                    "timestamp": "2025-12-03T10:00:03.000Z",
                }
            ],
            "tokens": {"input": 100, "output": 250, "cached": 50, "thoughts": 100, "tool": 0, "total": 500},
            "model": "gemini-2.5-pro",
        },
    ],
}
"""The file of specification 004 §5.8."""


def told(events: list[ev.Event]) -> list[tuple[str, object]]:
    return [(type(event).__name__, getattr(event, "text", None)) for event in events if event.turn]


def test_an_old_file_in_every_form() -> None:
    forms = [json.dumps(OLD, indent=2), json.dumps(OLD), json.dumps(OLD, indent=2) + "\n"]
    for form in forms:
        events = list(convert(form.encode(), native=True))
        assert events[0].dialect == "gemini_chat"
        assert b"".join(native_lines(events)) == form.encode()
        [turn] = of(events, ev.TurnEnded)
        assert (turn.outcome, turn.text) == ("completed", "I'll analyze the authentication module...")
        assert turn.usage == Usage(
            input_tokens=100, cache_read_tokens=50, output_tokens=350, reasoning_tokens=100, total_tokens=500
        )
        assert of(events, ev.TurnStarted)[0].agent_time == "2025-12-03T10:00:01.000Z"


def test_an_old_file_line_by_line() -> None:
    lines = json.dumps(OLD, indent=2).encode().split(b"\n")
    events = read(*lines)
    assert told(events) == told(read(OLD))
    assert [e.native_type for e in of(events, ev.NativeKnown)] == ["document"] * (len(lines) - 1)


def test_an_old_file_that_was_cut_off() -> None:
    lines = json.dumps(OLD, indent=2).encode().split(b"\n")[:-3]
    [invalid] = of(read(*lines), ev.NativeInvalid)
    assert invalid.reason is not None


def test_the_dialect_is_told_by_any_line() -> None:
    for line in (HEAD, {"$set": {"lastUpdated": "x"}}, {"$rewindTo": "m"}, user("a", "b"), gemini("a", "b")):
        assert detect([json.dumps(line).encode()]) == "gemini_chat"


def test_the_last_line_of_an_id_is_the_message() -> None:
    events = read(HEAD, user("u", "hi"), gemini("g", "Hel"), gemini("g", "Hello"))
    first, second = [m for m in of(events, ev.Message) if m.role == "assistant"]
    assert (first.message_id, first.block) == (second.message_id, second.block)
    assert of(events, ev.TurnEnded)[0].text == second.text == "Hello"


def test_a_call_that_ends_later() -> None:
    running = {**call("c", "read_file", {"file_path": "a"}), "status": "executing", "result": None}
    events = read(
        HEAD,
        user("u", "hi"),
        gemini("g", "", toolCalls=[running]),
        gemini("g", "", toolCalls=[call("c", "read_file", {"file_path": "a"}, "text")]),
    )
    assert len(of(events, ev.ToolStarted)) == 1
    assert [(e.status, e.output) for e in of(events, ev.ToolEnded)] == [("completed", "text")]


def test_an_answer_to_a_call_that_was_never_written_whole() -> None:
    running = {**call("c", "read_file", {"file_path": "a"}), "status": "executing", "result": None}
    answer = [{"functionResponse": {"id": "c", "name": "read_file", "response": {"error": "gone"}}}]
    events = read(HEAD, user("u", "hi"), gemini("g", "", toolCalls=[running]), user("r", answer))
    [ended] = of(events, ev.ToolEnded)
    assert (ended.status, ended.output) == ("failed", "gone")
    assert len(of(events, ev.TurnStarted)) == 1


@pytest.mark.parametrize(
    ("answer", "output", "code"),
    [
        ("Output: out\nExit Code: 3\nProcess Group PGID: 4", "out", 3),
        ("Output: one\ntwo\nProcess Group PGID: 4", "one\ntwo", None),
        ("Output: (empty)\nError: gone\nExit Code: 127", "", 127),
        ("<untrusted_context>\nOutput: out\nExit Code: 3\n</untrusted_context>", "out", 3),
    ],
)
def test_the_result_of_a_shell(answer: str, output: str, code: int | None) -> None:
    """As 0.45.2 has it, and with the warning of later versions; also where there is only what the model was told."""
    whole = call("c", "run_shell_command", {"command": "make"}, answer)
    events = read(HEAD, user("u", "hi"), gemini("g", "", toolCalls=[whole]))
    bare = read(
        HEAD,
        user("u", "hi"),
        gemini("g", "", toolCalls=[{**whole, "status": "executing", "result": None}]),
        user("r", whole["result"]),
    )
    for [ended] in (of(events, ev.ToolEnded), of(bare, ev.ToolEnded)):
        assert (ended.status, ended.output, ended.exit_code) == ("completed", output, code)


def test_the_same_words_of_another_tool() -> None:
    words = "Output: out\nExit Code: 3"
    events = read(
        HEAD, user("u", "hi"), gemini("g", "", toolCalls=[call("c", "read_file", {"file_path": "a"}, words)])
    )
    assert [(e.output, e.exit_code) for e in of(events, ev.ToolEnded)] == [(words, None)]


def test_a_cancelled_call() -> None:
    cancelled = {**call("c", "run_shell_command", {"command": "sleep 9"}), "status": "cancelled"}
    events = read(HEAD, user("u", "hi"), gemini("g", "", toolCalls=[cancelled]))
    assert of(events, ev.ToolEnded)[0].status == "cancelled"
    assert of(events, ev.TurnEnded)[0].outcome == "cancelled"


def test_history_in_a_new_file_is_replayed() -> None:
    function = {"functionCall": {"id": "c", "name": "glob", "args": {"pattern": "*"}}}
    answer = {"functionResponse": {"id": "c", "name": "glob", "response": {"output": "a.txt"}}}
    past = [
        user("u1", [{"text": "first"}]),
        gemini("g1", [function]),
        user("r1", [answer]),
        gemini("g2", [{"text": "**T** hm", "thought": True}, {"text": "one file"}]),
    ]
    events = read(HEAD, {"$set": {"messages": past}}, user("u2", "second"), gemini("g3", "done"))
    assert [turn.prompt for turn in of(events, ev.TurnStarted)] == ["second"]
    replayed = [(m.role, m.kind, m.text) for m in of(events, ev.Message) if m.replay]
    assert replayed == [
        ("user", "text", "first"),
        ("assistant", "thinking", "**T** hm"),
        ("assistant", "text", "one file"),
    ]
    assert [(e.output, e.replay) for e in of(events, ev.ToolEnded)] == [("a.txt", True)]


def test_a_rewind() -> None:
    events = read(HEAD, user("u1", "first"), gemini("g1", "one"), {"$rewindTo": "u1"}, user("u2", "other"))
    [status] = of(events, ev.SessionStatus)
    assert (status.status, status.message) == ("rewound", "u1")
    assert [turn.outcome for turn in of(events, ev.TurnEnded)] == ["completed", "truncated"]


def test_notices_and_errors() -> None:
    events = read(
        HEAD,
        user("u", "hi"),
        {"id": "i", "timestamp": "t", "type": "info", "content": "Update available"},
        {"id": "w", "timestamp": "t", "type": "warning", "content": "Careful"},
        {"id": "e", "timestamp": "t", "type": "error", "content": "quota"},
        {"id": "x", "timestamp": "t", "type": "poem", "content": "…"},
    )
    assert [(n.severity, n.message) for n in of(events, ev.Notice)] == [
        ("info", "Update available"),
        ("warning", "Careful"),
    ]
    assert of(events, ev.TurnEnded)[0].error == ev.ErrorInfo(message="quota")
    assert of(events, ev.TurnEnded)[0].outcome == "failed"
    assert [e.native_type for e in of(events, ev.NativeUnknown)] == ["poem"]


def test_a_title_is_told_once() -> None:
    events = read(HEAD, {"$set": {"summary": "Greetings"}}, {"$set": {"summary": "Greetings"}})
    assert [e.title for e in of(events, ev.SessionUpdated)] == ["Greetings"]


def test_a_plan() -> None:
    todos = [{"description": "a", "status": "completed"}, {"description": "b", "status": "cancelled"}]
    events = read(
        HEAD, user("u", "x"), gemini("g", "", toolCalls=[call("c", "write_todos", {"todos": todos})])
    )
    assert [[e.text for e in plan.entries] for plan in of(events, ev.PlanUpdated)] == [["a"]]


def test_a_snapshot_is_a_compaction() -> None:
    events = read(HEAD, {"$set": {"messages": [user("s", "<state_snapshot>so far</state_snapshot>")]}})
    assert [e.summary for e in of(events, ev.ContextCompacted)] == ["<state_snapshot>so far</state_snapshot>"]
    assert of(events, ev.Message)[0].synthetic


def test_two_sessions_one_after_the_other() -> None:
    events = read(HEAD, user("u", "a"), gemini("g", "b"), {**HEAD, "sessionId": "s2"}, user("u2", "c"))
    assert [(e.session, e.outcome) for e in of(events, ev.TurnEnded)] == [
        ("s1", "completed"),
        ("s2", "truncated"),
    ]
