"""The host behind ACP: what is asked and answered on the wire."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import dragoman
from dragoman import _agents
from dragoman._agents import acp
from dragoman._agents.agent import Agent
from dragoman._files.recording import read_recording
from dragoman._model.events import HostAnswered, HostCalled, Message, ToolEnded
from dragoman._policy.permission import PermissionRequest
from tests.dialects.acp.schemas import check
from tests.runtime.toy_dialect import FAKES

pytestmark = pytest.mark.anyio

COMMAND = "echo hello; exit 3"
CALL = {"toolCallId": "c", "title": f"`{COMMAND}`", "kind": "execute"}
SHOWN = [{"type": "terminal", "terminalId": "terminal-1"}]
OPTIONS = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
RUN: list[Any] = [
    ["terminal/create", {"command": COMMAND}],
    ["update", {"sessionUpdate": "tool_call", **CALL, "status": "in_progress", "content": SHOWN}],
    ["terminal/wait_for_exit", {"terminalId": "terminal-1"}],
    ["terminal/output", {"terminalId": "terminal-1"}],
    ["terminal/release", {"terminalId": "terminal-1"}],
    ["update", {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}],
]


def caller(row: acp.Row) -> Agent:
    """The fake agent as one of this row."""
    command = [sys.executable, "-I", str(FAKES / "acp_caller.py")]
    return structs.replace(
        acp.record("acp"), plan=lambda config, executable, dialect: acp.plan(config, row, command)
    )


async def told(orders: list[Any], folder: Path, **fields: Any) -> tuple[list[Any], dragoman.Result]:
    """What the agent was answered, and all that happened."""
    extra = [sys.executable, "-I", str(FAKES / "acp_caller.py")]
    result = await dragoman.ask("acp", json.dumps(orders), extra_args=extra, cwd=folder, **fields)
    said = [event for event in result.events if isinstance(event, Message) and event.role == "assistant"]
    return [json.loads(line) for event in said for line in (event.text or "").splitlines()], result


async def test_a_terminal_is_the_output_of_its_tool(tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    answers, result = await told(RUN, tmp_path, approve="all", record=record)
    exit = {"exitCode": 3, "signal": None}
    assert answers == [
        {"terminalId": "terminal-1"},
        exit,
        {"output": "hello\n", "truncated": False, "exitStatus": exit},
        {},
    ]
    [ended] = [event for event in result.events if isinstance(event, ToolEnded)]
    assert (ended.output, ended.exit_code) == ("hello\n", 3)
    asked = {}
    for frame in read_recording(record).frames:
        message = json.loads(frame.line) if frame.dir in ("out", "in") else {}
        if frame.dir == "out" and "method" in message:
            asked[message.get("id")] = message["method"]
        elif frame.dir == "in" and "method" not in message:
            check(1, message, asked[message["id"]])


async def test_what_its_tool_was_allowed_a_command_need_not_ask_again(tmp_path: Path) -> None:
    asked = []

    def approve(request: PermissionRequest) -> bool:
        asked.append(request.title)
        return True

    permission = ["session/request_permission", {"toolCall": CALL, "options": OPTIONS}]
    other = ["terminal/create", {"command": "touch x"}]
    answers, result = await told([permission, RUN[0], other], tmp_path, approve=approve)
    assert [call.call_id for call in result.events if isinstance(call, HostCalled)] == ["c", None]
    assert asked == [CALL["title"], "touch x"]
    assert [answer.get("terminalId") for answer in answers] == [None, "terminal-1", "terminal-2"]


READS = [
    ["fs/read_text_file", {"path": "gone.txt"}],
    ["fs/read_text_file", {"path": "gone/too.txt", "line": 2, "limit": 1}],
    ["fs/read_text_file", {"path": "here.txt"}],
]


async def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("here")
    answers, result = await told(READS, tmp_path)
    assert answers == [
        {"code": -32002, "message": "Resource not found: gone.txt"},
        {"code": -32002, "message": "Resource not found: gone/too.txt"},
        {"content": "here"},
    ]
    errors = [event.error for event in result.events if isinstance(event, HostAnswered)]
    assert [error.code if error is not None else None for error in errors] == ["-32002", "-32002", None]


@pytest.mark.parametrize("name", ["gemini", "opencode", "qwen-code", "codex-acp"])
async def test_only_to_an_agent_that_needs_it_a_missing_file_is_empty(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of the table says so. Also one of which we thought that it has its client do nothing is answered."""
    monkeypatch.setattr(_agents, "AGENTS", {"acp": caller(acp.rows()[name])})
    result = await dragoman.ask("acp", json.dumps(READS[:1]), cwd=tmp_path)
    [answered] = [event for event in result.events if isinstance(event, HostAnswered)]
    assert answered.result == ({"content": ""} if name == "gemini" else None)
    assert not (tmp_path / "gone.txt").exists()


async def test_a_refusal_is_an_error(tmp_path: Path) -> None:
    [refused], _ = await told(
        [["fs/write_text_file", {"path": "/etc/x", "content": ""}]], tmp_path, approve="all"
    )
    assert "outside of the session's directories" in refused["message"]
    [denied], _ = await told([RUN[0]], tmp_path, approve="never")
    assert "approve=never" in denied["message"]
    [unserved], _ = await told([RUN[0]], tmp_path, approve="all", host=False)
    assert "does not offer terminal/create" in unserved["message"]
