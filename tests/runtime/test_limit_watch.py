"""A run that has spent enough is stopped, and says so."""

from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._model.errors import ProcessExited, UsageError
from dragoman._model.events import Event, RunEnded, ToolStarted, TurnEnded
from dragoman._model.frames import Exit
from dragoman._policy.limits import Limits
from dragoman._prices.table import our_prices
from dragoman._wire.machine import play
from dragoman.api import ask
from dragoman.api import open as open_session
from tests.runtime.recorders import Frames
from tests.runtime.toy_agent import TOY
from tests.runtime.toy_dialect import ToyMachine, alone, toy_plan

pytestmark = pytest.mark.anyio

TABLE = our_prices()[0].as_of
"""The day of the prices."""


async def run(orders: str, **limits: Any) -> list[Event]:
    """All events of a run that works on until it is stopped."""
    recorder = Frames()
    async with alone(toy_plan(), prompt=orders, limits=Limits(**limits), recorder=recorder) as session:
        events = [event async for event in session.events()]
    assert broken(events) == []
    assert recorder.launch is not None
    exit = recorder.exit or Exit()
    assert list(play(recorder, ToyMachine(), recorder.launch, lambda: exit)) == events
    return events


def ends(events: list[Event]) -> tuple[str, str | None, str]:
    """How the turn ended and why, and how the run did."""
    [turn] = [event for event in events if isinstance(event, TurnEnded)]
    last = events[-1]
    assert isinstance(last, RunEnded)
    return turn.outcome, turn.reason, last.outcome


@pytest.mark.parametrize(
    ("orders", "limits", "why"),
    [
        ("tools 3\nwait", {"max_tool_calls": 2}, "max_tool_calls=2 reached"),
        ("tools 1\nwait", {"max_tool_calls": 0}, "max_tool_calls=0 reached"),
        ("say a\ntools 1\nsay b\nwait", {"max_turns": 1}, "max_turns=1 reached"),
        ("spend 60\nspend 60\nwait", {"max_tokens": 100}, "max_tokens=100 reached"),
        (
            "spend 200000\nwait",
            {"max_cost_usd": 0.5},
            f"max_cost_usd=0.5 reached, estimated by the prices of {TABLE}",
        ),
    ],
)
async def test_a_run_is_stopped_at_its_limit(orders: str, limits: dict[str, Any], why: str) -> None:
    assert ends(await run(orders, **limits)) == ("limited", why, "limited")


@pytest.mark.parametrize(
    ("orders", "limits"),
    [
        ("tools 2\nsay done\nexit 0", {"max_tool_calls": 2}),
        ("say a\ntools 1\nsay b\nexit 0", {"max_turns": 2}),
        ("spend 60\nexit 0", {"max_tokens": 100, "max_cost_usd": 1.0}),
    ],
)
async def test_a_run_within_its_limits_is_left_alone(orders: str, limits: dict[str, Any]) -> None:
    assert "limited" not in ends(await run(orders, **limits))


async def test_the_limits_of_a_configuration() -> None:
    result = await ask(TOY, "tools 3\nwait", max_tool_calls=1)
    assert result.outcome == "limited"
    assert len([event for event in result.events if isinstance(event, ToolStarted)]) >= 2


async def test_a_limit_that_is_reached_with_the_last_word_is_reached() -> None:
    """Whoever is first, the end of the block or the watch: the run says the same."""
    result = await ask(TOY, "say done\nend 100", max_tokens=100)
    [turn] = [event for event in result.events if isinstance(event, TurnEnded)]
    assert (turn.outcome, result.outcome) == ("completed", "limited")


async def test_after_the_limit_nothing_more_is_taken() -> None:
    async with open_session(TOY, max_tokens=100) as session:
        async for _ in session.prompt("end 100"):
            pass
        events = session.events()
        async for event in events:
            if isinstance(event, RunEnded):
                assert event.outcome == "limited"
        with pytest.raises(ProcessExited, match="limited"):
            session.prompt("say more")


async def test_a_cost_limit_that_nobody_can_keep_is_refused() -> None:
    with pytest.raises(UsageError, match="max_cost_usd cannot be kept: toy"):
        open_session(TOY, max_cost_usd=1.0, model="their-own")
    open_session(TOY, max_cost_usd=1.0, model="claude-opus-5")
    open_session(TOY, max_cost_usd=1.0, model="their-own", allow_unknown_cost=True)
    open_session(TOY, max_cost_usd=1.0)  # which model it is, it says when it has started
