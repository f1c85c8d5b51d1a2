"""What a client adds to Claude Code: MCP servers outside and inside, and hooks."""

from typing import Any

import pytest

from dragoman import (
    Capability,
    Hook,
    HostAnswered,
    HostCalled,
    PermissionRequested,
    PermissionResolved,
    Reply,
    ToolEnded,
    ToolStarted,
)
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import SMALL_SERVER, Pinned, told

pytestmark = pytest.mark.anyio


async def test_tools_of_an_mcp_server_are_asked_for_unless_they_are_allowed_by_name(claude: Pinned) -> None:
    add, shout = tool("mcp__small__add", a=3, b=4), tool("mcp__small__shout", word="hey")
    async with claude.open(
        [add, shout, "Seven, but no shouting."],
        mcp_servers={"small": SMALL_SERVER},
        allowed_tools=["mcp__small__add"],
        approve=lambda request: False,
    ) as run:
        said = await run.turn("Add them.")
    allowed, request = said.of(PermissionRequested)
    assert said.one(PermissionResolved, request_id=allowed.request_id).rule == "allowed_tools"
    assert (request.tool_name, request.kind) == ("mcp__small__shout", "mcp")
    added, shouted = said.of(ToolEnded)
    assert (added.status, added.output) == ("completed", "7")
    assert (shouted.call_id, shouted.status) == (request.call_id, "declined")


def small_server(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The answers of an MCP server that lives in the client."""
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": "inside", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"word": {"type": "string"}}}
        return {"tools": [{"name": "shout", "description": "Shouts.", "inputSchema": schema}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": params["arguments"]["word"].upper()}]}
    return None


@exercises(Capability.HOST_CALLS)
async def test_an_mcp_server_in_the_client(claude: Pinned) -> None:
    methods: list[str] = []

    async def serve(call: HostCalled) -> Reply:
        assert (call.method, call.params["server_name"]) == ("mcp_message", "inside")
        message = call.params["message"]
        methods.append(message["method"])
        return Reply(result=small_server(message["method"], message.get("params", {})))

    async with claude.open(
        [tool("mcp__inside__shout", word="hey"), "Shouted."],
        serve=serve,
        allowed_tools=["mcp__inside__shout"],
        native={"sdk_mcp_servers": ["inside"]},
    ) as run:
        said = await run.turn("Shout.")
        answer = told(run.model)
    assert {"initialize", "tools/list", "tools/call"} <= set(methods)
    call = said.one(ToolStarted)
    assert (call.name, call.server) == ("shout", "inside")
    assert said.one(ToolEnded).output == "HEY"
    assert "HEY" in answer
    [asked] = [call for call in said.of(HostCalled) if call.params["message"]["method"] == "tools/call"]
    assert asked.call_id == call.call_id
    assert said.one(HostAnswered, request_id=asked.request_id).error is None


@exercises(Capability.HOOKS)
async def test_a_hook_of_the_client_denies(claude: Pinned) -> None:
    seen: list[str] = []

    async def hook(call: HostCalled) -> Reply | None:
        given = call.params["input"]
        seen.append(given["tool_input"]["command"])
        if "forbidden" not in given["tool_input"]["command"]:
            return None
        said = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
        reason = {"permissionDecisionReason": "The hook says no."}
        return Reply(result={"hookSpecificOutput": {**said, **reason}})

    lines = [tool("Bash", command=f"touch {name}") for name in ("fine", "forbidden")]
    async with claude.open(
        [*lines, "One of two."],
        approve=lambda request: True,
        serve=hook,
        native={"hooks": {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["before"]}]}},
    ) as run:
        said = await run.turn("Touch both.")
        answer = told(run.model, 2)
    assert seen == ["touch fine", "touch forbidden"]
    assert [file.name for file in claude.cwd.iterdir()] == ["fine"]
    calls = said.of(HostCalled)
    assert [(call.method, call.params["callback_id"]) for call in calls] == [("hook_callback", "before")] * 2
    assert [call.call_id for call in calls] == [call.call_id for call in said.of(ToolStarted)]
    assert "The hook says no." in answer
    assert said.one(PermissionRequested).input["command"] == "touch fine"
    assert said.of(ToolEnded)[0].status == "completed"
    assert said.of(ToolEnded)[1].status in ("declined", "failed")


async def test_a_hook_of_the_settings_is_reported(claude: Pinned) -> None:
    command = "echo ran >> hooked; echo fine; echo beware >&2"
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}
    async with claude.open(
        [tool("Bash", command="touch here"), "Done."], approve="all", native={"settings": {"hooks": hooks}}
    ) as run:
        said = await run.turn("Touch it.")
    assert (claude.cwd / "hooked").read_text() == "ran\n"
    reports = said.of(Hook, event="PreToolUse")
    assert [report.phase for report in reports] == ["started", "ended"]
    assert reports[1].exit_code == 0
    assert sorted((reports[1].output or "").split()) == ["beware", "fine"]  # the CLI's own word for both
    assert reports[1].stderr == "beware\n"
