"""What the agent asks of us: permissions, questions, files; what we answer; and who takes what back."""

import json
from typing import Any

import pytest

from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.errors import UsageError
from dragoman._wire import note_frames
from tests.dialects.acp.conversation import OPTIONS, SESSION, Conversation, permission

ONCE, ALWAYS, NO = OPTIONS


def read_file(id: Any = 3) -> dict[str, Any]:
    return {
        "id": id,
        "method": "fs/read_text_file",
        "params": {"sessionId": SESSION, "path": "/a", "limit": 5},
    }


def test_a_permission_starts_its_tool() -> None:
    """gemini sends no tool_call at all before it asks."""
    talk = Conversation().working()
    [started, asked] = talk.agent(permission(rawInput={"command": "ls"}))
    assert isinstance(started, ev.ToolStarted)
    assert not started.synthesized
    assert isinstance(asked, ev.PermissionRequested)
    assert (asked.request_id, asked.call_id, asked.kind, asked.title) == ("7", "c1", "execute", "Run it")
    assert asked.input == {"command": "ls"}
    assert [(option.id, option.kind) for option in asked.options] == [
        ("yes", "allow_once"),
        ("yes-always", "allow_always"),
        ("no", "reject_once"),
    ]
    assert asked.ext["acp.options"] == OPTIONS
    talk.end()


@pytest.mark.parametrize(
    ("options", "answer", "sent", "outcome"),
    [
        (OPTIONS, {"decision": "allow"}, "yes", "allowed"),
        (OPTIONS, {"decision": "allow", "remember": ["always"]}, "yes", "allowed"),
        (OPTIONS, {"decision": "allow", "remember": ["session"]}, "yes", "allowed"),
        (OPTIONS, {"decision": "deny"}, "no", "denied"),
        (OPTIONS, {"option": "yes-always"}, "yes-always", "allowed"),
        (OPTIONS, {"decision": "allow", "option": "no"}, "no", "denied"),
        ([ALWAYS], {"decision": "allow"}, "yes-always", "allowed"),
        ([ONCE], {"decision": "allow", "remember": ["always"]}, "yes", "allowed"),
        ([ONCE], {"decision": "deny"}, None, "cancelled"),
    ],
)
def test_answers_pick_an_option(options: Any, answer: dict[str, Any], sent: str | None, outcome: str) -> None:
    talk = Conversation().working()
    talk.agent(permission(options=options))
    talk.say(c.Answer(request="7", **answer), note_frames.Decided(request="7", by="policy", rule="r"))
    expected = {"outcome": "cancelled"} if sent is None else {"outcome": "selected", "optionId": sent}
    assert talk.sent[-1] == {"jsonrpc": "2.0", "id": 7, "result": {"outcome": expected}}
    [resolved] = talk.of(ev.PermissionResolved)
    assert (resolved.outcome, resolved.option_id, resolved.by, resolved.rule) == (
        outcome,
        sent,
        "policy",
        "r",
    )
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize(
    "answer",
    [{"option": "bogus"}, {"decision": "allow", "updated_input": {"a": 1}}],
)
def test_answers_that_cannot_be_given(answer: dict[str, Any]) -> None:
    talk = Conversation().working()
    talk.agent(permission())
    with pytest.raises(UsageError):
        talk.machine.send(c.Answer(request="7", **answer))


def test_nothing_to_allow_with() -> None:
    talk = Conversation().working()
    talk.agent(permission(options=[NO]))
    with pytest.raises(UsageError, match="no option"):
        talk.machine.send(c.Answer(request="7", decision="allow"))


def test_deny_and_stop() -> None:
    talk = Conversation().working()
    talk.agent(permission())
    talk.say(c.Answer(request="7", decision="deny", interrupt=True))
    assert talk.methods()[-1] == "session/cancel"


@pytest.mark.parametrize(
    "answer",
    [{"outcome": {"outcome": "selected", "optionId": "bogus"}}, {"outcome": "yes"}, {}, None],
)
def test_an_answer_that_the_agent_cannot_accept_is_a_denial(answer: Any) -> None:
    talk = Conversation().working()
    talk.agent(permission())
    talk._receive("in", json.dumps({"jsonrpc": "2.0", "id": 7, "result": answer}).encode())
    assert [event.outcome for event in talk.of(ev.PermissionResolved)] == ["denied"]
    talk.stops()
    talk.end(code=0)


def test_what_is_pending_when_the_turn_ends() -> None:
    talk = Conversation().working()
    talk.agent(permission())
    talk.stops()
    [resolved] = talk.of(ev.PermissionResolved)
    assert (resolved.outcome, resolved.by, resolved.synthesized) == ("cancelled", "agent", True)
    with pytest.raises(UsageError):
        talk.machine.send(c.Answer(request="7", decision="allow"))
    talk.say(c.Prompt(text="again"))
    talk.say(c.Interrupt())
    assert talk.methods()[-1] == "session/cancel"
    assert "method" in talk.sent[-1]
    talk.stops("cancelled")
    talk.end(code=0)


# --- taking back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [permission(id=3), read_file()])
def test_the_agent_takes_a_request_back(asked: dict[str, Any]) -> None:
    talk = Conversation(offers=frozenset(("fs",))).working()
    talk.agent(asked)
    talk.agent({"method": "$/cancel_request", "params": {"requestId": 3}})
    assert talk.sent[-1]["id"] == 3
    assert talk.sent[-1]["error"]["code"] == -32800
    answers = [*talk.of(ev.PermissionResolved), *talk.of(ev.HostAnswered)]
    assert len(answers) == 1
    talk.stops()
    talk.end(code=0)


def test_taking_back_what_was_never_asked() -> None:
    talk = Conversation().working()
    [known] = talk.agent({"method": "$/cancel_request", "params": {"requestId": 99}})
    assert isinstance(known, ev.NativeKnown)


# --- questions -----------------------------------------------------------------------------------------------------

FORM = {
    "mode": "form",
    "message": "Which?",
    "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
}
URL = {"mode": "url", "message": "Go there", "url": "https://example.com", "elicitationId": "e1"}


def question(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": 4,
        "method": "elicitation/create",
        "params": {"sessionId": SESSION, "toolCallId": "c", **fields},
    }


@pytest.mark.parametrize(
    ("fields", "answer", "sent"),
    [
        (FORM, {"answers": {"a": "b"}}, {"action": "accept", "content": {"a": "b"}}),
        (FORM, {"action": "declined"}, {"action": "decline"}),
        (FORM, {"action": "cancelled"}, {"action": "cancel"}),
        (URL, {}, {"action": "accept"}),
    ],
)
def test_a_question(fields: dict[str, Any], answer: dict[str, Any], sent: dict[str, Any]) -> None:
    talk = Conversation().working()
    [asked] = talk.agent(question(fields))
    assert isinstance(asked, ev.QuestionAsked)
    assert (asked.mode, asked.message, asked.call_id) == (fields["mode"], fields["message"], "c")
    assert (asked.url, asked.elicitation_id) == (fields.get("url"), fields.get("elicitationId"))
    assert asked.schema == fields.get("requestedSchema")
    talk.say(c.AnswerQuestion(request="4", **answer))
    assert talk.sent[-1]["result"] == sent
    [answered] = talk.of(ev.QuestionAnswered)
    assert answered.action == answer.get("action", "accepted")
    talk.stops()
    talk.end(code=0)


def test_a_question_that_is_answered_elsewhere() -> None:
    talk = Conversation().working()
    talk.agent(question(URL), {"method": "elicitation/complete", "params": {"elicitationId": "e1"}})
    assert talk.sent[-1] == {"jsonrpc": "2.0", "id": 4, "result": {"action": "accept"}}
    assert [event.action for event in talk.of(ev.QuestionAnswered)] == ["accepted"]
    talk.stops()
    talk.end(code=0)


# --- files and terminals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "result", "code"),
    [
        ({"result": {"content": "x"}}, {"content": "x"}, None),
        ({"result": "x"}, {"content": "x"}, None),
        ({"error": "not now"}, None, -32603),
        ({"error": "no such file", "code": -32002}, None, -32002),
        ({}, None, -32601),
    ],
)
def test_a_file_is_read_for_the_agent(reply: dict[str, Any], result: Any, code: int | None) -> None:
    talk = Conversation(offers=frozenset(("fs",))).working()
    talk.update("tool_call", toolCallId="c", title="Read", locations=[{"path": "/a"}])
    [called] = talk.agent(read_file())
    assert isinstance(called, ev.HostCalled)
    assert (called.method, called.params["path"], called.call_id) == ("fs/read_text_file", "/a", "c")
    talk.say(c.Reply(request="3", **reply))
    assert talk.sent[-1].get("result") == result
    assert talk.sent[-1].get("error", {}).get("code") == code
    [answered] = talk.of(ev.HostAnswered)
    assert (answered.error is None) == (code is None)
    talk.stops()
    talk.end(code=0)


def test_what_was_not_offered_is_refused_at_once() -> None:
    talk = Conversation().working()
    talk.agent(read_file())
    assert talk.sent[-1]["error"]["code"] == -32601
    assert len(talk.of(ev.HostCalled)) == len(talk.of(ev.HostAnswered)) == 1
    talk.stops()
    talk.end(code=0)


@pytest.mark.parametrize("method", ["_vendor/thing", "craft/drainMidTurnQueue", "session/fly"])
def test_unknown_requests_are_refused_at_once(method: str) -> None:
    talk = Conversation().working()
    [unknown] = talk.agent({"id": "u", "method": method, "params": {"sessionId": SESSION}})
    assert isinstance(unknown, ev.NativeUnknown)
    assert unknown.native_type == method
    assert talk.sent[-1]["id"] == "u"
    assert talk.sent[-1]["error"]["code"] == -32601
    talk.stops()
    talk.end(code=0)
