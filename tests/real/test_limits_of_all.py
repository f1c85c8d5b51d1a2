"""A model that never stops is stopped at the number that was set, whichever agent it works through."""

from pathlib import Path
from typing import Any

import pytest

from dragoman import RunEnded, ToolEnded, ToolStarted, UsageError
from dragoman.testing import Hold, Scenario, Script, ScriptedModel, Usage, script, turn
from tests.real.acting import Actor
from tests.real.command_line import events_of, run
from tests.real.driving import Events

pytestmark = pytest.mark.anyio

EACH = Usage(input=1000, cache_read=0, cache_write=0, output=100)
"""What each answer of the model takes."""


def loop(actor: Actor) -> Script:
    """It writes one more line to a file, for ever."""
    return script([turn(actor.run("echo once >> lines"), usage=EACH)], repeat_last=True)


def lines(actor: Actor) -> int:
    """How often it did."""
    path = actor.cwd / "lines"
    return path.read_text().count("once") if path.exists() else 0


@pytest.mark.parametrize(
    ("limits", "why", "most"),
    [
        ({"max_tool_calls": 3}, "max_tool_calls=3 reached", 3),
        ({"max_turns": 3}, "max_turns", 3),
    ],
    ids=["tool-calls", "turns"],
)
async def test_a_loop_is_stopped(actor: Actor, limits: dict[str, Any], why: str, most: int) -> None:
    """Within one call: a command that has been let run may have begun before the agent hears of it."""
    result = await actor.pinned.ask(loop(actor), "Go on.", approve="all", **limits, **actor.fields)
    events = Events(result.events)
    assert result.outcome == "limited"
    assert events.ended.outcome == "limited"
    assert why in str(events.ended.reason)
    assert events.one(RunEnded).outcome == "limited"
    assert most - 1 <= lines(actor) <= most + 1
    assert len(events.of(ToolStarted)) == len(events.of(ToolEnded))


async def test_a_loop_that_uses_too_many_tokens(actor: Actor) -> None:
    """Gemini CLI says how many it used when its turn ends, not before: then the run is over."""
    if actor.name == "gemini":
        answer: Any = [turn("Done.", usage=EACH)]
        turns, most = "completed", 0
    else:
        answer, turns, most = loop(actor), "limited", 4
    result = await actor.pinned.ask(answer, "Go on.", approve="all", max_tokens=1000, **actor.fields)
    assert result.outcome == "limited"
    assert Events(result.events).ended.outcome == turns
    assert lines(actor) <= most


async def test_a_loop_that_costs_too_much(actor: Actor) -> None:
    """The price is the agent's own, or that of a model that the table knows; else the limit cannot be kept."""
    limit = {"approve": "all", "max_cost_usd": 0.02}
    if actor.name != "claude":
        with pytest.raises(UsageError, match="max_cost_usd cannot be kept"):
            await actor.pinned.ask(loop(actor), "Go on.", **limit, **actor.fields)
        return
    result = await actor.pinned.ask(loop(actor), "Go on.", **limit, **actor.fields)
    assert result.outcome == "limited"
    assert result.cost_usd is not None
    assert 0.02 <= result.cost_usd < 0.06
    assert lines(actor) >= 1


async def test_a_run_within_its_limits(actor: Actor) -> None:
    once = [turn(actor.run("echo once >> lines"), usage=EACH), turn("Done.", usage=EACH)]
    limits = {"max_tool_calls": 1, "max_turns": 2, "max_tokens": 50_000}
    result = await actor.pinned.ask(once, "Once.", approve="all", **limits, **actor.fields)
    assert (result.outcome, result.text, lines(actor)) == ("completed", "Done.", 1)


async def test_time(actor: Actor) -> None:
    async with actor.pinned.open([turn("No.", hold=Hold("never"))], timeout=6.0, **actor.fields) as session:
        await session.turn("Hello.")
    ended = session.events.ended
    assert (ended.outcome, "longer than 6 s" in str(ended.reason)) == ("cancelled", True)
    assert session.events.one(RunEnded).outcome == "timeout"


async def test_silence(actor: Actor) -> None:
    async with actor.pinned.open(
        [turn("No.", hold=Hold("never"))], idle_timeout=4.0, **actor.fields
    ) as session:
        await session.turn("Hello.")
    ended = session.events.ended
    assert (ended.outcome, "said nothing for 4 s" in str(ended.reason)) == ("cancelled", True)
    assert session.events.one(RunEnded).outcome == "timeout"


# --- what `dragoman run` exits with --------------------------------------------------------------------------


def exit_of(actor: Actor, model: Scenario, *arguments: str, status: int) -> Events:
    model_name = ("--model", actor.fields["model"]) if "model" in actor.fields else ()
    done = run(actor.pinned, model, "Go on.", "--json", *model_name, *arguments)
    assert done.returncode == status, done.stderr
    return events_of(done.stdout)


@pytest.mark.parametrize("limit", [("--max-tool-calls", "2"), ("--max-turns", "2")])
def test_5_limit_reached(actor: Actor, limit: tuple[str, str]) -> None:
    with ScriptedModel(loop(actor)) as model:
        events = exit_of(actor, model, "--approve", "all", *limit, status=5)
    assert events.ended.outcome == "limited"
    assert 1 <= lines(actor) <= 3


def test_124_silence(actor: Actor) -> None:
    with ScriptedModel([turn("No.", hold=Hold("never"))]) as model:
        events = exit_of(actor, model, "--idle-timeout", "4", status=124)
    assert events.one(RunEnded).outcome == "timeout"


def test_0_a_policy_file(actor: Actor, tmp_path: Path) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\nname = "marks"\ncommand = "touch"\neffect = "allow"\n')
    with ScriptedModel([actor.run("touch here"), "Done."]) as model:
        exit_of(actor, model, "--policy", str(rules), status=0)
    assert actor.files == ["here"]
