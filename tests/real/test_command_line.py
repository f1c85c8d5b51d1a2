"""`dragoman run`, as a program: what it prints, what it does and what it exits with. What it exits with at a limit is in
test_limits_of_all.py."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

import dragoman
from dragoman.testing import Hold, Scenario, ScriptedModel, Step, error, script, turn
from tests.real.capability_marks import by
from tests.real.command_line import events_of, run
from tests.real.driving import PATIENCE, Pinned, check
from tests.real.pins import LIBRARY_FOLDER

LIBRARY_AGENT = str(Path(__file__).parent / "peers" / "library_agent.py")
TOUCH = "touch here"


# --- 0 -------------------------------------------------------------------------------------------------------


@by("claude", "codex", "gemini", "codex-acp")
def test_0_completed(agent: Pinned) -> None:
    recording = agent.recording()
    lines: list[Step] = [
        agent.tools.shell(TOUCH),
        agent.write("new.txt"),
        "Done.",
    ]
    with ScriptedModel(lines) as model:
        done = run(agent, model, "Work.", "--approve", "all", "--json", "--record", str(recording))
    assert done.returncode == 0, done.stderr
    assert agent.files == ["here", "new.txt"]
    assert (agent.cwd / "new.txt").read_text() == "fresh\n"
    events = events_of(done.stdout)
    assert events.said() == ["Done."]
    assert events.ended.outcome == "completed"
    check(events, recording)


@by("claude", "codex", "gemini", "opencode")
def test_0_completed_in_words(agent: Pinned) -> None:
    path = agent.cwd / "new.txt"
    lines: list[Step] = [agent.tools.shell(TOUCH), agent.tools.write(path, "fresh\n"), "All is done."]
    with ScriptedModel(lines) as model:
        done = run(agent, model, "Work.", "--approve", "all")
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert shown.index(TOUCH) < shown.index("new.txt") < shown.index("All is done.")
    assert "+fresh" in shown
    assert agent.files == ["here", "new.txt"]


@by("codex", "gemini")
def test_0_in_the_other_language(agent: Pinned) -> None:
    dialect, model_name = {"codex": ("codex_exec", "gpt-5.5"), "gemini": ("gemini_stream", "gemini-2.5-pro")}[
        agent.name
    ]
    recording = agent.recording()
    with ScriptedModel([agent.tools.shell(TOUCH), "Done."]) as model:
        words = ["--approve", "all", "--dialect", dialect, "--model", model_name, "--json"]
        done = run(agent, model, "Touch it.", *words, "--record", str(recording))
    assert done.returncode == 0, done.stderr
    assert agent.files == ["here"]
    events = events_of(done.stdout)
    assert {event.dialect for event in events} == {dialect}
    assert events.said() == ["Done."]
    check(events, recording)


@by("claude", "codex")
def test_0_a_denial_that_the_agent_got_over(agent: Pinned) -> None:
    """Nobody is there to ask."""
    with ScriptedModel([agent.tools.shell(TOUCH), "Then not."]) as model:
        done = run(agent, model, "Touch it.")
    assert done.returncode == 0, done.stderr
    assert b"Then not." in done.stdout
    assert agent.files == []


def test_0_resumed(codex: Pinned) -> None:
    with ScriptedModel(["Seven.", "Eight."]) as model:
        first = run(codex, model, "Count to seven.", "--json")
        session = events_of(first.stdout)[-1].session
        second = run(codex, model, "Go on.", "--json", "--resume", str(session))
        assert "Count to seven." in model.requests_of("main")[1].texts
    assert (first.returncode, second.returncode) == (0, 0)
    events = events_of(second.stdout)
    assert events.said() == ["Eight."]
    assert events[-1].session == session


# --- 1 -------------------------------------------------------------------------------------------------------

NO_RETRIES = ("--env", "CLAUDE_CODE_MAX_RETRIES=0")


@by("claude", "codex")
def test_1_the_turn_failed(agent: Pinned) -> None:
    with ScriptedModel(script([error(400, "what is this?")], repeat_last=True)) as model:
        done = run(agent, model, "Hello.", "--json", *NO_RETRIES)
    assert done.returncode == 1, done.stderr
    assert events_of(done.stdout).ended.outcome == "failed"


@by("codex", "gemini", "opencode")
def test_1_the_turn_failed_in_words(agent: Pinned) -> None:
    with ScriptedModel(script([error(400, "what is this?")], repeat_last=True)) as model:
        done = run(agent, model, "Hello.")
    assert done.returncode == 1, done.stderr
    assert b"what is this?" in done.stdout + done.stderr


@by("claude", "codex")
def test_1_no_such_session(agent: Pinned) -> None:
    nobody = "11111111-2222-7333-8444-555555555555"
    with ScriptedModel([]) as model:
        done = run(agent, model, "Hello.", "--resume", nobody)
        assert model.requests_of("main") == []
    assert done.returncode == 1, done.stderr
    assert nobody.encode() in done.stdout + done.stderr
    if agent.name == "claude":
        assert b"No conversation found" in done.stdout + done.stderr


# --- 3, 4, 77, 124, 130 ------------------------------------------------------------------------------------------


@by("claude", "codex")
def test_3_not_found(agent: Pinned, tmp_path: Path) -> None:
    with ScriptedModel([]) as model:
        done = run(agent, model, "Hello.", "--executable", str(tmp_path / "nowhere"))
    assert done.returncode == 3
    assert b"was not found" in done.stderr
    assert done.stdout == b""


@by("claude", "codex")
def test_3_did_not_start(agent: Pinned) -> None:
    with ScriptedModel([]) as model:
        done = run(agent, model, "Hello.", "--", "--no-such-flag")
    assert done.returncode == 3
    assert b"no-such-flag" in done.stderr


@by("claude", "codex-acp")
def test_4_a_denial_ended_the_turn(agent: Pinned) -> None:
    """codex-acp ends a turn with a denial; claude if one answer of the model is all that is allowed."""
    with ScriptedModel([agent.tools.shell(TOUCH), "Never said."]) as model:
        once = ("--max-turns", "1") if agent.name == "claude" else ()
        done = run(agent, model, "Touch it.", "--json", *once)
    assert done.returncode == 4, done.stderr
    events = events_of(done.stdout)
    assert events.one(dragoman.PermissionResolved).rule == "no terminal"
    assert events.one(dragoman.ToolEnded).status in ("declined", "failed")
    if agent.name == "claude":
        assert events.one(dragoman.ToolEnded).status == "declined"
    assert agent.files == []


@by("claude", "codex", "gemini", "codex-acp")
def test_77_the_key_is_not_accepted(agent: Pinned) -> None:
    with ScriptedModel(script([error(401, "who are you?")], repeat_last=True)) as model:
        done = run(agent, model, "Hello.", *(NO_RETRIES if agent.name == "claude" else ()))
    assert done.returncode == 77, done.stderr
    [said] = [line for line in done.stderr.splitlines() if line.startswith(b"dragoman: ")]
    assert b"is not logged in, or its key is not accepted" in said
    assert b"log in" in said.partition(b";")[2] or b"login" in said.partition(b";")[2]


def test_124_timeout(claude: Pinned) -> None:
    with ScriptedModel([turn("Never said.", hold=Hold("never"))]) as model:
        done = run(claude, model, "Hello.", "--json", "--timeout", "2")
    assert done.returncode == 124, done.stderr
    assert events_of(done.stdout).one(dragoman.RunEnded).outcome == "timeout"


def test_124_a_network_that_is_down(codex: Pinned) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens: every connection is refused
        model = Scenario([], f"http://127.0.0.1:{taken.getsockname()[1]}")
        done = run(codex, model, "Hello.", "--json", "--timeout", "2")
    fails = codex.differs("a_network_that_is_down_fails_the_turn")
    assert done.returncode == (1 if fails else 124), done.stderr
    assert events_of(done.stdout).one(dragoman.RunEnded).outcome == ("failed" if fails else "timeout")


@by("claude", "codex", "gemini")
def test_130_interrupted(agent: Pinned) -> None:
    with ScriptedModel([turn("Never said.", hold=Hold("never"))]) as model:
        done = run(agent, model, "Hello.", "--json", interrupt_at="never")
    assert done.returncode == 130, done.stderr
    assert events_of(done.stdout).ended.outcome == "cancelled"


# --- dragoman run acp -- COMMAND -----------------------------------------------------------------------------


def any_agent(place: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dragoman", "run", "acp", *arguments]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place), "LANG": "C.UTF-8"}
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=env, cwd=place, timeout=PATIENCE
    )


def test_any_command(tmp_path: Path) -> None:
    if not LIBRARY_FOLDER.exists():
        pytest.fail(f"{LIBRARY_FOLDER.name} is not there: run `python -m tests.real.install`")
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
