"""Permissions that only Codex asks for and gives: patches, MCP tools, grants that last, and more than it may."""

import json

import pytest

from dragoman import (
    Capability,
    FileChanged,
    PermissionRequested,
    PermissionResolved,
    ToolEnded,
)
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import SMALL_SERVER, Lines, Pinned, saying

pytestmark = pytest.mark.anyio

TOUCH = tool("exec_command", cmd="touch here")
PATCH = tool("apply_patch", input="*** Begin Patch\n*** Add File: new.txt\n+fresh\n*** End Patch\n")
ADD = tool("mcp__small__add", a=3, b=4)


# --- commands ----------------------------------------------------------------------------------------------


@exercises(Capability.REMEMBER)
async def test_allowed_for_the_session(codex: Pinned) -> None:
    lines: Lines = [TOUCH, "One.", TOUCH, "Two.", tool("exec_command", cmd="touch there"), "Three."]
    async with codex.open(lines, approve=saying("allow", remember=["session"])) as run:
        first = await run.turn("Touch it.")
        (codex.cwd / "here").unlink()
        second = await run.turn("Touch it again.")
        third = await run.turn("Touch another.")
    assert {file.name for file in codex.cwd.iterdir()} == {"here", "there"}
    assert first.one(PermissionRequested).suggestions == ["session"]
    assert first.one(PermissionResolved).option_id == "acceptForSession"
    assert second.of(PermissionRequested) == []
    assert second.one(ToolEnded).status == "completed"
    assert third.one(PermissionRequested).title == "touch there"


async def test_allowed_from_now_on_by_the_option_that_says_so(codex: Pinned) -> None:
    """A grant that is written to disk: never given but by its own name."""
    lines: Lines = [TOUCH, "One.", TOUCH, "Two."]
    option = "acceptWithExecpolicyAmendment"
    async with codex.open(lines, approve=saying("allow", option=option)) as run:
        first = await run.turn("Touch it.")
        second = await run.turn("Touch it again.")
    request = first.one(PermissionRequested)
    assert option in [offered.id for offered in request.options if offered.kind == "allow_always"]
    resolved = first.one(PermissionResolved)
    assert (resolved.outcome, resolved.option_id) == ("allowed", option)
    assert second.of(PermissionRequested) == []
    rules = [path.read_text() for path in (codex.home / ".codex" / "rules").iterdir()]
    assert any("touch" in rule for rule in rules)


async def test_a_mode_that_asks_nobody_changes_nothing(codex: Pinned) -> None:
    async with codex.open([TOUCH, PATCH, "Then not."], approve="plan") as run:
        said = await run.turn("Touch it.")
        command, patch = (json.dumps(request.messages[-1]) for request in run.model.requests_of("main")[1:])
    assert list(codex.cwd.iterdir()) == []
    assert "exited with code 0" not in command
    assert "rejected" in patch
    assert all((no.outcome, no.by) == ("denied", "policy") for no in said.of(PermissionResolved))
    assert said.of(ToolEnded, status="completed") == []
    assert said.said() == ["Then not."]


# --- files -------------------------------------------------------------------------------------------------


async def test_a_patch_that_is_allowed(codex: Pinned) -> None:
    async with codex.open([PATCH, "Done."], approve=saying("allow")) as run:
        said = await run.turn("Write it.")
    assert (codex.cwd / "new.txt").read_text() == "fresh\n"
    request = said.one(PermissionRequested)
    assert (request.tool_name, request.kind) == ("apply_patch", "edit")
    assert [change["path"] for change in request.input["changes"]] == [str(codex.cwd / "new.txt")]
    assert request.title == str(codex.cwd / "new.txt")
    [proposed, applied] = said.of(FileChanged)
    assert (proposed.phase, applied.phase) == ("proposed", "applied")
    assert said.index(proposed) < said.index(request) < said.index(applied)
    assert said.one(ToolEnded, call_id=request.call_id).status == "completed"


async def test_a_patch_that_is_denied(codex: Pinned) -> None:
    async with codex.open([PATCH, "Then not."], approve=saying("deny")) as run:
        said = await run.turn("Write it.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    assert list(codex.cwd.iterdir()) == []
    assert "rejected" in told
    assert said.one(PermissionResolved).outcome == "denied"
    assert said.one(ToolEnded).status == "declined"
    assert [change.phase for change in said.of(FileChanged)] == ["proposed", "failed"]
    assert said.ended.outcome == "completed"


async def test_a_patch_that_is_denied_with_the_turn(codex: Pinned) -> None:
    async with codex.open([PATCH, "Never said."], approve=saying("deny", interrupt=True)) as run:
        said = await run.turn("Write it.", leaves_running=True)
        assert len(run.model.requests_of("main")) == 1
    assert list(codex.cwd.iterdir()) == []
    assert said.ended.outcome == "cancelled"
    assert said.of(ToolEnded) == []
    ended = run.events.one(ToolEnded)  # of which Codex says nothing more
    assert (ended.status, ended.synthesized) == ("declined", True)
    assert [change.phase for change in said.of(FileChanged)] == ["proposed"]


# --- tools of MCP servers ----------------------------------------------------------------------------------


async def test_an_mcp_tool_that_is_allowed_for_the_session(codex: Pinned) -> None:
    lines: Lines = [ADD, ADD, "Seven, twice."]
    remember = saying("allow", remember=["session"])
    async with codex.open(lines, mcp_servers={"small": SMALL_SERVER}, approve=remember) as run:
        said = await run.turn("Add them.")
    request, resolved = said.one(PermissionRequested), said.one(PermissionResolved)
    assert (request.tool_name, request.kind, request.input) == ("mcp__small__add", "mcp", {"a": 3, "b": 4})
    assert (resolved.outcome, resolved.option_id) == ("allowed", "acceptForSession")
    assert request.call_id == said.of(ToolEnded)[0].call_id
    assert [(done.status, done.output) for done in said.of(ToolEnded)] == [("completed", "7")] * 2


async def test_an_mcp_tool_that_is_denied(codex: Pinned) -> None:
    async with codex.open([ADD, "No."], mcp_servers={"small": SMALL_SERVER}, approve=saying("deny")) as run:
        said = await run.turn("Add them.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    assert said.one(PermissionResolved).outcome == "denied"
    done = said.one(ToolEnded)
    assert (done.status, done.output) == ("declined", None)  # Codex says failed
    assert done.error is not None
    assert "rejected" in done.error.message
    assert "rejected" in told
    assert said.said() == ["No."]


# --- more than it may --------------------------------------------------------------------------------------

MORE = tool("request_permissions", reason="To look it up.", permissions={"network": {"enabled": True}})


@pytest.mark.parametrize(("decision", "outcome"), [("allow", "allowed"), ("deny", "denied")])
async def test_more_permissions(codex: Pinned, decision: str, outcome: str) -> None:
    native = {"config": {"features.request_permissions_tool": True}}
    async with codex.open([MORE, "Well."], approve=saying(decision), native=native) as run:
        said = await run.turn("Look it up.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    request = said.one(PermissionRequested)
    assert (request.tool_name, request.reason) == ("request_permissions", "To look it up.")
    assert said.one(PermissionResolved).outcome == outcome
    assert ("enabled" in told) == (decision == "allow")
