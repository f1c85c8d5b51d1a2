"""`dragoman doctor`."""

import json
import re
from pathlib import Path

import pytest

from dragoman._agents import AGENTS
from tests.cli.fake_program import Invoke


def fake(folder: Path, body: str, name: str = "claude") -> None:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


def claude(invoke: Invoke) -> dict[str, object]:
    return found_of(invoke, "claude")


def found_of(invoke: Invoke, agent: str) -> dict[str, object]:
    done = invoke("doctor", "--json")
    assert done.exit_code == 0
    findings = {line["agent"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert set(findings) == set(AGENTS)
    found: dict[str, object] = findings[agent]
    return found


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path


def test_not_installed(invoke: Invoke) -> None:
    assert claude(invoke)["status"] == "not installed"
    text = invoke("doctor").stdout
    assert "claude" in text
    assert "not installed" in text
    assert "npm install" in text


def test_a_tested_version(invoke: Invoke, home: Path) -> None:
    fake(home / "bin", "echo '2.1.197 (Claude Code)'")
    found = claude(invoke)
    assert found["status"] == "ok"
    assert found["version"] == "2.1.197"
    assert found["executable"] == str(home / "bin" / "claude")


def test_another_version(invoke: Invoke, home: Path) -> None:
    fake(home / "bin", "echo 9.9.9-beta.1")
    found = claude(invoke)
    assert found["status"] == "untested version"
    assert found["version"] == "9.9.9-beta.1"


@pytest.mark.parametrize(
    ("version", "standing", "words"),
    [
        ("1.0.0", "older", "older than tested"),
        ("2.1.301", "between", "between tested versions"),
        ("9.9.9", "newer", "newer than tested"),
    ],
)
def test_where_a_version_stands(invoke: Invoke, home: Path, version: str, standing: str, words: str) -> None:
    fake(home / "bin", f"echo {version}")
    assert claude(invoke)["standing"] == standing
    assert f"claude  Claude Code {version}  untested version, {words}" in invoke("doctor").stdout


def test_the_program_of_an_agent_that_is_fetched_as_a_rule(invoke: Invoke, home: Path) -> None:
    fake(home / "bin", "exit 1", "npx")
    assert found_of(invoke, "codex-acp")["status"] == "fetched when run"
    fake(home / "bin", "echo codex-acp 9.9.9", "codex-acp")
    found = found_of(invoke, "codex-acp")
    assert (found["status"], found["version"], found["standing"]) == ("untested version", "9.9.9", "newer")
    assert found["executable"] == str(home / "bin" / "codex-acp")


def test_one_that_does_not_start(invoke: Invoke, home: Path) -> None:
    fake(home / "bin", "echo 'no node here' >&2; exit 127")
    found = claude(invoke)
    assert found["status"] == "does not start"
    assert found["error"] == "no node here"


def test_it_is_asked_in_a_clean_environment(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SECRET_KEY", "hunter2")
    fake(home / "bin", f"env > {home}/seen; echo 2.1.197")
    claude(invoke)
    seen = (home / "seen").read_text()
    assert "hunter2" not in seen
    assert f"HOME={home}\n" not in seen


def test_sessions_are_counted(invoke: Invoke, home: Path) -> None:
    project = home / ".claude" / "projects" / "-x"
    project.mkdir(parents=True)
    (project / "a.jsonl").touch()
    (project / "b.jsonl").touch()
    assert claude(invoke)["sessions"] == 2
    assert "2 files in ~/.claude/projects" in invoke("doctor").stdout


def test_the_demo_agent_is_always_there(invoke: Invoke) -> None:
    done = invoke("doctor", "--json")
    demo = next(line for line in map(json.loads, done.stdout.splitlines()) if line["agent"] == "demo")
    assert demo["status"] == "ok"


def test_agents_that_were_never_tested_are_marked(invoke: Invoke) -> None:
    """Those that do nothing without a login, above all."""
    entries = re.split(r"\n(?=\S)", invoke("doctor").stdout)
    untested = {entry.split()[1] for entry in entries if re.search(r"tested +no version", entry)}
    assert untested == {name for name in AGENTS if not AGENTS[name].tested_versions}
    assert {"cline", "auggie", "cursor"} <= untested
    assert not untested & {"claude", "codex", "gemini", "opencode", "codex-acp", "demo"}
