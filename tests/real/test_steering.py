"""A hand on the wheel: prompts that wait, words into an open turn, interrupts, and settings changed while it runs. In
which orders is in test_turns_belong_to_prompts.py."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from dragoman import (
    LATER,
    Capability,
    CommandEnded,
    ContextCompacted,
    Delta,
    Message,
    PermissionRequested,
    PermissionResolved,
    SessionMode,
    SessionUpdated,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageError,
)
from dragoman.testing import Hold, Request, ToolCall, Turn, script, turn
from tests.real.capability_marks import ACP_AGENTS, by, exercises
from tests.real.driving import Events, Gate, Lines, Pinned, alive, eventually, waits_forever

pytestmark = pytest.mark.anyio


@by("claude", "codex", "gemini")
async def test_a_prompt_sent_while_busy_waits_for_its_own_turn(agent: Pinned) -> None:
    async with agent.open([turn("One.", hold=Hold("go")), "Two."]) as run:
        first = run.session.prompt("First.")
        await run.held("go")
        second = run.session.prompt("Second.")
        run.model.open("go")
        one = Events([event async for event in first])
        two = Events([event async for event in second])
        requests = run.model.requests_of("main")
    assert (one.said(), two.said()) == (["One."], ["Two."])
    assert len(requests) == 2
    assert "Second." not in requests[0].texts
    assert "First." in requests[1].texts
    assert requests[1].texts[-1] == "Second."
    assert [ended.turn for ended in run.events.of(TurnEnded)] == [1, 2]
    assert run.events.index(one.ended) < run.events.index(two.one(TurnStarted))
    # Of the turn, though the agent counts up.
    assert one.ended.usage == two.ended.usage
    assert one.ended.cost_usd == pytest.approx(two.ended.cost_usd)


@exercises(Capability.STEER)
@by("claude", "codex")
async def test_steering_reaches_the_model_in_the_same_turn(agent: Pinned) -> None:
    gate = Gate(agent.cwd / "gate")
    async with agent.open([agent.tools.shell(gate.wait), "Aye."], approve="all") as run:
        stream = run.session.prompt("Go.")
        await run.until(ToolStarted)
        answer = await run.session.steer("Mind the left.")
        await run.session.set_option("title", "Steered")  # once this is answered, all before it was read
        await gate.open()
        said = Events([event async for event in stream])
        [_, request] = run.model.requests_of("main")
        if agent.name == "codex":
            assert answer is not None
            assert (answer.command, answer.ok) == ("steer", True)
            for command in (run.session.steer("Mind the right."), run.session.interrupt()):
                with pytest.raises(UsageError, match="no turn is open"):
                    await command
    assert "Mind the left." in json.dumps(request.messages)
    for echo in (False, True):
        told = [message.text for message in said.of(Message, role="user", echo=echo)]
        assert told == ["Go.", "Mind the left."]
    assert said.said() == ["Aye."]
    assert len(run.events.of(TurnEnded)) == 1


# --- interrupts ----------------------------------------------------------------------------------------------

NUMBERS = "".join(f"{number:03} " for number in range(40))


def long_answer(agent: Pinned) -> Turn:
    """It is held before its end; what came until then is known to the letter only from those that hold nothing back."""
    if agent.name in ACP_AGENTS:
        return turn(NUMBERS, chunk=4, hold=Hold("never", after=20))
    return turn("These words came, these did not.", chunk=17, hold=Hold("never", after=4))


@exercises(Capability.INTERRUPT)
async def test_interrupt_while_it_speaks(agent: Pinned) -> None:
    async with agent.open([long_answer(agent), "Still here."]) as run:
        stream = run.session.prompt("Speak.")
        await run.until(Delta)
        answer = await run.session.interrupt()
        said = Events([event async for event in stream])
        run.model.open("never")
        again = await run.turn("And now?")
    assert said.ended.outcome == "cancelled"
    [heard] = said.said()
    if agent.name in ACP_AGENTS:
        assert NUMBERS.startswith(heard or "-")
        assert heard != NUMBERS
    else:
        assert heard == "These words came,"
        assert answer is not None
        assert (answer.command, answer.ok) == ("interrupt", True)
    assert (again.said(), again.ended.outcome) == (["Still here."], "completed")


@by("claude", *ACP_AGENTS)
async def test_interrupt_ends_the_running_tool(agent: Pinned) -> None:
    pid_file = agent.cwd / "pid"
    lines: Lines = [agent.tools.shell(waits_forever(pid_file)), "Still here."]
    async with agent.open(lines, approve="all") as run:
        stream = run.session.prompt("Wait.")
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
        pid = int(pid_file.read_text())
        assert alive(pid)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        if agent.name != "codex-acp":  # Codex lets it run until the end of the session
            await eventually(lambda: not alive(pid))
        again = await run.turn("And now?")
    assert not alive(pid)
    assert said.ended.outcome == "cancelled"
    done = said.one(ToolEnded)
    assert done.status == ("completed" if agent.name in ("gemini", "opencode") else "cancelled")
    assert again.said() == ["Still here."]


async def test_interrupt_withdraws_a_request_that_is_open(agent: Pinned) -> None:
    lines: Lines = [agent.tools.shell("touch here"), "Still here."]
    async with agent.open(lines, approve=lambda request: LATER) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        assert not await run.session.answer(request.request_id, "allow")
        again = await run.turn("And now?")
    assert agent.files == []
    assert said.ended.outcome == "cancelled"
    resolved, done = said.one(PermissionResolved), run.events.one(ToolEnded)
    assert resolved.outcome == "cancelled"
    if agent.name in ACP_AGENTS:
        assert done in said
    else:
        assert resolved.by == "agent"
    assert done.status == "cancelled"
    assert again.said() == ["Still here."]


@by("claude", "gemini", "codex-acp")
async def test_closing_during_a_tool_leaves_nothing_behind(agent: Pinned) -> None:
    pid_file = agent.cwd / "pid"
    async with agent.open([agent.tools.shell(waits_forever(pid_file))], approve="all") as run:
        run.session.prompt("Wait.")
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
    assert not alive(int(pid_file.read_text()))
    assert run.events.ended.outcome == "cancelled"
    assert run.events.one(ToolEnded).status == ("completed" if agent.name == "gemini" else "cancelled")


# --- settings ------------------------------------------------------------------------------------------------


class Settings(NamedTuple):
    """What is set, and how that is seen."""

    mode: str
    native_mode: str | None
    act: Callable[[Pinned, str], ToolCall]
    """Makes a file, which is asked for before the mode is set and not after it."""
    models: tuple[str, str]
    option: tuple[str, Any]
    value: Callable[[Request], Any]
    """That of the option, in a request to the model."""
    native: dict[str, Any]


SETTINGS = {
    "claude": Settings(
        mode="acceptEdits",
        native_mode="acceptEdits",
        act=lambda claude, name: claude.tools.write(claude.cwd / name, "x\n"),
        models=("claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929"),
        option=("max_thinking_tokens", 2048),
        value=lambda request: request.body.get("thinking", {}).get("budget_tokens"),
        native={},
    ),
    "codex": Settings(
        mode="all",
        native_mode=None,
        act=lambda codex, name: codex.tools.shell(f"touch {name}"),
        models=("gpt-5.5", "gpt-5.4"),
        option=("effort", "high"),
        value=lambda request: request.body["reasoning"]["effort"],
        native={"effort": "low"},
    ),
}


@exercises(Capability.SET_MODE, Capability.SET_MODEL, Capability.SET_OPTION)
@by("claude", "codex")
async def test_settings(agent: Pinned) -> None:
    """A mode, a model and an option, changed between two turns."""
    settings = SETTINGS[agent.name]
    old, new = settings.models
    one, two = settings.act(agent, "one"), settings.act(agent, "two")
    fields = {"approve": lambda request: False, "model": old, "native": settings.native}
    async with agent.open([one, "No.", two, "Yes."], **fields) as run:
        before = await run.turn("Write one.")
        answers = [
            await run.session.set_mode(settings.mode),
            await run.session.set_model(new),
            await run.session.set_option(*settings.option),
            await run.session.set_option("title", "Counting"),
        ]
        after = await run.turn("Write two.")
        requests = run.model.requests_of("main")
        with pytest.raises(UsageError, match="no mode 'berserk'"):
            await run.session.set_mode("berserk")
        with pytest.raises(UsageError, match="no option 'colour'"):
            await run.session.set_option("colour", "red")
    told = ["set_mode", "set_model", "set_option", "set_option"]
    assert [(answer.command, answer.ok) for answer in answers if answer] == [(name, True) for name in told]
    assert [ended.command for ended in run.events.of(CommandEnded)] == told
    # the mode
    assert agent.files == ["two"]
    assert len(before.of(PermissionRequested)) == 1
    assert [resolved.by for resolved in after.of(PermissionResolved)] == ["policy"]
    modes = [event.mode for event in run.events.of(SessionMode)]
    modes += [event.permission_mode for event in run.events.of(SessionUpdated)]
    assert settings.native_mode in modes  # Codex asks as before, and the policy says yes
    # the model
    assert [request.model for request in requests] == [old, old, new, new]
    assert run.events.of(SessionUpdated, model=new)
    if agent.name == "claude":
        assert after.of(Message, role="assistant")[0].model == new
    else:
        assert after.ended.model_usage.keys() == {new}
    # the options
    values = [settings.value(request) for request in requests]
    assert values[2:] == [settings.option[1]] * 2
    assert settings.option[1] not in values[:2]
    if agent.name == "codex":
        assert values[:2] == ["low", "low"]
        assert run.events.of(SessionUpdated, effort="high")
        assert run.events.of(SessionUpdated, title="Counting")


SUMMARY = {
    "claude": turn("<analysis>-</analysis><summary>We counted to seven.</summary>"),
    "codex": turn("We counted to seven."),
    "codex-acp": turn("We counted to seven."),
}


@exercises(Capability.COMPACT)
@by("claude", "codex", "codex-acp")
async def test_compact(agent: Pinned) -> None:
    """Claude Code takes a word about what to keep; Codex takes none, and that is said before anything is sent."""
    lines = script(["Seven.", "Eight.", "Nine."], compact=[SUMMARY[agent.name]])
    async with agent.open(lines) as run:
        await run.turn("Count to seven.")
        await run.turn("One more.")
        await run.until(TurnEnded, turn=2)
        if agent.name == "codex":
            with pytest.raises(UsageError, match="give none"):
                await run.session.compact("Keep the number.")
        if agent.name == "claude":
            await run.session.compact("Keep the number.")
        else:
            await run.session.compact()
        await run.until(TurnEnded, turn=3)
        await run.turn("Go on.")
        [asked] = run.model.requests_of("compact")
        last = run.model.requests_of("main")[-1]
    assert run.events.of(ContextCompacted)[-1].trigger == "manual"
    if agent.name == "claude":
        assert "Keep the number." in asked.texts[-1]
    assert any("We counted to seven." in text for text in last.texts)
    assert [ended.outcome for ended in run.events.of(TurnEnded)] == ["completed"] * 4
