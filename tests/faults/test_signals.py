"""`dragoman run` told to end: the agent ends in good order, with all it started, and the exit status says why."""

import array
import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path
from typing import IO

import psutil
import pytest

from tests.cli.fake_program import HELLO, INIT, write_program
from tests.cli.screen import Screen
from tests.cli.test_run import CALL, MAY_I
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


# --- one Ctrl-C, and an agent that does not listen ---------------------------------------------------------------

STUBBORN = Path(__file__).parents[1] / "fake_agents" / "stubborn.py"
IMPATIENT = """
import sys
from dragoman._cli.terminal import live_run
live_run.GRACE = 0.5
from dragoman._cli import main
main()
"""
"""The program, with less time for the agent: how long that is takes nothing away from what happens after it."""


def one_ctrl_c(word: bytes, *args: object) -> tuple[bytes, int]:
    """Run it, press Ctrl-C once when `word` was written; what it wrote on stderr, and its status."""
    command = [sys.executable, "-W", "error", "-c", IMPATIENT, *map(str, args)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        out = b""
        while word not in out:
            chunk = process.stdout.readline()
            assert chunk
            out += chunk
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=60)
    events = [json.loads(line) for line in (out + rest).splitlines()]
    assert events[-1]["type"] == "run.ended"
    assert not psutil.pid_exists(events[0]["pid"])
    return err, process.returncode


def test_one_ctrl_c_ends_an_agent_that_ignores_it(tmp_path: Path) -> None:
    """It went on for as long as the agent liked."""
    agent = write_program(tmp_path / "agent", INIT, HELLO, "hang")
    err, status = one_ctrl_c(b"Hello.", "run", "claude", "hi", "--json", "--executable", agent)
    assert status == 130
    assert b"interrupting; stops in 0.5 s, Ctrl-C again stops at once" in err


@pytest.mark.parametrize(
    "agent",
    [("claude", "hi", "--executable", "{program}"), ("acp", "hi", "--", sys.executable, str(STUBBORN))],
    ids=["claude", "acp"],
)
def test_one_ctrl_c_while_the_agent_has_not_answered_yet(tmp_path: Path, agent: tuple[str, ...]) -> None:
    """There is no session, and nothing that could be interrupted."""
    path = tmp_path / "agent"
    path.write_text(f"#!{sys.executable}\n{STUBBORN.read_text()}")
    path.chmod(0o755)
    args = [arg.format(program=path) for arg in agent]
    _, status = one_ctrl_c(b'"native.', "run", args[0], args[1], "--json", *args[2:])
    assert status == 130


@pytest.mark.parametrize("editing", [False, True], ids=["at a prompt", "in an editor"])
def test_one_ctrl_c_while_somebody_is_asked(tmp_path: Path, editing: bool) -> None:
    """The agent does not take its question back; the prompt, or the editor, ends with the run."""
    agent = write_program(tmp_path / "agent", INIT, CALL, MAY_I, "hang")
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!{sys.executable}\nimport time\nprint('edit' + 'ing', flush=True)\ntime.sleep(600)\n"
    )
    editor.chmod(0o755)
    screen = Screen(
        *("run", "claude", "hi", "--executable", agent),
        columns=80,
        home=tmp_path,
        program=["-c", IMPATIENT],
        env={"EDITOR": str(editor), "TRACE": str(tmp_path)},
    )
    screen.wait_for_question()
    if editing:
        screen.answer("e")
        screen.wait_for("editing")
    screen.process.send_signal(signal.SIGINT)
    assert screen.finish() == 130
    assert "interrupting; stops in 0.5 s, Ctrl-C again stops at once" in "\n".join(screen.rows)
    assert left_behind(str(tmp_path), []) == []


def test_one_ctrl_c_while_nobody_reads_the_output(tmp_path: Path) -> None:
    """A pager that shows its first page: the write waits, and nothing could be heard meanwhile."""
    lines = [HELLO | {"uuid": f"u{number}"} for number in range(3000)]
    agent = write_program(tmp_path / "agent", INIT, *lines, "hang")
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        IMPATIENT,
        "run",
        "claude",
        "hi",
        "--json",
        "--executable",
        agent,
    ]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        pid = json.loads(process.stdout.readline())["pid"]
        while (
            psutil.Process(process.pid).status() != psutil.STATUS_SLEEPING
            or _waiting(process.stdout) < 60_000
        ):
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    assert not psutil.pid_exists(pid)


def _waiting(pipe: IO[bytes]) -> int:
    """How many bytes nobody has read yet."""
    answer = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, answer)
    return answer[0]
