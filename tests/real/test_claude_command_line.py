"""`dragoman run claude`, as a program: what it prints, what it does and what it exits with."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import dragoman
from dragoman import Event
from dragoman.testing import Hold, Scenario, ScriptedModel, error, tool, turn
from tests.real.driving import PATIENCE, Events, Pinned, check

TOUCH = tool("Bash", command="touch here")


def arguments(claude: Pinned, model: Scenario, *more: str) -> list[str]:
    fields = claude.fields(model)
    env = [word for name, value in fields["env"].items() for word in ("--env", f"{name}={value}")]
    place = ["--executable", str(claude.executable), "--cwd", str(claude.cwd), "--clean-env"]
    return [sys.executable, "-m", "dragoman", "run", "claude", *place, *env, *more]


def run(claude: Pinned, model: Scenario, *more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        arguments(claude, model, *more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=bare(claude),
        timeout=PATIENCE,
    )


def bare(claude: Pinned) -> dict[str, str]:
    """What dragoman itself sees of the environment."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(claude.home), "LANG": "C.UTF-8"}


def events_of(stdout: bytes) -> Events:
    events = Events()
    for line in stdout.splitlines():
        event = dragoman.decode(line)
        assert isinstance(event, Event), event
        events.append(event)
    return events


def test_0_completed(claude: Pinned) -> None:
    recording = claude.recording()
    with ScriptedModel([TOUCH, "Done."]) as model:
        done = run(claude, model, "Touch it.", "--approve", "all", "--json", "--record", str(recording))
    assert done.returncode == 0, done.stderr
    assert (claude.cwd / "here").exists()
    events = events_of(done.stdout)
    assert events.said() == ["Done."]
    assert events.ended.outcome == "completed"
    check(events, recording)


def test_0_completed_in_words(claude: Pinned) -> None:
    with ScriptedModel([TOUCH, "All is done."]) as model:
        done = run(claude, model, "Touch it.", "--approve", "all")
    assert done.returncode == 0, done.stderr
    assert b"touch here" in done.stdout
    assert b"All is done." in done.stdout


def test_1_the_turn_failed(claude: Pinned) -> None:
    with ScriptedModel([error(401, "invalid x-api-key")] * 2) as model:
        done = run(claude, model, "Hello.", "--json", "--env", "CLAUDE_CODE_MAX_RETRIES=0")
    assert done.returncode == 1, done.stderr
    assert events_of(done.stdout).ended.outcome == "failed"


def test_1_no_such_session(claude: Pinned) -> None:
    with ScriptedModel([]) as model:
        done = run(claude, model, "Hello.", "--resume", "11111111-2222-4333-8444-555555555555")
    assert done.returncode == 1, done.stderr
    assert b"No conversation found" in done.stdout + done.stderr


def test_3_not_found(claude: Pinned, tmp_path: Path) -> None:
    with ScriptedModel([]) as model:
        done = run(claude, model, "Hello.", "--executable", str(tmp_path / "nowhere"))
    assert done.returncode == 3
    assert b"was not found" in done.stderr
    assert done.stdout == b""


def test_3_did_not_start(claude: Pinned) -> None:
    with ScriptedModel([]) as model:
        done = run(claude, model, "Hello.", "--", "--no-such-flag")
    assert done.returncode == 3
    assert b"no-such-flag" in done.stderr


def test_4_a_denial_ended_the_turn(claude: Pinned) -> None:
    """Nobody is there to ask, and one answer of the model is all that is allowed: it ends with the denial."""
    with ScriptedModel([TOUCH, "Never said."]) as model:
        done = run(claude, model, "Touch it.", "--json", "--max-turns", "1")
    assert done.returncode == 4, done.stderr
    events = events_of(done.stdout)
    assert events.one(dragoman.PermissionResolved).rule == "no terminal"
    assert events.one(dragoman.ToolEnded).status == "declined"
    assert list(claude.cwd.iterdir()) == []


def test_0_a_denial_that_the_agent_got_over(claude: Pinned) -> None:
    with ScriptedModel([TOUCH, "Then not."]) as model:
        done = run(claude, model, "Touch it.")
    assert done.returncode == 0, done.stderr
    assert b"Then not." in done.stdout
    assert list(claude.cwd.iterdir()) == []


def test_5_limit_reached(claude: Pinned) -> None:
    with ScriptedModel([TOUCH, "Never said."]) as model:
        done = run(claude, model, "Touch it.", "--json", "--approve", "all", "--max-turns", "1")
    assert done.returncode == 5, done.stderr
    assert events_of(done.stdout).ended.outcome == "limited"


def test_124_timeout(claude: Pinned) -> None:
    with ScriptedModel([turn("Never said.", hold=Hold("never"))]) as model:
        done = run(claude, model, "Hello.", "--json", "--timeout", "2")
    assert done.returncode == 124, done.stderr
    assert events_of(done.stdout).one(dragoman.RunEnded).outcome == "timeout"


def test_130_interrupted(claude: Pinned) -> None:
    with ScriptedModel([turn("Never said.", hold=Hold("never"))]) as model:
        started = subprocess.Popen(
            arguments(claude, model, "Hello.", "--json"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=bare(claude),
        )
        with started:
            model.wait_for_hold("never")
            started.send_signal(signal.SIGINT)
            stdout, stderr = started.communicate(timeout=PATIENCE)
    assert started.returncode == 130, stderr
    assert events_of(stdout).ended.outcome == "cancelled"
