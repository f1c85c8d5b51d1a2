"""`dragoman run`: what it prints and what it exits with, on programs that play an agent."""

import json
import os
import pty
import signal
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.fake_program import HELLO, INIT, Invoke, Program, dragoman, result

CALL: dict[str, Any] = {
    "type": "assistant",
    "message": {
        "id": "m1",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "rm x"}}],
    },
    "parent_tool_use_id": None,
    "session_id": "s1",
    "uuid": "u4",
}
MAY_I: dict[str, Any] = {
    "type": "control_request",
    "request_id": "p1",
    "request": {
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "input": {"command": "rm x"},
        "tool_use_id": "t1",
    },
}
REFUSED = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "rm x"}}


def test_text(invoke: Invoke, program: Program) -> None:
    done = invoke("run", "claude", "Say hello", "--executable", program(INIT, HELLO, result()))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("> Say hello\n")
    assert "\nHello.\n" in done.stdout
    assert done.stdout.endswith("✓ completed · tokens 10 in, 2 out · $0.0100 · 0.0 s\n")
    assert done.stderr == ""


def test_a_recording_is_not_replaced_unasked(invoke: Invoke, program: Program, tmp_path: Path) -> None:
    record = tmp_path / "rec"
    record.write_text("mine")
    command = ("run", "claude", "hi", "--executable", program(INIT, HELLO, result()), "--record", record)
    done = invoke(*command)
    assert done.exit_code == 2
    assert "--overwrite" in done.stderr
    assert "Traceback" not in done.stderr
    assert record.read_text() == "mine"
    assert invoke(*command, "--overwrite").exit_code == 0
    assert invoke("check", record).exit_code == 0


def test_json_and_nothing_else(invoke: Invoke, program: Program, tmp_path: Path) -> None:
    agent = program(INIT, HELLO, result())
    done = invoke("run", "claude", "hi", "--json", "--executable", agent, "--record", tmp_path / "rec")
    assert done.exit_code == 0
    assert done.stderr == ""
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["type"] == "run.started"
    assert events[-1]["type"] == "run.ended"
    assert invoke("convert", tmp_path / "rec").stdout == done.stdout


def test_the_prompt_may_come_through_a_pipe(invoke: Invoke, program: Program) -> None:
    agent = program(INIT, HELLO, result())
    for args in (["run", "claude"], ["run", "claude", "-"]):
        done = invoke(*args, "--executable", agent, input="from the pipe\n")
        assert done.exit_code == 0
        assert done.stdout.startswith("> from the pipe\n")


@pytest.mark.parametrize("args", [(), ("-",), ("",), ("  \n",)])
def test_an_empty_prompt_is_wrong_usage(invoke: Invoke, args: tuple[str, ...]) -> None:
    done = invoke("run", "claude", *args, input="")
    assert done.exit_code == 2
    assert "prompt is empty" in done.stderr


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([HELLO, result()], 0),
        ([HELLO, result(is_error=True)], 1),
        ([HELLO], 1),
        ([result("error_max_turns", errors=[], terminal_reason="max_turns")], 5),
        ([result("error_during_execution", errors=[], permission_denials=[REFUSED])], 4),
        ([HELLO, result(permission_denials=[REFUSED])], 0),
    ],
    ids=["completed", "failed", "truncated", "limit", "denied", "denied but completed"],
)
def test_exit_status(invoke: Invoke, program: Program, steps: list[Any], status: int) -> None:
    done = invoke("run", "claude", "hi", "--executable", program(INIT, *steps))
    assert done.exit_code == status, done.output


def test_timeout(invoke: Invoke, program: Program) -> None:
    agent = program(INIT, "answer")
    done = invoke("run", "claude", "hi", "--executable", agent, "--idle-timeout", "0.2")
    assert done.exit_code == 124


def test_no_such_agent(invoke: Invoke) -> None:
    done = invoke("run", "clod", "hi")
    assert done.exit_code == 2
    assert "no agent is called 'clod'" in done.stderr


def test_an_agent_that_is_not_installed(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = invoke("run", "claude", "hi")
    assert done.exit_code == 3
    assert done.stderr.startswith("dragoman: Claude Code was not found")
    assert done.stdout == ""


def test_an_agent_that_ends_without_a_word(invoke: Invoke, tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\necho 'unknown option --verbose' >&2\nexit 1\n")
    agent.chmod(0o755)
    done = invoke("run", "claude", "hi", "--executable", agent)
    assert done.exit_code == 3
    assert done.stderr == "dragoman: claude ended without a word (exit 1): unknown option --verbose\n"


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--record", "/no/such/folder/file"], "record must be a file in a folder that is there"),
        (["--cwd", "/no/such/folder"], "cwd must be a folder that is there"),
        (["--model", ""], "model must be a non-empty string"),
        (["--timeout", "inf"], "timeout must be a finite number above 0"),
        (["--env", "NOVALUE"], "is not KEY=VALUE"),
        (["--mcp-config", "/no/such/file"], "No such file"),
        (["--image", "picture"], "what kind of image"),
        (["--image", "/no/such.png"], "No such file"),
        (["--timeout", "0"], "not in the range"),
        (["--option", "no_such=1"], "no native option"),
        (["--fork"], "fork needs resume"),
        (["--dialect", "klingon"], "does not speak klingon"),
        (["more words"], "unexpected extra argument"),
    ],
)
def test_wrong_usage(invoke: Invoke, program: Program, args: list[str], why: str) -> None:
    done = invoke("run", "claude", "hi", "--executable", program(), *args)
    assert done.exit_code == 2, done.output
    assert why in done.stderr
    assert done.stdout == ""


def test_what_follows_two_dashes_is_the_agents(invoke: Invoke, program: Program) -> None:
    agent = program(INIT, HELLO, result())
    done = invoke("run", "claude", "hi", "--json", "--executable", agent, "--", "--debug", "--", "-x")
    assert done.exit_code == 0
    assert json.loads(done.stdout.splitlines()[0])["argv"][-3:] == ["--debug", "--", "-x"]


OLD = "11111111-2222-4333-8444-555555555555"


def test_options_reach_the_agent(invoke: Invoke, program: Program, tmp_path: Path) -> None:
    servers = tmp_path / "mcp.json"
    servers.write_text('{"mcpServers": {"files": {"command": "x"}}}')
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object"}')
    done = invoke(
        *("run", "claude", "hi", "--json", "--executable", program(INIT, HELLO, result())),
        *(
            "--model",
            "opus",
            "--max-turns",
            "3",
            "--max-cost",
            "0.5",
            "--allow-tool",
            "Read",
            "--allow-tool",
            "Grep",
        ),
        *("--block-tool", "Bash", "--mcp-config", servers, "--output-schema", schema, "--approve", "edits"),
        *(
            "--resume",
            OLD,
            "--resume-at",
            "there",
            "--fork",
            "--option",
            "effort=high",
            "--option",
            "bare=true",
            "--env",
            "A=b=c",
        ),
    )
    assert done.exit_code == 0, done.output
    argv = json.loads(done.stdout.splitlines()[0])["argv"]
    pairs = dict(pairwise(argv))
    assert pairs["--model"] == "opus"
    assert pairs["--max-turns"] == "3"
    assert pairs["--max-budget-usd"] == "0.5"
    assert (pairs["--resume"], pairs["--resume-session-at"]) == (OLD, "there")
    assert pairs["--effort"] == "high"
    assert "--bare" in argv
    assert "--fork-session" in argv
    assert argv[argv.index("--allowedTools") + 1 :][:2] == ["Read", "Grep"]
    assert json.loads(pairs["--mcp-config"]) == {"mcpServers": {"files": {"command": "x"}}}
    assert json.loads(pairs["--json-schema"]) == {"type": "object"}


def test_an_image(invoke: Invoke, program: Program, tmp_path: Path) -> None:
    image = tmp_path / "dot.png"
    image.write_bytes(b"\x89PNG")
    record = tmp_path / "rec"
    agent = program(INIT, HELLO, result())
    done = invoke("run", "claude", "look", "--executable", agent, "--image", image, "--record", record)
    assert done.exit_code == 0, done.output
    assert '\\"media_type\\":\\"image/png\\",\\"data\\":\\"iVBORw==\\"' in record.read_text()


def test_where_nobody_can_be_asked_the_answer_is_no(invoke: Invoke, program: Program) -> None:
    agent = program(INIT, CALL, MAY_I, "answer", result(permission_denials=[REFUSED]))
    done = invoke("run", "claude", "hi", "--json", "--executable", agent)
    resolved = next(
        e for e in map(json.loads, done.stdout.splitlines()) if e["type"] == "permission.resolved"
    )
    assert resolved["outcome"] == "denied"
    assert resolved["by"] == "policy"
    assert resolved["rule"] == "no terminal"
    assert "no terminal to ask at" in resolved["message"]


def test_approve_all(invoke: Invoke, program: Program) -> None:
    agent = program(INIT, CALL, MAY_I, "answer", result())
    done = invoke("run", "claude", "hi", "--json", "--executable", agent, "--approve", "all")
    resolved = next(
        e for e in map(json.loads, done.stdout.splitlines()) if e["type"] == "permission.resolved"
    )
    assert resolved["outcome"] == "allowed"
    assert resolved["rule"] == "approve=all"


def test_a_reader_who_has_had_enough_stops_the_agent(program: Program) -> None:
    agent = program(INIT, *[HELLO] * 5000, "answer")
    process = dragoman("run", "claude", "hi", "--json", "--executable", agent)
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        pid = json.loads(process.stdout.readline())["pid"]
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
    assert not psutil.pid_exists(pid)


# --- Ctrl-C ------------------------------------------------------------------------------------------------


def test_ctrl_c_interrupts_and_waits_for_the_result(program: Program) -> None:
    stopped = result("error_during_execution", errors=[], terminal_reason="aborted_tools")
    agent = program(INIT, HELLO, "answer", stopped)
    process = dragoman("run", "claude", "hi", "--json", "--executable", agent)
    out, err = interrupted(process, times=1)
    assert process.returncode == 130
    assert b"interrupting" in err
    events = [json.loads(line) for line in out.splitlines()]
    ended = next(event for event in events if event["type"] == "turn.ended")
    assert ended["outcome"] == "cancelled"
    assert "synthesized" not in ended
    assert events[-1]["type"] == "run.ended"


def test_a_second_ctrl_c_stops_at_once(program: Program) -> None:
    agent = program(INIT, HELLO, "answer", "hang")
    process = dragoman("run", "claude", "hi", "--json", "--executable", agent)
    out, _ = interrupted(process, times=2)
    assert process.returncode == 130
    events = [json.loads(line) for line in out.splitlines()]
    assert events[-1]["type"] == "run.ended"
    assert not psutil.pid_exists(events[0]["pid"])


def interrupted(process: "subprocess.Popen[bytes]", times: int) -> tuple[bytes, bytes]:
    """Press Ctrl-C once the agent has spoken, and again once that was noticed."""
    assert process.stdout is not None
    assert process.stderr is not None
    out = b""
    with process:
        while b"Hello." not in out:
            out += process.stdout.readline()
        process.send_signal(signal.SIGINT)
        err = process.stderr.readline()
        if times == 2:
            process.send_signal(signal.SIGINT)
        return out + process.stdout.read(), err + process.stderr.read()


# --- at the keyboard ---------------------------------------------------------------------------------------


class Terminal:
    """A person at a terminal: reads the screen, types when a word appears."""

    def __init__(self, *args: object) -> None:
        self.fd, slave = pty.openpty()
        self.process = dragoman(
            *args, stdin=slave, stdout=slave, stderr=slave, env=os.environ | {"TERM": "xterm"}
        )
        os.close(slave)
        self._shown = b""

    @property
    def screen(self) -> str:
        return self._shown.decode()

    def wait_for(self, word: str) -> None:
        start = len(self._shown)
        while word.encode() not in self._shown[start:]:
            self._shown += os.read(self.fd, 4096)

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def finish(self) -> int:
        try:
            while chunk := os.read(self.fd, 4096):
                self._shown += chunk
        except OSError:  # how Linux says that the other side of a terminal is gone
            pass
        os.close(self.fd)
        return self.process.wait(timeout=60)


def answers(record: Path) -> list[Any]:
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    lines = [json.loads(row["line"]) for row in rows if row.get("dir") == "in"]
    return [line["response"]["response"] for line in lines if line["type"] == "control_response"]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("y\n", {"behavior": "allow", "updatedInput": {"command": "rm x"}}),
        ("what?\ny\n", {"behavior": "allow", "updatedInput": {"command": "rm x"}}),
        ("n\n", {"behavior": "deny", "message": "The user denied this."}),
        ("n keep x\n", {"behavior": "deny", "message": "keep x"}),
        ("\x04", {"behavior": "deny", "message": "The user denied this."}),
    ],
)
def test_a_permission_at_the_keyboard(program: Program, tmp_path: Path, keys: str, said: Any) -> None:
    record = tmp_path / "rec"
    agent = program(INIT, CALL, MAY_I, "answer", HELLO, result())
    terminal = Terminal("run", "claude", "hi", "--executable", agent, "--record", record)
    terminal.wait_for("y/s/r/e/n? ")
    for line in keys.splitlines(keepends=True):
        terminal.type(line)
        if line == "what?\n":
            terminal.wait_for("y/s/r/e/n? ")
    assert terminal.finish() == 0
    assert answers(record) == [said]
    assert "May it: Bash rm x" in terminal.screen
    assert "Hello." in terminal.screen


def test_another_input_from_the_editor(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/rm x/ls/' \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    record = tmp_path / "rec"
    agent = program(INIT, CALL, MAY_I, "answer", HELLO, result())
    terminal = Terminal("run", "claude", "hi", "--executable", agent, "--record", record)
    terminal.wait_for("y/s/r/e/n? ")
    terminal.type("e\n")
    assert terminal.finish() == 0
    assert answers(record) == [{"behavior": "allow", "updatedInput": {"command": "ls"}}]


def test_ctrl_c_at_a_permission(program: Program, tmp_path: Path) -> None:
    """The agent takes its request back; the prompt closes by itself and the turn's end is shown."""
    withdrawn = {"type": "control_cancel_request", "request_id": "p1"}
    stopped = result("error_during_execution", errors=[], terminal_reason="aborted_tools")
    agent = program(INIT, CALL, MAY_I, "answer", withdrawn, stopped)
    terminal = Terminal("run", "claude", "hi", "--executable", agent)
    terminal.wait_for("y/s/r/e/n? ")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.finish() == 130
    assert "cancelled by agent" in terminal.screen


def test_a_question_at_the_keyboard(program: Program, tmp_path: Path) -> None:
    questions = [
        {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]}
    ]
    asked = {
        "type": "control_request",
        "request_id": "q1",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "AskUserQuestion",
            "input": {"questions": questions},
            "tool_use_id": "t9",
        },
    }
    record = tmp_path / "rec"
    agent = program(INIT, asked, "answer", HELLO, result())
    terminal = Terminal("run", "claude", "hi", "--executable", agent, "--record", record)
    terminal.wait_for("your answer")
    terminal.type("2\n")
    assert terminal.finish() == 0
    assert answers(record)[0]["updatedInput"]["answers"] == {"Which colour?": "Blue"}


def test_a_form_at_the_keyboard(program: Program, tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "nick": {"type": "string"}},
        "required": ["name", "age"],
    }
    asked = {
        "type": "control_request",
        "request_id": "q1",
        "request": {"subtype": "elicitation", "message": "Who are you?", "requested_schema": schema},
    }
    record = tmp_path / "rec"
    agent = program(INIT, asked, "answer", HELLO, result())
    terminal = Terminal("run", "claude", "hi", "--executable", agent, "--record", record)
    for field, text in (("name: ", "Ada"), ("age: ", "old"), ("age: ", "36"), ("nick: ", "")):
        terminal.wait_for(field)
        terminal.type(text + "\n")
    assert terminal.finish() == 0
    assert answers(record) == [{"action": "accept", "content": {"name": "Ada", "age": 36}}]
