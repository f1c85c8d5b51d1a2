"""Our own hook before every tool call: what it says, and what is told of it."""

from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._dialects.claude.stream import gate
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.errors import UsageError
from dragoman._wire import note_frames
from tests.dialects.claude.stream.conversation import (
    Conversation,
    can_use,
    init,
    result,
    tool_result,
    tool_use,
)


def shown(call_id: str = "t1", **more: Any) -> dict[str, Any]:
    """The CLI calls our hook."""
    given = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": ".env"},
        **more,
    }
    request = {
        "subtype": "hook_callback",
        "callback_id": gate.CALLBACK,
        "input": given,
        "tool_use_id": call_id,
    }
    return {"type": "control_request", "request_id": "g1", "request": request}


def talk() -> Conversation:
    """A turn in which a Read was called."""
    made = Conversation()
    made.say(c.Prompt(text="Read it."))
    made.agent(init())
    made.agent(tool_use("Read", "t1", file_path=".env"))
    return made


def decision(made: Conversation) -> dict[str, Any]:
    response = made.sent[-1]["response"]
    assert response["subtype"] == "success"
    said: dict[str, Any] = response["response"]["hookSpecificOutput"]
    return said


def test_a_call_is_shown_without_an_event_and_wants_an_answer() -> None:
    made = talk()
    [known] = made.agent(shown())
    assert isinstance(known, ev.NativeKnown)
    [check] = made.machine.ledger.take_requests()
    assert isinstance(check, ev.PermissionRequested)
    assert made.machine.ledger.is_check(check)
    assert (check.tool_name, check.kind, check.input, check.call_id) == (
        "Read",
        "read",
        {"file_path": ".env"},
        "t1",
    )


def test_no_objection_is_said_as_ask() -> None:
    """Never as an answer that allows, nor as one that has no opinion: a project's hook would decide."""
    made = talk()
    made.agent(shown())
    assert made.say(c.Reply(request="g1")) == []
    assert decision(made)["permissionDecision"] == "ask"
    [asked] = made.agent(can_use("Read", "r1", "t1", file_path=".env"))
    assert isinstance(asked, ev.PermissionRequested)
    assert asked.unasked
    made.say(c.Answer(request="r1", decision="allow"))
    assert made.sent[-1]["response"]["response"]["behavior"] == "allow"
    made.agent(tool_result("x", "t1"))
    [again] = made.agent(can_use("Read", "r2", "t1", file_path=".env"))
    assert isinstance(again, ev.PermissionRequested)
    assert not again.unasked
    made.agent(result())
    made.end()
    assert broken(made.events) == []


@pytest.mark.parametrize(
    "said", [c.Answer(request="g1", decision="allow"), c.Reply(request="g1", result={})], ids=["allow", "{}"]
)
def test_nothing_that_is_said_allows_at_the_gate(said: c.Command) -> None:
    made = talk()
    made.agent(shown())
    made.say(said)
    assert decision(made)["permissionDecision"] == "ask"


@pytest.mark.parametrize(
    "said", [c.Answer(request="g1", message="Not that."), c.Reply(request="g1", error="Not that.")]
)
def test_a_denial_is_told_with_its_rule(said: c.Command) -> None:
    """The CLI's own text for it has no mark of a denial: the status comes of our answer."""
    made = talk()
    made.agent(shown())
    made.note(note_frames.Decided(request="g1", by="policy", rule="no secrets"))
    asked, resolved = made.say(said)
    assert isinstance(asked, ev.PermissionRequested)
    assert isinstance(resolved, ev.PermissionResolved)
    assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "no secrets")
    assert decision(made) == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Not that.",
    }
    ended = made.agent(tool_result("PreToolUse:Read hook error: Not that.", "t1", is_error=True))[-1]
    assert isinstance(ended, ev.ToolEnded)
    assert ended.status == "declined"
    made.agent(result())
    made.end()
    assert broken(made.events) == []


def test_a_check_that_is_not_answered_ends_with_its_turn_and_without_a_word() -> None:
    made = talk()
    made.agent(shown())
    made.agent({"type": "control_cancel_request", "request_id": "g1"})
    assert made.machine.ledger.requests == {}
    made.agent(shown())
    made.agent(result())
    assert made.machine.ledger.requests == {}
    assert [
        event for event in made.events if isinstance(event, ev.PermissionRequested | ev.PermissionResolved)
    ] == []


def test_an_error_of_another_hook_before_a_tool_denies() -> None:
    """To an error answer the CLI says nothing and runs the tool."""
    made = talk()
    made.agent(shown() | {"request": {**shown()["request"], "callback_id": "theirs"}})
    made.say(c.Reply(request="g1", error="broken"))
    assert decision(made)["permissionDecision"] == "deny"


def test_hooks_of_the_caller_stay_beside_ours() -> None:
    theirs = {
        "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["a"]}],
        "Stop": [{"hookCallbackIds": ["b"]}],
    }
    hooks = gate.hooks(theirs)
    assert hooks["Stop"] == theirs["Stop"]
    assert hooks["PreToolUse"][1:] == theirs["PreToolUse"]
    assert hooks["PreToolUse"][0]["hookCallbackIds"] == [gate.CALLBACK]


@pytest.mark.parametrize(
    "given",
    [
        [],
        {"PreToolUse": {"hookCallbackIds": ["a"]}},
        {"PreToolUse": ["a"]},
        {"PreToolUse": [{"hookCallbackIds": [gate.CALLBACK]}]},
    ],
)
def test_hooks_that_could_put_ours_aside_are_refused(given: Any) -> None:
    with pytest.raises(UsageError):
        gate.hooks(given)


def test_a_call_may_be_shown_before_it_is_told_of() -> None:
    """So 2.1.197 does with the calls of subagents: they ended as failed."""
    made = Conversation()
    made.say(c.Prompt(text="Read it."))
    made.agent(init())
    made.agent(shown())
    made.say(c.Answer(request="g1", message="Not that."))
    made.agent(tool_use("Read", "t1", file_path=".env"))
    ended = made.agent(tool_result("Not that.", "t1", is_error=True))[-1]
    assert isinstance(ended, ev.ToolEnded)
    assert ended.status == "declined"
