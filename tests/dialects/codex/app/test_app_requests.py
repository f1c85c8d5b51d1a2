"""What Codex asks for, and that it always gets an answer it can read."""

from typing import Any

import pytest

from dragoman._dialects.codex.app.approvals import CHOICES
from dragoman._dialects.codex.app.messages import REQUESTS
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.errors import UsageError
from tests.dialects.codex.app.conversation import THREAD, Conversation

AMENDMENT = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["git", "push"]}}
ALLOW_HOST = {
    "applyNetworkPolicyAmendment": {"network_policy_amendment": {"host": "a.io", "action": "allow"}}
}
BLOCK_HOST = {"applyNetworkPolicyAmendment": {"network_policy_amendment": {"host": "a.io", "action": "deny"}}}
COMMAND = "item/commandExecution/requestApproval"
CHANGE = "item/fileChange/requestApproval"
PERMISSIONS = "item/permissions/requestApproval"
ELICITATION = "mcpServer/elicitation/request"
MCP_TOOL = {"codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"], "tool_params": {"a": 1}}
WANTED = {"network": {"enabled": True}}

Fields = dict[str, Any]


def asked(method: str, **params: Any) -> Conversation:
    wire = Conversation().opened().in_turn()
    wire.ask(0, method, **params)
    return wire


@pytest.mark.parametrize(
    ("method", "params", "answer", "result", "outcome"),
    [
        (COMMAND, {}, {"decision": "allow"}, {"decision": "accept"}, "allowed"),
        (COMMAND, {}, {"decision": "deny", "message": "no"}, {"decision": "decline"}, "denied"),
        (COMMAND, {}, {"decision": "deny", "interrupt": True}, {"decision": "cancel"}, "denied"),
        (
            COMMAND,
            {},
            {"decision": "allow", "remember": ["session"]},
            {"decision": "acceptForSession"},
            "allowed",
        ),
        (COMMAND, {}, {"option": "acceptWithExecpolicyAmendment"}, {"decision": AMENDMENT}, "allowed"),
        (COMMAND, {}, {"option": "applyNetworkPolicyAmendment:allow"}, {"decision": ALLOW_HOST}, "allowed"),
        (COMMAND, {}, {"option": "applyNetworkPolicyAmendment:deny"}, {"decision": BLOCK_HOST}, "denied"),
        (CHANGE, {}, {"decision": "allow"}, {"decision": "accept"}, "allowed"),
        (
            CHANGE,
            {},
            {"decision": "allow", "remember": ["session"]},
            {"decision": "acceptForSession"},
            "allowed",
        ),
        (CHANGE, {}, {"option": "decline"}, {"decision": "decline"}, "denied"),
        (CHANGE, {}, {"decision": "deny", "interrupt": True}, {"decision": "cancel"}, "denied"),
        (PERMISSIONS, {}, {"decision": "allow"}, {"permissions": WANTED, "scope": "turn"}, "allowed"),
        (
            PERMISSIONS,
            {},
            {"decision": "allow", "remember": ["session"]},
            {"permissions": WANTED, "scope": "session"},
            "allowed",
        ),
        (
            PERMISSIONS,
            {},
            {"decision": "deny", "interrupt": True},
            {"permissions": {}, "scope": "turn"},
            "denied",
        ),
        (
            ELICITATION,
            {"_meta": MCP_TOOL},
            {"decision": "allow"},
            {"action": "accept", "content": {}},
            "allowed",
        ),
        (
            ELICITATION,
            {"_meta": MCP_TOOL},
            {"decision": "allow", "remember": ["session", "always"]},
            {"action": "accept", "content": {}, "_meta": {"persist": "session"}},
            "allowed",
        ),
        (
            ELICITATION,
            {"_meta": MCP_TOOL},
            {"decision": "allow", "remember": ["always"]},
            {"action": "accept", "content": {}, "_meta": {"persist": "session"}},
            "allowed",
        ),
        (ELICITATION, {"_meta": MCP_TOOL}, {"decision": "deny"}, {"action": "decline"}, "denied"),
        (ELICITATION, {"_meta": MCP_TOOL}, {"interrupt": True}, {"action": "cancel"}, "denied"),
        ("execCommandApproval", {}, {"decision": "allow"}, {"decision": "approved"}, "allowed"),
        (
            "applyPatchApproval",
            {},
            {"decision": "allow", "remember": ["session"]},
            {"decision": "approved_for_session"},
            "allowed",
        ),
        (
            "applyPatchApproval",
            {},
            {"decision": "deny"},
            {"decision": {"denied": {"rejection": "Denied by the client."}}},
            "denied",
        ),
        ("execCommandApproval", {}, {"interrupt": True}, {"decision": "abort"}, "denied"),
    ],
)
def test_answers_to_permissions(
    method: str, params: Fields, answer: Fields, result: Fields, outcome: str
) -> None:
    given = {
        "itemId": "c1",
        "command": "git push",
        "permissions": WANTED,
        "serverName": "tiny",
        "availableDecisions": ["accept", AMENDMENT, ALLOW_HOST, BLOCK_HOST, "cancel"],
    }
    wire = asked(method, **given, **params)
    wire.say(c.Answer(request="0", **answer))
    assert wire.reply(0) == result
    [resolved] = wire.of(ev.PermissionResolved)
    assert resolved.outcome == outcome
    with pytest.raises(UsageError, match="no open request"):
        wire.say(c.Answer(request="0", decision="allow"))


def test_a_permanent_grant_is_only_ever_chosen_by_its_name() -> None:
    wire = asked(COMMAND, itemId="c1", command="git push", availableDecisions=[AMENDMENT])
    [request] = wire.of(ev.PermissionRequested)
    assert [option.id for option in request.options] == ["acceptWithExecpolicyAmendment"]
    everything = [*request.suggestions, *request.options, AMENDMENT]
    wire.say(c.Answer(request="0", decision="allow", remember=everything))
    assert wire.reply(0) == {"decision": "acceptForSession"}


def test_an_option_that_was_not_offered_is_refused() -> None:
    wire = asked(CHANGE, itemId="c1")
    with pytest.raises(UsageError, match="no option"):
        wire.say(c.Answer(request="0", option="acceptWithExecpolicyAmendment"))
    assert wire.sent == []


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ({"db": "SQLite"}, {"db": {"answers": ["SQLite"]}}),
        ({"Which db?": ["SQLite", "note"]}, {"db": {"answers": ["SQLite", "note"]}}),
        ({"DB": {"answers": ["SQLite"]}}, {"db": {"answers": ["SQLite"]}}),
    ],
)
def test_answers_to_questions(answers: Fields, result: Fields) -> None:
    questions = [{"id": "db", "header": "DB", "question": "Which db?", "options": []}]
    wire = asked("item/tool/requestUserInput", itemId="c1", questions=questions, isBlocking=True)
    [question] = wire.of(ev.QuestionAsked)
    assert (question.message, question.call_id) == ("Which db?", "c1")
    wire.say(c.AnswerQuestion(request="0", answers=answers))
    assert wire.reply(0) == {"answers": result}
    assert wire.of(ev.QuestionAnswered)[0].action == "accepted"


def test_a_question_need_not_be_answered() -> None:
    wire = asked("item/tool/requestUserInput", itemId="c1", questions=[], isBlocking=True)
    wire.say(c.AnswerQuestion(request="0", action="declined"))
    assert wire.reply(0) == {"answers": {}}
    assert wire.of(ev.QuestionAnswered)[0].action == "cancelled"


@pytest.mark.parametrize(
    ("action", "result"),
    [
        ("accepted", {"action": "accept", "content": {"colour": "red"}}),
        ("declined", {"action": "decline"}),
        ("cancelled", {"action": "cancel"}),
    ],
)
def test_answers_to_mcp_servers(action: Any, result: Fields) -> None:
    wire = asked(ELICITATION, serverName="tiny", mode="url", url="u", message="?", elicitationId="e")
    [question] = wire.of(ev.QuestionAsked)
    assert (question.mode, question.url, question.elicitation_id) == ("url", "u", "e")
    wire.say(c.AnswerQuestion(request="0", action=action, answers={"colour": "red"}))
    assert wire.reply(0) == result
    assert wire.of(ev.QuestionAnswered)[0].action == action


@pytest.mark.parametrize(
    ("reply", "result"),
    [
        ({"result": "text"}, {"contentItems": [{"type": "inputText", "text": "text"}], "success": True}),
        ({"result": {"n": 1}}, {"contentItems": [{"type": "inputText", "text": '{"n":1}'}], "success": True}),
        (
            {"result": {"contentItems": [{"type": "inputImage", "imageUrl": "u"}]}},
            {"success": True, "contentItems": [{"type": "inputImage", "imageUrl": "u"}]},
        ),
        ({"error": "broken"}, {"contentItems": [{"type": "inputText", "text": "broken"}], "success": False}),
        (
            {},
            {
                "contentItems": [{"type": "inputText", "text": "No such tool is offered by this client."}],
                "success": False,
            },
        ),
    ],
)
def test_tools_of_the_client(reply: Fields, result: Fields) -> None:
    wire = Conversation().opened().in_turn()
    wire.started(type="dynamicToolCall", id="c1", tool="lookup", arguments={"x": 1}, status="inProgress")
    wire.ask(0, "item/tool/call", callId="c1", tool="lookup", arguments={"x": 1})
    [called] = wire.of(ev.HostCalled)
    assert (called.method, called.call_id, called.params["arguments"]) == ("item/tool/call", "c1", {"x": 1})
    wire.say(c.Reply(request="0", **reply))
    assert wire.reply(0) == result
    assert wire.of(ev.HostAnswered)[0].result == result


@pytest.mark.parametrize(
    "method", ["account/chatgptAuthTokens/refresh", "attestation/generate", "brand/new", "item/new/ask"]
)
def test_what_nobody_can_answer_is_refused_at_once(method: str) -> None:
    wire = asked(method)
    assert method in wire.reply(0)["message"]
    [answered] = wire.of(ev.HostAnswered)
    assert answered.error is not None
    wire.end(code=0)


def test_every_request_is_one_that_gets_an_answer() -> None:
    wire = Conversation().opened().in_turn()
    for id, method in enumerate(sorted(REQUESTS)):
        wire.ask(id, method, itemId=f"c{id}", _meta=MCP_TOOL if id % 2 else None)
    wire.turn_over()
    assert sorted(value["id"] for value in wire.sent) == list(range(len(REQUESTS)))
    assert set(CHOICES) <= REQUESTS
    wire.end(code=0)


def test_ids_of_the_two_sides_do_not_mix() -> None:
    wire = Conversation().opened()
    wire.say(c.SetModel(model="x"))
    ours = wire.next("thread/settings/update")
    assert ours["id"] == 0
    wire.in_turn()
    wire.ask(0, COMMAND, itemId="c1", command="ls")
    wire.answer(ours, {})
    assert wire.of(ev.PermissionResolved) == []
    assert [event.command for event in wire.of(ev.CommandEnded)] == ["set_model"]
    wire.say(c.Answer(request="0", decision="allow"))
    assert wire.reply(0) == {"decision": "accept"}


def test_a_request_that_is_withdrawn_is_cancelled() -> None:
    wire = asked(COMMAND, itemId="c1", command="ls")
    wire.notify("serverRequest/resolved", threadId=THREAD, requestId=0)
    [resolved] = wire.of(ev.PermissionResolved)
    assert (resolved.outcome, resolved.by) == ("cancelled", "agent")
    with pytest.raises(UsageError, match="withdrawn"):
        wire.say(c.Answer(request="0", decision="allow"))


def test_what_is_asked_when_the_turn_ends_is_answered_with_an_error() -> None:
    wire = asked(COMMAND, itemId="c1", command="ls")
    wire.turn_over("interrupted")
    assert wire.reply(0)["message"] == "the turn has ended"
    [resolved] = wire.of(ev.PermissionResolved)
    assert (resolved.outcome, resolved.by) == ("cancelled", "agent")
    wire.end(code=0)


def test_requests_of_a_subagent_name_it() -> None:
    wire = Conversation().opened().in_turn()
    wire.started(type="collabAgentToolCall", id="call", tool="spawnAgent", prompt="task", status="inProgress")
    wire.ask(0, COMMAND, threadId="child", itemId="c1", command="ls")
    [request] = wire.of(ev.PermissionRequested)
    assert (request.session, request.turn, request.parent) == (THREAD, 1, "call")
    wire.say(c.Answer(request="0", decision="allow"))
    assert wire.reply(0) == {"decision": "accept"}
    assert wire.of(ev.PermissionResolved)[0].parent == "call"
