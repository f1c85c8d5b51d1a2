"""Wherever text of an agent, a repository or a file reaches a terminal, nothing in it is obeyed and nothing hidden."""

import io
import json
import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from dragoman._cli.commands.doctor import Finding, _show
from dragoman._cli.terminal.renderer import Renderer
from dragoman._cli.terminal.telling import told
from dragoman._model import events as ev
from tests.cli.fake_program import HELLO, INIT, Invoke, Program, result
from tests.cli.screen import Screen

EVIL = "evil\x1b]52;c;eHh4\x07\x1b[2J\x9b1A\r\u202e\u200f\u061c\u200b\u2028\U000e0041"
SEEN = r"evil\x1b]52;c;eHh4\x07\x1b[2J\x9b1A\r\u202e\u200f\u061c\u200b\u2028\U000e0041"


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_the_last_words_of_an_agent_that_said_nothing_else(invoke: Invoke, tmp_path: Path) -> None:
    """What stood on its stderr came out raw."""
    agent = tmp_path / "agent"
    agent.write_text(f"#!/bin/sh\nprintf '%s' '{EVIL}' >&2\nexit 1\n")
    agent.chmod(0o755)
    done = invoke("run", "claude", "hi", "--executable", agent)
    one_line = SEEN.replace(r"\r", " ").replace(r"\u2028", " ")  # an error is one sentence
    assert done.stderr == f"dragoman: claude ended without a word (exit 1): {one_line}\n"


def test_the_name_of_a_projects_rule(invoke: Invoke, tmp_path: Path) -> None:
    """It came out raw in `policy test`, and wherever a denial is shown."""
    policy = tmp_path / ".dragoman" / "policy.toml"
    policy.parent.mkdir()
    evil = "".join(f"\\U{ord(char):08x}" for char in EVIL)
    policy.write_text(f'[[rule]]\nname = "{evil}"\ntool = "Bash"\neffect = "deny"\nmessage = "{evil}"\n')
    done = invoke("policy", "test", "Bash", "ls", "--cwd", tmp_path)
    assert done.stdout == f"deny: {SEEN} (the project's policy)\n  the agent is told: {SEEN}\n  command: ls\n"
    assert "\x1b" not in invoke("policy", "where", "--cwd", f"{tmp_path}/{EVIL}").stdout


def test_what_a_form_says_that_is_not_filled_in_right(program: Program, tmp_path: Path) -> None:
    """The values that a field may have came out raw in the complaint about another one."""
    schema = {
        "type": "object",
        "properties": {EVIL: {"enum": [EVIL, "b"], "description": EVIL}},
        "required": [EVIL],
    }
    asked = {"subtype": "elicitation", "message": EVIL, "requested_schema": schema}
    agent = program(
        INIT, {"type": "control_request", "request_id": "q", "request": asked}, "answer", HELLO, result()
    )
    screen = Screen("run", "claude", "hi", "--executable", agent, columns=140, home=tmp_path)
    screen.wait_for("your answer: ")
    screen.answer("neither")
    screen.wait_for("one of: ")
    screen.answer("b")
    assert screen.finish() == 0
    assert f"  one of: {SEEN}, b" in screen.rows
    assert "\x1b]52" not in screen.raw.decode()


def test_names_and_contents_of_files(invoke: Invoke, tmp_path: Path) -> None:
    odd = tmp_path / EVIL.replace("/", "")
    for command in ("check", "convert", "replay", "drift"):
        assert _harmless(invoke(command, odd).stderr)
    odd.write_text("".join(json.dumps(line) + "\n" for line in (INIT, HELLO, result())))
    assert f"{SEEN}: holds" in invoke("check", odd).stdout
    odd.write_text(json.dumps({"type": EVIL}) + "\n")
    for command in ("check", "convert", "replay"):
        assert _harmless(invoke(command, odd).stderr)
    told = invoke("drift", odd, "--from", "claude_stream").stdout
    assert f"{SEEN}: claude" in told
    assert f"message of an unknown type: {SEEN}" in told
    assert _harmless(told)
    assert _harmless(invoke("run", "claude", "hi", "--executable", odd).stderr)
    assert _harmless(invoke("run", EVIL, "hi").stderr)
    assert _harmless(invoke("run", "claude", "hi", "--image", odd, "--policy", odd).stderr)
    assert _harmless(invoke("policy", "test", "Bash", "ls", "--policy", odd).stderr)
    assert _harmless(invoke(EVIL).stderr)


def test_what_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    with told():
        logging.getLogger("dragoman").warning("it said %s", EVIL)
        try:
            raise ValueError(EVIL)
        except ValueError:
            logging.getLogger("dragoman").exception("it failed")
    assert capsys.readouterr().err == f"dragoman: it said {SEEN}\ndragoman: it failed: ValueError: {SEEN}\n"


def test_what_doctor_finds(capsys: pytest.CaptureFixture[str]) -> None:
    _show(Finding(EVIL, EVIL, EVIL, EVIL, EVIL, (EVIL,), (EVIL,), [EVIL], 1, EVIL, EVIL))
    shown = capsys.readouterr().out
    assert shown.count(SEEN) >= 8
    assert _harmless(shown)


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "pipe"])
@pytest.mark.parametrize("cls", ev.EVENTS.values(), ids=lambda cls: str(cls.__struct_config__.tag))
def test_whatever_an_event_says(cls: type[ev.Event], terminal: bool) -> None:
    """Each field of each event in turn that can hold a text, alone or in a list."""
    needed: dict[str, Any] = {
        "request_id": "r", "call_id": "t", "role": "assistant", "outcome": "failed", "status": "failed",
        "path": "p", "change": "modified", "name": "n", "action": "accepted", "method": "m", "scope": "turn",
    }  # fmt: skip
    given = {key: value for key, value in needed.items() if key in cls.__struct_fields__}
    for field in cls.__struct_fields__:
        for value in (EVIL, [EVIL], {EVIL: EVIL}):
            console = Console(
                file=io.StringIO(), force_terminal=terminal, width=200, soft_wrap=True, highlight=False
            )
            renderer = Renderer(console)
            try:
                event = msgspec.convert(given | {field: value, "type": cls.__struct_config__.tag}, cls)
            except msgspec.ValidationError:
                continue  # no value that this field can have
            renderer.show(event)
            renderer.close()
            assert isinstance(console.file, io.StringIO)
            assert _harmless(console.file.getvalue())


def _harmless(text: str) -> bool:
    """Nothing of EVIL is in it as it was."""
    return not any(hidden in text for hidden in ("\x1b]", "\x1b[2J\x9b", "\x07", "\x9b", "\u202e", "\u200f", "\u061c", "\u200b", "\u2028", "\U000e0041"))  # fmt: skip
