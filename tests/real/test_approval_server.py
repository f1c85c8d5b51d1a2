"""`dragoman permission-server` behind the real CLI, started by hand: `claude -p … --permission-prompt-tool …`."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from anyio import to_thread

from dragoman import Answer, PermissionRequest, permission_listener
from dragoman.testing import Scenario, ScriptedModel, tool
from tests.real.driving import PATIENCE, Pinned, told

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


LITERAL_SERVER = """
import sys
from dragoman._runtime import permission_server
permission_server.is_answer = bool
def write(line):
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
permission_server.serve(sys.stdin.buffer, write, lambda arguments: {answer})
"""
"""A permission server that says what it is told to say, whatever the CLI makes of it."""


def one_shot(
    claude: Pinned, model: Scenario, *options: str, server: list[str] | None = None
) -> dict[str, Any]:
    """What the CLI says in the end."""
    ours = [sys.executable, "-m", "dragoman", "permission-server", "--cwd", str(claude.cwd), *options]
    program, *args = server or ours
    config = {"mcpServers": {"dragoman": {"command": program, "args": args}}}
    asking = ["--permission-prompt-tool", "mcp__dragoman__approve", "--mcp-config", json.dumps(config)]
    return printed(claude, model, "--permission-mode", "default", *asking)


def printed(claude: Pinned, model: Scenario, *options: str) -> dict[str, Any]:
    done = subprocess.run(
        [str(claude.executable), "-p", "Do it.", "--output-format", "json", *options],
        env=model.env("claude", claude.home) | {"XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"]},
        cwd=claude.cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


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


@pytest.mark.anyio
@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_an_answer_for_the_session_is_not_asked_for_again(
    claude: Pinned, decision: Literal["allow", "deny"]
) -> None:
    """The CLI refuses `allowAlways` and `denyAlways`; the server keeps them, for what was asked."""
    asked: list[str | None] = []

    def handler(request: PermissionRequest) -> Answer:
        asked.append(request.command)
        return Answer(decision=decision, message="Not on a Sunday.", remember=["session"])

    socket, again, other = claude.home / "ask", "echo x >> log", "echo y >> log"
    lines = [tool("Bash", command=command) for command in (again, again, other, again)]
    with ScriptedModel([*lines, "Done."]) as model, anyio.fail_after(PATIENCE):
        async with permission_listener(socket, handler):
            said = await to_thread.run_sync(one_shot, claude, model, "--ask", str(socket))
        results = [told(model, n) for n in range(1, len(model.requests_of("main")))]
    assert (said["result"], asked) == ("Done.", [again, other])
    log = claude.cwd / "log"
    assert (log.read_text() if log.exists() else "") == ("x\nx\ny\nx\n" if decision == "allow" else "")
    assert [("Not on a Sunday." in result) for result in results] == [decision == "deny"] * 4


@pytest.mark.parametrize("behavior", ["allowAlways", "denyAlways"])
def test_why_the_server_keeps_what_holds_for_always(claude: Pinned, behavior: str) -> None:
    """Said to the CLI, neither is an answer: the call fails, and is asked for again."""
    answer = {"behavior": behavior, "updatedInput": {"command": "mkdir sub"}, "message": "never"}
    script = LITERAL_SERVER.format(answer=json.dumps(answer))
    with ScriptedModel([tool("Bash", command="mkdir sub"), "Done."]) as model:
        one_shot(claude, model, server=[sys.executable, "-c", script])
        assert re.search("invalid permission result|Invalid input", told(model))
    assert list(claude.cwd.iterdir()) == []


# --- the hook ------------------------------------------------------------------------------------------------


def hooked(
    claude: Pinned,
    model: Scenario,
    *options: str,
    mode: str = "default",
    alone: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """What the CLI says in the end, with the hook of `dragoman permission-hook`; `settings` are the user's own, which are
    left out if it is `alone`."""
    (claude.home / ".claude").mkdir(exist_ok=True)
    (claude.home / ".claude" / "settings.json").write_text(json.dumps(settings))
    command = shlex.join([sys.executable, "-m", "dragoman", "permission-hook", *options])
    hook = {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}
    ours = ["--permission-mode", mode, "--settings", json.dumps({"hooks": hook})]
    return printed(claude, model, *ours, *(["--setting-sources", ""] if alone else []))


LOOSE: list[dict[str, Any]] = [
    {},
    {"permissions": {"allow": ["Bash"]}},
    {"permissions": {"defaultMode": "acceptEdits"}},
    {"mode": "acceptEdits"},
]
"""What lets `rm` pass a permission tool, or may."""


@pytest.mark.parametrize("settings", LOOSE, ids=str)
def test_the_hook_denies_whatever_the_settings_allow(
    claude: Pinned, rules: Path, settings: dict[str, Any]
) -> None:
    (claude.cwd / "victim").touch()
    with ScriptedModel([tool("Bash", command="rm victim"), "Done."]) as model:
        hooked(claude, model, "--policy", str(rules), **settings)
        assert "Nothing is removed here." in told(model)
    assert claude.files == ["victim"]


def test_the_hook_allows_by_a_rule(claude: Pinned, rules: Path) -> None:
    with ScriptedModel([tool("Bash", command="touch here"), "Done."]) as model:
        assert hooked(claude, model, "--policy", str(rules))["result"] == "Done."
    assert claude.files == ["here"]


def test_the_hook_denies_what_no_rule_settles(claude: Pinned) -> None:
    with ScriptedModel([tool("Bash", command="mkdir made"), "Done."]) as model:
        hooked(claude, model, permissions={"allow": ["Bash"]})
        assert "nobody was there to ask" in told(model)
    assert not (claude.cwd / "made").exists()


def test_a_hook_that_fails_blocks(claude: Pinned) -> None:
    with ScriptedModel([tool("Bash", command="mkdir made"), "Done."]) as model:
        hooked(claude, model, "--policy", "/nowhere.toml", permissions={"allow": ["Bash"]})
    assert not (claude.cwd / "made").exists()


@pytest.mark.parametrize("alone", [False, True])
def test_what_the_hook_does_not_bind(claude: Pinned, rules: Path, alone: bool) -> None:
    """docs/approval.md says so: the user's settings may switch all hooks off, unless they are left out."""
    loose = {"disableAllHooks": True, "permissions": {"allow": ["Bash"]}}
    with ScriptedModel([tool("Bash", command="mkdir made"), "Done."]) as model:
        hooked(claude, model, "--policy", str(rules), alone=alone, **loose)
    assert (claude.cwd / "made").exists() is not alone


def test_what_the_permission_tool_does_not_hear(claude: Pinned, rules: Path) -> None:
    """docs/approval.md says so: what the user's settings allow."""
    (claude.home / ".claude").mkdir(exist_ok=True)
    allowed = {"permissions": {"allow": ["Bash"]}}
    (claude.home / ".claude" / "settings.json").write_text(json.dumps(allowed))
    (claude.cwd / "victim").touch()
    with ScriptedModel([tool("Bash", command="rm victim"), "Done."]) as model:
        one_shot(claude, model, "--policy", str(rules))
    assert claude.files == []
