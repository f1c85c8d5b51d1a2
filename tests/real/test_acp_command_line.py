"""`dragoman run` with agents that speak ACP, as a program: what it prints, what it does and what it exits with."""

import subprocess
import sys
from pathlib import Path

import dragoman
from dragoman.testing import Hold, ScriptedModel, Step, error, turn
from tests.real.capability_marks import by
from tests.real.command_line import events_of, run
from tests.real.driving import PATIENCE, check
from tests.real.pins import LIBRARY_FOLDER
from tests.real.tongues import AcpAgent

LIBRARY_AGENT = str(Path(__file__).parent / "peers" / "library_agent.py")


@by("gemini", "codex-acp")
def test_0_completed(acp: AcpAgent) -> None:
    recording = acp.recording()
    path = acp.cwd / "new.txt"
    with ScriptedModel([acp.tongue.write(path, "fresh\n"), "Done."]) as model:
        done = run(acp, model, "Write it.", "--approve", "all", "--json", "--record", str(recording))
    assert done.returncode == 0, done.stderr
    assert path.read_text() == "fresh\n"
    events = events_of(done.stdout)
    assert events.said() == ["Done."]
    check(events, recording)


@by("gemini", "opencode")
def test_0_completed_in_words(acp: AcpAgent) -> None:
    path = acp.cwd / "new.txt"
    lines: list[Step] = [acp.tongue.shell("touch here"), acp.tongue.write(path, "fresh\n"), "All is done."]
    with ScriptedModel(lines) as model:
        done = run(acp, model, "Work.", "--approve", "all")
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert shown.index("touch here") < shown.index("new.txt") < shown.index("All is done.")
    assert "+fresh" in shown
    assert (acp.cwd / "here").exists()


@by("gemini")
def test_0_in_the_other_language(acp: AcpAgent) -> None:
    recording = acp.recording()
    with ScriptedModel([acp.tongue.shell("touch here"), "Done."]) as model:
        stream = ["--dialect", "gemini_stream", "--json", "--record", str(recording)]
        done = run(acp, model, "Touch it.", "--approve", "all", "--model", "gemini-2.5-pro", *stream)
    assert done.returncode == 0, done.stderr
    assert (acp.cwd / "here").exists()
    events = events_of(done.stdout)
    assert {event.dialect for event in events} == {"gemini_stream"}
    assert events.said() == ["Done."]
    check(events, recording)


@by("gemini", "opencode")
def test_1_the_turn_failed(acp: AcpAgent) -> None:
    with ScriptedModel([error(401, "who are you?")] * 2) as model:
        done = run(acp, model, "Hello.")
    assert done.returncode == 1, done.stderr
    assert b"who are you?" in done.stdout + done.stderr


@by("codex-acp")
def test_4_a_denial_ended_the_turn(acp: AcpAgent) -> None:
    """Nobody is there to ask."""
    with ScriptedModel([acp.tongue.shell("touch here"), "Never said."]) as model:
        done = run(acp, model, "Touch it.", "--json")
    assert done.returncode == 4, done.stderr
    assert list(acp.cwd.iterdir()) == []


@by("gemini")
def test_5_limit_reached(acp: AcpAgent) -> None:
    again = turn("Once more, with feeling: and so on.", chunk=4, hold=Hold("never", after=5))
    with ScriptedModel([acp.tongue.shell("true"), again]) as model:
        done = run(acp, model, "Work.", "--json", "--approve", "all", "--max-turns", "1")
    assert done.returncode == 5, done.stderr
    assert events_of(done.stdout).ended.outcome == "limited"


@by("gemini")
def test_130_interrupted(acp: AcpAgent) -> None:
    with ScriptedModel([turn("Never said.", hold=Hold("never"))]) as model:
        done = run(acp, model, "Hello.", "--json", interrupt_at="never")
    assert done.returncode == 130, done.stderr
    assert events_of(done.stdout).ended.outcome == "cancelled"


# --- dragoman run acp -- COMMAND ---------------------------------------------------------------------------


def any_agent(place: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dragoman", "run", "acp", *arguments]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place), "LANG": "C.UTF-8"}
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=env, cwd=place, timeout=PATIENCE
    )


def test_any_command(tmp_path: Path) -> None:
    env = ["--env", f"PYTHONPATH={LIBRARY_FOLDER}", "--clean-env"]
    done = any_agent(tmp_path, "hello", *env, "--", sys.executable, LIBRARY_AGENT)
    assert done.returncode == 0, done.stderr
    assert b"Hello to you." in done.stdout
    done = any_agent(
        tmp_path, "write", "--json", "--approve", "all", *env, "--", sys.executable, LIBRARY_AGENT
    )
    assert done.returncode == 0, done.stderr
    assert events_of(done.stdout).one(dragoman.ToolEnded).status == "completed"
    assert (tmp_path / "new.txt").read_text() == "fresh\n"


def test_no_command(tmp_path: Path) -> None:
    done = any_agent(tmp_path, "hello")
    assert done.returncode == 2
    assert b"dragoman run acp PROMPT -- COMMAND" in done.stderr


def test_no_such_command(tmp_path: Path) -> None:
    done = any_agent(tmp_path, "hello", "--", "no-such-agent")
    assert done.returncode == 3
    assert b"no-such-agent" in done.stderr


def test_a_command_that_does_not_speak_acp(tmp_path: Path) -> None:
    done = any_agent(tmp_path, "hello", "--", sys.executable, "-c", "raise SystemExit('not me')")
    assert done.returncode == 3, done.stderr
    assert b"not me" in done.stderr
