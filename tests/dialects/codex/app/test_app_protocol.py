"""The protocol as Codex describes it itself, and that all of it is known."""

import pytest

from dragoman._contract.invariants import broken
from dragoman._dialects import detect
from dragoman._dialects.codex.app.messages import NOTIFICATIONS, REQUESTS
from dragoman._model import events as ev
from tests.dialects.codex.app.conversation import CLIENT, THREAD, TURN, Conversation, frames, methods, of

_UNLISTED = {"rawResponseItem/completed", "rawResponse/completed"}


def test_every_notification_and_every_request_is_known() -> None:
    assert set(methods("notified")) | _UNLISTED == set(NOTIFICATIONS)
    assert set(methods("asked")) == REQUESTS
    assert len(CLIENT) == 179


@pytest.mark.parametrize("method", sorted(NOTIFICATIONS))
def test_an_empty_notification_is_understood(method: str) -> None:
    wire = Conversation().opened()
    wire.hear({"method": method})
    wire.note(method, threadId=THREAD)
    events = wire.over()
    assert of(events, ev.NativeUnknown) == []
    assert of(events, ev.NativeInvalid) == []
    assert broken(events) == []


def test_what_is_not_known_is_said_so() -> None:
    wire = Conversation().opened().in_turn()
    wire.note("thread/brandNew", threadId=THREAD)
    wire.started(type="telepathy", id="t1")
    wire.hear(["neither"])
    unknown = [event.native_type for event in of(wire.events, ev.NativeUnknown)]
    assert unknown == ["thread/brandNew", "item/started/telepathy"]
    assert len(of(wire.events, ev.NativeInvalid)) == 1


@pytest.mark.parametrize("scenario", ["basic", "review", "bad_input"])
def test_it_is_told_by_its_first_lines(scenario: str) -> None:
    assert detect([frame.line for frame in frames(scenario)][:50]) == "codex_app"


def test_tokens_of_the_first_version_are_counted() -> None:
    wire = Conversation().opened().in_turn()
    counts = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    info = {"total_token_usage": counts, "last_token_usage": counts}
    wire.note("codex/event/token_count", conversationId=THREAD, msg={"type": "token_count", "info": info})
    wire.note(
        "codex/event/agent_message", conversationId=THREAD, msg={"type": "agent_message", "message": "x"}
    )
    wire.turn_over()
    [turn] = of(wire.events, ev.TurnEnded)
    assert turn.usage is not None
    assert turn.usage.total_tokens == 12
    assert of(wire.events, ev.NativeUnknown) == []


def test_a_plan_that_was_streamed_differently_is_replaced() -> None:
    """Codex says of plans that the whole one need not be what its deltas were."""
    wire = Conversation().opened().in_turn()
    wire.note("item/plan/delta", threadId=THREAD, turnId=TURN, itemId="p", delta="draft")
    wire.completed(type="plan", id="p", text="final")
    plans = [(event.text, event.synthesized) for event in of(wire.events, ev.Message) if event.kind == "plan"]
    assert plans == [("draft", True), ("final", False)]
    assert broken(wire.over()) == []


def test_a_retry_gives_up_what_was_being_said() -> None:
    wire = Conversation().opened().in_turn()
    wire.note("item/agentMessage/delta", threadId=THREAD, turnId=TURN, itemId="m1", delta="hal")
    wire.note(
        "error",
        threadId=THREAD,
        turnId=TURN,
        willRetry=True,
        error={
            "message": "Reconnecting... 2/5",
            "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": 502}},
        },
    )
    [retry] = of(wire.events, ev.Retry)
    assert (retry.attempt, retry.max_attempts, retry.status_code, retry.discards) == (2, 5, 502, ["m1"])
    wire.completed(type="agentMessage", id="m2", text="half")
    wire.turn_over()
    said = [event.text for event in of(wire.events, ev.Message) if event.role == "assistant"]
    assert said == ["half"]
    assert broken(wire.over()) == []


@pytest.mark.parametrize(
    ("info", "outcome"),
    [
        ("contextWindowExceeded", "limited"),
        ("sessionBudgetExceeded", "limited"),
        ("cyberPolicy", "refused"),
        ({"httpConnectionFailed": {"httpStatusCode": 500}}, "failed"),
        (None, "failed"),
    ],
)
def test_how_failed_turns_ended(info: object, outcome: str) -> None:
    wire = Conversation().opened().in_turn()
    turn = {"id": TURN, "status": "failed", "error": {"message": "why", "codexErrorInfo": info}}
    wire.note("turn/completed", threadId=THREAD, turn=turn)
    [ended] = of(wire.events, ev.TurnEnded)
    assert (ended.outcome, ended.error and ended.error.message) == (outcome, "why")


def test_rate_limits_are_told_when_there_are_any() -> None:
    wire = Conversation().opened()
    wire.note("account/rateLimits/updated", rateLimits={"limitId": "codex", "primary": None})
    assert of(wire.events, ev.RateLimit) == []
    window = {"usedPercent": 90, "windowDurationMins": 300, "resetsAt": 1794771673}
    wire.note("account/rateLimits/updated", rateLimits={"primary": window, "planType": "pro"})
    [limit] = of(wire.events, ev.RateLimit)
    assert (limit.plan, limit.resets_at, limit.windows) == (
        "pro",
        1794771673,
        [{"name": "primary", **window}],
    )


def test_two_subagents_at_once_are_told_apart_when_their_calls_complete() -> None:
    wire = Conversation().opened().in_turn()
    for call in ("a", "b"):
        wire.started(type="collabAgentToolCall", id=call, tool="spawnAgent", prompt=call, status="inProgress")
    for call, child in (("b", "kid-b"), ("a", "kid-a")):
        wire.note("thread/status/changed", threadId=child, status={"type": "idle"})
        wire.completed(
            type="collabAgentToolCall",
            id=call,
            tool="spawnAgent",
            receiverThreadIds=[child],
            status="completed",
        )
    wire.note("turn/started", threadId="kid-a", turn={"id": "t"})
    wire.note("item/agentMessage/delta", threadId="kid-a", turnId="t", itemId="m", delta="x")
    wire.note("turn/completed", threadId="kid-a", turn={"id": "t", "status": "completed"})
    started = {event.agent_id: event.call_id for event in of(wire.events, ev.SubagentStarted)}
    assert started == {"kid-a": "a", "kid-b": "b"}
    assert [event.parent for event in of(wire.events, ev.Delta)] == ["a"]
    assert [event.agent_id for event in of(wire.events, ev.SubagentEnded)] == ["kid-a"]
    assert len(of(wire.events, ev.TurnStarted)) == 1
    assert broken(wire.over()) == []


def test_half_a_character_waits_for_the_rest() -> None:
    wire = Conversation().opened().in_turn()
    for half in ("\\ud83d", "\\ude00!"):
        line = f'{{"method":"item/agentMessage/delta","params":{{"threadId":"{THREAD}","itemId":"m","delta":"{half}"}}}}'
        wire.hear_line(line.encode())
    wire.completed(type="agentMessage", id="m", text="😀!")
    assert "".join(event.text for event in of(wire.events, ev.Delta)) == "😀!"
    assert broken(wire.over()) == []
