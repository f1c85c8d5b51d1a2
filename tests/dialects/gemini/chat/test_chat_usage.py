"""Calls of the model: each told once, as its message was written last."""

from typing import Any

from dragoman._contract.invariants import broken
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from tests.dialects.gemini.chat.chat_files import HEAD, gemini, read, user
from tests.interpreted import of

CHILD = {**HEAD, "sessionId": "child", "kind": "subagent"}


def tokens(output: int, **fields: Any) -> dict[str, int]:
    return {
        "input": 1000,
        "output": output,
        "cached": 100,
        "thoughts": 7,
        "tool": 0,
        "total": 1007 + output,
        **fields,
    }


def said(id: str, output: int, **fields: Any) -> dict[str, Any]:
    return gemini(id, "…", tokens=tokens(output), model="gemini-2.5-pro", **fields)


def calls(events: list[Event]) -> list[ev.UsageUpdated]:
    assert broken(events) == []
    return of(events, ev.UsageUpdated)


def test_our_words_for_its_counts() -> None:
    answer = gemini("g", "…", tokens=tokens(20, tool=30, total=1057), model="gemini-2.5-pro")
    [call] = calls(read(HEAD, user("u", "Go."), answer))
    assert call.usage == Usage(
        input_tokens=1030, cache_read_tokens=100, output_tokens=27, reasoning_tokens=7, total_tokens=1057
    )
    assert (call.call, call.model, call.agent_id) == ("g", "gemini-2.5-pro", None)


def test_a_message_that_is_written_again() -> None:
    events = read(HEAD, user("u", "Go."), said("g", 5), said("g", 5), said("g", 20))
    assert [call.usage.output_tokens for call in calls(events) if call.usage] == [12, 27]
    assert {call.call for call in calls(events)} == {"g"}
    [turn] = of(events, ev.TurnEnded)
    assert turn.usage is not None
    assert turn.usage.output_tokens == 27


def test_what_is_taken_back_was_paid_for() -> None:
    events = read(HEAD, user("u", "Go."), said("g", 5), {"$rewindTo": "u"}, user("u2", "Go."), said("g2", 6))
    assert [call.call for call in calls(events)] == ["g", "g2"]


def test_history_that_another_file_has_is_played_back() -> None:
    events = read(
        HEAD, {"$set": {"messages": [user("u", "Go."), said("g", 5)]}}, user("u2", "On."), said("g2", 6)
    )
    assert [(call.call, call.replay) for call in calls(events)] == [("g", True), ("g2", False)]
    [turn] = of(events, ev.TurnEnded)
    assert turn.usage is not None
    assert turn.usage.output_tokens == 13


def test_a_subagents_own_file_is_whole() -> None:
    events = read(CHILD, user("u", "Look."), said("g", 5), said("g2", 6), {"$set": {"summary": "Found."}})
    [ended] = of(events, ev.SubagentEnded)
    [run] = of(events, ev.RunEnded)
    assert ended.usage is not None
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (2000, 25)
    assert (run.outcome, run.usage) == ("completed", ended.usage)
    assert {(call.agent_id, call.session) for call in calls(events)} == {("child", "child")}


def test_a_subagents_file_that_stops_halfway_is_not() -> None:
    [run] = of(read(CHILD, user("u", "Look."), said("g", 5)), ev.RunEnded)
    assert run.outcome == "truncated"
    assert run.usage is not None
    assert run.usage.output_tokens == 12
