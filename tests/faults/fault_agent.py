"""Runs of an agent that goes wrong, and what must hold after each."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import psutil
from msgspec import Struct

from dragoman._contract.invariants import broken
from dragoman._files.recording import Recording, read_recording
from dragoman._model.events import Delta, Event, Message, RunEnded, TurnEnded
from dragoman._model.frames import Exit, Frame
from dragoman._runtime.session import Session
from dragoman.api import open as open_session

FAULTY = Path(__file__).parent.parent / "fake_agents" / "faulty.py"
DEADLINE = 60.0
"""Far more than any of these runs takes: only a run that never ends reaches it."""

AGENTS = {
    "claude_stream": "claude",
    "codex_app": "codex",
    "codex_exec": "codex",
    "gemini_stream": "gemini",
    "acp": "acp",
}
CONVERSING = ("claude_stream", "codex_app", "acp")
"""The dialects in which an agent reads what it is told, and can ask."""


class Report(Struct):
    """What a run left behind."""

    events: list[Event]
    recording: Recording
    exit: Exit
    said: dict[str, tuple[int, int]]
    """What the agent says it wrote, out and err, in bytes: at least, and at most if it was stopped while writing."""

    @property
    def result(self) -> RunEnded:
        last = self.events[-1]
        assert isinstance(last, RunEnded)
        return last

    def frames(self, direction: str) -> list[Frame]:
        return [frame for frame in self.recording.frames if frame.dir == direction]

    def text(self) -> str:
        return "".join(event.text or "" for event in self.events if isinstance(event, Message))


def program(folder: Path, dialect: str, fault: str, size: int) -> tuple[str, Path]:
    """An executable that goes wrong, and its side file."""
    path, ledger = folder / "agent", folder / "ledger"
    argv = ["faulty", dialect, fault, str(ledger), str(size)]
    path.write_text(
        f"#!{sys.executable} -I\nimport runpy, sys\nsys.argv = {argv!r} + sys.argv[1:]\nrunpy.run_path({str(FAULTY)!r}, run_name='__main__')\n"
    )
    path.chmod(0o755)
    return str(path), ledger


def opened(
    folder: Path, dialect: str, fault: str, size: int = 100_000, **fields: Any
) -> tuple[Session, Path]:
    """A session with such an agent, whose steps to the end take a twentieth of their time."""
    executable, ledger = program(folder, dialect, fault, size)
    if dialect == "acp":
        fields["extra_args"] = [executable]
    else:
        fields["executable"] = executable
    session = open_session(
        AGENTS[dialect],
        dialect=dialect,
        prompt="go",
        cwd=folder,
        record=folder / "recording",
        inherit_env=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **fields.pop("env", {})},
        **fields,
    )
    plan = session._run.plan
    plan.stop = tuple((step, seconds / 20) for step, seconds in plan.stop)
    return session, ledger


async def run(folder: Path, dialect: str, fault: str, size: int = 100_000, **fields: Any) -> Report:
    """A run from its start to its end: it is closed after its turn, and stopped where it says that it is ready."""
    trace = str(uuid4())
    session, ledger = opened(folder, dialect, fault, size, env={"TRACE": trace}, **fields)
    events: list[Event] = []
    with anyio.fail_after(DEADLINE):
        async with session:
            stream = session.events()
            async for event in stream:
                events.append(event)
                if isinstance(event, TurnEnded) and dialect in CONVERSING:
                    break
                if isinstance(event, Message | Delta) and event.text and event.text.endswith("ready"):
                    await session.stop("timeout", "long enough")
        events += [event async for event in stream]
    assert session.exit is not None
    counts = map(int, (ledger.read_text() if ledger.exists() else "").split() or (0, 0, 0, 0))
    out_most, err_most, out, err = counts
    said = {"out": (out, out_most), "err": (err, err_most)}
    report = Report(events, read_recording(folder / "recording"), session.exit, said)
    check(report)
    assert left_behind(trace, events) == []
    assert kept_after(DEADLINE) == []
    return report


def check(report: Report) -> None:
    """What holds after any run: one end, the rules of events, and every byte on record."""
    assert [type(event) for event in report.events].count(RunEnded) == 1
    assert isinstance(report.events[-1], RunEnded)
    assert broken(report.events) == []
    assert not report.recording.cut
    for direction, (least, most) in report.said.items():
        recorded = sum(len(frame.line) + frame.eol for frame in report.frames(direction))
        assert least <= recorded <= most, (direction, report.result.stderr_tail)


def kept_after(seconds: float) -> list[psutil.Process]:
    """The keepers of this process that are still there, if they do not go before, and whom they keep."""
    until = time.monotonic() + seconds
    while (left := _kept()) and time.monotonic() < until:
        time.sleep(0.01)
    return left


def _kept() -> list[psutil.Process]:
    """The launcher is our child, and theirs are its."""
    found = []
    for launcher in psutil.Process().children():
        with suppress(psutil.Error):
            if any(word.endswith("keeper.py") for word in launcher.cmdline()):
                found += launcher.children(recursive=True)
    return found


def left_behind(trace: str, events: list[Event]) -> list[psutil.Process]:
    """The processes of a run that are still there: by a mark of the test's own, and by the agent's session."""
    pid = getattr(events[0], "pid", None) if events else None
    return [process for process in psutil.process_iter() if _is_of(process, trace, pid)]


def _is_of(process: psutil.Process, trace: str, leader: int | None) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return process.environ().get("TRACE") == trace or os.getsid(process.pid) == leader
    except (psutil.Error, OSError):
        return False
