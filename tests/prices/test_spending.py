"""What a run costs: what its agent says, and estimates of the rest."""

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.usage import ModelUsage, Usage
from dragoman._prices.estimate import Prices
from dragoman._prices.spending import Cost, Spending, spent

MILLION = Usage(input_tokens=1_000_000, output_tokens=0)


def call(model: str | None = "claude-opus-5-5", usage: Usage = MILLION, **fields: Any) -> ev.UsageUpdated:
    return ev.UsageUpdated(scope="call", model=model, usage=usage, **fields)


def end(**fields: Any) -> ev.TurnEnded:
    return ev.TurnEnded(outcome="completed", **fields)


def cost(*events: ev.Event, model: str | None = None) -> tuple[float | None, float | None, int]:
    found = spent(events, Prices(), model)
    return found.reported, found.estimated, found.unpriced


def test_what_the_agent_says_takes_the_place_of_the_estimate() -> None:
    assert cost(call(), call()) == (None, 8.0, 0)
    assert cost(call(), call(), end(cost_usd=1.5)) == (1.5, None, 0)
    assert cost(call(cost_usd=0.25), end()) == (0.25, None, 0)


def test_turns_of_both_kinds() -> None:
    assert cost(call(), end(cost_usd=1.5), call(), end(), call("nobody-knows"), end()) == (1.5, 4.0, 1)


def test_a_turn_that_the_agent_took_by_itself() -> None:
    own = ev.UsageUpdated(scope="turn", usage=MILLION, cost_usd=0.5)
    assert cost(call(), own, call(), end(cost_usd=1.5)) == (2.0, None, 0)


def test_a_turn_without_calls_is_estimated_by_its_models() -> None:
    models = {
        "claude-opus-5-5": ModelUsage(input_tokens=1_000_000, output_tokens=0),
        "x": ModelUsage(input_tokens=1),
    }
    assert cost(end(usage=MILLION, model_usage=models)) == (None, 4.0, 1)
    assert cost(end(usage=MILLION)) == (None, None, 1)
    assert cost(end(usage=MILLION), model="claude-opus-5-5") == (None, 4.0, 0)
    started = ev.SessionStarted(model="claude-opus-5-5")
    assert cost(started, end(usage=MILLION)) == (None, 4.0, 0)


def test_history_was_paid_for_before() -> None:
    assert cost(call(replay=True), end(cost_usd=1.5, replay=True)) == (None, None, 0)


def test_the_day_is_that_of_utc() -> None:
    """The price fell on the 13th (prices.toml)."""
    day = datetime.fromisoformat("2026-03-12T23:30:00-02:00")
    assert cost(call("claude-opus-4-6", time=day)) == cost(call("claude-opus-4-6", time=day.astimezone(UTC)))
    assert cost(call("claude-opus-4-6", time=day)) == (None, 5.0, 0)


def test_the_last_turn_by_itself() -> None:
    spending = Spending(Prices())
    for event in (call(), end(), call(), call(), end()):
        spending.feed(event)
    assert (spending.turn.estimated, spending.total.estimated) == (8.0, 12.0)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"reported": 0.0123}, "$0.0123"),
        ({"estimated": 0.0123}, "~$0.0123"),
        ({"reported": 0.01, "estimated": 0.0023}, "~$0.0123"),
        ({"estimated": 0.0123, "unpriced": 1}, "at least ~$0.0123"),
        ({"reported": 0.0123, "unpriced": 2}, "at least $0.0123"),
        ({"unpriced": 2}, ""),
        ({}, ""),
    ],
)
def test_as_people_read_it(fields: dict[str, Any], says: str) -> None:
    assert str(Cost(**fields)) == says
