"""What `dragoman run` records can be watched and answered from elsewhere, and the terminal says who answered."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman._files.following import Follower
from dragoman._model.commands import Answer, AnswerQuestion, Command
from dragoman._runtime.beacons import Beacon, beacons
from dragoman._runtime.desk_client import DeskClient
from tests.cli.fake_program import HELLO, INIT, Program, dragoman, result
from tests.cli.screen import Screen
from tests.cli.test_run import CALL, MAY_I

CALLER = Path(__file__).parents[1] / "fake_agents" / "acp_caller.py"
WRITE = ["fs/write_text_file", {"path": "file", "content": "x"}]
ASK_USER: dict[str, Any] = {
    "type": "control_request",
    "request_id": "q1",
    "request": {
        "subtype": "can_use_tool",
        "tool_name": "AskUserQuestion",
        "input": {"questions": [{"question": "Which?", "header": "h", "options": [{"label": "this"}]}]},
        "tool_use_id": "t1",
    },
}


def the_beacon() -> Beacon:
    [beacon] = beacons()
    return beacon


def answer(command: Command) -> None:
    async def send() -> None:
        async with DeskClient(the_beacon().socket) as client:
            await client.send(command, "phone")

    anyio.run(send)


def asides() -> list[str]:
    """The requests of which the recording does not tell."""

    async def look() -> list[str]:
        async with DeskClient(the_beacon().socket) as client:
            async for said in client:
                if said.asked:
                    return [json.loads(bytes(said.asked))["request_id"]]
        return []

    return anyio.run(look)


def at_terminal(home: Path, *args: object) -> Screen:
    (home / "work").mkdir()
    return Screen("run", *args, columns=100, home=home)


def test_a_prompt_at_the_terminal_closes_when_somebody_else_answers(program: Program, tmp_path: Path) -> None:
    agent = program(INIT, CALL, MAY_I, "answer", HELLO, result())
    screen = at_terminal(tmp_path, "claude", "hi", "--executable", agent, "--cwd", tmp_path / "work")
    screen.wait_for_question()
    answer(Answer(request="p1", decision="allow"))
    assert screen.finish() == 0
    assert "  └ allowed by phone" in screen.rows
    assert beacons() == []


def test_a_question_is_answered_from_elsewhere(program: Program, tmp_path: Path) -> None:
    agent = program(INIT, ASK_USER, "answer", HELLO, result())
    screen = at_terminal(tmp_path, "claude", "hi", "--executable", agent, "--cwd", tmp_path / "work")
    screen.wait_for("your answer")
    answer(AnswerQuestion(request="q1", answers={"Which?": "this"}))
    assert screen.finish() == 0
    assert "  └ Which?: this (by phone)" in screen.rows


@pytest.mark.parametrize(
    ("decision", "line"),
    [("allow", "  └ answered by phone"), ("deny", "  └ answered by phone: Denied by the client.")],
)
def test_so_does_one_for_what_the_host_is_about_to_do(decision: Any, line: str, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    screen = at_terminal(tmp_path, "acp", json.dumps([WRITE]), "--cwd", folder, "--", sys.executable, CALLER)
    screen.wait_for_question()
    [request] = asides()
    answer(Answer(request=request, decision=decision))
    assert screen.finish() == 0
    assert line in screen.rows
    assert (folder / "file").exists() == (decision == "allow")


@pytest.mark.parametrize(
    ("how", "shared"),
    [(["--record", "run.jsonl"], True), (["--record", os.devnull], False), (["--no-record"], False)],
)
def test_what_is_recorded_in_a_file_is_shared(
    how: list[str], shared: bool, program: Program, tmp_path: Path
) -> None:
    """Also without a terminal, and where the settings have nothing kept."""
    agent = program(INIT, HELLO, "hang")
    process = dragoman("run", "claude", "hi", "--json", "--executable", agent, *how, cwd=tmp_path)
    assert process.stdout is not None
    while json.loads(process.stdout.readline())["type"] != "message":
        pass
    assert [beacon.recording for beacon in beacons()] == ([str(tmp_path / "run.jsonl")] if shared else [])
    if shared:
        follower = Follower(the_beacon().recording)
        assert follower.read()[0].type == "run.started"
        follower.close()
    process.kill()
    process.communicate()
    assert beacons() == []
