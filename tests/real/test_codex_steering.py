"""Codex at the wheel: interrupts at odd moments and what becomes of commands, and its modes."""

import json
from pathlib import Path

import psutil
import pytest

from dragoman import (
    Delta,
    SessionMode,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from dragoman.testing import Hold, tool, turn
from tests.real.driving import Events, Pinned, alive, eventually, waits_forever

pytestmark = pytest.mark.anyio
TOUCH = tool("exec_command", cmd="touch here")


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


async def test_interrupt_while_a_command_runs(codex: Pinned) -> None:
    """A command that was asked for ends with the turn."""
    pid_file = codex.cwd / "pid"
    call = tool("exec_command", cmd=waits_forever(pid_file), yield_time_ms=30_000)
    async with codex.open([call, "Still here."], approve=lambda request: True, sandbox="full") as run:
        stream = run.session.prompt("Wait.")
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
        pid = int(pid_file.read_text())
        await run.session.interrupt()
        said = Events([event async for event in stream])
        await eventually(lambda: not alive(pid))
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


async def test_a_mode_that_forbids(codex: Pinned) -> None:
    async with codex.open([TOUCH, "Then not."], approve=lambda request: True) as run:
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
