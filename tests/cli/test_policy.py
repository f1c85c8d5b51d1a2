"""`dragoman policy`, and the rules that `dragoman run` obeys."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman._policy import rulebook
from tests.cli.fake_program import HELLO, INIT, Invoke, Program, result
from tests.cli.test_run import CALL, MAY_I, Terminal, answers

RULES = """
[[rule]]
name = "keep files"
command = "rm"
effect = "deny"
message = "Nothing is removed here."

[[rule]]
command = ["git log", "ls"]
effect = "allow"
"""


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "dragoman" / "policy.toml"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.toml"
    path.write_text(RULES)
    return path


# --- dragoman policy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["Bash", "ls -l"], "allow: rule 2 ({rules})\n  command: ls -l\n"),
        (
            ["Bash", '{"command": "rm x"}'],
            "deny: keep files ({rules})\n  the agent is told: Nothing is removed here.\n  command: rm x\n",
        ),
        (["Bash", "make"], "ask: approve=ask\n  command: make\n"),
        (["Bash", "make; ls 'a b'"], "ask: approve=ask\n  command: make\n  command: ls 'a b'\n"),
        (
            ["Bash", "make $(x)"],
            "ask: approve=ask\n  the command line is not fully understood: no rule can allow it by its commands\n",
        ),
        (["Bash", "make", "--approve", "all"], "allow: approve=all\n  command: make\n"),
        (
            ["Edit", '{"file_path": "/w/a"}', "--approve", "dangerous", "--cwd", "/w"],
            "allow: editing inside the project (approve=dangerous)\n  path: /w/a\n",
        ),
        (["WebFetch", '{"url": "https://a.example/x"}'], "ask: approve=ask\n  host: a.example\n"),
        (["TodoWrite"], "ask: approve=ask\n"),
    ],
)
def test_what_would_become_of_a_call(invoke: Invoke, rules: Path, args: list[str], said: str) -> None:
    done = invoke("policy", "test", *args, "--policy", rules)
    assert done.exit_code == 0, done.output
    assert done.stdout == said.format(rules=rules)


def test_as_json(invoke: Invoke, rules: Path) -> None:
    done = invoke("policy", "test", "Bash", "rm x", "--policy", rules, "--json")
    assert json.loads(done.stdout) == {
        "effect": "deny",
        "rule": f"keep files ({rules})",
        "message": "Nothing is removed here.",
    }


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["Edit", "a.py"], "JSON object"),
        (["Bash", "[]"], "JSON object"),
        (["Bash", "ls", "--policy", "none.toml"], "no policy file none.toml"),
    ],
)
def test_wrong_usage(invoke: Invoke, args: list[str], why: str) -> None:
    done = invoke("policy", "test", *args)
    assert done.exit_code == 2
    assert why in done.stderr


def test_where_the_rules_are(invoke: Invoke, config: Path) -> None:
    done = invoke("policy", "where", "--cwd", "/x")
    assert done.stdout.splitlines() == [str(config), "/x/.dragoman/policy.toml", str(rulebook.MODES_FILE)]


# --- dragoman run --------------------------------------------------------------------------------------------


def resolved(stdout: str) -> Any:
    [event] = [e for e in map(json.loads, stdout.splitlines()) if e["type"] == "permission.resolved"]
    return event


def test_a_rule_is_obeyed_and_named(invoke: Invoke, program: Program, rules: Path) -> None:
    agent = program(INIT, CALL, MAY_I, "answer", HELLO, result())
    args = ("run", "claude", "hi", "--json", "--executable", agent, "--approve", "all", "--policy", rules)
    event = resolved(invoke(*args).stdout)
    assert (event["outcome"], event["by"]) == ("denied", "policy")
    assert event["rule"] == f"keep files ({rules})"
    assert event["message"] == "Nothing is removed here."


def test_the_users_rules_need_no_option(invoke: Invoke, program: Program, config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_text('[[rule]]\ntool = "Bash"\neffect = "allow"\n')
    agent = program(INIT, CALL, MAY_I, "answer", HELLO, result())
    event = resolved(invoke("run", "claude", "hi", "--json", "--executable", agent).stdout)
    assert (event["outcome"], event["rule"]) == ("allowed", "rule 1 (your policy)")


def test_a_wrong_policy_starts_nothing(invoke: Invoke, program: Program, rules: Path) -> None:
    rules.write_text('[[rule]]\neffect = "perhaps"\n')
    done = invoke("run", "claude", "hi", "--executable", program(), "--policy", rules)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is not right" in done.stderr


def test_an_agent_that_asks_nobody_obeys_no_policy(invoke: Invoke, program: Program, rules: Path) -> None:
    dialect = ("--dialect", "codex_exec", "--executable", program())
    done = invoke("run", "codex", "hi", *dialect, "--policy", rules)
    assert done.exit_code == 2
    assert "policy in codex_exec" in done.stderr


@pytest.mark.parametrize(("key", "lasts"), [("y", 0), ("s", 1), ("r", 1)])
def test_what_is_answered_at_the_keyboard_can_last(
    key: str, lasts: int, program: Program, tmp_path: Path, config: Path
) -> None:
    again = MAY_I | {"request_id": "p2"}
    record = tmp_path / "rec"
    agent = program(INIT, CALL, MAY_I, "answer", again, "answer", HELLO, result())
    terminal = Terminal("run", "claude", "hi", "--executable", agent, "--record", record)
    terminal.wait_for("y/s/r/e/n? ")
    terminal.type(f"{key}\n")
    if not lasts:
        terminal.wait_for("y/s/r/e/n? ")
        terminal.type("y\n")
    assert terminal.finish() == 0
    allowed = {"behavior": "allow", "updatedInput": {"command": "rm x"}}
    assert answers(record) == [allowed, allowed]
    assert terminal.screen.count("y/s/r/e/n?") == 2 - lasts
    kept = [(rule.effect, rule.tool, rule.line) for rule in rulebook.read(config)]
    assert kept == ([("allow", "Bash", "rm x")] if key == "r" else [])
