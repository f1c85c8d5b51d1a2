"""Calls of the model: each told once, with the greatest of its counts and a key that its copies have too."""

from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from tests.dialects.claude.transcript.transcript_files import lines
from tests.interpreted import of

Line = dict[str, Any]


def entry(kind: str, uuid: str, **fields: Any) -> Line:
    place = {"sessionId": "s", "cwd": "/w", "version": "2.1.325", "timestamp": "2026-01-01T00:00:00.000Z"}
    return {"type": kind, "uuid": uuid, **place, **fields}


def prompt(uuid: str = "p", **fields: Any) -> Line:
    said = {"role": "user", "content": "Go."}
    return entry("user", uuid, message=said, permissionMode="default", **fields)


def answer(
    message_id: str | None,
    output: int | None,
    uuid: str,
    *,
    usage: Any = None,
    request: str = "r",
    **fields: Any,
) -> Line:
    counts = {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": output, **(usage or {})}
    message = {
        "id": message_id,
        "model": "opus",
        "content": [{"type": "text", "text": "…"}],
        "stop_reason": "end_turn",
        "usage": counts,
    }
    return entry("assistant", uuid, requestId=request, **{"message": message, **fields})


def aside(line: Line, agent: str = "a1") -> Line:
    return {**line, "isSidechain": True, "agentId": agent}


def cost(usd: float, input: int, output: int, cached: int = 100) -> Line:
    used = {"inputTokens": input, "outputTokens": output, "cacheReadInputTokens": cached, "costUSD": usd}
    return {"type": "cost-state", "sessionId": "s", "totalCostUSD": usd, "modelUsage": {"opus": used}}


def calls(events: list[Event]) -> list[ev.UsageUpdated]:
    assert broken(events) == []
    return [event for event in of(events, ev.UsageUpdated) if event.scope == "call"]


def outputs(events: list[Event]) -> list[tuple[str | None, int | None]]:
    return [(call.call, call.usage.output_tokens if call.usage else None) for call in calls(events)]


def test_a_call_that_grows_is_said_again() -> None:
    events = lines(prompt(), answer("m1", 5, "a"), answer("m1", 5, "b"), answer("m1", 631, "c"))
    assert outputs(events) == [("m1", 5), ("m1", 631)]
    [turn] = of(events, ev.TurnEnded)
    assert turn.usage == Usage(input_tokens=110, cache_read_tokens=100, output_tokens=631)


def test_the_greatest_counts_stay() -> None:
    events = lines(prompt(), answer("m1", 631, "a"), answer("m1", 5, "b"), answer("m1", None, "c"))
    assert outputs(events) == [("m1", 631)]
    [turn] = of(events, ev.TurnEnded)
    assert turn.usage is not None
    assert turn.usage.output_tokens == 631


def test_what_its_price_depends_on() -> None:
    usage = {
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "service_tier": "priority",
        "speed": "fast",
        "inference_geo": "us",
        "server_tool_use": {"web_search_requests": 2},
    }
    [call] = calls(lines(prompt(), answer("m1", 7, "a", usage=usage, request="req_1")))
    assert call.usage == Usage(
        input_tokens=140,
        cache_read_tokens=100,
        cache_write_tokens=30,
        cache_write_5m_tokens=10,
        cache_write_1h_tokens=20,
        output_tokens=7,
    )
    assert (call.model, call.request_id) == ("opus", "req_1")
    assert (call.service_tier, call.speed, call.inference_geo) == ("priority", "fast", "us")
    assert call.web_search_requests == 2


@pytest.mark.parametrize(
    "kept", [None, {}, {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}, "x"]
)
def test_a_split_that_is_not_said_is_not_guessed(kept: Any) -> None:
    usage = {"cache_creation_input_tokens": 30, "cache_creation": kept}
    [call] = calls(lines(prompt(), answer("m1", 7, "a", usage=usage)))
    assert call.usage is not None
    assert (call.usage.cache_write_5m_tokens, call.usage.cache_write_1h_tokens) == (None, None)


def test_what_was_no_call() -> None:
    synthetic = answer("m1", 0, "a")
    synthetic["message"]["model"] = "<synthetic>"
    nulls = dict.fromkeys(("input_tokens", "cache_read_input_tokens", "output_tokens"))
    assert calls(lines(prompt(), synthetic, answer("m2", None, "b", usage=nulls))) == []


def test_a_message_without_an_id_goes_by_its_request() -> None:
    events = lines(prompt(), answer(None, 7, "a", request="req_1"), answer(None, 7, "b", request="req_1"))
    assert outputs(events) == [("req_1", 7)]


def test_a_copy_in_another_session_has_the_same_key() -> None:
    copied = [{**line, "sessionId": "fork"} for line in (prompt(), answer("m1", 7, "a", request="req_1"))]
    [call] = calls(lines(*copied))
    assert (call.session, call.call, call.request_id, call.replay) == ("fork", "m1", "req_1", False)


def test_a_copy_that_says_so_is_played_back() -> None:
    origin = {"sessionId": "s", "messageUuid": "a"}
    copied = answer("m1", 7, "a", forkedFrom=origin)
    events = lines(prompt(forkedFrom=origin), copied, prompt("q"), answer("m2", 8, "b"))
    assert [(call.call, call.replay) for call in calls(events)] == [("m1", True), ("m2", False)]
    assert [turn.usage is None for turn in of(events, ev.TurnEnded)] == [True, False]


# --- subagents -------------------------------------------------------------------------------------------------

TASK = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "Look.", "description": "Look"}}
SENT = {
    "id": "m1",
    "model": "opus",
    "content": [TASK],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
WORK = [
    aside(entry("user", "u", message={"role": "user", "content": "Look."})),
    aside(answer("c1", 20, "x")),
    aside(answer("c2", 30, "y")),
]


def result(**fields: Any) -> Line:
    done = {"type": "tool_result", "tool_use_id": "t1", "content": "Found."}
    told = {"agentId": "a1", "status": "completed", "usage": {"input_tokens": 1, "output_tokens": 30}}
    return entry("user", "r", message={"role": "user", "content": [done]}, toolUseResult=told, **fields)


def test_a_subagents_usage_is_the_sum_of_its_calls() -> None:
    """And not that of its last call, which is in its result."""
    sent = entry("assistant", "s1", message=SENT)
    parent = lines(prompt(), sent, result())
    [ended] = of(parent, ev.SubagentEnded)
    assert ended.usage is None
    together = lines(prompt(), sent, *WORK, result())
    [ended] = of(together, ev.SubagentEnded)
    assert ended.usage == Usage(input_tokens=220, cache_read_tokens=200, output_tokens=50)
    assert [(call.call, call.agent_id, call.parent) for call in calls(together)][1:] == [
        ("c1", "a1", "t1"),
        ("c2", "a1", "t1"),
    ]


def test_a_subagents_own_file_is_whole() -> None:
    events = lines(*WORK)
    [ended] = of(events, ev.SubagentEnded)
    [run] = of(events, ev.RunEnded)
    assert (ended.status, run.outcome) == ("completed", "completed")
    assert run.usage == ended.usage == Usage(input_tokens=220, cache_read_tokens=200, output_tokens=50)


def test_a_subagents_file_that_stops_halfway_is_not() -> None:
    cut = aside(answer("c3", 1, "z"))
    cut["message"]["stop_reason"] = "tool_use"
    [run] = of(lines(*WORK, cut), ev.RunEnded)
    assert run.outcome == "truncated"


def test_a_parents_message_in_a_subagents_file_is_the_parents() -> None:
    """Under another request, even."""
    repeated = aside(answer("m0", 9, "w", request="other"))
    events = lines(prompt(), answer("m0", 9, "a"), *WORK[:1], repeated, *WORK[1:])
    assert [call.call for call in calls(events)] == ["m0", "c1", "c2"]
    [ended] = of(events, ev.SubagentEnded)
    assert ended.usage is not None
    assert ended.usage.output_tokens == 50


# --- cost ------------------------------------------------------------------------------------------------------


def test_a_turns_cost_is_that_of_its_tokens() -> None:
    events = lines(prompt(), answer("m1", 7, "a"), cost(0.5, 10, 7))
    [turn] = of(events, ev.TurnEnded)
    [run] = of(events, ev.RunEnded)
    assert (turn.cost_usd, run.cost_usd) == (0.5, 0.5)


def test_a_cost_with_other_calls_in_it_is_nobodys() -> None:
    """A compaction's, a subagent's, a title's."""
    events = lines(prompt(), answer("m1", 7, "a"), cost(0.9, 510, 90))
    [turn] = of(events, ev.TurnEnded)
    [run] = of(events, ev.RunEnded)
    assert (turn.cost_usd, run.cost_usd) == (None, None)
    assert turn.usage is not None
    [told] = [event for event in of(events, ev.UsageUpdated) if event.scope == "session"]
    assert told.cost_usd == 0.9
