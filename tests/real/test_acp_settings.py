"""Settings of agents that speak ACP, changed while they run: modes, models and options that each of them declares."""

from typing import Any

import pytest

from dragoman import (
    Capability,
    SessionMode,
    SessionOptions,
    SessionUpdated,
    ToolEnded,
    Unsupported,
    UsageError,
)
from tests.real.capability_marks import ACP_AGENTS, by, exercises
from tests.real.driving import Pinned, Watched

pytestmark = pytest.mark.anyio

PLAN = {"gemini": "plan", "codex-acp": "read-only"}
OTHER_MODE = {"gemini": "autoEdit", "opencode": "plan", "codex-acp": "workspace-write"}
OTHER_MODEL = {"gemini": "gemini-2.5-pro", "opencode": "scripted/second", "codex-acp": "gpt-6-sol"}
EFFORT = {"opencode": "effort", "codex-acp": "reasoning_effort"}
"""The option that says how long the model may think. Gemini CLI has no options."""


@exercises(Capability.SET_MODE, Capability.SET_MODEL)
@exercises(Capability.SET_OPTION, of=("opencode", "codex-acp"))
@by(*ACP_AGENTS)
async def test_settings(agent: Pinned) -> None:
    """The mode at once, when the session is not even there; the rest between turns."""
    mode, model, option = OTHER_MODE[agent.name], OTHER_MODEL[agent.name], EFFORT.get(agent.name)
    native = {"options": {option: "low"}} if option else {}
    # Gemini CLI has no mode in which it does not ask where the folder is not trusted.
    async with agent.open(["One.", "Two."], native=native, trusted=True) as run:
        answers = [await run.session.set_mode(mode)]
        await run.turn("First.")
        answers.append(await run.session.set_model(model))
        if option is not None:
            answers.append(await run.session.set_option(option, "high"))
        await run.turn("Second.")
        with pytest.raises(UsageError, match="no mode 'berserk'"):
            await run.session.set_mode("berserk")
        if option is not None:
            with pytest.raises(UsageError, match="no option 'colour'"):
                await run.session.set_option("colour", "red")
        else:
            with pytest.raises(Unsupported, match="gemini cannot do this: set_option"):
                await run.session.set_option("effort", "high")
        [first, *_] = run.model.requests_of("main")
        last = asked_of(model, run)[-1]
    assert [answer.ok for answer in answers if answer is not None] == [True] * len(answers)
    assert run.events.of(SessionMode)[-1].mode == mode
    assert run.events.of(SessionUpdated, model=model)
    if option is not None:
        assert (effort(first.body), effort(last.body)) == ("low", "high")
        assert run.events.of(SessionUpdated, effort="high")
        options = run.events.of(SessionOptions)[-1].options
        values = {value.get("id", value.get("configId")): value["currentValue"] for value in options}
        assert values[option] == "high"


def asked_of(model: str, run: Watched) -> list[Any]:
    """The requests that went to a model."""
    return [request for request in run.model.requests if request.model == model.rpartition("/")[2]]


def effort(body: dict[str, Any]) -> object:
    return body["reasoning"]["effort"] if "reasoning" in body else body["reasoning_effort"]


@by("gemini")
async def test_a_mode_that_there_is_not_is_refused_by_the_agent(agent: Pinned) -> None:
    """If it was asked for too early for us to know."""
    async with agent.open(["Hello."]) as run:
        answer = await run.session.set_mode("berserk")
        said = await run.turn("Hello?")
    assert answer is not None
    assert not answer.ok
    assert said.said() == ["Hello."]


@by("gemini", "codex-acp")
async def test_plan_mode(agent: Pinned) -> None:
    path = agent.cwd / "new.txt"
    async with agent.open([agent.tools.write(path, "one\n"), "Planned."], approve="plan") as run:
        said = await run.turn("Make a plan.")
    assert run.events.of(SessionMode)[-1].mode == PLAN[agent.name]
    assert not path.exists()
    assert said.of(ToolEnded, status="completed") == []
