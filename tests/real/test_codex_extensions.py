"""What a client adds to the agent: MCP servers, tools of its own, hooks, and answers to its questions."""

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
    Notice,
    PermissionRequested,
    QuestionAnswered,
    QuestionAsked,
    Reply,
    Session,
    SessionUpdated,
    ToolEnded,
    ToolStarted,
    Unsupported,
)
from dragoman._runtime.standing import Request
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio

SERVER = {"command": sys.executable, "args": ["-I", str(Path(__file__).parent / "peers" / "mcp_server.py")]}


def told(run: Any, request: int = 1) -> str:
    """What the model was told last."""
    return json.dumps(run.model.requests_of("main")[request].messages[-1])


# --- MCP servers -------------------------------------------------------------------------------------------


@exercises(Capability.MCP)
async def test_a_tool_of_an_mcp_server(codex: Pinned) -> None:
    async with codex.open(
        [tool("mcp__small__add", a=3, b=4), "Seven."], mcp_servers={"small": SERVER}, approve="all"
    ) as run:
        said = await run.turn("Add them.")
        assert '"7"' in told(run)
    servers = {
        server.name: server.status
        for update in run.events.of(SessionUpdated)
        for server in update.mcp_servers
    }
    assert servers == {"small": "ready"}
    call = said.one(ToolStarted)
    assert (call.name, call.server, call.native_name, call.kind) == ("add", "small", "mcp__small__add", "mcp")
    assert call.input == {"a": 3, "b": 4}
    done = said.one(ToolEnded)
    assert (done.status, done.output) == ("completed", "7")
    assert said.said() == ["Seven."]


async def test_a_tool_of_an_mcp_server_that_is_blocked(codex: Pinned) -> None:
    async with codex.open(
        [tool("mcp__small__add", a=3, b=4), "No."],
        mcp_servers={"small": SERVER},
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


@pytest.mark.parametrize(
    ("action", "greeting"), [("accepted", "Hello, Ann!"), ("declined", "Hello, whoever you are!")]
)
async def test_a_question_of_an_mcp_server(codex: Pinned, action: Any, greeting: str) -> None:
    def answer(request: Request, session: Session) -> AnswerQuestion | bool:
        if isinstance(request, PermissionRequested):
            return True
        return AnswerQuestion(request=request.request_id, action=action, answers={"name": "Ann"})

    async with codex.open(
        [tool("mcp__small__greet"), "Greeted."], mcp_servers={"small": SERVER}, approve=answer
    ) as run:
        said = await run.turn("Greet me.")
    asked = said.one(QuestionAsked)
    assert (asked.message, asked.mode) == ("What is your name?", "form")
    assert asked.schema["required"] == ["name"]
    answered = said.one(QuestionAnswered)
    assert (answered.request_id, answered.action) == (asked.request_id, action)
    assert said.one(ToolEnded).output == greeting


# --- questions of the agent --------------------------------------------------------------------------------

QUESTION = {
    "id": "colour",
    "header": "Colour",
    "question": "Which colour?",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}


@exercises(Capability.QUESTIONS)
async def test_a_question_of_the_agent(codex: Pinned) -> None:
    def blue(request: Request, session: Session) -> AnswerQuestion:
        return AnswerQuestion(request=request.request_id, answers={"Which colour?": "Blue"})

    async with codex.open(
        [tool("request_user_input", questions=[QUESTION]), "Blue it is."], approve="plan", handler=blue
    ) as run:
        said = await run.turn("Paint it.")
        assert "Blue" in told(run)
    asked = said.one(QuestionAsked)
    assert asked.message == "Which colour?"
    assert [question["id"] for question in asked.questions] == ["colour"]
    answered = said.one(QuestionAnswered)
    assert (answered.request_id, answered.action) == (asked.request_id, "accepted")
    assert answered.answers == {"colour": {"answers": ["Blue"]}}
    assert said.of(PermissionRequested) == []
    assert said.said() == ["Blue it is."]


async def test_a_question_that_nobody_answers(codex: Pinned) -> None:
    async with codex.open(
        [tool("request_user_input", questions=[QUESTION]), "Red then."], approve="plan"
    ) as run:
        said = await run.turn("Paint it.")
        assert "Blue" not in told(run)
    assert said.one(QuestionAnswered).action == "cancelled"
    assert said.said() == ["Red then."]


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
    async def shout(request: Request, session: Session) -> Reply:
        assert isinstance(request, HostCalled)
        assert (request.method, request.params["tool"]) == ("item/tool/call", "shout")
        word = request.params["arguments"]["word"]
        return Reply(request=request.request_id, result=None if error else word.upper(), error=error)

    async with codex.open(
        [tool("shout", word="hey"), "Shouted."], handler=shout, native={"dynamic_tools": [SHOUT]}
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
    deny = {"type": "command", "command": f"echo '{json.dumps({'hookSpecificOutput': said_no})}'"}
    hooks = {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo It is Sunday."}]}],
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
