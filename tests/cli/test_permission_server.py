"""`dragoman permission-server` as a program: MCP on stdin and stdout."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fake_program import dragoman


def talk(*args: object, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    process = dragoman("permission-server", *args, stdin=subprocess.PIPE)
    lines = b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)
    out, err = process.communicate(lines, timeout=60)
    assert (process.returncode, err) == (0, b"")
    return [json.loads(line) for line in out.splitlines()]


def call(id: int, command: str) -> dict[str, Any]:
    arguments = {"tool_name": "Bash", "input": {"command": command}, "tool_use_id": f"t{id}"}
    return {"id": id, "method": "tools/call", "params": {"name": "approve", "arguments": arguments}}


def decisions(lines: list[dict[str, Any]]) -> list[str]:
    return [json.loads(line["result"]["content"][0]["text"])["behavior"] for line in lines]


def test_it_answers_until_the_other_side_closes(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rule]]\ncommand = "rm"\neffect = "deny"\n[[rule]]\ncommand = "ls"\neffect = "allow"\n'
    )
    first, *others = talk(
        *("--policy", rules, "--cwd", tmp_path),
        messages=[
            {"id": 0, "method": "initialize", "params": {}},
            {"method": "notifications/initialized"},
            call(1, "ls"),
            call(2, "rm x"),
            call(3, "make"),
        ],
    )
    assert first["result"]["serverInfo"]["name"] == "dragoman"
    assert decisions(others) == ["allow", "deny", "deny"]


def test_a_mode(tmp_path: Path) -> None:
    assert decisions(talk("--approve", "all", messages=[call(1, "make")])) == ["allow"]


def test_a_wrong_policy_is_no_policy(tmp_path: Path) -> None:
    process = dragoman("permission-server", "--policy", tmp_path / "none")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")
    assert b"no policy file" in err


@pytest.mark.parametrize("redirect", ["<&-", ">&-", "<&- >&-", "> /dev/full"])
def test_closed_or_broken_pipes_end_it_without_a_traceback(redirect: str) -> None:
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    source = "" if "<" in redirect else f"echo '{ping}' | "
    done = subprocess.run(
        ["sh", "-c", f'{source}exec "$0" -m dragoman permission-server {redirect}', sys.executable],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 74)


def test_nobody_at_the_socket_is_a_denial_in_time(tmp_path: Path) -> None:
    """A listener that keeps silent was waited for without end."""
    path = tmp_path / "ask"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        [line] = talk("--ask", path, "--timeout", "0.2", messages=[call(1, "make")])
    assert "within 0.2 s" in json.loads(line["result"]["content"][0]["text"])["message"]


def test_a_time_limit_is_a_positive_number(tmp_path: Path) -> None:
    process = dragoman("permission-server", "--timeout", "0", stdin=subprocess.PIPE)
    _, err = process.communicate(b"", timeout=60)
    assert process.returncode == 2
    assert b"--timeout" in err
