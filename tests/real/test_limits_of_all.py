"""A model that never stops is stopped at the number that was set, whichever agent it works through."""

from pathlib import Path
from typing import Any

import pytest

from dragoman import RunEnded, TimedOut, ToolEnded, ToolStarted, UsageError
from dragoman.testing import Hold, Scenario, Script, ScriptedModel, Usage, script, turn
from tests.real.command_line import events_of, run
from tests.real.driving import Events, Pinned

pytestmark = pytest.mark.anyio

EACH = Usage(input=1000, cache_read=0, cache_write=0, output=100)
"""What each answer of the model takes."""

STARTED = {"claude": 3.0, "codex": 2.0, "gemini": 6.0}
"""Seconds after which it has begun to work on a machine that is not busy: a shorter time would end it before its turn."""


def loop(actor: Pinned) -> Script:
    """It writes one more line to a file, for ever."""
    return script([turn(actor.tools.shell("echo once >> lines"), usage=EACH)], repeat_last=True)


def lines(actor: Pinned) -> int:
    """How often it did."""
    path = actor.cwd / "lines"
    return path.read_text().count("once") if path.exists() else 0


@pytest.mark.parametrize("limit", ["max_tool_calls", "max_turns"])
async def test_a_loop_is_stopped(actor: Pinned, limit: str) -> None:
    """Within one call: a command that has been let run may have begun before the agent hears of it."""
    result = await actor.ask(loop(actor), "Go on.", approve="all", **{limit: 3})
    events = Events(result.events)
    assert result.outcome == "limited"
    assert (events.ended.outcome, events.ended.text) == ("limited", None)
    own_word = actor.name == "claude" and limit == "max_turns"
    assert ("max_turns" if own_word else f"{limit}=3 reached") in str(events.ended.reason)
    assert events.one(RunEnded).outcome == "limited"
    assert 2 <= lines(actor) <= 4
    assert len(events.of(ToolStarted)) == len(events.of(ToolEnded))


async def test_a_loop_that_uses_too_many_tokens(actor: Pinned) -> None:
    """Gemini CLI says how many it used when its turn ends, not before: then the run is over."""
    if actor.name == "gemini":
        answer: Any = [turn("Done.", usage=EACH)]
        turns, most = "completed", 0
    else:
        answer, turns, most = loop(actor), "limited", 4
    result = await actor.ask(answer, "Go on.", approve="all", max_tokens=1000)
    events = Events(result.events)
    assert result.outcome == "limited"
    assert events.ended.outcome == turns
    assert lines(actor) <= most
    if turns == "limited":
        assert "max_tokens=1000" in str(events.ended.reason)


MODELS = {"claude": None, "codex": "gpt-5.5", "gemini": "gemini-2.5-pro"}
"""One whose price is known."""


@pytest.mark.parametrize("named", [True, False])
async def test_a_loop_that_costs_too_much(actor: Pinned, named: bool) -> None:
    """The price is the agent's own, or that of a model that the table knows. Gemini CLI says what it used when its turn
    ends, not before: then the run is over."""
    at_the_end = actor.name == "gemini"
    answer: Any = [turn("Done.", usage=EACH)] if at_the_end else loop(actor)
    most = 0.0001 if at_the_end else 0.02
    model = MODELS[actor.name] if named else None
    result = await actor.ask(answer, "Go on.", approve="all", model=model, max_cost_usd=most)
    assert result.outcome == "limited"
    if actor.name == "claude":
        assert result.cost_usd is not None
        assert 0.02 <= result.cost_usd < 0.06
    elif actor.name == "codex":
        ended = Events(result.events).ended
        assert "max_cost_usd=0.02 reached, estimated by the prices of" in str(ended.reason)
        assert 2 <= lines(actor) <= 5  # 0.008 a call


async def test_a_model_whose_price_nobody_knows(actor: Pinned) -> None:
    """Before it starts, where the model is named; else when it says what it used."""
    if actor.name == "claude":
        return
    with pytest.raises(UsageError, match="max_cost_usd cannot be kept"):
        await actor.ask(loop(actor), "Go on.", model="their-own", max_cost_usd=1)


async def test_a_run_within_its_limits(actor: Pinned) -> None:
    once = [turn(actor.tools.shell("echo once >> lines"), usage=EACH), turn("Done.", usage=EACH)]
    limits: dict[str, Any] = {"max_tool_calls": 1, "max_turns": 2, "max_tokens": 50_000}
    result = await actor.ask(once, "Once.", approve="all", **limits)
    assert (result.outcome, result.text, lines(actor)) == ("completed", "Done.", 1)


async def cut(actor: Pinned, limit: str, seconds: float) -> tuple[Events, float]:
    """What a run said that this limit ended while its model was at work, and the limit. On a machine that is busy it may
    come before the model is asked at all: then with twice the time."""
    while True:
        with ScriptedModel([turn("No.", hold=Hold("never"))]) as model:
            try:
                async with actor.open(model, **{limit: seconds}) as session:
                    await session.turn("Hello.")
                return session.events, seconds
            except TimedOut:
                if model.requests_of("main"):
                    raise
        seconds *= 2


async def test_time(actor: Pinned) -> None:
    events, limit = await cut(actor, "timeout", STARTED[actor.name])
    ended = events.ended
    assert (ended.outcome, f"longer than {limit:g} s" in str(ended.reason)) == ("cancelled", True)
    assert events.one(RunEnded).outcome == "timeout"


async def test_silence(actor: Pinned) -> None:
    events, limit = await cut(actor, "idle_timeout", STARTED[actor.name] - 1)
    ended = events.ended
    assert (ended.outcome, f"said nothing for {limit:g} s" in str(ended.reason)) == ("cancelled", True)
    assert events.one(RunEnded).outcome == "timeout"


# --- what `dragoman run` exits with --------------------------------------------------------------------------


def exit_of(actor: Pinned, model: Scenario, *arguments: str, status: int) -> Events:
    done = run(actor, model, "Go on.", "--json", *arguments)
    assert done.returncode == status, done.stderr
    return events_of(done.stdout)


@pytest.mark.parametrize("limit", [("--max-tool-calls", "2"), ("--max-turns", "2")])
def test_5_limit_reached(actor: Pinned, limit: tuple[str, str]) -> None:
    with ScriptedModel(loop(actor)) as model:
        events = exit_of(actor, model, "--approve", "all", *limit, status=5)
    assert events.ended.outcome == "limited"
    assert 1 <= lines(actor) <= 3


def test_124_silence(actor: Pinned) -> None:
    quiet = f"{STARTED[actor.name] - 1:g}"
    with ScriptedModel([turn("No.", hold=Hold("never"))]) as model:
        events = exit_of(actor, model, "--idle-timeout", quiet, status=124)
    assert events.one(RunEnded).outcome == "timeout"


def test_0_a_policy_file(actor: Pinned, tmp_path: Path) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\nname = "marks"\ncommand = "touch"\neffect = "allow"\n')
    with ScriptedModel([actor.tools.shell("touch here"), "Done."]) as model:
        exit_of(actor, model, "--policy", str(rules), status=0)
    assert actor.files == ["here"]
