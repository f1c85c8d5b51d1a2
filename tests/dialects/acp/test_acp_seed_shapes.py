"""The shapes of the first descriptions of the protocol, which older agents still write."""

from typing import Any

import pytest

from dragoman._dialects import detect
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.content import ImageBlock, ResourceBlock, TerminalBlock
from tests.dialects.acp.conversation import SESSION, Conversation, chunk, permission

NESTED = {
    "toolCallId": "call-001",
    "title": "Reading login controller",
    "kind": "read",
    "status": "in_progress",
    "content": {"type": "content", "content": {"type": "text", "text": "Reading /src/auth/login.dart..."}},
    "locations": ["/src/auth/login.dart"],
    "rawInput": {"path": "/src/auth/login.dart"},
}


def test_a_nested_tool_call() -> None:
    talk = Conversation().working()
    started, updated = talk.update("tool_call_update", toolCall=NESTED)
    assert isinstance(started, ev.ToolStarted)
    assert (started.call_id, started.kind, started.title) == ("call-001", "read", "Reading login controller")
    assert started.locations == [ev.Location(path="/src/auth/login.dart")]
    assert started.input == {"path": "/src/auth/login.dart"}
    assert isinstance(updated, ev.ToolUpdated)
    assert updated.output == "Reading /src/auth/login.dart..."
    talk.update("tool_call_update", toolCall={**NESTED, "status": "completed", "rawOutput": {"lines": 3}})
    [ended] = talk.of(ev.ToolEnded)
    assert (ended.status, ended.structured) == ("completed", {"lines": 3})
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    "kind",
    "read edit delete move search execute think fetch browse ask memory mcp switch_mode other".split(),  # noqa: SIM905
)
def test_every_kind_is_kept(kind: str) -> None:
    talk = Conversation().working()
    talk.update("tool_call", toolCallId="c", title="A long title", kind=kind)
    assert [event.kind for event in talk.of(ev.ToolStarted)] == [kind]
    talk.end()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"type": "terminal", "terminalId": "t"}, TerminalBlock),
        (
            {"type": "content", "content": {"type": "image", "data": "QQ==", "mimeType": "image/png"}},
            ImageBlock,
        ),
    ],
)
def test_content_that_is_no_list(content: Any, kind: type) -> None:
    talk = Conversation().working()
    talk.update("tool_call_update", toolCall={"toolCallId": "c", "status": "completed", "content": content})
    [ended] = talk.of(ev.ToolEnded)
    assert [type(block) for block in ended.content] == [kind]
    talk.end()


def test_a_plan_of_texts() -> None:
    talk = Conversation().working()
    [plan] = talk.update("plan", entries=[{"text": "Step 1"}, {"text": "Step 2"}])
    assert isinstance(plan, ev.PlanUpdated)
    assert [(entry.text, entry.status) for entry in plan.entries] == [
        ("Step 1", "pending"),
        ("Step 2", "pending"),
    ]
    assert plan.ext["acp.planEntries"] == [{"text": "Step 1"}, {"text": "Step 2"}]
    talk.end()


def test_commands_with_an_id() -> None:
    talk = Conversation().opened()
    [commands] = talk.update("available_commands_update", availableCommands=[{"id": "help", "name": "Help"}])
    assert isinstance(commands, ev.SessionCommands)
    assert commands.commands == [ev.SlashCommand(name="help", description="Help")]


def test_options_with_values() -> None:
    talk = Conversation().opened()
    options = [{"id": "model", "values": ["model-a", "model-b"]}]
    [changed] = talk.update("config_option_update", configOptions=options)
    assert isinstance(changed, ev.SessionOptions)
    assert changed.options == options


@pytest.mark.parametrize(
    "fields",
    [
        {"sessionUpdate": "current_mode_update", "currentModeId": "fast"},
        {"sessionUpdate": "mode_change", "modeId": "fast"},
    ],
)
def test_a_mode(fields: dict[str, Any]) -> None:
    talk = Conversation().opened()
    [mode] = talk.agent({"method": "session/update", "params": {"sessionId": SESSION, "update": fields}})
    assert isinstance(mode, ev.SessionMode)
    assert mode.mode == "fast"


def test_a_permission_in_the_first_shape() -> None:
    kinds = ("allow_once", "allow_always", "reject_once", "reject_always")
    options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
    talk = Conversation().working()
    talk.agent(permission(id=100, call="call-77", options=options, rawInput={"command": "npm test"}))
    talk.say(c.Answer(request="100", option="reject_always"))
    assert talk.sent[-1]["result"]["outcome"] == {"outcome": "selected", "optionId": "reject_always"}
    [asked] = talk.of(ev.PermissionRequested)
    assert asked.ext == {"acp.options": options}
    talk.stops()
    talk.end(code=0)


def test_a_terminal_with_an_env_map() -> None:
    talk = Conversation(offers=frozenset(("terminal",))).working()
    params = {"sessionId": SESSION, "command": "npm test", "env": {"CI": "1"}, "outputByteLimit": 65536}
    [called] = talk.agent({"id": 102, "method": "terminal/create", "params": params})
    assert isinstance(called, ev.HostCalled)
    assert called.params["env"] == {"CI": "1"}


def test_a_resource_with_contents() -> None:
    talk = Conversation().working()
    block = {"type": "resource", "uri": "file:///a", "name": "a", "contents": {"text": "inside"}}
    talk.update("agent_message_chunk", content=block)
    [said] = [event for event in talk.of(ev.Message) if event.role == "assistant"]
    assert said.blocks == [ResourceBlock(uri="file:///a", name="a", text="inside")]


def test_a_prompt_called_content() -> None:
    talk = Conversation().opened()
    talk._receive(
        "in",
        b'{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","content":[{"type":"text","text":"Fix it"}]}}',
    )
    assert [event.prompt for event in talk.of(ev.TurnStarted)] == ["Fix it"]
    talk.agent(chunk("ok"), {"id": 3, "result": {"stopReason": "end_turn"}})
    talk.end(code=0)


def test_a_user_message_that_is_played_back_without_a_load() -> None:
    talk = Conversation().opened()
    [said] = talk.agent(chunk("Replaying a prior user turn", "user_message_chunk"))
    assert isinstance(said, ev.Message)
    assert (said.role, said.origin, said.echo) == ("user", "agent", False)


@pytest.mark.parametrize(
    ("line", "dialect"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}', "acp"),
        (b'{"jsonrpc":"2.0","method":"session/update","params":{}}', "acp"),
        (b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}', "acp"),
        (b'{"id":0,"result":{"userAgent":"x"}}', None),
    ],
)
def test_it_is_recognized(line: bytes, dialect: str | None) -> None:
    found = detect([line])
    assert (found == "acp") == (dialect == "acp")
