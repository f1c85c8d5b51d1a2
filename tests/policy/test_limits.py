"""How much a run may do."""

import re
from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.usage import ModelUsage, Usage
from dragoman._policy.limits import UNKNOWN_COST_REMEDY
from dragoman._prices.estimate import Prices
from dragoman._prices.table import prices_in
from dragoman._runtime.limits import Limits, Spent


def reached(limits: Limits, *events: ev.Event) -> list[int]:
    """The places at which a limit is reached."""
    spent = Spent(limits)
    return [n for n, event in enumerate(events) if spent.feed(event) is not None]


def tool(n: int, **fields: Any) -> ev.ToolStarted:
    return ev.ToolStarted(call_id=f"t{n}", name="Bash", **fields)


def done(n: int, **fields: Any) -> ev.ToolEnded:
    return ev.ToolEnded(call_id=f"t{n}", status="completed", **fields)


def said(text: str = "x", **fields: Any) -> ev.Message:
    return ev.Message(role="assistant", text=text, **fields)


def test_tool_calls() -> None:
    assert reached(Limits(max_tool_calls=2), tool(1), done(1), tool(2), done(2), tool(3)) == [4]


def test_steps_are_answers_of_the_model() -> None:
    loop = [ev.TurnStarted(), said(), tool(1), tool(2), done(1), done(2), said(), tool(3), done(3), said()]
    assert reached(Limits(max_turns=2), *loop) == [9]
    assert reached(Limits(max_turns=3), *loop) == []


def test_a_new_turn_begins_to_count_anew() -> None:
    turn = [ev.TurnStarted(), said(), ev.TurnEnded(outcome="completed")]
    assert reached(Limits(max_turns=1), *turn, *turn) == []


def test_subagents_and_replayed_history_are_no_steps() -> None:
    assert (
        reached(Limits(max_turns=1), said(), done(1, parent="a"), said(parent="a"), said(replay=True)) == []
    )


def test_history_that_is_played_back_was_spent_before() -> None:
    old = [tool(1, replay=True), ev.UsageUpdated(scope="call", usage=Usage(total_tokens=9), replay=True)]
    assert reached(Limits(max_tool_calls=0, max_tokens=5), *old) == []


def test_tools_of_subagents_are_tool_calls() -> None:
    assert reached(Limits(max_tool_calls=1), tool(1), tool(2, parent="t1")) == [1]


def test_tokens_of_calls_count_until_the_turn_says_its_own() -> None:
    call = ev.UsageUpdated(scope="call", usage=Usage(input_tokens=60, output_tokens=10))
    assert reached(Limits(max_tokens=100), call, call) == [1]
    end = ev.TurnEnded(outcome="completed", usage=Usage(input_tokens=60, output_tokens=10))
    assert reached(Limits(max_tokens=100), call, end) == []
    assert reached(Limits(max_tokens=100), call, end, call, end) == [2, 3]


def test_what_the_agent_says_it_cost_counts() -> None:
    end = ev.TurnEnded(outcome="completed", cost_usd=0.3)
    assert reached(Limits(max_cost_usd=0.5), end, end) == [1]


def test_where_it_says_nothing_tokens_are_priced() -> None:
    started = ev.SessionStarted(model="claude-opus-5-5")
    call = ev.UsageUpdated(scope="call", usage=Usage(input_tokens=100_000, output_tokens=0))
    assert reached(Limits(max_cost_usd=0.5), started, call, call) == [2]


def test_each_call_is_priced_by_itself() -> None:
    """Two calls of 150,000 tokens are not one of 300,000, which would cost twice as much."""
    started = ev.SessionStarted(model="gpt-5.5")
    call = ev.UsageUpdated(scope="call", usage=Usage(input_tokens=150_000, output_tokens=0))
    end = ev.TurnEnded(outcome="completed", usage=Usage(input_tokens=300_000, output_tokens=0))
    assert reached(Limits(max_cost_usd=1.6), started, call, call, end) == []
    assert reached(Limits(max_cost_usd=1.5), started, call, call, end) == [2, 3]


def test_where_there_are_no_calls_the_models_of_a_turn_are_priced() -> None:
    """Gemini CLI says what each of its models took when the turn ends."""
    each = ModelUsage(input_tokens=100_000, output_tokens=0)
    end = ev.TurnEnded(outcome="completed", model_usage={"gemini-2.5-pro": each, "gemini-2.5-flash": each})
    assert reached(Limits(max_cost_usd=0.15), end) == [0]
    assert reached(Limits(max_cost_usd=0.16), end) == []


def test_a_model_that_was_asked_for_counts_where_the_agent_names_none() -> None:
    end = ev.TurnEnded(outcome="completed", usage=Usage(input_tokens=100_000, output_tokens=0))
    assert reached(Limits(max_cost_usd=0.5, model="gpt-5.5"), end) == [0]


def test_a_price_that_nobody_knows_ends_the_run_if_every_cost_must_be_known() -> None:
    call = ev.UsageUpdated(scope="call", model="their-own", usage=Usage(input_tokens=9, output_tokens=1))
    spent = Spent(Limits(max_cost_usd=1, every_cost=True))
    assert spent.feed(call) == (
        f"max_cost_usd=1 cannot be kept: the price of the model their-own is not known; {UNKNOWN_COST_REMEDY}"
    )
    assert reached(Limits(max_cost_usd=1), call) == []
    assert reached(Limits(max_tokens=100, every_cost=True), call) == []


def test_an_estimate_is_called_one() -> None:
    call = ev.UsageUpdated(scope="call", model="gpt-5.5", usage=Usage(input_tokens=100_000, output_tokens=0))
    told = ev.TurnEnded(outcome="completed", cost_usd=0.5)
    assert re.fullmatch(
        r"max_cost_usd=0.5 reached, estimated by the prices of 20\d\d-\d\d-\d\d",
        str(Spent(Limits(max_cost_usd=0.5)).feed(call)),
    )
    assert Spent(Limits(max_cost_usd=0.5)).feed(told) == "max_cost_usd=0.5 reached"


def test_prices_of_ones_own() -> None:
    prices = Prices(prices_in('[[price]]\nmodels = ["their-own"]\ninput = 100\noutput = 0'))
    spent = Spent(Limits(max_cost_usd=0.9, every_cost=True), prices)
    call = ev.UsageUpdated(scope="call", model="their-own", usage=Usage(input_tokens=10_000, output_tokens=1))
    assert spent.feed(call) == "max_cost_usd=0.9 reached"


def test_no_limits() -> None:
    assert not Limits()
    assert not Limits(model="gpt-5.5", every_cost=True)
    assert Limits(max_tokens=1)


def test_the_words_name_the_limit() -> None:
    assert Spent(Limits(max_tool_calls=0)).feed(tool(1)) == "max_tool_calls=0 reached"


# --- the same as usage of the library says -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "usd"),
    [
        ({}, 5.0),
        ({"service_tier": "standard"}, 5.0),
        ({"service_tier": "batch"}, 2.5),
        ({"service_tier": "batch", "speed": "standard"}, 2.5),
    ],
)
def test_the_service_tier_of_a_call(fields: dict[str, Any], usd: float) -> None:
    usage = Usage(input_tokens=1_000_000, cache_write_tokens=1_000_000, output_tokens=0)
    call = ev.UsageUpdated(scope="call", model="claude-opus-5-5", usage=usage, **fields)
    assert reached(Limits(max_cost_usd=usd), call) == [0]
    assert reached(Limits(max_cost_usd=usd + 0.01), call) == []


def test_a_cache_write_of_an_hour() -> None:
    usage = Usage(
        input_tokens=1_000_000,
        cache_write_tokens=1_000_000,
        cache_write_1h_tokens=1_000_000,
        output_tokens=0,
    )
    call = ev.UsageUpdated(scope="call", model="claude-opus-5-5", usage=usage)
    assert reached(Limits(max_cost_usd=8), call) == [0]
    assert reached(Limits(max_cost_usd=8.01), call) == []


def test_a_speed_without_a_price_has_no_known_cost() -> None:
    call = ev.UsageUpdated(scope="call", model="claude-opus-5-5", usage=Usage(input_tokens=5), speed="fast")
    said = Spent(Limits(max_cost_usd=1, every_cost=True)).feed(call)
    assert "claude-opus-5-5 as fast" in str(said)
