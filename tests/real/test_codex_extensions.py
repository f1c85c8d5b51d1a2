"""What a client adds to Codex: MCP servers that are blocked or broken, tools of its own, and hooks."""

import json
import sys
from typing import Any

import pytest

from dragoman import (
    Capability,
    Hook,
    HostAnswered,
    HostCalled,
    Notice,
    Reply,
    SessionUpdated,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Unsupported,
)
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import SMALL_SERVER, Pinned

pytestmark = pytest.mark.anyio


def told(run: Any, request: int = 1) -> str:
    """What the model was told last."""
    return json.dumps(run.model.requests_of("main")[request].messages[-1])


# --- MCP servers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["codex_app", "codex_exec"])
async def test_tools_of_its_own_that_are_blocked(codex: Pinned, dialect: str) -> None:
    fields: dict[str, Any] = {
        "prompt": "Hello.",
        "dialect": dialect,
        "native": {"config": {"features": {"goals": False}}},
    }
    async with codex.open(["Hi."], blocked_tools=["shell", "web_search"], **fields) as run:
        await run.until(TurnEnded)
        [request] = run.model.requests_of("main")
    assert "apply_patch" in request.tools
    assert not {"exec_command", "write_stdin", "web_search", "create_goal"} & set(request.tools)


async def test_a_tool_of_an_mcp_server_that_is_blocked(codex: Pinned) -> None:
    async with codex.open(
        [tool("mcp__small__add", a=3, b=4), "No."],
        mcp_servers={"small": SMALL_SERVER},
        blocked_tools=["mcp__small__add"],
        approve="all",
    ) as run:
        said = await run.turn("Add them.")
        assert "unsupported call" in told(run)
    assert said.of(ToolEnded, status="completed") == []
    with pytest.raises(Unsupported, match="mcp__SERVER__TOOL"):
        await codex.ask(["Never said."], "Hello.", blocked_tools=["apply_patch"])


async def test_an_mcp_server_that_does_not_start(codex: Pinned) -> None:
    broken = {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}
    async with codex.open(["Alone."], mcp_servers={"broken": broken}) as run:
        warning = await run.until(Notice, code="mcp_server")
        said = await run.turn("Hello.")
    assert "broken" in warning.message
    servers = [server for update in run.events.of(SessionUpdated) for server in update.mcp_servers]
    assert (servers[-1].name, servers[-1].status) == ("broken", "failed")
    assert said.said() == ["Alone."]


# --- tools and hooks of the client -------------------------------------------------------------------------

SHOUT = {
    "type": "function",
    "name": "shout",
    "description": "Shouts.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
}


@exercises(Capability.HOST_CALLS)
@pytest.mark.parametrize(("error", "status"), [(None, "completed"), ("I am hoarse.", "failed")])
async def test_a_tool_of_the_client(codex: Pinned, error: str | None, status: str) -> None:
    async def shout(call: HostCalled) -> Reply:
        assert (call.method, call.params["tool"]) == ("item/tool/call", "shout")
        word = call.params["arguments"]["word"]
        return Reply(result=None if error else word.upper(), error=error)

    async with codex.open(
        [tool("shout", word="hey"), "Shouted."], serve=shout, native={"dynamic_tools": [SHOUT]}
    ) as run:
        said = await run.turn("Shout.")
        assert (error or "HEY") in told(run)
        assert "shout" in run.model.requests_of("main")[0].tools
    call = said.one(ToolStarted)
    assert (call.name, call.input) == ("shout", {"word": "hey"})
    done = said.one(ToolEnded)
    assert (done.call_id, done.status, done.output) == (call.call_id, status, error or "HEY")
    asked = said.one(HostCalled)
    assert asked.call_id == call.call_id
    assert said.one(HostAnswered).request_id == asked.request_id


async def test_a_tool_of_the_client_that_nobody_answers_for(codex: Pinned) -> None:
    async with codex.open([tool("shout", word="hey"), "Silence."], native={"dynamic_tools": [SHOUT]}) as run:
        said = await run.turn("Shout.")
    assert said.one(ToolEnded).status == "failed"
    assert said.said() == ["Silence."]


@exercises(Capability.HOOKS)
async def test_hooks_are_reported(codex: Pinned) -> None:
    """Commands that Codex runs at its own events; the client only hears of them."""
    said_no = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "No."}
    # A hook that ends before it has read what it is told may count as failed.
    deny = {
        "type": "command",
        "command": f"cat > /dev/null; echo '{json.dumps({'hookSpecificOutput': said_no})}'",
    }
    tell = {"type": "command", "command": "cat > /dev/null; echo It is Sunday."}
    hooks = {
        "UserPromptSubmit": [{"hooks": [tell]}],
        "PreToolUse": [{"matcher": ".*", "hooks": [deny]}],
    }
    # Hooks that nobody has looked at yet do not run otherwise.
    config = {"hooks": hooks, "bypass_hook_trust": True}
    async with codex.open(
        [tool("exec_command", cmd="touch here"), "Then not."], approve="all", native={"config": config}
    ) as run:
        said = await run.turn("Touch it.")
        first, second = run.model.requests_of("main")
    assert list(codex.cwd.iterdir()) == []
    assert "It is Sunday." in json.dumps(first.messages)
    assert "blocked by PreToolUse hook: No." in json.dumps(second.messages[-1])
    submit = said.of(Hook, event="userPromptSubmit")
    assert [(hook.phase, hook.outcome) for hook in submit] == [("started", None), ("ended", "completed")]
    assert submit[1].output == "It is Sunday."
    before = said.of(Hook, event="preToolUse")
    assert [(hook.phase, hook.outcome) for hook in before] == [("started", None), ("ended", "blocked")]
