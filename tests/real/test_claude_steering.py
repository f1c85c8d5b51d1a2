"""A hand on the wheel: several prompts, words into an open turn, interrupts, and settings changed while it runs."""

import json

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

HAIKU, SONNET = "claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929"


async def test_two_turns_in_one_process(claude: Pinned) -> None:
    async with claude.open(["One.", "Two."]) as run:
        first, second = await run.turn("First."), await run.turn("Second.")
        texts = run.model.requests_of("main")[1].texts
    assert (first.said(), second.said()) == (["One."], ["Two."])
    assert [ended.turn for ended in run.events.of(TurnEnded)] == [1, 2]
    assert "First." in texts
    assert texts[-1] == "Second."
    costs = [ended.cost_usd for ended in run.events.of(TurnEnded)]
    assert costs[0] == pytest.approx(costs[1])  # of the turn, though the agent counts up


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_prompt_sent_while_busy_waits_for_its_own_turn(claude: Pinned) -> None:
    async with claude.open([turn("One.", hold=Hold("go")), "Two."]) as run:
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
async def test_steering_reaches_the_model_in_the_same_turn(claude: Pinned) -> None:
    gate = Gate(claude.cwd / "gate")
    async with claude.open([tool("Bash", command=gate.wait), "Aye."], approve="all") as run:
        stream = run.session.prompt("Go.")
        await run.until(ToolStarted)
        await run.session.steer("Mind the left.")
        await run.session.set_option("title", "Steered")  # once this is answered, all before it was read
        await gate.open()
        said = Events([event async for event in stream])
        [_, request] = run.model.requests_of("main")
    assert "Mind the left." in json.dumps(request.messages)
    assert said.said("user") == ["Go.", "Mind the left."]
    assert said.said() == ["Aye."]
    assert len(run.events.of(TurnEnded)) == 1


@exercises(Capability.INTERRUPT)
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_interrupt_while_it_speaks(claude: Pinned) -> None:
    long = turn("These words came, these did not.", chunk=17, hold=Hold("never", after=4))
    async with claude.open([long, "Still here."]) as run:
        stream = run.session.prompt("Speak.")
        await run.until(Delta)
        answer = await run.session.interrupt()
        assert answer is not None
        assert answer.ok
        said = Events([event async for event in stream])
        run.model.open("never")
        again = await run.turn("And now?")
    assert said.ended.outcome == "cancelled"
    assert said.said() == ["These words came,"]
    assert again.said() == ["Still here."]
    assert again.ended.outcome == "completed"


async def test_interrupt_ends_the_running_tool(claude: Pinned) -> None:
    pid_file = claude.cwd / "pid"
    async with claude.open(
        [tool("Bash", command=waits_forever(pid_file)), "Still here."], approve="all"
    ) as run:
        stream = run.session.prompt("Wait.")
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
        pid = int(pid_file.read_text())
        assert alive(pid)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        await eventually(lambda: not alive(pid))
        again = await run.turn("And now?")
    assert said.ended.outcome == "cancelled"
    assert said.one(ToolEnded).status == "cancelled"
    assert again.said() == ["Still here."]


async def test_closing_during_a_tool_leaves_nothing_behind(claude: Pinned) -> None:
    pid_file = claude.cwd / "pid"
    async with claude.open([tool("Bash", command=waits_forever(pid_file))], approve="all") as run:
        run.session.prompt("Wait.")
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
    assert not alive(int(pid_file.read_text()))
    assert run.events.one(TurnEnded).outcome == "cancelled"
    assert run.events.one(ToolEnded).status == "cancelled"


async def test_interrupt_withdraws_a_question_that_is_open(claude: Pinned) -> None:
    async with claude.open(
        [tool("Bash", command="touch here"), "Well."], approve=lambda request, session: None
    ) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        assert not await run.session.answer(request.request_id, "allow")
    assert said.ended.outcome == "cancelled"
    resolved = said.one(PermissionResolved)
    assert (resolved.outcome, resolved.by) == ("cancelled", "agent")
    assert said.one(ToolEnded).status == "cancelled"
    assert list(claude.cwd.iterdir()) == []


@exercises(Capability.SET_MODE)
async def test_set_mode(claude: Pinned) -> None:
    paths = [claude.cwd / name for name in ("one", "two")]
    lines = [tool("Write", file_path=str(path), content="x\n") for path in paths]
    async with claude.open(
        [lines[0], "No.", lines[1], "Yes."], approve=lambda request, session: False
    ) as run:
        before = await run.turn("Write one.")
        answer = await run.session.set_mode("edits")
        assert answer is not None
        assert (answer.command, answer.ok) == ("set_mode", True)
        after = await run.turn("Write two.")
        with pytest.raises(UsageError, match="no mode 'berserk'"):
            await run.session.set_mode("berserk")
    assert [path.exists() for path in paths] == [False, True]
    assert len(before.of(PermissionRequested)) == 1
    assert after.of(PermissionRequested) == []
    modes = [event.mode for event in run.events.of(SessionMode)]
    modes += [event.permission_mode for event in run.events.of(SessionUpdated)]
    assert "acceptEdits" in modes


@exercises(Capability.SET_MODEL)
async def test_set_model(claude: Pinned) -> None:
    async with claude.open(["One.", "Two."], model=HAIKU) as run:
        await run.turn("First.")
        answer = await run.session.set_model(SONNET)
        assert answer is not None
        assert (answer.command, answer.ok) == ("set_model", True)
        said = await run.turn("Second.")
        models = [request.model for request in run.model.requests_of("main")]
    assert models == [HAIKU, SONNET]
    assert run.events.of(SessionUpdated, model=SONNET)
    assert said.of(Message, role="assistant")[0].model == SONNET


@exercises(Capability.SET_OPTION)
async def test_set_option(claude: Pinned) -> None:
    async with claude.open(["One.", "Two."], model=HAIKU) as run:
        await run.turn("First.")
        answer = await run.session.set_option("max_thinking_tokens", 2048)
        assert answer is not None
        assert (answer.command, answer.ok) == ("set_option", True)
        await run.turn("Second.")
        named = await run.session.set_option("title", "Counting")
        assert named is not None
        assert named.ok
        thinking = [request.body.get("thinking", {}) for request in run.model.requests_of("main")]
        with pytest.raises(UsageError, match="no option 'colour'"):
            await run.session.set_option("colour", "red")
    assert thinking[1]["budget_tokens"] == 2048
    assert thinking[0] != thinking[1]
    assert len(run.events.of(CommandEnded, command="set_option")) == 2


@exercises(Capability.COMPACT)
async def test_compact(claude: Pinned) -> None:
    summary = turn("<analysis>-</analysis><summary>We counted to seven.</summary>")
    async with claude.open(script(["Seven.", "Eight.", "Nine."], compact=[summary])) as run:
        await run.turn("Count to seven.")
        await run.turn("One more.")
        await run.until(TurnEnded, turn=2)
        await run.session.compact("Keep the number.")
        compacted = await run.until(ContextCompacted)
        await run.until(TurnEnded)
        await run.turn("Go on.")
        [asked] = run.model.requests_of("compact")
        last = run.model.requests_of("main")[-1]
    assert compacted.trigger == "manual"
    assert "Keep the number." in asked.texts[-1]
    assert any("We counted to seven." in text for text in last.texts)
    assert [ended.outcome for ended in run.events.of(TurnEnded)] == ["completed"] * 4
