"""Turn usage and cost equal what the agent said."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman._dialects.claude.stream.costs import Costs
from dragoman._dialects.claude.stream.messages import Result
from dragoman._files.convert import convert
from dragoman._files.sources import open_source
from dragoman._model.events import TurnEnded
from tests.golden import captures, events_of, name, source

ALL = captures("claude_stream")


def results(capture: Path) -> list[dict[str, Any]]:
    found = []
    for frame in open_source(source(capture), "claude_stream"):
        try:
            value = json.loads(frame.line) if frame.dir == "out" else []
        except ValueError:
            continue
        messages = value if isinstance(value, list) else [value]
        found += [message for message in messages if message.get("type") == "result"]
    return found


@pytest.mark.parametrize("capture", ALL, ids=name)
def test_every_turn_has_the_usage_and_the_cost_that_the_result_says(capture: Path) -> None:
    said = results(capture)
    turns = [event for event in events_of(capture) if isinstance(event, TurnEnded) and not event.synthesized]
    assert len(turns) == len(said)
    for turn, result in zip(turns, said, strict=True):
        usage, told = turn.usage, result["usage"]
        assert usage is not None
        cached = told["cache_read_input_tokens"] + told["cache_creation_input_tokens"]
        assert usage.input_tokens == told["input_tokens"] + cached
        assert usage.output_tokens == told["output_tokens"]
        assert turn.duration_ms == result["duration_ms"]
        assert turn.steps == result["num_turns"]
    totals = [result["total_cost_usd"] for result in said]
    for turn, (before, after) in zip(turns[1:], pairwise(totals), strict=True):
        if after >= before:  # it falls only where /clear sets it back
            assert turn.cost_usd == pytest.approx(after - before, abs=1e-9)


def result(**fields: Any) -> Result:
    return msgspec.convert(fields, Result)


def test_the_first_turn_of_a_resumed_session_costs_only_itself() -> None:
    """2.1.325 counts on from the sessions before (capture resume_2_resume)."""
    models = {"opus": {"inputTokens": 100, "costUSD": 0.5}}
    total = {"opus": {"inputTokens": 300, "costUSD": 1.5}}
    said = result(
        total_cost_usd=1.5, modelUsage=total, model_usage_since_last_result=models, duration_api_ms=90
    )
    costs = Costs()
    cost = costs.cost(said)
    assert cost == 0.5
    assert costs.models(said)["opus"].input_tokens == 100
    assert costs.api_ms(said, cost) is None, "the total goes back to before this process"


def test_counters_that_run_over_the_process() -> None:
    costs = Costs()
    first = result(total_cost_usd=0.5, modelUsage={"opus": {"inputTokens": 10}}, duration_api_ms=50)
    second = result(total_cost_usd=0.7, modelUsage={"opus": {"inputTokens": 15}}, duration_api_ms=80)
    assert (costs.cost(first), costs.cost(second)) == (0.5, 0.2)
    assert [costs.models(r)["opus"].input_tokens for r in (first, second)] == [10, 5]
    assert [costs.api_ms(r, None) for r in (first, second)] == [50, 30]


def test_counters_that_began_before_the_process() -> None:
    """2.1.300: it goes on counting where a session is resumed, and does not say the turn's share."""
    costs = Costs()
    costs.resumed = True
    usage = {"input_tokens": 160, "output_tokens": 20}
    whole = {"opus": {"inputTokens": 320, "outputTokens": 40}}
    first = result(total_cost_usd=0.00172, modelUsage=whole, duration_api_ms=50, usage=usage)
    assert (costs.cost(first), costs.models(first), costs.api_ms(first, None)) == (None, {}, None)
    more = {"opus": {"inputTokens": 480, "outputTokens": 60}}
    second = result(total_cost_usd=0.00258, modelUsage=more, duration_api_ms=80, usage=usage)
    assert costs.cost(second) == 0.00086
    assert costs.models(second)["opus"].input_tokens == 160
    assert costs.api_ms(second, 0.00086) == 30


def test_counters_that_began_with_a_process_that_resumes() -> None:
    """2.1.275 and before; another model may have made the title."""
    costs = Costs()
    costs.resumed = True
    models = {
        "opus": {"inputTokens": 160, "outputTokens": 20},
        "haiku": {"inputTokens": 9, "outputTokens": 1},
    }
    usage = {"input_tokens": 160, "output_tokens": 20}
    first = result(total_cost_usd=0.5, modelUsage=models, duration_api_ms=50, usage=usage)
    assert (costs.cost(first), sorted(costs.models(first))) == (0.5, ["haiku", "opus"])
    assert costs.api_ms(first, 0.5) == 50


def test_a_model_that_the_turn_did_not_use_is_not_listed() -> None:
    costs = Costs()
    one = {"haiku": {"inputTokens": 5, "costUSD": 0.1}}
    costs.models(result(modelUsage=one))
    later = costs.models(result(modelUsage={**one, "opus": {"inputTokens": 7, "costUSD": 0.2}}))
    assert list(later) == ["opus"]


def test_clearing_sets_the_counters_back() -> None:
    costs = Costs()
    costs.cost(result(total_cost_usd=0.5))
    costs.reset()
    assert costs.cost(result(total_cost_usd=0.2)) == 0.2


def turns(*said: dict[str, Any]) -> list[TurnEnded]:
    lines = [json.dumps({"type": "result", "subtype": "success", **each}).encode() for each in said]
    return [event for event in convert(lines, "claude_stream") if isinstance(event, TurnEnded)]


@pytest.mark.parametrize("api_ms", [800, 1500])
def test_another_session_counts_from_nothing(api_ms: int) -> None:
    """The lines of two processes in one file."""
    first = {"session_id": "s1", "total_cost_usd": 0.5, "duration_api_ms": 1000}
    second = {"session_id": "s2", "total_cost_usd": 0.6, "duration_api_ms": api_ms}
    third = {"session_id": "s2", "total_cost_usd": 0.8, "duration_api_ms": api_ms + 200}
    found = turns(first, second, third)
    assert [turn.session for turn in found] == ["s1", "s2", "s2"]
    assert [turn.api_duration_ms for turn in found] == [1000, api_ms, 200]
    assert [turn.cost_usd for turn in found] == [0.5, 0.6, 0.2]


def test_another_process_of_the_same_session_counts_from_nothing() -> None:
    first = {"session_id": "s1", "total_cost_usd": 0.5, "duration_api_ms": 1000}
    found = turns(first, {**first, "total_cost_usd": 0.4, "duration_api_ms": 800})
    assert [(turn.cost_usd, turn.api_duration_ms) for turn in found] == [(0.5, 1000), (0.4, 800)]


def test_a_turn_without_the_api_took_none_of_its_time() -> None:
    """A slash command (capture 2.1.325/slash_various): the cost is the total still, the time is not."""
    said = [
        {"session_id": "s1", "total_cost_usd": 0.5, "duration_api_ms": api_ms} for api_ms in (1000, 0, 1200)
    ]
    assert [turn.api_duration_ms for turn in turns(*said)] == [1000, 0, 200]


def test_an_id_that_changes_within_a_process_counts_on() -> None:
    """/clear (capture 2.1.197/slash_various)."""
    before = {"session_id": "s1", "total_cost_usd": 0.5, "duration_api_ms": 1000}
    cleared = {**before, "session_id": "s2"}
    after = {**cleared, "total_cost_usd": 0.7, "duration_api_ms": 1300}
    found = turns(before, cleared, after)
    assert [turn.api_duration_ms for turn in found] == [1000, 0, 300]
    assert [turn.cost_usd for turn in found] == [0.5, 0.0, 0.2]
