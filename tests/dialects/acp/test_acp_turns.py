"""Turns, and what is said in them, in protocol 1."""

import json
from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._files.convert import convert
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.content import ContentBlock, ImageBlock, JsonBlock, ResourceBlock, ResourceLinkBlock
from dragoman._model.errors import UsageError
from tests.dialects.acp.conversation import MODES, SESSION, Conversation, chunk, permission, update


def test_a_turn() -> None:
    talk = Conversation().working()
    started, message = talk.events[-2:]
    assert isinstance(started, ev.TurnStarted)
    assert (started.prompt, started.origin, started.session) == ("go", "client", SESSION)
    assert isinstance(message, ev.Message)
    assert (message.role, message.text) == ("user", "go")
    talk.agent(chunk("Hel"), chunk("lo"))
    talk.stops()
    [said] = [event for event in talk.of(ev.Message) if event.role == "assistant"]
    assert (said.text, said.message_id, said.synthesized) == ("Hello", "m1", True)
    [ended] = talk.of(ev.TurnEnded)
    assert (ended.outcome, ended.reason, ended.text) == ("completed", "end_turn", "Hello")
    talk.end(code=0)


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("end_turn", "completed"),
        ("max_tokens", "limited"),
        ("max_turn_requests", "limited"),
        ("refusal", "refused"),
        ("cancelled", "cancelled"),
        ("_of_their_own", "completed"),
    ],
)
def test_how_a_turn_ends(reason: str, outcome: str) -> None:
    talk = Conversation().working()
    talk.stops(reason)
    assert [(event.outcome, event.reason) for event in talk.of(ev.TurnEnded)] == [(outcome, reason)]
    talk.end(code=0)


@pytest.mark.parametrize(("code", "outcome"), [(-32800, "cancelled"), (429, "failed"), (-32603, "failed")])
def test_a_prompt_that_fails(code: int, outcome: str) -> None:
    talk = Conversation().working()
    talk.answer(
        to="session/prompt", error={"code": code, "message": "Internal error", "data": {"details": "why"}}
    )
    [error] = talk.of(ev.Error)
    [ended] = talk.of(ev.TurnEnded)
    assert ended.outcome == outcome
    assert ended.error == ev.ErrorInfo(message="Internal error: why", code=str(code))
    assert (error.message, error.code) == ("Internal error: why", str(code))
    talk.end(code=0)


def test_a_prompt_is_held_until_the_turn_has_ended() -> None:
    talk = Conversation().working()
    assert talk.say(c.Prompt(text="next", id="p2")) == []
    talk.stops()
    assert talk.sent[-1]["params"]["prompt"] == [{"type": "text", "text": "next"}]
    assert talk.machine.turn_of("p2") == 2
    talk.stops()
    talk.end(code=0)


def test_two_prompts_of_another_client() -> None:
    """gemini cancels the first (capture acp_double_prompt): what follows is a turn of its own."""
    talk = Conversation().opened()
    for id, text in ((1, "first"), (2, "second")):
        talk._send(
            [
                f'{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"{text}"}}]}}}}'.encode()
            ]
        )
    talk.agent(chunk("one"), {"id": 1, "result": {"stopReason": "cancelled"}})
    talk.agent(chunk("two"), {"id": 2, "result": {"stopReason": "end_turn"}})
    assert [(event.prompt, event.turn) for event in talk.of(ev.TurnStarted)] == [("first", 1), ("second", 2)]
    assert [(event.outcome, event.text) for event in talk.of(ev.TurnEnded)] == [
        ("cancelled", "one"),
        ("completed", "two"),
    ]
    talk.end(code=0)


@pytest.mark.parametrize(
    ("lines", "messages"),
    [
        pytest.param([chunk("a"), chunk("b")], [("text", "ab", "m1")], id="a run is one message"),
        pytest.param(
            [chunk("t", "agent_thought_chunk"), chunk("a"), chunk("u", "agent_thought_chunk")],
            [("thinking", "t", "m1"), ("text", "a", "m2"), ("thinking", "u", "m3")],
            id="another kind is another message",
        ),
        pytest.param(
            [chunk("a"), update("tool_call", toolCallId="c", title="T"), chunk("b")],
            [("text", "a", "m1"), ("text", "b", "m2")],
            id="a tool call ends a message",
        ),
        pytest.param(
            [chunk("a"), update("tool_call", toolCallId="c", title="T"), chunk("b"), update("tool_call_update", toolCallId="c", status="completed"), chunk("c")],
            [("text", "a", "m1"), ("text", "bc", "m2")],
            id="an update of a known one does not",
        ),
        pytest.param(
            [chunk("a", messageId="x"), chunk("b", messageId="x"), chunk("c", messageId="y")],
            [("text", "ab", "x"), ("text", "c", "y")],
            id="an id of the agent's own",
        ),
        pytest.param([chunk("a"), chunk(""), chunk("b")], [("text", "ab", "m1")], id="nothing said is no message"),
        pytest.param([chunk("a"), chunk("b", messageId="x")], [("text", "a", "m1"), ("text", "b", "x")], id="codex warns without an id"),
        pytest.param(
            [update("agent_message_chunk", content={"type": "image", "data": "QQ==", "mimeType": "image/png"})],
            [("text", None, "m1")],
            id="an image",
        ),
    ],
)  # fmt: skip
def test_where_messages_begin_and_end(lines: list[Any], messages: list[tuple[str, str | None, str]]) -> None:
    talk = Conversation().working()
    talk.agent(*lines)
    talk.stops()
    said = [event for event in talk.of(ev.Message) if event.role == "assistant"]
    assert [(event.kind, event.text, event.message_id) for event in said] == messages
    talk.end(code=0)


def test_one_message_of_two_kinds_has_two_blocks() -> None:
    talk = Conversation().working()
    talk.agent(chunk("t", "agent_thought_chunk", messageId="x"), chunk("a", messageId="x"))
    talk.stops()
    said = [event for event in talk.of(ev.Message) if event.role == "assistant"]
    assert [(event.kind, event.message_id, event.block) for event in said] == [
        ("thinking", "x", 0),
        ("text", "x", 1),
    ]
    talk.end(code=0)


def test_a_character_in_two_chunks() -> None:
    talk = Conversation().working()
    half = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}'
    talk.agent(half % rb"a\ud83d", half % rb"\ude00b")
    talk.stops()
    assert talk.of(ev.TurnEnded)[0].text == "a\U0001f600b"
    talk.end(code=0)


def test_gemini_says_its_mode_in_a_chunk() -> None:
    talk = Conversation().working(modes=MODES)
    talk.agent(
        chunk("so "), chunk("[MODE_UPDATE] plan"), chunk("[MODE_UPDATE] bogus"), chunk(" [MODE_UPDATE] plan")
    )
    [mode] = talk.of(ev.SessionMode)
    assert mode.mode == "plan"
    talk.stops()
    assert talk.of(ev.TurnEnded)[0].text == "so [MODE_UPDATE] bogus [MODE_UPDATE] plan"
    talk.end(code=0)


def test_an_echo_of_the_prompt() -> None:
    talk = Conversation().working()
    talk.agent(chunk("go", "user_message_chunk"), chunk("something else", "user_message_chunk"))
    said = [event for event in talk.of(ev.Message) if event.origin == "agent"]
    assert [(event.text, event.echo) for event in said] == [("go", True), ("something else", False)]
    talk.stops()
    talk.end(code=0)


def test_what_is_said_between_turns_is_in_no_turn() -> None:
    talk = Conversation().working()
    talk.stops()
    talk.agent(chunk("by the way"))
    talk.say(c.Prompt(text="next"))
    assert [event.turn for event in talk.of(ev.TurnStarted)] == [1, 2]
    [late] = [event for event in talk.of(ev.Message) if event.text == "by the way"]
    assert late.turn == 1
    talk.stops()
    talk.end(code=0)
    assert talk.of(ev.RunEnded)[0].outcome == "completed"


def test_a_stream_without_the_client() -> None:
    """Only what the agent wrote: turns are inferred, answers are told by what they hold."""
    lines = [
        {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": SESSION}},
        chunk("Hi"),
        permission(),
        {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}},
    ]
    events = list(convert(b"".join(json.dumps(line).encode() + b"\n" for line in lines), dialect="acp"))
    assert broken(events) == []
    kinds = [str(event.__struct_config__.tag) for event in events]
    assert kinds == [
        "run.started", "agent.ready", "session.started", "turn.started", "delta", "message", "tool.started",
        "permission.requested", "permission.resolved", "tool.ended", "turn.ended", "run.ended",
    ]  # fmt: skip


# --- interrupting ------------------------------------------------------------------------------------------------


def test_cancelling_answers_what_is_asked() -> None:
    talk = Conversation().working()
    talk.agent(permission(id=7), permission(id="8", call="c2"))
    talk.agent(
        {
            "id": 9,
            "method": "elicitation/create",
            "params": {
                "sessionId": SESSION,
                "mode": "form",
                "message": "?",
                "requestedSchema": {"type": "object", "properties": {}},
            },
        }
    )
    talk.say(c.Interrupt())
    assert talk.sent[-4] == {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": SESSION}}
    assert [line["id"] for line in talk.sent[-3:]] == [7, "8", 9]
    assert [event.outcome for event in talk.of(ev.PermissionResolved)] == ["cancelled", "cancelled"]
    assert [event.action for event in talk.of(ev.QuestionAnswered)] == ["cancelled"]
    talk.stops("cancelled")
    assert [event.status for event in talk.of(ev.ToolEnded)] == ["cancelled", "cancelled"]
    talk.end(code=0)


def test_cancelling_before_there_is_a_session() -> None:
    talk = Conversation().ready()
    talk.say(c.Interrupt())
    assert talk.sent[-1]["method"] == "$/cancel_request"
    assert talk.sent[-1]["params"]["requestId"] == talk.sent[-2]["id"]
    talk.answer(to="session/new", error={"code": -32800, "message": "Request cancelled"})
    talk.end(code=0)


# --- prompts -----------------------------------------------------------------------------------------------------


def test_what_a_prompt_can_hold() -> None:
    talk = Conversation().opened()
    blocks: list[ContentBlock] = [
        ImageBlock(data="QQ==", mime_type="image/png"),
        ResourceLinkBlock(uri="file:///a/b.txt"),
        ResourceBlock(uri="file:///c", text="see"),
        ResourceBlock(name="d", blob="QQ=="),
    ]
    talk.say(c.Prompt(text="look", blocks=blocks))
    sent = talk.sent[-1]["params"]["prompt"]
    assert [block["type"] for block in sent] == ["text", "image", "resource_link", "resource", "resource"]
    assert sent[2]["name"] == "b.txt"
    [message] = talk.of(ev.Message)
    assert message.text == "look"
    assert len(message.blocks) == 5
    talk.end()


def test_what_it_cannot_hold_is_known_before_it_is_held() -> None:
    talk = Conversation()
    with pytest.raises(UsageError, match="json"):
        talk.machine.send(c.Prompt(text="look", blocks=[JsonBlock(value=1)]))


def test_compacting_is_a_command_of_the_agent() -> None:
    talk = Conversation().opened()
    talk.update("available_commands_update", availableCommands=[{"name": "compact", "description": "d"}])
    talk.say(c.Compact(instructions="keep names"))
    assert talk.sent[-1]["params"]["prompt"][0]["text"] == "/compact keep names"
    talk.update("compaction_update", compactionId="k", status="in_progress")
    talk.update("compaction_summary_chunk", compactionId="k", content={"type": "text", "text": "short"})
    talk.update("compaction_update", compactionId="k", status="completed")
    first, last = talk.of(ev.ContextCompacted)
    assert (first.phase, first.trigger) == ("started", "manual")
    assert (last.phase, last.summary) == ("completed", "short")
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    ("fields", "closes"),
    [({"sessionCapabilities": {"close": {}}}, True), ({"sessionCapabilities": {}}, False)],
)
def test_closing_where_the_agent_can(fields: dict[str, Any], closes: bool) -> None:
    talk = Conversation().ready(**fields)
    talk.answer({"sessionId": SESSION}, to="session/new")
    talk.say(c.Close(id="x"))
    assert ("session/close" in talk.methods()) == closes
    if closes:
        talk.answer({}, to="session/close")
        assert [event.status for event in talk.of(ev.SessionStatus)] == ["ended"]
    talk.end(code=0)
