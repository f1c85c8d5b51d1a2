"""Claude Code's own words for permissions: in each of its modes every call still passes the policy, and a tool of somebody
else's is asked only for what the policy does not deny."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman import (
    Notice,
    PermissionRequest,
    PermissionRequested,
    PermissionResolved,
    SessionStarted,
    ToolEnded,
)
from tests.real.driving import Events, Lines, Pinned

pytestmark = pytest.mark.anyio

MODES = ("default", "acceptEdits", "dontAsk", "auto", "bypassPermissions")
LETS_ROOT = {"IS_SANDBOX": "1"}
"""Without it bypassPermissions is refused to root."""


def acts(claude: Pinned) -> Lines:
    return [
        claude.tools.shell("touch ran"),
        claude.write("written"),
        claude.tools.shell("echo looked"),
        "Done.",
    ]


@pytest.mark.parametrize("mode", MODES)
async def test_in_each_of_its_modes_the_policy_is_the_judge(claude: Pinned, mode: str) -> None:
    asked: list[str] = []

    def approve(request: PermissionRequest) -> bool:
        asked.append(request.tool)
        return False

    fields: dict[str, Any] = {"native": {"permission_mode": mode}, "env": LETS_ROOT}
    result = await claude.ask(acts(claude), "Do it.", approve=approve, **fields)
    events = Events(result.events)
    assert (asked, claude.files) == (["Bash", "Write"], [])
    assert [done.status for done in events.of(ToolEnded)] == ["declined", "declined", "completed"]
    assert events.one(SessionStarted).permission_mode == mode
    assert events.of(Notice, code="permission_mode") == []


async def test_a_mode_that_its_settings_forbid_is_told_of(claude: Pinned) -> None:
    (claude.home / ".claude").mkdir()
    forbidden = {"permissions": {"disableBypassPermissionsMode": "disable"}}
    (claude.home / ".claude" / "settings.json").write_text(json.dumps(forbidden))
    fields: dict[str, Any] = {"native": {"permission_mode": "bypassPermissions"}, "env": LETS_ROOT}
    events = Events((await claude.ask(["Hi."], "Hi.", **fields)).events)
    mode = "auto" if claude.differs("it_starts_in_auto") else "default"
    assert events.one(SessionStarted).permission_mode == mode
    told = events.one(Notice, code="permission_mode", severity="warning").message
    assert told.endswith(f"in permission mode bypassPermissions, and says that it is in {mode}")


async def test_a_mode_that_we_set_before_the_first_turn_is_not(claude: Pinned) -> None:
    async with claude.open(["Hi."]) as run:
        await run.session.set_mode("plan")
        await run.turn("Hi.")
    assert run.events.one(SessionStarted).permission_mode == "plan"
    assert run.events.of(Notice, code="permission_mode") == []


async def test_a_rule_holds_where_its_own_mode_asks_nobody(claude: Pinned, tmp_path: Path) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\nname = "no touch"\ncommand = "touch"\neffect = "deny"\n')
    fields: dict[str, Any] = {"native": {"permission_mode": "bypassPermissions"}, "env": LETS_ROOT}
    result = await claude.ask(acts(claude), "Do it.", approve="all", policy=rules, **fields)
    denied = [each for each in Events(result.events).of(PermissionResolved) if each.outcome == "denied"]
    assert [(each.rule or "").partition(" (")[0] for each in denied] == ["no touch"]
    assert claude.files == ["written"]


# --- somebody else's tool ------------------------------------------------------------------------------------

JUDGE = """
import sys
from dragoman._runtime import permission_server
def write(line):
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
def judge(arguments):
    with open({log!r}, "a") as file:
        file.write(arguments["tool_name"] + "\\n")
    if arguments["tool_name"] == "Write":
        return {{"behavior": "deny", "message": "Not by me."}}
    return {{"behavior": "allow", "updatedInput": arguments["input"]}}
permission_server.serve(sys.stdin.buffer, write, judge)
"""


def judged(tmp_path: Path) -> dict[str, Any]:
    """A permission tool that allows all but writing, and writes down what it is asked."""
    program = tmp_path / "judge.py"
    program.write_text(JUDGE.format(log=str(tmp_path / "asked")))
    server = {"command": sys.executable, "args": [str(program)]}
    return {"mcp_servers": {"judge": server}, "native": {"permission_prompt_tool": "mcp__judge__approve"}}


def asked_of_it(tmp_path: Path) -> list[str]:
    return (tmp_path / "asked").read_text().split()


async def test_it_is_asked_in_place_of_us(claude: Pinned, tmp_path: Path) -> None:
    def approve(request: PermissionRequest) -> bool:
        raise AssertionError("nobody asks us")

    result = await claude.ask(acts(claude), "Do it.", approve=approve, **judged(tmp_path))
    events = Events(result.events)
    assert asked_of_it(tmp_path) == ["Bash", "Write", "Bash"]
    assert claude.files == ["ran"]
    statuses = [done.status for done in events.of(ToolEnded)]
    assert (statuses[0], statuses[2]) == ("completed", "completed")
    assert "Not by me." in (events.of(ToolEnded)[1].output or "")
    assert events.of(PermissionRequested) == []


async def test_what_the_policy_denies_it_is_not_asked(claude: Pinned, tmp_path: Path) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\nname = "no touch"\ncommand = "touch"\neffect = "deny"\n')
    result = await claude.ask(acts(claude), "Do it.", approve="all", policy=rules, **judged(tmp_path))
    denied = Events(result.events).of(PermissionResolved, outcome="denied")
    assert [(each.rule or "").partition(" (")[0] for each in denied] == ["no touch"]
    assert asked_of_it(tmp_path) == ["Write", "Bash"]
    assert claude.files == []


async def test_with_never_it_decides_on_looking_alone(claude: Pinned, tmp_path: Path) -> None:
    await claude.ask(acts(claude), "Do it.", approve="never", **judged(tmp_path))
    assert asked_of_it(tmp_path) == ["Bash"]
    assert claude.files == []


async def test_one_that_is_not_there_ends_the_run(claude: Pinned) -> None:
    """When it is first to be asked."""
    native = {"permission_prompt_tool": "mcp__none__approve"}
    result = await claude.ask(acts(claude), "Do it.", native=native)
    assert result.outcome == "truncated"
    assert result.error is not None
    assert result.error.message.startswith("Error: MCP tool mcp__none__approve")
    assert claude.files == []
