"""What a client adds to the agent: MCP servers outside and inside, hooks, and answers to its questions."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman import (
    AnswerQuestion,
    Capability,
    Hook,
    HostAnswered,
    HostCalled,
    PermissionRequested,
    QuestionAnswered,
    QuestionAsked,
    Reply,
    Session,
    SessionStarted,
    ToolEnded,
    ToolStarted,
)
from dragoman._runtime.standing import Request
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio

SERVER = {"command": sys.executable, "args": ["-I", str(Path(__file__).parent / "peers" / "mcp_server.py")]}
SMALL = {"mcp_servers": {"small": SERVER}, "allowed_tools": ["mcp__small__add", "mcp__small__greet"]}


@exercises(Capability.MCP)
async def test_a_tool_of_an_mcp_server(claude: Pinned) -> None:
    async with claude.open([tool("mcp__small__add", a=3, b=4), "Seven."], **SMALL) as run:
        said = await run.turn("Add them.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    [server] = run.events.one(SessionStarted).mcp_servers
    assert server.name == "small"
    call = said.one(ToolStarted)
    assert (call.name, call.server, call.native_name, call.kind) == ("add", "small", "mcp__small__add", "mcp")
    done = said.one(ToolEnded)
    assert (done.status, done.output) == ("completed", "7")
    assert '"7"' in told
    assert said.said() == ["Seven."]


async def test_a_tool_of_an_mcp_server_is_asked_for(claude: Pinned) -> None:
    async with claude.open(
        [tool("mcp__small__add", a=3, b=4), "No."],
        mcp_servers={"small": SERVER},
        approve=lambda request, session: False,
    ) as run:
        said = await run.turn("Add them.")
    assert said.one(PermissionRequested).kind == "mcp"
    assert said.one(ToolEnded).status == "declined"


@pytest.mark.parametrize(
    ("action", "greeting"), [("accepted", "Hello, Ann!"), ("declined", "Hello, whoever you are!")]
)
async def test_a_question_of_an_mcp_server(claude: Pinned, action: Any, greeting: str) -> None:
    def answer(request: Request, session: Session) -> AnswerQuestion:
        return AnswerQuestion(request=request.request_id, action=action, answers={"name": "Ann"})

    async with claude.open([tool("mcp__small__greet"), "Greeted."], handler=answer, **SMALL) as run:
        said = await run.turn("Greet me.")
    asked = said.one(QuestionAsked)
    assert (asked.message, asked.mode) == ("What is your name?", "form")
    assert asked.schema["required"] == ["name"]
    answered = said.one(QuestionAnswered)
    assert (answered.request_id, answered.action) == (asked.request_id, action)
    assert said.one(ToolEnded).output == greeting


QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    "multiSelect": False,
}


@exercises(Capability.QUESTIONS)
async def test_a_question_of_the_agent(claude: Pinned) -> None:
    def blue(request: Request, session: Session) -> AnswerQuestion:
        return AnswerQuestion(request=request.request_id, answers={"Which colour?": "Blue"})

    async with claude.open(
        [tool("AskUserQuestion", questions=[QUESTION]), "Blue it is."], handler=blue
    ) as run:
        said = await run.turn("Paint it.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    asked = said.one(QuestionAsked)
    assert [question["question"] for question in asked.questions] == ["Which colour?"]
    answered = said.one(QuestionAnswered)
    assert (answered.action, answered.answers) == ("accepted", {"Which colour?": "Blue"})
    assert "Blue" in told
    assert said.of(PermissionRequested) == []
    assert said.one(ToolEnded, call_id=asked.call_id).status == "completed"


async def test_a_question_that_nobody_answers(claude: Pinned) -> None:
    async with claude.open([tool("AskUserQuestion", questions=[QUESTION]), "Red then."]) as run:
        said = await run.turn("Paint it.")
    assert said.one(QuestionAnswered).action != "accepted"
    assert said.one(ToolEnded).status != "completed"
    assert said.said() == ["Red then."]


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

    async def serve(request: Request, session: Session) -> Reply:
        assert isinstance(request, HostCalled)
        assert (request.method, request.params["server_name"]) == ("mcp_message", "inside")
        message = request.params["message"]
        methods.append(message["method"])
        return Reply(
            request=request.request_id, result=small_server(message["method"], message.get("params", {}))
        )

    async with claude.open(
        [tool("mcp__inside__shout", word="hey"), "Shouted."],
        handler=serve,
        allowed_tools=["mcp__inside__shout"],
        native={"sdk_mcp_servers": ["inside"]},
    ) as run:
        said = await run.turn("Shout.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    assert {"initialize", "tools/list", "tools/call"} <= set(methods)
    call = said.one(ToolStarted)
    assert (call.name, call.server) == ("shout", "inside")
    assert said.one(ToolEnded).output == "HEY"
    assert "HEY" in told
    [asked] = [call for call in said.of(HostCalled) if call.params["message"]["method"] == "tools/call"]
    assert asked.call_id == call.call_id
    assert said.one(HostAnswered, request_id=asked.request_id).error is None


@exercises(Capability.HOOKS)
async def test_a_hook_of_the_client_denies(claude: Pinned) -> None:
    seen: list[str] = []

    async def hook(request: Request, session: Session) -> Reply | bool:
        if not isinstance(request, HostCalled):
            return True
        given = request.params["input"]
        seen.append(given["tool_input"]["command"])
        if "forbidden" not in given["tool_input"]["command"]:
            return Reply(request=request.request_id)
        said = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
        reason = {"permissionDecisionReason": "The hook says no."}
        return Reply(request=request.request_id, result={"hookSpecificOutput": {**said, **reason}})

    lines = [tool("Bash", command=f"touch {name}") for name in ("fine", "forbidden")]
    async with claude.open(
        [*lines, "One of two."],
        handler=hook,
        native={"hooks": {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["before"]}]}},
    ) as run:
        said = await run.turn("Touch both.")
        told = json.dumps(run.model.requests_of("main")[2].messages[-1])
    assert seen == ["touch fine", "touch forbidden"]
    assert [file.name for file in claude.cwd.iterdir()] == ["fine"]
    calls = said.of(HostCalled)
    assert [(call.method, call.params["callback_id"]) for call in calls] == [("hook_callback", "before")] * 2
    assert [call.call_id for call in calls] == [call.call_id for call in said.of(ToolStarted)]
    assert "The hook says no." in told
    assert said.one(PermissionRequested).input["command"] == "touch fine"
    assert said.of(ToolEnded)[0].status == "completed"
    assert said.of(ToolEnded)[1].status in ("declined", "failed")


async def test_a_hook_of_the_settings_is_reported(claude: Pinned) -> None:
    hooks = {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo ran >> hooked"}]}]
    }
    async with claude.open(
        [tool("Bash", command="touch here"), "Done."], approve="all", native={"settings": {"hooks": hooks}}
    ) as run:
        said = await run.turn("Touch it.")
    assert (claude.cwd / "hooked").read_text() == "ran\n"
    reports = said.of(Hook, event="PreToolUse")
    assert [report.phase for report in reports] == ["started", "ended"]
    assert reports[1].exit_code == 0
