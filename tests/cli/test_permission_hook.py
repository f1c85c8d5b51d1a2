"""`dragoman permission-hook` as a program: a call on stdin, a decision on stdout, and no for all that goes wrong."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fake_program import dragoman

RULES = (
    '[[rule]]\ncommand = "rm"\neffect = "deny"\nmessage = "No."\n[[rule]]\ncommand = "ls"\neffect = "allow"\n'
)


def hook(line: bytes, *args: object) -> tuple[int, bytes, bytes]:
    process = dragoman("permission-hook", *args, stdin=subprocess.PIPE)
    out, err = process.communicate(line, timeout=60)
    return process.returncode, out, err


def call(tmp_path: Path, **fields: Any) -> bytes:
    given = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "cwd": str(tmp_path),
    }
    return json.dumps({**given, **fields}).encode()


@pytest.mark.parametrize(
    ("command", "decision", "reason"),
    [("ls", "allow", None), ("rm x", "deny", "No."), ("mkdir x", "deny", "nobody was there to ask")],
)
def test_it_decides_by_the_rules(tmp_path: Path, command: str, decision: str, reason: str | None) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    status, out, err = hook(call(tmp_path, tool_input={"command": command}), "--policy", rules)
    assert (status, err) == (0, b"")
    said = json.loads(out)["hookSpecificOutput"]
    assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", decision)
    assert (reason or "") in said.get("permissionDecisionReason", "")
    assert "updatedInput" not in said


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no JSON",
        b"[]",
        b"{}",
        b'{"hook_event_name": "PreToolUse", "cwd": "/"}',
        b'{"hook_event_name": "Stop", "tool_name": "Bash", "cwd": "/"}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/", "tool_input": {"a": "\\ud800"}}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/", "tool_input": {"a": NaN}}',
        b'{"a":' * 5000,
    ],
)
def test_what_cannot_be_judged_is_blocked(line: bytes) -> None:
    status, out, err = hook(line)
    assert (status, out) == (2, b"")
    assert err.startswith(b"Denied: ")
    assert b"Traceback" not in err


def test_rules_that_cannot_be_read_block(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[[rule")
    for file in ("bad.toml", "none.toml"):
        status, out, err = hook(call(tmp_path), "--policy", tmp_path / file)
        assert (status, out) == (2, b"")
        assert err.startswith(b"Denied: ")


def test_a_program_that_does_not_answer_is_a_no(tmp_path: Path) -> None:
    status, out, _ = hook(call(tmp_path, tool_input={"command": "mkdir x"}), "--ask", tmp_path / "nobody")
    assert status == 0
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
