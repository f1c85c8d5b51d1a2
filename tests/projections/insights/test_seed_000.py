"""Every example and every table of specification 000, in the shapes of its schema (002)."""

import json
from typing import Any

import pytest

from dragoman._model.toolnames import kind_of
from tests.projections.insights.acp_traffic import (
    ANSWERED,
    CREATED,
    OPENING,
    SESSION,
    Traffic,
    acp,
    events_of,
    update,
)
from tests.projections.projected import bare, seen, shown


def item(event: str, **fields: Any) -> dict[str, Any]:
    return {"event": event, "provider": "acp", **fields}


# --- the session -------------------------------------------------------------------------------------------


def test_session_new_is_session_init_and_the_prompt_is_user_input() -> None:
    init, prompt = shown("insights", events_of(OPENING))
    assert init["sessionId"] == SESSION
    assert init["extensions"]["acp.capabilities"] == {"streaming": True, "loadSession": True}
    assert init["raw"] == CREATED
    for unknown in ("model", "availableTools", "permissionMode", "account", "availableModels"):
        assert unknown not in init
    assert bare([prompt]) == [item("user_input", text="Fix the login bug")]


def test_the_prompts_answer_is_turn_complete() -> None:
    assert acp(("out", ANSWERED)) == [item("turn_complete", subtype="end_turn")]


@pytest.mark.parametrize(
    ("stop", "is_error"),
    [("refusal", True), ("max_tokens", True), ("max_turn_requests", True), ("cancelled", False)],
)
def test_other_reasons_to_stop(stop: str, is_error: bool) -> None:
    """C15: an error stop reason is an error, being cancelled is not."""
    [done] = acp(("out", {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": stop}}))
    assert (done["subtype"], done.get("isError", False)) == (stop, is_error)


def test_an_error_in_place_of_an_answer() -> None:
    failed = {"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "Internal error"}}
    said, done = acp(("out", failed))
    assert said == item("text", kind="error", text="Internal error")
    assert (done["isError"], done["errors"]) == (True, ["Internal error"])


# --- session/update ----------------------------------------------------------------------------------------


def test_agent_message_chunk() -> None:
    """A delta for each chunk, and the text once it is whole."""
    chunks = [
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})
        for text in ("I'll fix ", "the login...")
    ]
    first, second, whole, _ = acp(*chunks, ("out", ANSWERED))
    assert (first["event"], first["kind"], first["textDelta"]) == ("stream_delta", "text", "I'll fix ")
    assert second["textDelta"] == "the login..."
    assert whole == item("text", text="I'll fix the login...", kind="text")


def test_agent_thought_chunk() -> None:
    chunk = update(
        sessionUpdate="agent_thought_chunk",
        content={"type": "text", "text": "Let me analyze the auth flow..."},
    )
    delta, whole, _ = acp(chunk, ("out", ANSWERED))
    assert (delta["kind"], delta["textDelta"]) == ("thinking", "Let me analyze the auth flow...")
    assert whole == item("text", text="Let me analyze the auth flow...", kind="thinking")


def test_user_message_chunk() -> None:
    chunk = update(
        sessionUpdate="user_message_chunk", content={"type": "text", "text": "Replaying a prior user turn"}
    )
    assert acp(chunk) == [item("user_input", text="Replaying a prior user turn", isSynthetic=True)]


@pytest.mark.parametrize("key", ["text", "content"])
def test_plan(key: str) -> None:
    """The schema calls an entry's words `content`, the specification `text`."""
    entries = [{key: "Step 1"}, {key: "Step 2"}]
    assert acp(update(sessionUpdate="plan", entries=entries)) == [
        item("text", text="Step 1\nStep 2", kind="plan", extensions={"acp.planEntries": entries})
    ]


def test_config_option_update() -> None:
    options = [{"id": "model", "values": ["model-a", "model-b"]}]
    assert acp(update(sessionUpdate="config_option_update", configOptions=options)) == [
        item("config_options", configOptions=options)
    ]


def test_available_commands_update() -> None:
    commands = [{"id": "help", "name": "Help"}]
    assert acp(update(sessionUpdate="available_commands_update", availableCommands=commands)) == [
        item("available_commands", availableCommands=commands)
    ]


def test_current_mode_update() -> None:
    assert acp(update(sessionUpdate="current_mode_update", currentModeId="fast")) == [
        item("session_mode", currentModeId="fast", availableModes=[])
    ]


# --- tools -------------------------------------------------------------------------------------------------

TEXT = {"type": "content", "content": {"type": "text", "text": "Reading /src/auth/login.dart..."}}
CALL = {
    "toolCallId": "call-001",
    "title": "Reading login controller",
    "kind": "read",
    "status": "in_progress",
    "content": TEXT,
    "locations": ["/src/auth/login.dart"],
    "rawInput": {"path": "/src/auth/login.dart"},
}


@pytest.mark.parametrize("nested", [True, False], ids=["000", "002"])
def test_tool_call_update(nested: bool) -> None:
    """000 has it inside `toolCall`, the schema of 002 has it flat, with places as objects."""
    flat = {**CALL, "content": [TEXT], "locations": [{"path": "/src/auth/login.dart", "line": 3}]}
    fields = {"toolCall": CALL} if nested else flat
    [invoked] = acp(update(sessionUpdate="tool_call_update", **fields))
    invoked.pop("extensions", None)
    assert invoked == item(
        "tool_invocation",
        callId="call-001",
        kind="read",
        toolName="Reading login controller",
        title="Reading login controller",
        input={"path": "/src/auth/login.dart"},
        locations=["/src/auth/login.dart"],
    )


def test_the_statuses_of_a_tool_call() -> None:
    """pending: told; in_progress: nothing new; completed: over."""
    begun = update(sessionUpdate="tool_call", **{**CALL, "status": "pending", "content": None})
    going = update(sessionUpdate="tool_call_update", toolCallId="call-001", status="in_progress")
    ended = update(
        sessionUpdate="tool_call_update",
        toolCallId="call-001",
        status="completed",
        content=[TEXT],
        rawOutput={"lines": 120},
    )
    invoked, completed = acp(begun, going, ended)
    assert invoked["event"] == "tool_invocation"
    assert completed == item(
        "tool_completion",
        callId="call-001",
        status="completed",
        output={"lines": 120},
        content=[{"type": "text", "text": "Reading /src/auth/login.dart..."}],
        locations=["/src/auth/login.dart"],
        extensions={"acp.toolContent": [TEXT]},
    )


def test_a_failed_tool_call() -> None:
    begun = update(sessionUpdate="tool_call", **CALL)
    ended = update(sessionUpdate="tool_call_update", toolCallId="call-001", status="failed")
    _, completed = acp(begun, ended)
    assert (completed["status"], completed["isError"]) == ("failed", True)
    assert "output" not in completed


@pytest.mark.parametrize("status", ["completed", "failed"])
@pytest.mark.parametrize("raw", ["1 alpha", "", {"lines": 1}, ["a"], 7, None])
def test_the_raw_output_is_the_output_and_nothing_else_is(status: str, raw: Any) -> None:
    """Captures claude-agent-acp-0.49.0/load_process2 (text, and content that dresses it up) and gemini-0.61.0/
    acp_fs_errors (content alone)."""
    begun = update(sessionUpdate="tool_call", **{**CALL, "content": None})
    ended = update(
        sessionUpdate="tool_call_update",
        toolCallId="call-001",
        status=status,
        content=[TEXT],
        rawOutput=raw,
    )
    *_, completed = acp(begun, ended)
    assert completed.get("output") == (raw or None)
    assert completed["content"] == [TEXT["content"]]


@pytest.mark.parametrize(
    "native",
    [
        {"type": "diff", "path": "/a.txt", "oldText": "a", "newText": "b"},
        {"type": "terminal", "terminalId": "term-1"},
    ],
    ids=["diff", "terminal"],
)
def test_diffs_and_terminals_are_output_and_extension(native: dict[str, Any]) -> None:
    begun = update(sessionUpdate="tool_call", **{**CALL, "kind": "edit", "content": None})
    ended = update(
        sessionUpdate="tool_call_update", toolCallId="call-001", status="completed", content=[native]
    )
    *_, completed = acp(begun, ended)
    assert completed["output"] == native
    assert completed["extensions"]["acp.toolContent"] == [native]


KINDS = "read edit delete move search execute think fetch browse ask memory mcp other".split()  # noqa: SIM905


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_the_same(kind: str) -> None:
    [invoked] = acp(
        update(sessionUpdate="tool_call", toolCallId="c", title="Some words", kind=kind, rawInput={"a": 1})
    )
    assert invoked["kind"] == kind


def test_switch_mode_is_a_kind_that_insights_lacks() -> None:
    [invoked] = acp(
        update(sessionUpdate="tool_call", toolCallId="c", title="t", kind="switch_mode", rawInput={"a": 1})
    )
    assert invoked["kind"] == "other"


def test_in_progress_with_more_to_tell_is_told_again() -> None:
    """C16."""
    begun = update(sessionUpdate="tool_call", toolCallId="c", title="Read", kind="read", rawInput={})
    filled = update(
        sessionUpdate="tool_call_update",
        toolCallId="c",
        status="in_progress",
        title="Read a.txt",
        rawInput={"path": "a.txt"},
    )
    first, second = acp(begun, filled)
    assert (first["title"], first["input"]) == ("Read", {})
    assert (second["callId"], second["title"], second["toolName"]) == ("c", "Read a.txt", "Read a.txt")
    assert second["input"] == {"path": "a.txt"}


# --- permissions, files, terminals -------------------------------------------------------------------------

OPTIONS = [
    {"optionId": "allow_once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "allow_always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject_once", "name": "Reject once", "kind": "reject_once"},
    {"optionId": "reject_always", "name": "Always reject", "kind": "reject_always"},
]
ASKED = {
    "jsonrpc": "2.0",
    "id": 100,
    "method": "session/request_permission",
    "params": {
        "sessionId": SESSION,
        "toolCall": {
            "toolCallId": "call-77",
            "title": "Run tests",
            "kind": "execute",
            "rawInput": {"command": "npm test"},
        },
        "options": OPTIONS,
    },
}


def test_request_permission() -> None:
    _, asked = acp(("out", ASKED))
    assert asked == item(
        "permission_request",
        requestId="100",
        toolName="Run tests",
        toolKind="execute",
        toolInput={"command": "npm test"},
        toolUseId="call-77",
        extensions={"acp.options": OPTIONS},
    )


def test_file_operations_are_no_events() -> None:
    read = {
        "jsonrpc": "2.0",
        "id": 101,
        "method": "fs/read_text_file",
        "params": {"sessionId": SESSION, "path": "/src/auth/login.dart", "line": 1, "limit": 50},
    }
    assert acp(("out", read), ("in", {"jsonrpc": "2.0", "id": 101, "result": {"content": "x"}})) == []


def terminal(id: int, method: str, **params: Any) -> tuple[str, dict[str, Any]]:
    return "out", {
        "jsonrpc": "2.0",
        "id": id,
        "method": f"terminal/{method}",
        "params": {"sessionId": SESSION, **params},
    }


def answer(id: int, **result: Any) -> tuple[str, dict[str, Any]]:
    return "in", {"jsonrpc": "2.0", "id": id, "result": result}


CREATE = terminal(102, "create", command="npm test", cwd="/project", outputByteLimit=65536)
TERMINAL_LIFE: Traffic = [
    CREATE,
    answer(102, terminalId="term-1"),
    terminal(103, "wait_for_exit", terminalId="term-1"),
    answer(103, exitCode=1),
]


def test_a_terminal_of_its_own_is_a_tool() -> None:
    output: Traffic = [
        terminal(104, "output", terminalId="term-1"),
        answer(104, output="1 failing", truncated=False),
    ]
    invoked, completed = acp(*TERMINAL_LIFE[:2], *output, *TERMINAL_LIFE[2:])
    assert (invoked["event"], invoked["kind"], invoked["title"]) == ("tool_invocation", "execute", "npm test")
    assert invoked["input"] == {"command": "npm test", "cwd": "/project", "outputByteLimit": 65536}
    assert (completed["callId"], completed["status"]) == (invoked["callId"], "failed")
    assert completed["content"] == [{"type": "terminal", "output": "1 failing", "exitCode": 1}]


READ: Traffic = [
    terminal(104, "output", terminalId="term-1"),
    answer(104, output="1 failing", truncated=False, exitStatus={"exitCode": 1}),
]
RELEASED: Traffic = [terminal(105, "release", terminalId="term-1"), answer(105)]


@pytest.mark.parametrize(
    ("rest", "output"),
    [
        ([*READ, *RELEASED], "1 failing"),
        (READ, "1 failing"),
        (RELEASED, ""),
        ([("out", ANSWERED)], ""),
    ],
    ids=["read and released", "read", "released", "neither"],
)
def test_a_terminal_is_waited_for_and_then_read(rest: Traffic, output: str) -> None:
    """The order of the protocol's own guide. It is told once, with all that was read."""
    items = acp(*TERMINAL_LIFE, *rest)
    completed = [entry for entry in items if entry["event"] == "tool_completion"]
    assert [entry["content"] for entry in completed] == [
        [{"type": "terminal", "output": output, "exitCode": 1}]
    ]


def test_a_terminal_that_a_tool_call_embeds_is_part_of_that() -> None:
    """C16."""
    begun = update(sessionUpdate="tool_call", **{**CALL, "kind": "execute", "content": None})
    shows = update(
        sessionUpdate="tool_call_update",
        toolCallId="call-001",
        content=[{"type": "terminal", "terminalId": "term-1"}],
    )
    items = acp(begun, *TERMINAL_LIFE[:2], shows, *TERMINAL_LIFE[2:])
    assert [entry["event"] for entry in items] == ["tool_invocation"]


def test_a_terminal_beside_an_open_tool_that_never_embeds_it_is_told_when_it_ends() -> None:
    begun = update(sessionUpdate="tool_call", **CALL)
    items = acp(begun, *TERMINAL_LIFE)
    assert [entry["event"] for entry in items] == ["tool_invocation", "tool_invocation", "tool_completion"]


# --- Gemini's stream-json ----------------------------------------------------------------------------------

GEMINI = """\
{"type":"init","timestamp":"...","session_id":"abc123","model":"gemini-2.0-flash-exp"}
{"type":"message","role":"user","content":"Fix the bug","timestamp":"..."}
{"type":"tool_use","tool_name":"Bash","tool_id":"bash-123","parameters":{"command":"ls -la"},"timestamp":"..."}
{"type":"tool_result","tool_id":"bash-123","status":"success","output":"file1.txt\\nfile2.txt","timestamp":"..."}
{"type":"message","role":"assistant","content":"Here are the files...","delta":true,"timestamp":"..."}
{"type":"result","status":"success","stats":{"total_tokens":250,"input_tokens":50,"output_tokens":200,"duration_ms":3000,"tool_calls":1},"timestamp":"..."}
"""
STATS = {"total_tokens": 250, "input_tokens": 50, "output_tokens": 200, "duration_ms": 3000, "tool_calls": 1}


def gemini(event: str, **fields: Any) -> dict[str, Any]:
    return {"event": event, "provider": "gemini", **fields}


def test_the_gemini_stream() -> None:
    items = seen("insights", GEMINI, "gemini_stream", exit=0)
    assert {entry["sessionId"] for entry in items} == {"abc123"}
    assert {entry["timestamp"] for entry in items} == {"1970-01-01T00:00:00Z"}  # "..." is no time
    assert bare(items) == [
        gemini("session_init", model="gemini-2.0-flash-exp"),
        gemini("user_input", text="Fix the bug"),
        gemini(
            "tool_invocation",
            callId="bash-123",
            kind="execute",
            toolName="Bash",
            title="ls -la",
            input={"command": "ls -la"},
        ),
        gemini("tool_completion", callId="bash-123", status="completed", output="file1.txt\nfile2.txt"),
        gemini("stream_delta", kind="text", textDelta="Here are the files..."),
        gemini(
            "turn_complete",
            usage={"inputTokens": 50, "outputTokens": 200},
            durationMs=3000,
            extensions={"gemini.stats": STATS},
        ),
    ]


def test_the_end_of_a_gemini_turn_has_its_line() -> None:
    """The turn ends with the process, after the line that tells of it."""
    *_, done = seen("insights", GEMINI, "gemini_stream", exit=0, native=True)
    assert done["raw"] == json.loads(GEMINI.splitlines()[-1])


def test_c4_live_the_text_follows_its_deltas() -> None:
    items = bare(seen("insights", GEMINI, "gemini_stream", profile="live", exit=0))
    assert items[5] == gemini("text", text="Here are the files...", kind="text")


INIT = {"type": "init", "session_id": "s"}


def one(line: dict[str, Any], *before: dict[str, Any]) -> dict[str, Any]:
    return bare(seen("insights", [INIT, *before, line], "gemini_stream"))[-1]


def test_a_whole_message() -> None:
    line = {"type": "message", "role": "assistant", "content": "Hi", "delta": False}
    assert one(line) == gemini("text", text="Hi", kind="text")


def test_a_tool_that_failed() -> None:
    use = {"type": "tool_use", "tool_name": "ReadFileTool", "tool_id": "r", "parameters": {}}
    error = {"type": "TOOL_ERROR", "message": "no such file"}
    result = {"type": "tool_result", "tool_id": "r", "status": "error", "error": error}
    completed = one(result, use)
    assert (completed["status"], completed["isError"]) == ("failed", True)
    assert completed["extensions"]["gemini.error"] == error  # C13


def test_error() -> None:
    line = {"type": "error", "severity": "error", "message": "Invalid stream"}
    assert one(line) == gemini("session_status", status="error", message="Invalid stream")


def test_c1_the_result_after_an_error_is_told_too() -> None:
    error = {"type": "error", "severity": "error", "message": "Invalid stream"}
    result = {"type": "result", "status": "error", "error": {"type": "x", "message": "Invalid stream"}}
    items = bare(seen("insights", [INIT, error, result], "gemini_stream", exit=1))
    assert items[1]["event"] == "session_status"
    assert (items[2]["isError"], items[2]["errors"]) == (True, ["Invalid stream"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ShellTool", "execute"),
        ("Bash", "execute"),
        ("ReadFileTool", "read"),
        ("WriteFileTool", "edit"),
        ("EditTool", "edit"),
        ("GrepTool", "search"),
        ("GlobTool", "search"),
        ("WebFetchTool", "fetch"),
        ("WebSearchTool", "browse"),
        ("MemoryTool", "memory"),
        ("mcp_server_tool", "mcp"),
        ("mcp__server__tool", "mcp"),
    ],
)
def test_gemini_tool_kinds(name: str, kind: str) -> None:
    assert kind_of(name) == kind
    assert one({"type": "tool_use", "tool_name": name, "tool_id": "c", "parameters": {}})["kind"] == kind
