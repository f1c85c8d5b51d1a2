"""`dragoman ls`, `archive`, `delete` and `rename`: what they print, and what they refuse."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.fake_program import Invoke
from tests.files.test_stores import ONE, TWO, claude_file, codex_file, gemini_file


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with nothing in it, and no agent on PATH."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def test_an_agents_own_list_newest_first(home: Path, invoke: Invoke) -> None:
    claude_file(home / ".claude/projects", ONE, "/w", "Fix\nthe \x1b[31mlogin.", age=120)
    claude_file(home / ".claude/projects", TWO, str(home / "mine"), "x" * 200)
    done = invoke("ls", "claude")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split()[-3:] for line in lines[::2]] == [["claude", TWO, "~/mine"], ["claude", ONE, "/w"]]
    assert lines[1::2] == [f"  {'x' * 100}…", r"  Fix the \x1b[31mlogin."]
    assert len({line.index(id) for line, id in zip(lines[::2], (TWO, ONE), strict=True)}) == 1


def test_json_and_the_folder(home: Path, invoke: Invoke) -> None:
    claude_file(home / ".claude/projects", ONE, str(home))
    claude_file(home / ".claude/projects", TWO, "/w")
    [line] = invoke("ls", "claude", "--cwd", home, "--json").stdout.splitlines()
    assert json.loads(line).items() >= {"agent": "claude", "id": ONE, "cwd": str(home)}.items()


@pytest.mark.parametrize(
    ("agent", "variable", "folder"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "projects"),
        ("codex", "CODEX_HOME", "sessions"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/tmp"),
    ],
)
def test_the_agents_own_variables_say_where(
    agent: str, variable: str, folder: str, home: Path, invoke: Invoke
) -> None:
    make = {"claude": claude_file, "codex": codex_file, "gemini": gemini_file}[agent]
    make(home / "elsewhere" / folder, ONE, "/w")
    assert ONE in invoke("ls", agent, "--env", f"{variable}={home / 'elsewhere'}").stdout


def test_the_twenty_newest(home: Path, invoke: Invoke) -> None:
    for number in range(25):
        claude_file(home / ".claude/projects", f"11111111-2222-4333-8444-{number:012}", "/w", age=number)
    done = invoke("ls", "claude", "--json")
    assert len(done.stdout.splitlines()) == 20
    assert "--all shows all" in done.stderr
    done = invoke("ls", "claude", "--json", "--all")
    assert len(done.stdout.splitlines()) == 25
    assert done.stderr == ""


def test_there_are_none(invoke: Invoke) -> None:
    done = invoke("ls")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "dragoman: there are no sessions\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["ls", "claude"], 3, "Claude Code was not found"),
        (["ls", "nobody"], 2, "no agent is called 'nobody'"),
        (["archive", "codex", ONE], 3, "was not found"),
        (["delete", "demo", "demo-1", "--yes"], 2, "demo cannot do this: delete"),
        (["rename", "demo", "demo-1", "Mine"], 2, "demo cannot do this: rename"),
        (["archive", "demo", "demo-1"], 2, "demo cannot do this: archive"),
        (["archive", "claude", "x"], 2, "claude cannot do this: archive"),
        (["delete", "claude", "x", "--yes"], 2, "claude cannot do this: delete"),
    ],
)
def test_what_cannot_be(words: list[str], status: int, said: str, invoke: Invoke) -> None:
    done = invoke(*words)
    assert (done.exit_code, done.stdout) == (status, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_deleting_is_confirmed_first(invoke: Invoke) -> None:
    done = invoke("delete", "demo", "demo-1", input="n\n")
    assert done.exit_code == 130
    assert "Delete session demo-1 of demo for good?" in done.stdout


def test_an_agent_that_is_asked(home: Path, invoke: Invoke) -> None:
    """The demo agent keeps its sessions where it is told to, and lists them over ACP."""
    kept = ("--option", f"sessions={home / 'kept'}", "--option", "pace=0")
    ids = []
    for place in ("one", "two"):
        (home / place).mkdir()
        run = invoke("run", "demo", f"Hello from {place}.", "--cwd", home / place, "--json", *kept)
        assert run.exit_code == 0, run.stderr
        ids.append(json.loads(run.stdout.splitlines()[-1])["session"])
    lines = invoke("ls", "demo", "--json", *kept).stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids[::-1]
    [line] = invoke("ls", "demo", "--cwd", home / "one", "--json", *kept).stdout.splitlines()
    assert json.loads(line)["title"] == "Hello from one."
    shown = invoke("ls", "demo", *kept).stdout
    assert re.search(rf"0 min ago  demo  {ids[1]}  ~/two\n  Hello from two\.\n", shown)
