"""The events of older versions, as the specification has them (004 §5 and §7, 000, 001)."""

from dragoman._dialects import detect
from dragoman._model import events as ev
from dragoman._model.frames import Exit
from dragoman._model.usage import Usage
from tests.dialects.gemini.stream.stream_lines import ASKED, INIT, read, result, said, types
from tests.interpreted import of

FLOW = b"""\
{"type":"init","timestamp":"2025-12-03T10:00:00.000Z","session_id":"abc123-def456","model":"gemini-2.0-flash-exp"}
{"type":"message","role":"user","content":"Analyze and refactor the auth module","timestamp":"2025-12-03T10:00:01.000Z"}
{"type":"tool_use","tool_name":"Bash","tool_id":"bash-001","parameters":{"command":"cat src/auth.ts"},"timestamp":"2025-12-03T10:00:02.000Z"}
{"type":"tool_result","tool_id":"bash-001","status":"success","output":"export function login() {...}","timestamp":"2025-12-03T10:00:03.000Z"}
{"type":"message","role":"assistant","content":"I found the login function. Let me make it async...","delta":true,"timestamp":"2025-12-03T10:00:04.000Z"}
{"type":"tool_use","tool_name":"write_file","tool_id":"write-001","parameters":{"file_path":"./src/auth.ts","content":"export async function login() {...}"},"timestamp":"2025-12-03T10:00:05.000Z"}
{"type":"tool_result","tool_id":"write-001","status":"success","timestamp":"2025-12-03T10:00:06.000Z"}
{"type":"message","role":"assistant","content":"Done! I've refactored the login function to be async.","timestamp":"2025-12-03T10:00:07.000Z"}
{"type":"result","status":"success","stats":{"total_tokens":350,"input_tokens":100,"output_tokens":250,"duration_ms":5000,"tool_calls":2},"timestamp":"2025-12-03T10:00:08.000Z"}
"""


def test_the_complete_flow() -> None:
    lines = FLOW.splitlines()
    assert detect(lines[:1]) == "gemini_stream"
    events = read(*lines, exit=Exit(code=0))
    assert types(events) == [
        *("run.started", "session.started", "turn.started", "message"),
        *("tool.started", "tool.ended", "delta", "message"),
        *("tool.started", "file.changed", "tool.ended", "message", "native.known"),
        *("turn.ended", "run.ended"),
    ]
    shell, write = of(events, ev.ToolStarted)
    assert (shell.name, shell.kind, shell.title) == ("Bash", "execute", "cat src/auth.ts")
    assert (write.kind, write.title) == ("edit", "./src/auth.ts")
    [turn] = of(events, ev.TurnEnded)
    assert turn.text == "Done! I've refactored the login function to be async."
    assert turn.usage == Usage(input_tokens=100, output_tokens=250, total_tokens=350)
    assert turn.agent_time == "2025-12-03T10:00:08.000Z"
    assert turn.duration_ms == 5000


def test_lines_without_a_timestamp_are_told_too() -> None:
    assert (
        detect([b'{"type":"init","session_id":"abc123def","model":"gemini-2.0-flash-exp"}'])
        == "gemini_stream"
    )
    assert (
        detect([b'{"type":"tool_use","tool_name":"Bash","tool_id":"t","parameters":{}}']) == "gemini_stream"
    )
    assert detect([b'{"type":"init","session_id":"sess_123"}']) == "claude_stream"
    assert detect([b'{"type":"tool_use","id":"toolu_01","name":"Edit","input":{}}']) == "claude_stream"
    assert detect([b'{"type":"result","status":"success","session_id":"sess_123"}']) == "claude_stream"


def test_thoughts_that_are_counted_beside_the_output() -> None:
    stats = {
        "total_tokens": 360,
        "input_tokens": 100,
        "output_tokens": 250,
        "thought_tokens": 10,
        "cache_tokens": 5,
    }
    [turn] = of(read(INIT, ASKED, result(stats=stats)), ev.TurnEnded)
    assert turn.usage == Usage(
        input_tokens=100, cache_read_tokens=5, output_tokens=260, reasoning_tokens=10, total_tokens=360
    )
    [turn] = of(read(INIT, ASKED, result(stats={**stats, "total_tokens": 350})), ev.TurnEnded)
    assert turn.usage is not None
    assert turn.usage.output_tokens == 250


def test_a_result_that_failed() -> None:
    error = {"code": "EXECUTION_FAILED", "message": "Tool execution timed out"}
    [turn] = of(read(INIT, ASKED, result("error", stats=None, error=error)), ev.TurnEnded)
    assert turn.outcome == "failed"
    assert turn.usage is None
    assert turn.error == ev.ErrorInfo(message="Tool execution timed out", code="EXECUTION_FAILED")


def test_a_cost() -> None:
    stats = {"input_tokens": 100, "output_tokens": 50, "total_cost_usd": 0.0025}
    events = read(INIT, ASKED, result(stats=stats))
    assert of(events, ev.TurnEnded)[0].cost_usd == of(events, ev.RunEnded)[0].cost_usd == 0.0025


def test_an_error_ends_nothing() -> None:
    events = read({"type": "error", "message": "API key invalid or expired"}, said("still here"), result())
    [error], [turn] = of(events, ev.Error), of(events, ev.TurnEnded)
    assert (error.severity, error.message) == ("error", "API key invalid or expired")
    assert (turn.outcome, turn.text) == ("failed", "still here")


def test_an_error_one_level_down() -> None:
    [error] = of(read(INIT, {"type": "error", "error": {"message": "no"}}, result()), ev.Error)
    assert error.message == "no"


def test_a_whole_message_after_its_deltas_is_that_message() -> None:
    events = read(INIT, ASKED, said("Hel"), said("lo"), said("Hello", delta=False), result())
    [message] = [m for m in of(events, ev.Message) if m.role == "assistant"]
    assert (message.text, message.synthesized) == ("Hello", False)
    assert message.message_id == of(events, ev.Delta)[0].message_id


def test_another_message_after_deltas_is_another() -> None:
    events = read(INIT, ASKED, said("Hello"), said("Goodbye", delta=False), result())
    assert [m.text for m in of(events, ev.Message)] == ["hi", "Hello", "Goodbye"]


def test_content_and_thoughts() -> None:
    thought = {"type": "thought", "value": {"subject": "Plan", "description": "first this"}}
    events = read(
        INIT, {"type": "content", "value": "a"}, {"type": "content", "value": "b"}, thought, result()
    )
    assert [(m.kind, m.text) for m in of(events, ev.Message)] == [
        ("text", "ab"),
        ("thinking", "**Plan**\nfirst this"),
    ]
    assert of(events, ev.TurnEnded)[0].text == "ab"
    [message] = of(read({"type": "thought", "value": "hm"}), ev.Message)
    assert message.text == "hm"


def test_a_call_with_its_result_in_one() -> None:
    calls = (
        {"type": "tool_call", "name": "Bash", "args": {"command": "ls"}, "result": "a.txt"},
        {
            "type": "tool_call",
            "tool_id": "t1",
            "tool_name": "read_file",
            "parameters": {"path": "a"},
            "error": "no",
        },
        {"type": "tool_call", "value": {"callId": "c9", "name": "glob", "args": {"pattern": "*"}}},
    )
    events = read(INIT, *calls, result())
    assert [(e.call_id, e.name, e.title) for e in of(events, ev.ToolStarted)] == [
        ("call-1", "Bash", "ls"),
        ("t1", "read_file", "a"),
        ("c9", "glob", "*"),
    ]
    assert [(e.call_id, e.status, e.output) for e in of(events, ev.ToolEnded)] == [
        ("call-1", "completed", "a.txt"),
        ("t1", "failed", None),
        ("c9", "completed", None),
    ]


def test_a_marked_retry_discards_what_it_replaces() -> None:
    retry = {"type": "retry", "attempt": 1, "max_attempts": 3, "delay_ms": 500, "reason": "overloaded"}
    events = read(INIT, ASKED, said("Hel"), retry, said("Hello"), result())
    [event] = of(events, ev.Retry)
    assert (event.attempt, event.max_attempts, event.delay_ms, event.reason) == (1, 3, 500, "overloaded")
    gone, kept = of(events, ev.Delta)
    assert event.discards == [gone.message_id]
    assert [m.text for m in of(events, ev.Message) if m.role == "assistant"] == ["Hello"]
    assert of(events, ev.Message)[-1].message_id == kept.message_id


def test_the_names_that_older_tools_had() -> None:
    kinds = {
        "Bash": "execute",
        "ShellTool": "execute",
        "ReadFileTool": "read",
        "WriteFileTool": "edit",
        "EditTool": "edit",
        "edit_file": "edit",
        "GrepTool": "search",
        "GlobTool": "search",
        "list_dir": "search",
        "find_files": "search",
        "search_files": "search",
        "WebFetchTool": "fetch",
        "WebSearchTool": "browse",
        "web_search": "browse",
        "google_search": "browse",
        "MemoryTool": "memory",
        "mcp__files__read": "mcp",
    }
    uses = [{"type": "tool_use", "tool_name": name, "tool_id": name, "parameters": {}} for name in kinds]
    started = of(read(INIT, *uses, result()), ev.ToolStarted)
    assert {event.native_name or event.name: event.kind for event in started} == kinds
