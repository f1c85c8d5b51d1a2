"""Answers that only Claude Code takes: another input, rules that it keeps; and its own lists of tools."""

import pytest

from dragoman import Answer, Capability, PermissionRequest, PermissionResolved, ToolEnded
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import Lines, Pinned

pytestmark = pytest.mark.anyio

TOUCH = tool("Bash", command="touch here")


@exercises(Capability.UPDATED_INPUT)
async def test_allowed_with_another_input(claude: Pinned) -> None:
    def elsewhere(request: PermissionRequest) -> Answer:
        return Answer(decision="allow", updated_input={"command": "touch elsewhere"})

    async with claude.open([TOUCH, "Done."], approve=elsewhere) as run:
        said = await run.turn("Touch it.")
    assert [file.name for file in claude.cwd.iterdir()] == ["elsewhere"]
    assert said.one(PermissionResolved).updated_input == {"command": "touch elsewhere"}
    assert said.one(ToolEnded).status == "completed"


@exercises(Capability.REMEMBER)
async def test_allowed_and_remembered(claude: Pinned) -> None:
    def remember(request: PermissionRequest) -> Answer:
        rule = {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}],
            "behavior": "allow",
            "destination": "session",
        }
        return Answer(decision="allow", remember=[rule])

    script: Lines = [TOUCH, "One.", tool("Bash", command="touch there"), "Two."]
    async with claude.open(script, approve=remember) as run:
        first = await run.turn("Touch it.")
        second = await run.turn("Touch the other.")
    assert {file.name for file in claude.cwd.iterdir()} == {"here", "there"}
    assert first.one(PermissionResolved).outcome == "allowed"
    assert second.one(PermissionResolved).rule == "as was suggested"
    assert second.one(ToolEnded).status == "completed"


async def test_a_suggestion_of_the_agent_can_be_remembered(claude: Pinned) -> None:
    """As an update of its own permissions: to accept all edits from now on. It suggests none itself where every call is
    asked for by a hook."""

    def remember(request: PermissionRequest) -> Answer:
        assert request.event.suggestions == []
        chosen = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        return Answer(decision="allow", remember=[chosen])

    one, two = claude.cwd / "one", claude.cwd / "two"
    script = [tool("Write", file_path=str(path), content=f"{path.name}\n") for path in (one, two)]
    async with claude.open([*script, "Done."], approve=remember) as run:
        said = await run.turn("Write them.")
    assert (one.read_text(), two.read_text()) == ("one\n", "two\n")
    assert [resolved.by for resolved in said.of(PermissionResolved)] == ["client", "policy"]
    assert not list(claude.cwd.glob(".claude/*"))


async def test_tools_that_are_allowed_and_blocked_by_name(claude: Pinned) -> None:
    fields = {"allowed_tools": ["Bash(touch:*)"], "blocked_tools": ["Write"]}
    write = tool("Write", file_path=str(claude.cwd / "written"), content="x")
    async with claude.open([TOUCH, write, "Done."], **fields) as run:
        said = await run.turn("Do both.")
        assert "Write" not in run.model.requests_of("main")[0].tools
    assert [file.name for file in claude.cwd.iterdir()] == ["here"]
    assert [done.status for done in said.of(ToolEnded)] == ["completed", "failed"]
