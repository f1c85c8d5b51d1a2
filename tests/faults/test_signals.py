"""`dragoman run` told to end: the agent ends in good order, with all it started, and the exit status says why."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.fault_agent import left_behind, program

END = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def start(folder: Path, fault: str, *args: str, **streams: int) -> "subprocess.Popen[bytes]":
    agent, _ = program(folder, "claude_stream", fault, 1)
    command = ["run", "claude", "go", "--executable", agent, "--env", f"TRACE={folder}", *args]
    return subprocess.Popen([sys.executable, "-W", "error", "-m", "dragoman", *command], **streams)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("number", END)
def test_the_agent_ends_and_the_status_says_why(tmp_path: Path, number: signal.Signals) -> None:
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = start(tmp_path, "waits_to_be_stopped", "--json", **pipes)
    assert process.stdout is not None
    with process:
        out = b""
        while b'"text":"ready"' not in out:
            out += process.stdout.readline()
        process.send_signal(number)
        out += process.stdout.read()
    events = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == END[number]
    assert [event["type"] for event in events].count("run.ended") == 1
    assert events[-1]["outcome"] == "cancelled"
    assert events[-1]["exit_code"] == 0  # it was not killed
    assert left_behind(str(tmp_path), []) == []


def test_a_terminal_that_goes_away(tmp_path: Path) -> None:
    """Nothing can be shown any more, and that must not get in the way of stopping the agent."""
    screen, terminal = pty.openpty()
    process = start(tmp_path, "waits_to_be_stopped", stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(screen, 4096)
    os.close(screen)
    process.send_signal(signal.SIGHUP)  # which the system sends where the terminal is the session's own
    assert process.wait(timeout=60) == 129
    assert left_behind(str(tmp_path), []) == []
