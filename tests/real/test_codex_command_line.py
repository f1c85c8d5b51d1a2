"""`dragoman run codex`, as a program: what it prints, what it does and what it exits with."""

import socket
from pathlib import Path

import dragoman
from dragoman.testing import Hold, Scenario, ScriptedModel, error, tool, turn
from tests.real.command_line import events_of, run
from tests.real.driving import Pinned, check

TOUCH = tool("exec_command", cmd="touch here")
PATCH = tool("apply_patch", input="*** Begin Patch\n*** Add File: new.txt\n+fresh\n*** End Patch\n")


def test_0_completed(codex: Pinned) -> None:
    recording = codex.recording()
    with ScriptedModel([TOUCH, "Done."]) as model:
        done = run(codex, model, "Touch it.", "--approve", "all", "--json", "--record", str(recording))
    assert done.returncode == 0, done.stderr
    assert (codex.cwd / "here").exists()
    events = events_of(done.stdout)
    assert events.said() == ["Done."]
    assert events.ended.outcome == "completed"
    check(events, recording)


def test_0_completed_in_words(codex: Pinned) -> None:
    with ScriptedModel([TOUCH, PATCH, "All is done."]) as model:
        done = run(codex, model, "Touch it.", "--approve", "all")
    assert done.returncode == 0, done.stderr
    assert (codex.cwd / "new.txt").read_text() == "fresh\n"
    shown = done.stdout.decode()
    assert shown.index("touch here") < shown.index("new.txt") < shown.index("All is done.")
    assert "+fresh" in shown


def test_0_in_the_other_language(codex: Pinned) -> None:
    recording = codex.recording()
    with ScriptedModel([TOUCH, "Done."]) as model:
        arguments = ["--approve", "all", "--dialect", "codex_exec", "--json", "--record", str(recording)]
        done = run(codex, model, "Touch it.", *arguments)
    assert done.returncode == 0, done.stderr
    assert (codex.cwd / "here").exists()
    events = events_of(done.stdout)
    assert {event.dialect for event in events} == {"codex_exec"}
    assert events.said() == ["Done."]
    check(events, recording)


def test_0_a_denial_that_the_agent_got_over(codex: Pinned) -> None:
    with ScriptedModel([TOUCH, "Then not."]) as model:
        done = run(codex, model, "Touch it.")
    assert done.returncode == 0, done.stderr
    assert b"Then not." in done.stdout
    assert list(codex.cwd.iterdir()) == []


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


def test_1_the_turn_failed(codex: Pinned) -> None:
    with ScriptedModel([error(401, "invalid key")] * 4) as model:
        done = run(codex, model, "Hello.", "--json")
    assert done.returncode == 1, done.stderr
    assert events_of(done.stdout).ended.outcome == "failed"


def test_1_the_turn_failed_in_words(codex: Pinned) -> None:
    with ScriptedModel([error(401, "invalid key")] * 4) as model:
        done = run(codex, model, "Hello.")
    assert done.returncode == 1, done.stderr
    assert b"401 Unauthorized" in done.stdout + done.stderr


def test_1_no_such_session(codex: Pinned) -> None:
    nobody = "11111111-2222-7333-8444-555555555555"
    with ScriptedModel([]) as model:
        done = run(codex, model, "Hello.", "--resume", nobody)
        assert model.requests == []
    assert done.returncode == 1, done.stderr
    assert nobody.encode() in done.stdout + done.stderr


def test_3_not_found(codex: Pinned, tmp_path: Path) -> None:
    with ScriptedModel([]) as model:
        done = run(codex, model, "Hello.", "--executable", str(tmp_path / "nowhere"))
    assert done.returncode == 3
    assert b"was not found" in done.stderr
    assert done.stdout == b""


def test_3_did_not_start(codex: Pinned) -> None:
    with ScriptedModel([]) as model:
        done = run(codex, model, "Hello.", "--", "--no-such-flag")
    assert done.returncode == 3
    assert b"no-such-flag" in done.stderr


def test_5_limit_reached(codex: Pinned) -> None:
    with ScriptedModel([TOUCH, TOUCH, turn("Never said.", hold=Hold("never"))]) as model:
        done = run(codex, model, "Touch it.", "--json", "--approve", "all", "--max-turns", "1")
    assert done.returncode == 5, done.stderr
    assert events_of(done.stdout).ended.outcome == "limited"


def test_124_a_network_that_is_down(codex: Pinned) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens: every connection is refused
        model = Scenario([], f"http://127.0.0.1:{taken.getsockname()[1]}")
        done = run(codex, model, "Hello.", "--json", "--timeout", "2")
    assert done.returncode == 124, done.stderr
    assert events_of(done.stdout).one(dragoman.RunEnded).outcome == "timeout"


def test_130_interrupted(codex: Pinned) -> None:
    with ScriptedModel([turn("Never said.", hold=Hold("never"))]) as model:
        done = run(codex, model, "Hello.", "--json", interrupt_at="never")
    assert done.returncode == 130, done.stderr
    assert events_of(done.stdout).ended.outcome == "cancelled"
