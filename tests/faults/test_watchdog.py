"""If we are killed, nobody else of ours is left to stop the agent: the watchdog does, and all that it started."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.faults.fault_agent import AGENTS, DEADLINE, left_behind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no watchdog elsewhere")

DOOMED = Path(__file__).with_name("doomed.py")


Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    begun: list[subprocess.Popen[bytes]] = []

    def doomed(folder: Path, dialect: str, trace: str, *options: str) -> "subprocess.Popen[bytes]":
        folder.mkdir()
        program = [sys.executable, "-W", "ignore", str(DOOMED), str(folder), dialect, trace, *options]
        begun.append(subprocess.Popen(program, stdout=subprocess.PIPE))
        return begun[-1]

    yield doomed
    for process in begun:  # also where a test failed
        process.kill()
        process.communicate()


def kill_when_ready(process: "subprocess.Popen[bytes]") -> None:
    """Once the agent has started what it leaves behind."""
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    assert process.wait() == -signal.SIGKILL


def vanishes(trace: str) -> bool:
    until = time.monotonic() + DEADLINE
    while left_behind(trace, []) and time.monotonic() < until:
        time.sleep(0.05)
    return left_behind(trace, []) == []


def test_a_killed_program_leaves_no_agent_and_no_tool(tmp_path: Path, start: Start) -> None:
    runs = {
        f"{tmp_path}-{dialect}": start(tmp_path / dialect, dialect, f"{tmp_path}-{dialect}")
        for dialect in AGENTS
    }
    for process in runs.values():
        kill_when_ready(process)
    assert all(map(vanishes, runs))


def test_a_copy_of_its_pipes_makes_no_difference(tmp_path: Path, start: Start) -> None:
    process = start(tmp_path / "run", "claude_stream", str(tmp_path), "forked")
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    us = psutil.Process(process.pid)
    [copy] = [child for child in us.children() if child.cmdline() == us.cmdline()]
    process.kill()
    assert vanishes(str(tmp_path))
    assert copy.is_running()
    copy.kill()
