"""`dragoman permission-server` behind the real CLI, started by hand: `claude -p … --permission-prompt-tool …`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from dragoman import Answer, PermissionRequest, permission_listener
from dragoman.testing import Scenario, ScriptedModel, tool
from tests.real.driving import PATIENCE, Pinned

RULES = """
[[rule]]
name = "keep files"
command = "rm"
effect = "deny"
message = "Nothing is removed here."

[[rule]]
command = "touch"
effect = "allow"
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(RULES)
    return path


def one_shot(claude: Pinned, model: Scenario, *server: str) -> dict[str, Any]:
    """What the CLI says in the end."""
    args = ["-m", "dragoman", "permission-server", "--cwd", str(claude.cwd), *server]
    config = {"mcpServers": {"dragoman": {"command": sys.executable, "args": args}}}
    words = [str(claude.executable), "-p", "Do it.", "--output-format", "json"]
    words += ["--permission-prompt-tool", "mcp__dragoman__approve", "--mcp-config", json.dumps(config)]
    done = subprocess.run(
        words,
        env=model.env("claude", claude.home) | {"XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"]},
        cwd=claude.cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def told(model: Scenario) -> str:
    return json.dumps(model.requests_of("main")[1].messages[-1])


def test_allowed_by_a_rule(claude: Pinned, rules: Path) -> None:
    with ScriptedModel([tool("Bash", command="touch here"), "Done."]) as model:
        said = one_shot(claude, model, "--policy", str(rules))
    assert said["result"] == "Done."
    assert (claude.cwd / "here").exists()


def test_denied_by_a_rule(claude: Pinned, rules: Path) -> None:
    (claude.cwd / "victim").write_text("dear")
    with ScriptedModel([tool("Bash", command="touch here && rm victim"), "Then not."]) as model:
        said = one_shot(claude, model, "--policy", str(rules), "--approve", "all")
        assert "Nothing is removed here." in told(model)
    assert [path.name for path in claude.cwd.iterdir()] == ["victim"]
    assert [denial["tool_name"] for denial in said["permission_denials"]] == ["Bash"]


def test_with_nobody_to_ask_the_answer_is_no(claude: Pinned, rules: Path) -> None:
    with ScriptedModel([tool("Bash", command="mkdir sub"), "Then not."]) as model:
        one_shot(claude, model, "--policy", str(rules))
        assert "nobody was there to ask" in told(model)
    assert list(claude.cwd.iterdir()) == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("verdict", "made"),
    [
        (True, ["sub"]),
        (Answer(decision="deny", message="Not on a Sunday."), []),
        (
            Answer(decision="allow", updated_input={"command": "mkdir other"}),
            ["other"],
        ),
    ],
    ids=["allowed", "denied", "changed"],
)
async def test_asked_over_the_socket(claude: Pinned, verdict: bool | Answer, made: list[str]) -> None:
    asked: list[PermissionRequest] = []

    async def handler(request: PermissionRequest) -> bool | Answer:
        asked.append(request)
        return verdict

    socket = claude.home / "ask"
    with ScriptedModel([tool("Bash", command="mkdir sub"), "Done."]) as model, anyio.fail_after(PATIENCE):
        async with permission_listener(socket, handler):
            await to_thread.run_sync(one_shot, claude, model, "--ask", str(socket))
        assert ("Not on a Sunday." in told(model)) == (made == [])
    assert [path.name for path in claude.cwd.iterdir()] == made
    [request] = asked
    assert (request.tool, request.kind, request.input["command"]) == ("Bash", "execute", "mkdir sub")
    assert request.event.call_id is not None
