"""A hand on the wheel: several prompts, words into an open turn, interrupts, and settings changed while it runs."""

import json
from pathlib import Path

import psutil
import pytest

from dragoman import (
    Capability,
    CommandEnded,
    ContextCompacted,
    Delta,
    Message,
    PermissionRequested,
    PermissionResolved,
    SessionMode,
    SessionStarted,
    SessionUpdated,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageError,
)
from dragoman.testing import Hold, script, tool, turn
from tests.real.capability_marks import exercises
from tests.real.driving import Events, Gate, Pinned, alive, eventually, waits_forever

pytestmark = pytest.mark.anyio

TOUCH = tool("exec_command", cmd="touch here")


async def test_two_turns_in_one_process(codex: Pinned) -> None:
    async with codex.open(["One.", "Two."]) as run:
        first, second = await run.turn("First."), await run.turn("Second.")
        texts = run.model.requests_of("main")[1].texts
    assert (first.said(), second.said()) == (["One."], ["Two."])
    assert [ended.turn for ended in run.events.of(TurnEnded)] == [1, 2]
    assert "First." in texts
    assert texts[-1] == "Second."
    assert first.ended.usage == second.ended.usage  # of the turn, though the agent counts up


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_prompt_sent_while_busy_waits_for_its_own_turn(codex: Pinned) -> None:
    async with codex.open([turn("One.", hold=Hold("go")), "Two."]) as run:
        first = run.session.prompt("First.")
        await run.held("go")
        second = run.session.prompt("Second.")
        run.model.open("go")
        one = Events([event async for event in first])
        two = Events([event async for event in second])
        requests = run.model.requests_of("main")
    assert (one.said(), two.said()) == (["One."], ["Two."])
    assert "Second." not in requests[0].texts
    assert requests[1].texts[-1] == "Second."
    assert len(requests) == 2
    assert run.events.index(one.ended) < run.events.index(two.one(TurnStarted))


@exercises(Capability.STEER)
async def test_steering_reaches_the_model_in_the_same_turn(codex: Pinned) -> None:
    gate = Gate(codex.cwd / "gate")
    call = tool("exec_command", cmd=gate.wait, yield_time_ms=30_000)
    async with codex.open([call, "Aye."], approve="all") as run:
        stream = run.session.prompt("Go.")
        await run.until(ToolStarted)
        answer = await run.session.steer("Mind the left.")
        assert answer is not None
        assert (answer.command, answer.ok) == ("steer", True)
        await gate.open()
        said = Events([event async for event in stream])
        [_, request] = run.model.requests_of("main")
    assert request.texts[-1] == "Mind the left."
    assert [m.text for m in said.of(Message, role="user", echo=False)] == ["Go.", "Mind the left."]
    assert [m.text for m in said.of(Message, role="user", echo=True)] == ["Go.", "Mind the left."]
    assert said.said() == ["Aye."]
    assert len(run.events.of(TurnEnded)) == 1


async def test_steering_needs_a_turn(codex: Pinned) -> None:
    async with codex.open(["One."]) as run:
        await run.turn("First.")
        with pytest.raises(UsageError, match="no turn is open"):
            await run.session.steer("Mind the left.")
        with pytest.raises(UsageError, match="no turn is open"):
            await run.session.interrupt()


@exercises(Capability.INTERRUPT)
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_interrupt_while_it_speaks(codex: Pinned) -> None:
    long = turn("These words came, these did not.", chunk=17, hold=Hold("never", after=4))
    async with codex.open([long, "Still here."]) as run:
        stream = run.session.prompt("Speak.")
        await run.until(Delta)
        answer = await run.session.interrupt()
        assert answer is not None
        assert (answer.command, answer.ok) == ("interrupt", True)
        said = Events([event async for event in stream])
        run.model.open("never")
        again = await run.turn("And now?")
    assert said.ended.outcome == "cancelled"
    assert said.said() == ["These words came,"]
    assert again.said() == ["Still here."]
    assert again.ended.outcome == "completed"


async def test_interrupt_before_codex_has_named_the_turn(codex: Pinned) -> None:
    async with codex.open([turn("Never said.", hold=Hold("never")), "Still here."]) as run:
        await run.until(SessionStarted)
        stream = run.session.prompt("Speak.")
        answer = await run.session.interrupt()
        assert answer is not None
        assert answer.ok
        said = Events([event async for event in stream])
        run.model.open("never")
        again = await run.turn("And now?")
    assert said.ended.outcome == "cancelled"
    assert again.ended.outcome == "completed"


@pytest.mark.parametrize("asked", [True, False])
async def test_interrupt_while_a_command_runs(codex: Pinned, asked: bool) -> None:
    """A command that was asked for ends with the turn; any other runs on, and ends with the session."""
    pid_file = codex.cwd / "pid"
    call = tool("exec_command", cmd=waits_forever(pid_file), yield_time_ms=30_000)
    async with codex.open(
        [call, "Still here."], approve=lambda request, session: True, sandbox="full"
    ) as run:
        if not asked:
            await run.session.set_mode("all")
        stream = run.session.prompt("Wait.")
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
        pid = int(pid_file.read_text())
        await run.session.interrupt()
        said = Events([event async for event in stream])
        if asked:
            await eventually(lambda: not alive(pid))
        else:
            assert alive(pid)
        again = await run.turn("And now?")
        told = json.dumps(run.model.requests_of("main")[1].messages)
    assert not alive(pid)
    assert "aborted by user" in told
    assert "may still be running" in told
    assert said.ended.outcome == "cancelled"
    assert said.of(ToolEnded) == []
    assert run.events.one(ToolEnded).status == "cancelled"
    assert again.said() == ["Still here."]


def processes_that_name(path: Path) -> list[psutil.Process]:
    """In a sandbox a command does not know its own number."""
    found = psutil.process_iter(["cmdline"])
    return [process for process in found if any(str(path) in word for word in process.info["cmdline"] or ())]


@pytest.mark.parametrize("sandbox", ["full", "workspace"])
async def test_closing_during_a_command_leaves_nothing_behind(codex: Pinned, sandbox: str) -> None:
    pid_file = codex.cwd / "pid"
    call = tool("exec_command", cmd=waits_forever(pid_file), yield_time_ms=30_000)
    async with codex.open([call], approve="all", sandbox=sandbox) as run:
        run.session.prompt("Wait.")
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
        assert processes_that_name(pid_file)
    assert processes_that_name(pid_file) == []
    assert run.events.one(TurnEnded).outcome == "cancelled"
    assert run.events.one(ToolEnded).status == "cancelled"


async def test_interrupt_withdraws_a_request_that_is_open(codex: Pinned) -> None:
    async with codex.open([TOUCH, "Well."], approve=lambda request, session: None) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        assert not await run.session.answer(request.request_id, "allow")
        again = await run.turn("And now?")
    assert said.ended.outcome == "cancelled"
    resolved = said.one(PermissionResolved)
    assert (resolved.outcome, resolved.by) == ("cancelled", "agent")
    assert run.events.one(ToolEnded).status == "cancelled"
    assert again.said() == ["Well."]
    assert list(codex.cwd.iterdir()) == []


@exercises(Capability.SET_MODE)
async def test_set_mode(codex: Pinned) -> None:
    there = tool("exec_command", cmd="touch there")
    async with codex.open([TOUCH, "No.", there, "Yes."], approve=lambda request, session: False) as run:
        before = await run.turn("Touch it.")
        answer = await run.session.set_mode("all")
        assert answer is not None
        assert (answer.command, answer.ok) == ("set_mode", True)
        after = await run.turn("Touch the other.")
        with pytest.raises(UsageError, match="no mode 'berserk'"):
            await run.session.set_mode("berserk")
    assert [file.name for file in codex.cwd.iterdir()] == ["there"]
    assert len(before.of(PermissionRequested)) == 1
    assert after.of(PermissionRequested) == []
    assert [update.permission_mode for update in run.events.of(SessionUpdated)] == ["never"]


async def test_a_mode_that_forbids(codex: Pinned) -> None:
    async with codex.open([TOUCH, "Then not."], approve=lambda request, session: True) as run:
        await run.session.set_mode("never")
        said = await run.turn("Touch it.")
    assert list(codex.cwd.iterdir()) == []
    assert said.said() == ["Then not."]


async def test_plan_mode(codex: Pinned) -> None:
    plan = "<proposed_plan>\n# Leap\n1. Look\n2. Leap\n</proposed_plan>"
    async with codex.open([turn(f"So be it.\n{plan}\n", chunk=7), "Leapt."]) as run:
        await run.session.set_mode("plan")
        said = await run.turn("Make a plan.")
        await run.session.set_mode("default")
        await run.turn("Do it.")
    assert [mode.mode for mode in run.events.of(SessionMode)] == ["plan", "default"]
    [text] = said.said(kind="plan")
    assert "1. Look\n2. Leap" in (text or "")
    assert "".join(piece.text for piece in said.of(Delta, kind="plan")) == text


@exercises(Capability.SET_MODEL)
async def test_set_model(codex: Pinned) -> None:
    async with codex.open(["One.", "Two."]) as run:
        await run.turn("First.")
        answer = await run.session.set_model("gpt-5.4")
        assert answer is not None
        assert (answer.command, answer.ok) == ("set_model", True)
        said = await run.turn("Second.")
        models = [request.model for request in run.model.requests_of("main")]
    assert models == ["gpt-5.5", "gpt-5.4"]
    assert run.events.of(SessionUpdated, model="gpt-5.4")
    assert said.ended.model_usage.keys() == {"gpt-5.4"}


@exercises(Capability.SET_OPTION)
async def test_set_option(codex: Pinned) -> None:
    async with codex.open(["One.", "Two."], native={"effort": "low"}) as run:
        await run.turn("First.")
        answer = await run.session.set_option("effort", "high")
        assert answer is not None
        assert (answer.command, answer.ok) == ("set_option", True)
        await run.turn("Second.")
        named = await run.session.set_option("title", "Counting")
        assert named is not None
        assert named.ok
        await run.until(SessionUpdated, title="Counting")
        efforts = [request.body["reasoning"]["effort"] for request in run.model.requests_of("main")]
        with pytest.raises(UsageError, match="no option 'colour'"):
            await run.session.set_option("colour", "red")
    assert efforts == ["low", "high"]
    assert run.events.of(SessionUpdated, effort="high")
    assert len(run.events.of(CommandEnded, command="set_option")) == 2


@exercises(Capability.COMPACT)
async def test_compact(codex: Pinned) -> None:
    async with codex.open(script(["Seven.", "Nine."], compact=["We counted to seven."])) as run:
        await run.turn("Count to seven.")
        await run.until(TurnEnded, turn=1)
        with pytest.raises(UsageError, match="give none"):
            await run.session.compact("Keep the number.")
        await run.session.compact()
        compacted = await run.until(ContextCompacted)
        await run.until(TurnEnded)
        await run.turn("Go on.")
        last = run.model.requests_of("main")[-1]
        assert len(run.model.requests_of("compact")) == 1
    assert compacted.trigger == "manual"
    assert any("We counted to seven." in text for text in last.texts)
    assert [ended.outcome for ended in run.events.of(TurnEnded)] == ["completed"] * 3
