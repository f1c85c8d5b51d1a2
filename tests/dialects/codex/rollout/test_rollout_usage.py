"""Calls of the model: each told once, with its model and a key that its copies have too."""

from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._model import events as ev
from dragoman._model.events import Event
from tests.dialects.codex.rollout.rollout_files import lines
from tests.interpreted import of

# Ids as Codex makes them: the time comes first, so a fork is younger than the turns that it was forked after.
PARENT, FORK, FORK_OF_FORK = (f"01a1ecce-{time}-7182-ac69-e73336d42adc" for time in ("1000", "3000", "5000"))
FIRST, SECOND, OF_FORK, LAST = (
    f"01a1ecce-{time}-7313-84c0-8c77e5ac9e1d" for time in ("1001", "2000", "3001", "5001")
)

Line = tuple[str, dict[str, Any]]


def meta(thread: str, **fields: Any) -> Line:
    return "session_meta", {"id": thread, "cwd": "/w", "cli_version": "0.135.0", **fields}


def event(kind: str, **fields: Any) -> Line:
    return "event_msg", {"type": kind, **fields}


def count(total: int, last: int) -> Line:
    """Of a thread whose calls read ten times what they write."""
    info = {
        f"{of}_token_usage": {
            "input_tokens": 10 * tokens,
            "output_tokens": tokens,
            "total_tokens": 11 * tokens,
        }
        for of, tokens in (("total", total), ("last", last))
    }
    return event("token_count", info=info, rate_limits=None)


def begun(turn: str, model: str = "gpt-5.5") -> list[Line]:
    return [
        event("task_started", turn_id=turn),
        ("turn_context", {"turn_id": turn, "model": model}),
        event("user_message", message="Go."),
    ]


def whole(turn: str, *counts: Line, model: str = "gpt-5.5") -> list[Line]:
    return [*begun(turn, model), *counts, event("task_complete", turn_id=turn)]


def calls(events: list[Event]) -> list[ev.UsageUpdated]:
    assert broken(events) == []
    return [event for event in of(events, ev.UsageUpdated) if event.scope == "call"]


def output(call: ev.UsageUpdated) -> int | None:
    assert call.usage is not None
    return call.usage.output_tokens


HISTORY = [*whole(FIRST, count(1, 1), count(3, 2)), *whole(SECOND, count(6, 3))]


def test_a_call_is_where_the_total_moved() -> None:
    repeated = [count(1, 1), count(1, 1), event("token_count", info=None), count(3, 2), count(3, 0)]
    said = calls(lines(meta(PARENT), *whole(FIRST, *repeated)))
    assert [(call.call, output(call), call.model) for call in said] == [
        (f"{FIRST}/1", 1, "gpt-5.5"),
        (f"{FIRST}/2", 2, "gpt-5.5"),
    ]


def test_where_calls_have_records_the_counts_are_none() -> None:
    record = "token_usage_record", {"turn_id": FIRST, "usage": {"input_tokens": 10, "output_tokens": 1}}
    [call] = calls(lines(meta(PARENT), *whole(FIRST, record, count(1, 1))))
    assert (call.call, output(call)) == (f"{FIRST}/1", 1)


def test_the_model_is_the_one_of_the_turn() -> None:
    switched = whole(SECOND, count(3, 2), model="gpt-5.4")
    events = lines(meta(PARENT), *whole(FIRST, count(1, 1)), *switched)
    assert [call.model for call in calls(events)] == ["gpt-5.5", "gpt-5.4"]
    assert [list(turn.model_usage) for turn in of(events, ev.TurnEnded)] == [["gpt-5.5"], ["gpt-5.4"]]


def test_the_tier_is_that_of_the_settings() -> None:
    fast = event("thread_settings_applied", thread_settings={"model": "gpt-5.5", "service_tier": "priority"})
    [call] = calls(lines(meta(PARENT), fast, *whole(FIRST, count(1, 1))))
    assert call.service_tier == "priority"


def test_a_fork_plays_its_parents_calls_back() -> None:
    events = lines(meta(FORK, forked_from_id=PARENT), meta(PARENT), *HISTORY, *whole(OF_FORK, count(10, 4)))
    assert [(call.call, output(call), call.replay) for call in calls(events)] == [
        (f"{FIRST}/1", 1, True),
        (f"{FIRST}/2", 2, True),
        (f"{SECOND}/1", 3, True),
        (f"{OF_FORK}/1", 4, False),
    ]
    [turn] = of(events, ev.TurnEnded)
    assert turn.usage is not None
    assert (turn.session, turn.usage.output_tokens) == (FORK, 4)


def test_a_fork_of_a_fork_keeps_its_own_turns() -> None:
    """Its file begins with the session_meta of both."""
    metas = (
        meta(FORK_OF_FORK, forked_from_id=FORK),
        meta(FORK, forked_from_id=PARENT),
        meta(PARENT),
    )
    copied = [*HISTORY, *whole(OF_FORK, count(10, 4))]
    events = lines(*metas, *copied, *whole(LAST, count(15, 5)))
    assert {each.session for each in events if each.session} == {FORK_OF_FORK}
    assert [call.call for call in calls(events) if not call.replay] == [f"{LAST}/1"]
    [turn] = of(events, ev.TurnEnded)
    assert turn.session == FORK_OF_FORK


def test_a_family_that_is_read_as_one_run_has_each_turn_once() -> None:
    fork = [meta(FORK, forked_from_id=PARENT), meta(PARENT), *HISTORY, *whole(OF_FORK, count(10, 4))]
    for files in ([meta(PARENT), *HISTORY, *fork], [*fork, meta(PARENT), *HISTORY]):
        events = lines(*files)
        own = [call for call in calls(events) if not call.replay]
        assert sorted(call.call or "" for call in own) == [
            f"{FIRST}/1",
            f"{FIRST}/2",
            f"{SECOND}/1",
            f"{OF_FORK}/1",
        ]
        assert sorted(turn.session or "" for turn in of(events, ev.TurnEnded)) == [PARENT, PARENT, FORK]


def test_a_subagent_that_knows_what_its_parent_did() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    cut = [*begun(SECOND), count(6, 3)]
    events = lines(meta(FORK, source=spawned), meta(PARENT), *cut, *whole(OF_FORK, count(10, 4)))
    assert [(call.call, call.agent_id, call.replay) for call in calls(events)] == [
        (f"{SECOND}/1", None, True),
        (f"{OF_FORK}/1", FORK, False),
    ]


def test_a_turn_without_an_id_is_never_taken_for_a_copy() -> None:
    unmarked = [event("user_message", message="Go."), count(1, 1)]
    [call] = calls(lines(meta(FORK, forked_from_id=PARENT), meta(PARENT), *unmarked))
    assert (call.call, call.replay) == (f"{FORK}/1", False)


@pytest.mark.parametrize("thread", ["s-1", "11111111-2222-4333-8444-555555555555", FIRST.upper()])
def test_ids_that_tell_no_time(thread: str) -> None:
    events = lines(meta(thread, forked_from_id=PARENT), meta(PARENT), *HISTORY)
    assert [call.replay for call in calls(events)] == [False] * 3


def test_turns_that_are_taken_back_were_paid_for() -> None:
    back = event("thread_rolled_back", num_turns=1)
    events = lines(meta(PARENT), *whole(FIRST, count(1, 1)), back, *whole(SECOND, count(1, 1)))
    assert [call.call for call in calls(events)] == [f"{FIRST}/1", f"{SECOND}/1"]
