"""`dragoman run` with limits: 5 where one was reached."""

import json
from typing import Any

import pytest

from tests.cli.fake_program import INIT, Invoke, Program, result
from tests.cli.test_run import CALL

STOPPED = result("error_during_execution", errors=[], terminal_reason="aborted_tools")


def done_with(call_id: str) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": call_id, "content": "ok"}]
    return {"type": "user", "message": {"role": "user", "content": content}, "session_id": "s1"}


def another(call_id: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}
    message = {**CALL["message"], "id": f"m-{call_id}", "content": [block], "usage": {"input_tokens": 500}}
    return {**CALL, "message": message}


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--max-tool-calls", "1"], "max_tool_calls=1 reached"),
        (["--max-turns", "1"], "max_turns=1 reached"),
    ],
)
def test_5_limit_reached(invoke: Invoke, program: Program, args: list[str], why: str) -> None:
    agent = program(INIT, another("t1"), done_with("t1"), another("t2"), "answer", STOPPED)
    done = invoke("run", "claude", "hi", "--json", "--executable", agent, *args)
    assert done.exit_code == 5, done.output
    events = [json.loads(line) for line in done.stdout.splitlines()]
    [turn] = [event for event in events if event["type"] == "turn.ended"]
    assert (turn["outcome"], turn["reason"], events[-1]["outcome"]) == ("limited", why, "limited")


def test_within_the_limits(invoke: Invoke, program: Program) -> None:
    agent = program(INIT, another("t1"), done_with("t1"), another("t2"), done_with("t2"), result())
    limits = ("--max-tool-calls", "2", "--max-turns", "2", "--max-tokens", "1000", "--max-cost", "0.5")
    assert invoke("run", "claude", "hi", "--executable", agent, *limits).exit_code == 0


def test_a_cost_that_nobody_knows(invoke: Invoke, program: Program) -> None:
    agent = ("run", "codex", "hi", "--executable", program(), "--max-cost", "1")
    done = invoke(*agent)
    assert done.exit_code == 2
    assert "allow_unknown_cost" in done.stderr
    assert "max_cost_usd cannot be kept" not in invoke(*agent, "--allow-unknown-cost").stderr
