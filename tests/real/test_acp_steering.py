"""A hand on the wheel of agents that speak ACP: prompts that wait, interrupts, and settings changed while it runs."""

from typing import Any

import pytest

from dragoman import (
    AnswerQuestion,
    Capability,
    ContextCompacted,
    Delta,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    Session,
    SessionMode,
    SessionOptions,
    SessionUpdated,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unsupported,
    UsageError,
)
from dragoman._runtime.standing import Request
from dragoman.testing import Hold, script, tool, turn
from tests.real.capability_marks import by, exercises
from tests.real.driving import Events, Lines, Watched, alive, eventually, waits_forever
from tests.real.tongues import AcpAgent

pytestmark = pytest.mark.anyio


@by("gemini")
async def test_a_prompt_sent_while_busy_waits_for_its_own_turn(acp: AcpAgent) -> None:
    async with acp.open([turn("One.", hold=Hold("go")), "Two."]) as run:
        first = run.session.prompt("First.")
        await run.held("go")
        second = run.session.prompt("Second.")
        run.model.open("go")
        one = Events([event async for event in first])
        two = Events([event async for event in second])
        requests = run.model.requests_of("main")
    assert (one.said(), two.said()) == (["One."], ["Two."])
    assert len(requests) == 2
    assert "First." in requests[1].texts
    assert run.events.index(one.ended) < run.events.index(two.one(TurnStarted))


# --- interrupts --------------------------------------------------------------------------------------------


@exercises(Capability.INTERRUPT)
async def test_interrupt_while_it_speaks(acp: AcpAgent) -> None:
    words = "".join(f"{number:03} " for number in range(40))
    async with acp.open([turn(words, chunk=4, hold=Hold("never", after=20)), "Still here."]) as run:
        stream = run.session.prompt("Count.")
        await run.until(Delta)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        run.model.open("never")
        again = await run.turn("And now?")
    assert said.ended.outcome == "cancelled"
    [heard] = said.said()
    assert words.startswith(heard or "-")
    assert heard != words
    assert (again.said(), again.ended.outcome) == (["Still here."], "completed")


async def test_interrupt_ends_the_running_tool(acp: AcpAgent) -> None:
    pid_file = acp.cwd / "pid"
    async with acp.open([acp.tongue.shell(waits_forever(pid_file)), "Still here."], approve="all") as run:
        stream = run.session.prompt("Wait.")
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
        pid = int(pid_file.read_text())
        assert alive(pid)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        if acp.agent != "codex-acp":  # Codex lets it run until the end of the session
            await eventually(lambda: not alive(pid))
        again = await run.turn("And now?")
    assert not alive(pid)
    assert said.ended.outcome == "cancelled"
    assert len(said.of(ToolEnded)) == 1
    assert again.said() == ["Still here."]


async def test_interrupt_while_it_asks(acp: AcpAgent) -> None:
    async with acp.open(
        [acp.tongue.shell("touch here"), "Still here."], approve=lambda request, session: None
    ) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        assert not await run.session.answer(request.request_id, "allow")
        again = await run.turn("And now?")
    assert said.one(PermissionResolved).outcome == "cancelled"
    assert said.one(ToolEnded).status in ("cancelled", "failed")
    assert said.ended.outcome == "cancelled"
    assert again.said() == ["Still here."]
    assert list(acp.cwd.iterdir()) == []


@by("gemini", "codex-acp")
async def test_closing_during_a_tool_leaves_nothing_behind(acp: AcpAgent) -> None:
    pid_file = acp.cwd / "pid"
    async with acp.open([acp.tongue.shell(waits_forever(pid_file))], approve="all") as run:
        run.session.prompt("Wait.")
        await eventually(pid_file.exists)
    assert not alive(int(pid_file.read_text()))
    assert run.events.ended.outcome == "cancelled"


# --- settings ----------------------------------------------------------------------------------------------

PLAN = {"gemini": "plan", "opencode": "plan", "codex-acp": "read-only"}
OTHER_MODE = {"gemini": "autoEdit", "opencode": "plan", "codex-acp": "workspace-write"}
OTHER_MODEL = {"gemini": "gemini-2.5-pro", "opencode": "scripted/second", "codex-acp": "gpt-6-sol"}
EFFORT = {"opencode": "effort", "codex-acp": "reasoning_effort"}


@exercises(Capability.SET_MODE, Capability.SET_MODEL)
@by("gemini")
async def test_set_mode_and_model(acp: AcpAgent) -> None:
    async with acp.open(["One.", "Two."]) as run:
        await change_settings(acp, run)
    check_settings(acp, run)


@exercises(Capability.SET_MODE, Capability.SET_MODEL, Capability.SET_OPTION)
@by("opencode", "codex-acp")
async def test_set_mode_model_and_option(acp: AcpAgent) -> None:
    option = EFFORT[acp.agent]
    async with acp.open(["One.", "Two."], native={"options": {option: "low"}}) as run:
        await change_settings(acp, run, option)
        with pytest.raises(UsageError, match="no option 'colour'"):
            await run.session.set_option("colour", "red")
        first, last = run.model.requests_of("main")[0], asked_of(OTHER_MODEL[acp.agent], run)[-1]
    check_settings(acp, run)
    assert (effort(first.body), effort(last.body)) == ("low", "high")
    assert run.events.of(SessionUpdated, effort="high")
    options = run.events.of(SessionOptions)[-1].options
    values = {value.get("id", value.get("configId")): value["currentValue"] for value in options}
    assert values[option] == "high"


async def change_settings(acp: AcpAgent, run: Watched, option: str | None = None) -> None:
    """The mode at once, when the session is not even there; the rest between turns."""
    answers = [await run.session.set_mode(OTHER_MODE[acp.agent])]
    await run.turn("First.")
    answers.append(await run.session.set_model(OTHER_MODEL[acp.agent]))
    if option is not None:
        answers.append(await run.session.set_option(option, "high"))
    await run.turn("Second.")
    assert [answer.ok for answer in answers if answer is not None] == [True] * len(answers)
    assert asked_of(OTHER_MODEL[acp.agent], run)
    with pytest.raises(UsageError, match="no mode 'berserk'"):
        await run.session.set_mode("berserk")


def check_settings(acp: AcpAgent, run: Watched) -> None:
    assert run.events.of(SessionMode)[-1].mode == OTHER_MODE[acp.agent]
    assert run.events.of(SessionUpdated, model=OTHER_MODEL[acp.agent])


def asked_of(model: str, run: Watched) -> list[Any]:
    """The requests that went to a model."""
    return [request for request in run.model.requests if request.model == model.rpartition("/")[2]]


def effort(body: dict[str, Any]) -> object:
    return body["reasoning"]["effort"] if "reasoning" in body else body["reasoning_effort"]


@by("gemini")
async def test_a_mode_that_there_is_not_is_refused_by_the_agent(acp: AcpAgent) -> None:
    """If it was asked for too early for us to know."""
    async with acp.open(["Hello."]) as run:
        answer = await run.session.set_mode("berserk")
        said = await run.turn("Hello?")
    assert answer is not None
    assert not answer.ok
    assert said.said() == ["Hello."]


@by("gemini")
async def test_options_that_an_agent_does_not_have(acp: AcpAgent) -> None:
    async with acp.open(["One."]) as run:
        await run.turn("First.")
        with pytest.raises(Unsupported, match="gemini cannot do this: set_option"):
            await run.session.set_option("effort", "high")


@by("gemini", "codex-acp")
async def test_plan_mode(acp: AcpAgent) -> None:
    path = acp.cwd / "new.txt"
    async with acp.open([acp.tongue.write(path, "one\n"), "Planned."], approve="plan") as run:
        said = await run.turn("Make a plan.")
    assert run.events.of(SessionMode)[-1].mode == PLAN[acp.agent]
    assert not path.exists()
    assert said.of(ToolEnded, status="completed") == []


@exercises(Capability.COMPACT)
@by("codex-acp")
async def test_compact(acp: AcpAgent) -> None:
    async with acp.open(script(["Seven.", "Nine."], compact=["We counted to seven."])) as run:
        await run.turn("Count to seven.")
        await run.until(TurnEnded, turn=1)
        await run.session.compact()
        await run.until(TurnEnded, turn=2)
        await run.turn("Go on.")
        last = run.model.requests_of("main")[-1]
        assert len(run.model.requests_of("compact")) == 1
    assert run.events.of(ContextCompacted)[-1].trigger == "manual"
    assert any("We counted to seven." in text for text in last.texts)


# --- questions ---------------------------------------------------------------------------------------------

QUESTION = {
    "id": "colour",
    "header": "Colour",
    "question": "Which colour?",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}


@exercises(Capability.QUESTIONS)
@by("codex-acp")
async def test_a_question_of_the_agent(acp: AcpAgent) -> None:
    def blue(request: Request, session: Session) -> AnswerQuestion:
        assert isinstance(request, QuestionAsked)
        field = next(iter(request.schema["properties"]))  # beside it is one for other words
        return AnswerQuestion(request=request.request_id, answers={field: "Blue"})

    lines: Lines = [tool("request_user_input", questions=[QUESTION]), "Blue it is."]
    async with acp.open(lines, handler=blue, native={"options": {"collaboration_mode": "plan"}}) as run:
        said = await run.turn("Paint it.")
        assert "Blue" in str(run.model.requests_of("main")[1].messages[-1])
    asked = said.one(QuestionAsked)
    assert asked.mode == "form"
    answered = said.one(QuestionAnswered)
    assert (answered.request_id, answered.action) == (asked.request_id, "accepted")
    assert said.said() == ["Blue it is."]
