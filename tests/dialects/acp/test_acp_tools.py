"""Tool calls: first sight, updates, ends, terminals and files."""

from typing import Any

import pytest

from dragoman._dialects.acp.opening import Opening
from dragoman._model import events as ev
from dragoman._model.commands import Answer, Reply
from dragoman._model.content import DiffBlock, TerminalBlock
from tests.dialects.acp.conversation import SESSION, Conversation, permission, update


def text(words: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": words}}


def test_a_tool_from_start_to_end() -> None:
    talk = Conversation().working()
    talk.update(
        "tool_call",
        toolCallId="c",
        title="Terminal",
        name="Bash",
        kind="execute",
        status="pending",
        rawInput={},
    )
    talk.update(
        "tool_call_update",
        toolCallId="c",
        title="ls",
        rawInput={"command": "ls"},
        locations=[{"path": "/a", "line": 3}],
    )
    talk.update("tool_call_update", toolCallId="c", status="in_progress", content=[text("so far")])
    talk.update(
        "tool_call_update",
        toolCallId="c",
        status="completed",
        content=[text("all")],
        rawOutput={"exit_code": 0},
    )
    [started] = talk.of(ev.ToolStarted)
    assert (started.name, started.kind, started.title, started.input) == ("Bash", "execute", "Terminal", {})
    first, second = talk.of(ev.ToolUpdated)
    assert (first.title, first.input, first.locations) == (
        "ls",
        {"command": "ls"},
        [ev.Location(path="/a", line=3)],
    )
    assert (second.output, second.ext["acp.status"]) == ("so far", "in_progress")
    [ended] = talk.of(ev.ToolEnded)
    assert (ended.status, ended.output, ended.structured, ended.exit_code) == (
        "completed",
        "all",
        {"exit_code": 0},
        0,
    )
    assert ended.ext["acp.toolContent"] == [text("all")]
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    ("fields", "name", "kind", "server"),
    [
        ({"name": "Bash", "kind": "execute", "title": "x"}, "Bash", "execute", None),
        ({"_meta": {"claudeCode": {"toolName": "Write"}}, "kind": "edit"}, "Write", "edit", None),
        ({"_meta": {"toolName": "read_file"}, "kind": "other"}, "read_file", "read", None),
        (
            {"toolCallId": "run_shell_command__run_1_0", "kind": "execute"},
            "run_shell_command",
            "execute",
            None,
        ),
        ({"toolCallId": "mcp_tiny_echo__mcp_tiny_echo_1_0", "kind": "other"}, "echo", "mcp", "tiny"),
        ({"name": "mcp__docs__find"}, "find", "mcp", "docs"),
        ({"title": "bash", "kind": "execute"}, "bash", "execute", None),
        ({"title": "ls", "kind": "execute", "rawInput": {"command": "ls"}}, "execute", "execute", None),
        ({"title": "Reading the file", "kind": "read"}, "read", "read", None),
        ({"title": "Just a title"}, "Just a title", "other", None),
        ({"kind": "of_the_future"}, "of_the_future", "other", None),
    ],
)
def test_what_a_tool_is_called(fields: dict[str, Any], name: str, kind: str, server: str | None) -> None:
    talk = Conversation().working()
    talk.update("tool_call", **{"toolCallId": "c", **fields})
    [started] = talk.of(ev.ToolStarted)
    assert (started.name, started.kind, started.server) == (name, kind, server)
    talk.end()


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"content": [text("shown")]}, "shown"),
        ({"content": [text("```\nraw\n```")], "rawOutput": "raw"}, "raw"),
        ({"rawOutput": {"stdout": "so"}}, "so"),
        ({"_meta": {"terminal_output_delta": {"terminal_id": "c", "data": "delta"}}}, "delta"),
        ({"content": [], "rawOutput": None}, None),
    ],
)
def test_what_a_tool_says_in_the_end(fields: dict[str, Any], output: str | None) -> None:
    talk = Conversation().working()
    talk.update("tool_call_update", toolCallId="c", status="completed", **fields)
    assert [event.output for event in talk.of(ev.ToolEnded)] == [output]
    talk.stops()
    talk.end(code=0)


def test_first_seen_in_an_update_and_ended_by_it() -> None:
    talk = Conversation().working()
    events = talk.update(
        "tool_call_update", toolCallId="c", kind="edit", status="failed", content=[text("no")]
    )
    started, ended = events
    assert isinstance(started, ev.ToolStarted)
    assert not started.synthesized
    assert isinstance(ended, ev.ToolEnded)
    assert ended.error == ev.ErrorInfo(message="no")
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    ("answered", "reason", "status"),
    [
        (None, "end_turn", "abandoned"),
        (None, "cancelled", "cancelled"),
        ("no", "end_turn", "declined"),
        ("yes", "end_turn", "abandoned"),
    ],
)
def test_tools_left_open_end_with_the_turn(answered: str | None, reason: str, status: str) -> None:
    talk = Conversation().working()
    talk.agent(permission(id=7))
    if answered is not None:
        talk.say(Answer(request="7", option=answered))
    talk.stops(reason)
    [ended] = talk.of(ev.ToolEnded)
    assert (ended.status, ended.synthesized) == (status, True)
    talk.update("tool_call_update", toolCallId="c1", status="completed", content=[text("after all")])
    [late] = [event for event in talk.of(ev.ToolUpdated) if event.late]
    assert late.output == "after all"
    talk.end(code=0)


# --- files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("diff", "change", "before", "after"),
    [
        ({"path": "/a", "oldText": None, "newText": "x\n"}, "created", None, "x\n"),
        ({"path": "/a", "oldText": "", "newText": "x\n"}, "created", None, "x\n"),
        ({"path": "/a", "oldText": "y\n", "newText": "x\n"}, "modified", "y\n", "x\n"),
        (
            {"path": "/a", "oldText": "y\n", "newText": "", "_meta": {"kind": "delete"}},
            "deleted",
            "y\n",
            None,
        ),
        ({"path": "/a", "oldText": "", "newText": "x\n", "_meta": {"kind": "modify"}}, "modified", "", "x\n"),
    ],
)
def test_a_diff_is_a_change(diff: dict[str, Any], change: str, before: str | None, after: str | None) -> None:
    talk = Conversation().working()
    talk.update(
        "tool_call",
        toolCallId="c",
        title="Edit",
        kind="edit",
        status="completed",
        content=[{"type": "diff", **diff}],
    )
    [changed] = talk.of(ev.FileChanged)
    assert (changed.path, changed.change, changed.before, changed.after, changed.phase) == (
        "/a",
        change,
        before,
        after,
        "applied",
    )
    assert changed.diff is not None
    [ended] = talk.of(ev.ToolEnded)
    assert isinstance(ended.content[0], DiffBlock)
    talk.stops()
    talk.end(code=0)


def test_a_change_is_proposed_and_then_applied() -> None:
    """opencode shows the diff only when it asks (capture write)."""
    talk = Conversation().working()
    diff = {"type": "diff", "path": "/a", "oldText": "", "newText": "x\n"}
    talk.update("tool_call", toolCallId="c1", title="write", kind="edit", rawInput={"a": 1})
    talk.agent(permission(kind="edit", content=[diff], rawInput={"other": "words"}))
    talk.update("tool_call_update", toolCallId="c1", status="completed", content=[text("Wrote file.")])
    assert [(event.phase, event.call_id) for event in talk.of(ev.FileChanged)] == [
        ("proposed", "c1"),
        ("applied", "c1"),
    ]
    [asked] = talk.of(ev.PermissionRequested)
    assert asked.input == {"other": "words"}
    assert not [event for event in talk.of(ev.ToolUpdated) if event.input]
    talk.stops()
    talk.end(code=0)


def test_another_change_for_the_same_call_is_proposed_too() -> None:
    """And the same one only once, also where it is asked for again."""
    talk = Conversation().working()
    one, other = ([{"type": "diff", "path": "/a", "oldText": "x", "newText": new}] for new in ("y", "z"))
    for number, content in enumerate((one, one, other, one)):
        talk.agent({**permission(kind="edit", content=content), "id": number})
    assert [(event.phase, event.after) for event in talk.of(ev.FileChanged)] == [
        ("proposed", "y"),
        ("proposed", "z"),
        ("proposed", "y"),
    ]


def test_a_change_that_failed() -> None:
    talk = Conversation().working()
    diff = {"type": "diff", "path": "/a", "oldText": "y", "newText": "x"}
    talk.update("tool_call", toolCallId="c", title="Edit", kind="edit", content=[diff])
    talk.update("tool_call_update", toolCallId="c", status="failed")
    assert [(event.phase, event.diff) for event in talk.of(ev.FileChanged)] == [("failed", None)]
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    ("said", "output", "error"),
    [
        ({}, None, None),
        ({"rawOutput": {}}, None, None),
        ({"rawOutput": {"exit_code": 101, "stdout": ""}}, None, None),
        ({"rawOutput": ""}, None, None),
        ({"content": []}, None, None),
        ({"rawOutput": "no"}, "no", ("no", None)),
        ({"content": [text("no")]}, "no", ("no", None)),
        ({"rawOutput": {"error": "no"}}, "no", ("no", None)),
        ({"rawOutput": {"message": "no", "code": "rejected"}}, None, ("no", "rejected")),
        ({"rawOutput": {"message": 7, "code": "rejected"}}, None, None),
    ],
)
def test_what_a_failed_call_says_of_its_failure(
    said: dict[str, Any], output: str | None, error: tuple[str, str | None] | None
) -> None:
    """One that says nothing has neither output nor error."""
    talk = Conversation().working()
    talk.update("tool_call", toolCallId="c", title="Look", kind="execute")
    talk.update("tool_call_update", toolCallId="c", status="failed", **said)
    [ended] = talk.of(ev.ToolEnded)
    told = (ended.error.message, ended.error.code) if ended.error is not None else None
    assert (ended.status, ended.output, told) == ("failed", output, error)
    talk.stops()
    talk.end(code=0)


# --- terminals -----------------------------------------------------------------------------------------------------


def test_terminals_in_meta() -> None:
    """claude-agent-acp and codex-acp tell of their own terminals so (captures shell_zedmeta)."""
    talk = Conversation().working()
    terminal = [{"type": "terminal", "terminalId": "t"}]
    talk.update(
        "tool_call",
        toolCallId="c",
        title="T",
        content=terminal,
        _meta={"terminal_info": {"terminal_id": "t", "cwd": "/"}},
    )
    talk.update(
        "tool_call_update", toolCallId="c", _meta={"terminal_output": {"terminal_id": "t", "data": "one\n"}}
    )
    talk.update(
        "tool_call_update", toolCallId="c", _meta={"terminal_output": {"terminal_id": "t", "data": "two\n"}}
    )
    talk.update(
        "tool_call_update",
        toolCallId="c",
        status="completed",
        _meta={"terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": None}},
    )
    deltas = talk.of(ev.Delta)
    assert [(event.kind, event.text, event.call_id, event.terminal_id) for event in deltas] == [
        ("tool_output", "one\n", "c", "t"),
        ("tool_output", "two\n", "c", "t"),
    ]
    [ended] = talk.of(ev.ToolEnded)
    assert (ended.output, ended.exit_code) == ("one\ntwo\n", 3)
    assert ended.content == [TerminalBlock(terminal_id="t", output="one\ntwo\n", exit_code=3)]
    talk.stops()
    talk.end(code=0)


def test_terminals_of_the_client() -> None:
    talk = Conversation(offers=frozenset(("terminal",))).working()
    talk.agent({"id": 1, "method": "terminal/create", "params": {"sessionId": SESSION, "command": "ls"}})
    talk.say(Reply(request="1", result={"terminalId": "t9"}))
    talk.update("tool_call", toolCallId="c", title="ls", content=[{"type": "terminal", "terminalId": "t9"}])
    talk.agent(
        {"id": 2, "method": "terminal/wait_for_exit", "params": {"sessionId": SESSION, "terminalId": "t9"}}
    )
    talk.say(Reply(request="2", result={"exitCode": 1}))
    talk.agent({"id": 3, "method": "terminal/output", "params": {"sessionId": SESSION, "terminalId": "t9"}})
    talk.say(
        Reply(request="3", result={"output": "listed", "truncated": False, "exitStatus": {"exitCode": 1}})
    )
    talk.update("tool_call_update", toolCallId="c", status="completed")
    [ended] = talk.of(ev.ToolEnded)
    assert (ended.output, ended.exit_code) == ("listed", 1)
    assert [event.method for event in talk.of(ev.HostCalled)] == [
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/output",
    ]
    talk.stops()
    talk.end(code=0)


def test_what_claude_says_of_the_result() -> None:
    talk = Conversation().working()
    talk.update("tool_call", toolCallId="c", title="T")
    talk.update("tool_call_update", toolCallId="c", _meta={"claudeCode": {"toolResponse": {"stdout": "x"}}})
    talk.update("tool_call_update", toolCallId="c", status="completed", rawOutput="x")
    assert [event.structured for event in talk.of(ev.ToolUpdated)] == [{"stdout": "x"}]
    assert [(event.output, event.structured) for event in talk.of(ev.ToolEnded)] == [("x", {"stdout": "x"})]
    talk.stops()
    talk.end(code=0)


def test_a_subagent_speaks_for_its_call() -> None:
    talk = Conversation().working()
    meta = {"claudeCode": {"parentToolUseId": "c"}}
    talk.agent(update("tool_call", toolCallId="c", title="Task"))
    talk.agent(update("agent_message_chunk", content={"type": "text", "text": "in here"}, _meta=meta))
    talk.agent(update("tool_call", toolCallId="d", title="T", _meta=meta))
    talk.stops()
    assert talk.of(ev.TurnEnded)[0].text is None
    assert [event.parent for event in talk.of(ev.Delta)] == ["c"]
    assert [event.parent for event in talk.of(ev.ToolStarted)] == [None, "c"]
    talk.end(code=0)


def test_a_part_of_a_change_is_not_the_change() -> None:
    """opencode 1.18.33 shows whole files when it asks, and what it replaced when it is done."""
    talk = Conversation().working()
    whole = {"type": "diff", "path": "/proj/a", "oldText": "one\ntwo\n", "newText": "1\ntwo\n"}
    part = {"type": "diff", "path": "/proj/a", "oldText": "one", "newText": "1"}
    talk.update("tool_call", toolCallId="c1", title="edit", kind="edit", status="pending")
    talk.agent(permission(content=[whole], kind="edit"))
    talk.say(Answer(request="7", decision="allow"))
    talk.update("tool_call_update", toolCallId="c1", status="completed", content=[text("Done."), part])
    proposed, applied = talk.of(ev.FileChanged)
    assert (proposed.phase, applied.phase) == ("proposed", "applied")
    assert (applied.before, applied.after, applied.diff) == ("one\ntwo\n", "1\ntwo\n", proposed.diff)
    talk.stops()
    talk.end(code=0)


def test_the_exit_code_in_a_result_of_opencode() -> None:
    talk = Conversation().working()
    talk.update("tool_call", toolCallId="c", title="bash", kind="execute", status="pending")
    result = {"output": "hi\n", "metadata": {"output": "hi\n", "exit": 3, "truncated": False}}
    talk.update("tool_call_update", toolCallId="c", status="completed", rawOutput=result)
    [ended] = talk.of(ev.ToolEnded)
    assert (ended.output, ended.exit_code, ended.status) == ("hi\n", 3, "completed")
    talk.stops()
    talk.end(code=0)


def test_tools_of_mcp_servers_by_the_names_of_opencode() -> None:
    talk = Conversation(Opening(cwd="/proj", mcp_servers={"my server": {"command": "/bin/x"}})).working()
    for number, title in enumerate(("my_server_add_up", "read")):
        talk.update("tool_call", toolCallId=f"c{number}", title=title, kind="other", status="pending")
    mine, other = talk.of(ev.ToolStarted)
    assert (mine.name, mine.server, mine.native_name, mine.kind) == (
        "add_up",
        "my server",
        "my_server_add_up",
        "mcp",
    )
    assert (other.name, other.server) == ("read", None)
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    ("result", "status", "output"),
    [
        ({"result": {"content": [{"type": "text", "text": "7"}]}, "error": None}, "completed", "7"),
        ({"result": None, "error": {"message": "user cancelled MCP tool call"}}, "failed", "user cancelled"),
    ],
)
def test_tools_of_mcp_servers_as_codex_acp_tells_of_them(result: Any, status: str, output: str) -> None:
    talk = Conversation().working(version=2)
    about = {"server": "small", "tool": "add", "arguments": {"a": 3, "b": 4}}
    talk.update(
        "tool_call_update",
        toolCallId="c",
        title="mcp.small.add",
        kind="execute",
        status="in_progress",
        rawInput=about,
        _meta={"is_mcp_tool_call": True},
    )
    talk.update("tool_call_update", toolCallId="c", status=status, rawOutput=result)
    [started], [ended] = talk.of(ev.ToolStarted), talk.of(ev.ToolEnded)
    assert (started.name, started.server, started.kind) == ("add", "small", "mcp")
    assert (ended.status, (ended.output or "")[: len(output)]) == (status, output)
    talk.update("state_update", state="idle", stopReason="end_turn")
    talk.end(code=0)
