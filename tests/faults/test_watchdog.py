"""If we are killed, nobody else of ours is left to stop the agent: the watchdog does, and all that it started."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from faults.staging import AGENTS, DEADLINE, left_behind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no watchdog elsewhere")

DOOMED = Path(__file__).with_name("doomed.py")


def started(folder: Path, dialect: str, trace: str, *options: str) -> "subprocess.Popen[bytes]":
    folder.mkdir()
    program = [sys.executable, "-W", "ignore", str(DOOMED), str(folder), dialect, trace, *options]
    return subprocess.Popen(program, stdout=subprocess.PIPE)


def killed(process: "subprocess.Popen[bytes]") -> None:
    """Once the agent has started what it leaves behind."""
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL


def vanishes(trace: str) -> bool:
    until = time.monotonic() + DEADLINE
    while left_behind(trace, []) and time.monotonic() < until:
        time.sleep(0.05)
    return left_behind(trace, []) == []


def test_a_killed_program_leaves_no_agent_and_no_tool(tmp_path: Path) -> None:
    runs = [
        (f"{tmp_path}-{dialect}", started(tmp_path / dialect, dialect, f"{tmp_path}-{dialect}"))
        for dialect in AGENTS
    ]
    for _, process in runs:
        killed(process)
    for trace, _ in runs:
        assert vanishes(trace)


def test_a_copy_of_its_pipes_makes_no_difference(tmp_path: Path) -> None:
    process = started(tmp_path / "run", "claude_stream", str(tmp_path), "forked")
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    children = psutil.Process(process.pid).children()
    [copy] = [child for child in children if child.cmdline() == psutil.Process(process.pid).cmdline()]
    process.kill()
    process.wait()
    assert vanishes(str(tmp_path))
    assert copy.is_running()
    copy.kill()
    process.stdout.close()
