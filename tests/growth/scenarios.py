"""What was found to grow: each must cost the same however often it has happened."""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from tests.growth.talk import Line, Scenario

SESSION = "11111111-1111-4111-8111-111111111111"


# --- ACP -----------------------------------------------------------------------------------------------------


def acp_opening(version: int) -> list[Line]:
    return [
        ("in", {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"protocolVersion": version}}),
        ("out", {"jsonrpc": "2.0", "id": "i", "result": {"protocolVersion": version}}),
        (
            "in",
            {
                "jsonrpc": "2.0",
                "id": "n",
                "method": "session/new",
                "params": {"cwd": "/repo", "mcpServers": []},
            },
        ),
        ("out", {"jsonrpc": "2.0", "id": "n", "result": {"sessionId": SESSION}}),
    ]


def prompt(id: str) -> Line:
    params = {"sessionId": SESSION, "prompt": [{"type": "text", "text": "go on"}]}
    return "in", {"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params}


def stopped(id: str) -> Line:
    return "out", {"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}}


def update(what: str, **fields: Any) -> Line:
    params = {"sessionId": SESSION, "update": {"sessionUpdate": what, **fields}}
    return "out", {"jsonrpc": "2.0", "method": "session/update", "params": params}


def acp_edit(n: int) -> Iterable[Line]:
    old = "".join(f"    value_{k} = compute({n}, {k})\n" for k in range(20))
    diff = {"type": "diff", "path": f"/repo/{n}.py", "oldText": old, "newText": old.replace("(", "_all(")}
    yield update(
        "tool_call", toolCallId=f"c-{n}", title="Edit", kind="edit", status="completed", content=[diff]
    )


def acp_turn(n: int) -> Iterable[Line]:
    yield prompt(f"p-{n}")
    yield update("tool_call", toolCallId=f"c-{n}", title="Look", kind="read", status="completed")
    yield stopped(f"p-{n}")


def acp_terminal(n: int) -> Iterable[Line]:
    shown = [{"type": "terminal", "terminalId": f"t-{n}"}]
    yield update("tool_call_update", toolCallId=f"c-{n}", title="ls", kind="execute", content=shown)
    yield update("terminal_output_chunk", terminalId=f"t-{n}", data=b64encode(b"a line\n").decode())
    yield update("terminal_update", terminalId=f"t-{n}", exitStatus={"exitCode": 0})
    yield update("tool_call_update", toolCallId=f"c-{n}", status="completed")


def acp_meta_terminal(n: int) -> Iterable[Line]:
    """A terminal of the agent's own, as protocol 1 tells it."""
    yield update(
        "tool_call",
        toolCallId=f"c-{n}",
        title="ls",
        kind="execute",
        _meta={"terminal_info": {"terminal_id": f"t-{n}"}},
    )
    output = {"terminal_id": f"t-{n}", "data": "a line\n"}
    yield update("tool_call_update", toolCallId=f"c-{n}", _meta={"terminal_output": output})
    exit = {"terminal_id": f"t-{n}", "exit_code": 0}
    yield update("tool_call_update", toolCallId=f"c-{n}", status="completed", _meta={"terminal_exit": exit})


def acp_chunk(n: int) -> Iterable[Line]:
    yield update("agent_message_chunk", content={"type": "text", "text": f"some words, the {n}th "})


def acp_content(n: int) -> Iterable[Line]:
    text = {"type": "text", "text": f"a line, the {n}th\n"}
    yield update("tool_call_content_chunk", toolCallId="c", content={"type": "content", "content": text})


# --- Codex ---------------------------------------------------------------------------------------------------


def codex_delta(n: int) -> Iterable[Line]:
    """As versions before `item.*` wrote them."""
    yield "out", {"id": "0", "msg": {"type": "agent_message_delta", "delta": f"some words, the {n}th "}}


def codex_item(n: int) -> Iterable[Line]:
    item = {"id": f"item_{n}", "type": "command_execution", "command": "ls", "aggregated_output": "a\n"}
    yield "out", {"type": "item.started", "item": {**item, "status": "in_progress"}}
    yield "out", {"type": "item.completed", "item": {**item, "status": "completed", "exit_code": 0}}


CODEX_OPENING: list[Line] = [
    ("out", {"type": "thread.started", "thread_id": SESSION}),
    ("out", {"type": "turn.started"}),
]


# --- Claude and Gemini ---------------------------------------------------------------------------------------


def claude_session(n: int) -> Iterable[Line]:
    """A turn after /clear, under another session id."""
    before, session = (f"{k:08x}-1111-4111-8111-111111111111" for k in (n, n + 1))
    message = {"id": f"m-{n}", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    yield "in", {"type": "user", "message": {"role": "user", "content": "/clear"}, "session_id": before}
    yield "out", {"type": "conversation_reset", "session_id": before}
    yield "out", {"type": "system", "subtype": "init", "session_id": session, "model": "m", "tools": []}
    yield "out", {"type": "assistant", "message": message, "session_id": session}
    yield "out", {"type": "result", "subtype": "success", "result": "Done.", "session_id": session}


def claude_tool(n: int) -> Iterable[Line]:
    use = {"type": "tool_use", "id": f"toolu_{n}", "name": "Bash", "input": {"command": "ls"}}
    told = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "a\n", "is_error": False}
    yield (
        "out",
        {
            "type": "assistant",
            "message": {"id": f"m-{n}", "role": "assistant", "content": [use]},
            "session_id": SESSION,
        },
    )
    yield "out", {"type": "user", "message": {"role": "user", "content": [told]}, "session_id": SESSION}


def claude_delta(n: int) -> Iterable[Line]:
    delta = {"type": "text_delta", "text": f"some words, the {n}th "}
    event = {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "out", {"type": "stream_event", "event": event, "session_id": SESSION}


CLAUDE_OPENING: list[Line] = [
    ("out", {"type": "system", "subtype": "init", "session_id": SESSION, "model": "m", "tools": []})
]


def gemini_tool(n: int) -> Iterable[Line]:
    yield (
        "out",
        {"type": "tool_use", "tool_name": "read_file", "tool_id": f"t-{n}", "parameters": {"path": "a"}},
    )
    yield "out", {"type": "tool_result", "tool_id": f"t-{n}", "status": "success", "output": "a\n"}


GEMINI_OPENING: list[Line] = [("out", {"type": "init", "session_id": SESSION, "model": "m"})]

WORKING = [*acp_opening(1), prompt("p")]
WORKING_2 = [*acp_opening(2), prompt("p")]

ACP_TURNS = Scenario("turns of ACP, a tool each", "acp", acp_turn, acp_opening(1))
ACP_EDITS = Scenario("edits of ACP in one turn", "acp", acp_edit, WORKING)
ACP_TERMINALS = Scenario("terminals of ACP 2", "acp", acp_terminal, WORKING_2)
ACP_META_TERMINALS = Scenario("terminals of ACP, in _meta", "acp", acp_meta_terminal, WORKING)
ACP_CHUNKS = Scenario("pieces of a message of ACP", "acp", acp_chunk, WORKING)
ACP_CONTENT = Scenario("pieces of content of one tool of ACP 2", "acp", acp_content, WORKING_2, told_again=40)
CODEX_DELTAS = Scenario("pieces of a message of an old Codex", "codex_exec", codex_delta)
CODEX_ITEMS = Scenario("items of Codex", "codex_exec", codex_item, CODEX_OPENING)
CLAUDE_DELTAS = Scenario("pieces of a message of Claude", "claude_stream", claude_delta, CLAUDE_OPENING)
CLAUDE_SESSIONS = Scenario("sessions of Claude after /clear", "claude_stream", claude_session)
CLAUDE_TOOLS = Scenario("tools of Claude", "claude_stream", claude_tool, CLAUDE_OPENING)
GEMINI_TOOLS = Scenario("tools of Gemini", "gemini_stream", gemini_tool, GEMINI_OPENING)
