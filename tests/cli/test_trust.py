"""`dragoman trust`, and what `dragoman run` asks of a project that brings something to run."""

import json
from pathlib import Path

import pytest

from dragoman._policy import trust
from tests.cli.fake_program import HELLO, INIT, Invoke, Program, result
from tests.cli.test_run import Terminal


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".mcp.json").write_text("{}")
    return folder


def test_a_folder_is_trusted_listed_and_removed(invoke: Invoke, project: Path) -> None:
    assert invoke("trust", str(project)).stdout == f"trusted: {project}\n"
    assert invoke("trust", "--list").stdout == f"{project}\n"
    assert invoke("trust", "--remove", str(project)).exit_code == 0
    assert invoke("trust", "--list").stdout == ""
    assert invoke("trust", "--remove", str(project)).exit_code == 2
    assert invoke("trust", str(project / "nowhere")).exit_code == 2


def argv(record: Path) -> list[str]:
    launch = json.loads(record.read_text().splitlines()[0])
    found: list[str] = launch["argv"]
    return found


@pytest.mark.parametrize(("key", "trusted"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_a_project_that_brings_something_is_asked_about(
    program: Program, tmp_path: Path, project: Path, key: str, trusted: bool
) -> None:
    agent, record = program(INIT, HELLO, result()), tmp_path / "rec"
    terminal = Terminal("run", "claude", "hi", "--executable", agent, "--record", record, "--cwd", project)
    terminal.wait_for("n = go on without them")
    terminal.type(key)
    assert terminal.finish() == 0
    assert "MCP servers (.mcp.json)" in terminal.screen
    assert trust.is_trusted(str(project)) == trusted
    assert ("--strict-mcp-config" in argv(record)) != trusted


def test_without_a_keyboard_it_goes_on_without_and_says_so(
    invoke: Invoke, program: Program, tmp_path: Path, project: Path
) -> None:
    agent, record = program(INIT, HELLO, result()), tmp_path / "rec"
    args = ("run", "claude", "hi", "--executable", str(agent), "--record", str(record), "--cwd", str(project))
    assert invoke(*args).exit_code == 0
    assert "--strict-mcp-config" in argv(record)
    assert not trust.is_trusted(str(project))
