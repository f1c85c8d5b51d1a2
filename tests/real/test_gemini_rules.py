"""Which tools Gemini CLI gets: those that are blocked, and what the description of an MCP server says of its tools, are kept
from its model."""

from typing import Any

import pytest

from dragoman import PermissionRequest, RunEnded, ToolEnded, TurnEnded
from dragoman.testing import tool
from tests.real.driving import SMALL_SERVER, Lines, Pinned

pytestmark = pytest.mark.anyio

STEADY = {"model": "gemini-2.5-pro", "prompt": "Do it."}
OWN_POLICY = """
[[rule]]
toolName = "run_shell_command"
decision = "allow"
priority = 999
"""


@pytest.fixture
def allowed_by_its_user(gemini: Pinned) -> None:
    """A policy of the user's own that allows what is kept out here. Over ACP it is not in force at all."""
    folder = gemini.home / ".gemini" / "policies"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(OWN_POLICY)


@pytest.mark.usefixtures("allowed_by_its_user")
@pytest.mark.parametrize("dialect", ["acp", "gemini_stream"])
async def test_what_is_blocked_it_does_not_get(gemini: Pinned, dialect: str) -> None:
    lines: Lines = [gemini.tools.shell("touch ran"), gemini.write("written"), "Done."]
    fields: dict[str, Any] = {**STEADY, "dialect": dialect, "approve": "all"}
    async with gemini.open(lines, blocked_tools=["run_shell_command"], **fields) as run:
        await run.until(TurnEnded if dialect == "acp" else RunEnded)
        offered = run.model.requests_of("main")[0].tools
    assert "run_shell_command" not in offered
    assert "write_file" in offered
    assert gemini.files == ["written"]


@pytest.mark.parametrize(
    ("said", "offered", "asked", "shouted"),
    [
        ({}, ["add", "greet", "shout"], ["shout"], False),
        ({"trust": True}, ["add", "greet", "shout"], [], True),
        ({"includeTools": ["add", "shout"]}, ["add", "shout"], ["shout"], False),
        ({"excludeTools": ["shout"]}, ["add", "greet"], [], False),
        ({"includeTools": ["add", "shout"], "excludeTools": ["shout"], "trust": True}, ["add"], [], False),
    ],
)
async def test_tools_of_a_server(
    gemini: Pinned, said: dict[str, Any], offered: list[str], asked: list[str], shouted: bool
) -> None:
    seen: list[str] = []

    def approve(request: PermissionRequest) -> bool:
        seen.append(request.tool)
        return False

    servers = {"small": {**SMALL_SERVER, **said}}
    lines: Lines = [tool("mcp_small_shout", word="hey"), "Done."]
    async with gemini.open(lines, approve=approve, mcp_servers=servers, **STEADY) as run:
        await run.until(TurnEnded)
        tools = run.model.requests_of("main")[0].tools
    assert sorted(name.removeprefix("mcp_small_") for name in tools if "small" in name) == offered
    assert seen == asked
    assert ("HEY!" in [done.output for done in run.events.of(ToolEnded)]) == shouted
