"""The protocol as Codex describes it itself, and that all of it is known."""

import pytest

from dragoman._dialects import detect
from dragoman._dialects.codex.app.messages import NOTIFICATIONS, REQUESTS
from dragoman._model import events as ev
from tests.dialects.codex.app.conversation import CLIENT, THREAD, TURN, Conversation, frames, methods

_UNLISTED = {"rawResponseItem/completed", "rawResponse/completed"}


def test_every_notification_and_every_request_is_known() -> None:
    assert set(methods("notified")) | _UNLISTED == set(NOTIFICATIONS)
    assert set(methods("asked")) == REQUESTS
    assert len(CLIENT) == 179


@pytest.mark.parametrize("method", sorted(NOTIFICATIONS))
def test_an_empty_notification_is_understood(method: str) -> None:
    wire = Conversation().opened()
    wire.agent({"method": method})
    wire.notify(method, threadId=THREAD)
    wire.end(code=0)
    assert wire.of(ev.NativeUnknown) == []
    assert wire.of(ev.NativeInvalid) == []


def test_what_is_not_known_is_said_so() -> None:
    wire = Conversation().opened().in_turn()
    wire.notify("thread/brandNew", threadId=THREAD)
    wire.started(type="telepathy", id="t1")
    wire.agent(["neither"])
    unknown = [event.native_type for event in wire.of(ev.NativeUnknown)]
    assert unknown == ["thread/brandNew", "item/started/telepathy"]
    assert len(wire.of(ev.NativeInvalid)) == 1


@pytest.mark.parametrize("scenario", ["basic", "review", "bad_input"])
def test_it_is_told_by_its_first_lines(scenario: str) -> None:
    assert detect([frame.line for frame in frames(scenario)][:50]) == "codex_app"


def test_tokens_of_the_first_version_are_counted() -> None:
    wire = Conversation().opened().in_turn()
    counts = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    info = {"total_token_usage": counts, "last_token_usage": counts}
    wire.notify("codex/event/token_count", conversationId=THREAD, msg={"type": "token_count", "info": info})
    wire.notify(
        "codex/event/agent_message", conversationId=THREAD, msg={"type": "agent_message", "message": "x"}
    )
    wire.turn_over()
    [turn] = wire.of(ev.TurnEnded)
    assert turn.usage is not None
    assert turn.usage.total_tokens == 12
    assert wire.of(ev.NativeUnknown) == []


def test_a_plan_that_was_streamed_differently_is_replaced() -> None:
    """Codex says of plans that the whole one need not be what its deltas were."""
    wire = Conversation().opened().in_turn()
    wire.notify("item/plan/delta", threadId=THREAD, turnId=TURN, itemId="p", delta="draft")
    wire.completed(type="plan", id="p", text="final")
    plans = [(event.text, event.synthesized) for event in wire.of(ev.Message) if event.kind == "plan"]
    assert plans == [("draft", True), ("final", False)]
    wire.end(code=0)


def test_a_retry_gives_up_what_was_being_said() -> None:
    wire = Conversation().opened().in_turn()
    wire.notify("item/agentMessage/delta", threadId=THREAD, turnId=TURN, itemId="m1", delta="hal")
    wire.notify(
        "error",
        threadId=THREAD,
        turnId=TURN,
        willRetry=True,
        error={
            "message": "Reconnecting... 2/5",
            "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": 502}},
        },
    )
    [retry] = wire.of(ev.Retry)
    assert (retry.attempt, retry.max_attempts, retry.status_code, retry.discards) == (2, 5, 502, ["m1"])
    wire.completed(type="agentMessage", id="m2", text="half")
    wire.turn_over()
    said = [event.text for event in wire.of(ev.Message) if event.role == "assistant"]
    assert said == ["half"]
    wire.end(code=0)


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
    wire.notify("turn/completed", threadId=THREAD, turn=turn)
    [ended] = wire.of(ev.TurnEnded)
    assert (ended.outcome, ended.error and ended.error.message) == (outcome, "why")


def test_rate_limits_are_told_when_there_are_any() -> None:
    wire = Conversation().opened()
    wire.notify("account/rateLimits/updated", rateLimits={"limitId": "codex", "primary": None})
    assert wire.of(ev.RateLimit) == []
    window = {"usedPercent": 90, "windowDurationMins": 300, "resetsAt": 1794771673}
    wire.notify("account/rateLimits/updated", rateLimits={"primary": window, "planType": "pro"})
    [limit] = wire.of(ev.RateLimit)
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
        wire.notify("thread/status/changed", threadId=child, status={"type": "idle"})
        wire.completed(
            type="collabAgentToolCall",
            id=call,
            tool="spawnAgent",
            receiverThreadIds=[child],
            status="completed",
        )
    wire.notify("turn/started", threadId="kid-a", turn={"id": "t"})
    wire.notify("item/agentMessage/delta", threadId="kid-a", turnId="t", itemId="m", delta="x")
    wire.notify("turn/completed", threadId="kid-a", turn={"id": "t", "status": "completed"})
    started = {event.agent_id: event.call_id for event in wire.of(ev.SubagentStarted)}
    assert started == {"kid-a": "a", "kid-b": "b"}
    assert [event.parent for event in wire.of(ev.Delta)] == ["a"]
    assert [event.agent_id for event in wire.of(ev.SubagentEnded)] == ["kid-a"]
    assert len(wire.of(ev.TurnStarted)) == 1
    wire.end(code=0)


def test_half_a_character_waits_for_the_rest() -> None:
    wire = Conversation().opened().in_turn()
    for half in ("\\ud83d", "\\ude00!"):
        line = f'{{"method":"item/agentMessage/delta","params":{{"threadId":"{THREAD}","itemId":"m","delta":"{half}"}}}}'
        wire.agent(line.encode())
    wire.completed(type="agentMessage", id="m", text="😀!")
    assert "".join(event.text for event in wire.of(ev.Delta)) == "😀!"
    wire.end(code=0)
