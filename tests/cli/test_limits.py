"""`dragoman run` with limits: 5 where one was reached."""

import json
from pathlib import Path
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


def test_what_the_agent_says_it_cost(invoke: Invoke) -> None:
    """The demo agent says so when its turn ends."""
    done = invoke("run", "demo", "hi", "--json", "--option", "pace=0", "--max-cost", "0.001")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    [turn] = [event for event in events if event["type"] == "turn.ended"]
    assert 0.001 < turn["cost_usd"] == events[-1]["cost_usd"]
    assert (done.exit_code, turn["outcome"], events[-1]["outcome"]) == (0, "completed", "limited")


class TestPrices:
    """Codex does not say what it costs."""

    REFUSED = "max_cost_usd cannot be kept"

    @pytest.fixture
    def agent(self, program: Program) -> tuple[str, ...]:
        return ("run", "codex", "hi", "--executable", program(), "--max-cost", "1")

    @pytest.fixture
    def own(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
        """Where the user's prices are."""
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        (tmp_path / "dragoman").mkdir()
        return tmp_path / "dragoman" / "prices.toml"

    def test_a_model_that_nobody_knows(self, invoke: Invoke, agent: tuple[str, ...], own: Path) -> None:
        done = invoke(*agent, "--model", "their-own")
        assert done.exit_code == 2
        assert self.REFUSED in done.stderr
        assert "prices.toml" in done.stderr
        assert self.REFUSED not in invoke(*agent, "--model", "their-own", "--allow-unknown-cost").stderr

    def test_a_model_of_the_table(self, invoke: Invoke, agent: tuple[str, ...], own: Path) -> None:
        assert self.REFUSED not in invoke(*agent, "--model", "gpt-5.5").stderr
        assert self.REFUSED not in invoke(*agent).stderr  # it says which, when it has started

    def test_a_price_of_ones_own(self, invoke: Invoke, agent: tuple[str, ...], own: Path) -> None:
        own.write_text('[[price]]\nmodels = ["their-own"]\ninput = 1\noutput = 2\n')
        assert self.REFUSED not in invoke(*agent, "--model", "their-own").stderr

    def test_a_file_that_is_not_right(
        self, caplog: Any, invoke: Invoke, agent: tuple[str, ...], own: Path
    ) -> None:
        own.write_text('[[price]]\nmodels = ["their-own"]\ninput = "much"\noutput = 2\n')
        assert self.REFUSED in invoke(*agent, "--model", "their-own").stderr
        assert self.REFUSED not in invoke(*agent, "--model", "gpt-5.5").stderr
        assert f"the prices in {own} do not count: Expected `float`, got `str`" in caplog.text
