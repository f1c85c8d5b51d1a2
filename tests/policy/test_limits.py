"""How much a run may do."""

from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.usage import Usage
from dragoman._policy import prices
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


def test_no_limits() -> None:
    assert not Limits()
    assert Limits(max_tokens=1)


def test_the_words_name_the_limit() -> None:
    assert Spent(Limits(max_tool_calls=0)).feed(tool(1)) == "max_tool_calls=0 reached"


class TestPrices:
    def test_the_agents_own_sum(self) -> None:
        """Capture simple_text of 2.1.325 says 0.00086 for these tokens."""
        usage = Usage(input_tokens=160, cache_read_tokens=50, cache_write_tokens=10, output_tokens=20)
        assert prices.cost("claude-opus-5-5", usage) == pytest.approx(0.00087, rel=0.02)

    def test_an_unknown_model_has_no_price(self) -> None:
        assert prices.cost("somebody-elses-model", Usage(input_tokens=1)) is None
        assert prices.cost(None, Usage(input_tokens=1)) is None

    def test_the_first_match_counts(self) -> None:
        newer, older = prices.price_of("claude-sonnet-5-5"), prices.price_of("claude-sonnet-5")
        assert newer is not None
        assert older is not None
        assert (newer.input, older.input) == (2.0, 3.0)

    def test_every_price_is_dated(self) -> None:
        assert all(price.as_of.year >= 2025 for price in prices.table())
