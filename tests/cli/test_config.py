"""`dragoman config`, and the settings as commands take them."""

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from dragoman import blocking
from tests.cli.fake_program import Invoke, Program, result

FAST = ("--option", "pace=0")


@pytest.fixture(autouse=True)
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the settings are; there are none yet."""
    for name in [name for name in os.environ if name.startswith("DRAGOMAN_") or name == "NO_COLOR"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "dragoman" / "config.toml"
    path.parent.mkdir()
    return path


def test_each_with_where_it_comes_from(invoke: Invoke, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('agent = "codex"\n')
    monkeypatch.setenv("DRAGOMAN_RECORD", "0")
    done = invoke("--no-color", "config")
    lines = {line.split()[0]: line.split(maxsplit=2)[1:] for line in done.stdout.splitlines() if line}
    assert lines["agent"] == ["codex", f"file: {config}"]
    assert lines["approve"] == ["ask", "default"]
    assert lines["model"] == ["-", "default"]
    assert lines["record"] == ["false", "environment: DRAGOMAN_RECORD"]
    assert lines["colours"] == ["never", "command line: --no-color"]
    assert lines["prices.toml"][1] == "(there is none)"


def test_one(invoke: Invoke, config: Path) -> None:
    config.write_text('approve = "edits"\n')
    assert invoke("config", "approve").stdout == "edits\n"
    assert json.loads(invoke("config", "approve", "--json").stdout) == {
        "value": "edits",
        "source": "file",
        "where": str(config),
    }
    unknown = invoke("config", "aprove")
    assert (unknown.exit_code, "did you mean approve" in unknown.stderr) == (2, True)


def test_all_as_json(invoke: Invoke) -> None:
    shown = json.loads(invoke("config", "--json").stdout)
    assert shown["record"] == {"value": True, "source": "default", "where": None}


@pytest.mark.parametrize("command", [("config",), ("run", "demo", "hi"), ("agents",)])
def test_a_file_that_is_not_right(invoke: Invoke, config: Path, command: tuple[str, ...]) -> None:
    config.write_text("agnet = 1\n")
    done = invoke(*command)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"the settings in {config} are not right: Object contains unknown field `agnet`." in done.stderr


def test_prices_that_are_not_right_are_told(invoke: Invoke, config: Path) -> None:
    config.with_name("prices.toml").write_text("price = 1")
    done = invoke("config")
    assert done.exit_code == 0
    assert "do not count" in done.stderr


class TestRun:
    def test_the_agent_of_the_settings(self, invoke: Invoke, config: Path) -> None:
        config.write_text('agent = "demo"\n')
        for words in (["say hi"], ["demo", "hi"]):
            assert "I am a script" in invoke("run", *words, *FAST, "--json").stdout
        assert "I am a script" in invoke("run", *FAST, "--json", input="say hi").stdout

    def test_a_single_word_is_an_agent(self, invoke: Invoke, config: Path) -> None:
        config.write_text('agent = "demo"\n')
        done = invoke("run", "cluade", *FAST, input="hi")
        assert done.exit_code == 2
        assert "no agent is called 'cluade'" in done.stderr

    def test_no_agent(self, invoke: Invoke) -> None:
        done = invoke("run", input="hi")
        assert done.exit_code == 2
        assert "Missing argument 'AGENT'" in done.stderr
        assert "no agent is called 'say hi'" in invoke("run", "say hi", input="x").stderr

    def test_model_and_approve(
        self, invoke: Invoke, config: Path, program: Program, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config.write_text('approve = "edits"\n[agents.claude]\nmodel = "of-the-file"\n')
        agent = ("run", "claude", "hi", "--json", "--executable", program(result()))

        def started(*options: str) -> dict[str, Any]:
            first: dict[str, Any] = json.loads(invoke(*agent, *options).stdout.splitlines()[0])["config"]
            return first

        assert (started()["model"], started()["approve"]) == ("of-the-file", "edits")
        monkeypatch.setenv("DRAGOMAN_MODEL", "of-the-environment")
        assert started()["model"] == "of-the-environment"
        asked = started("--model", "of-the-option", "--approve", "plan")
        assert (asked["model"], asked["approve"]) == ("of-the-option", "plan")

    def test_a_program_of_ones_own_asks_no_file(self, config: Path) -> None:
        config.write_text("agnet = 1\n")
        assert blocking.ask("demo", "hi", native={"pace": 0}).outcome == "completed"


class TestColours:
    COLOUR = "\x1b["

    def test_none_where_there_is_no_terminal(self, invoke: Invoke) -> None:
        assert self.COLOUR not in invoke("agents").stdout

    def test_always(self, invoke: Invoke, config: Path) -> None:
        config.write_text('colours = "always"\n')
        done = invoke("run", "demo", "hi", *FAST)
        assert "\x1b[32m" in done.stdout or "\x1b[1;32m" in done.stdout
        plain = invoke("--no-color", "run", "demo", "hi", *FAST)
        assert "32m" not in plain.stdout


class TestLogs:
    def test_nothing_is_logged_unless_asked_for(self, invoke: Invoke) -> None:
        assert invoke("run", "demo", "hi", *FAST, "--no-record").stderr == ""

    def test_verbose(self, invoke: Invoke) -> None:
        done = invoke("--verbose", "run", "demo", "hi", *FAST)
        assert "INFO dragoman.start: demo speaks acp" in done.stderr
        assert "DEBUG" not in done.stderr
        assert "dragoman.start" not in done.stdout

    def test_debug(self, invoke: Invoke) -> None:
        done = invoke("--debug", "run", "demo", "hi", *FAST)
        assert "DEBUG dragoman.start: arguments: -I" in done.stderr
        assert 'DEBUG dragoman.events: {"type":"run.started"' in done.stderr

    def test_it_ends_with_the_command(self, invoke: Invoke) -> None:
        logger = logging.getLogger("dragoman")
        before = logger.level, list(logger.handlers)
        invoke("--debug", "run", "demo", "hi", *FAST)
        assert (logger.level, logger.handlers) == before

    def test_secrets_stay_out(self, invoke: Invoke) -> None:
        key, other = "sk-ant-api03-" + "a1B2" * 20, "hunter2-hunter2-hunter2"
        prompt = f"use {key} and nothing else"
        done = invoke(
            "--debug", "run", "demo", prompt, *FAST, "--env", f"MY_API_KEY={other}", "--", "--x", other
        )
        assert "dragoman.start" in done.stderr
        assert key not in done.stderr
        assert other not in done.stderr

    def test_a_warning_is_told_once(self, invoke: Invoke, config: Path) -> None:
        config.with_name("prices.toml").write_text("price = 1")
        done = invoke("--verbose", "run", "demo", "hi", *FAST, "--max-cost", "1")
        assert done.stderr.count("do not count") == 1
