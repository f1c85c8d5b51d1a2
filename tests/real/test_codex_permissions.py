"""Who may do what: every way to answer a permission request, and what the agent then really does."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman import (
    Answer,
    Capability,
    FileChanged,
    PermissionRequested,
    PermissionResolved,
    Session,
    SessionStatus,
    ToolEnded,
    Unsupported,
    UsageError,
)
from dragoman._runtime.standing import Request
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import Lines, Pinned

pytestmark = pytest.mark.anyio

TOUCH = tool("exec_command", cmd="touch here")
PATCH = tool("apply_patch", input="*** Begin Patch\n*** Add File: new.txt\n+fresh\n*** End Patch\n")
SERVER = {"command": sys.executable, "args": ["-I", str(Path(__file__).parent / "peers" / "mcp_server.py")]}
ADD = tool("mcp__small__add", a=3, b=4)


def saying(decision: Any = "deny", **fields: Any) -> Any:
    """A handler that always answers so."""

    def answer(request: Request, session: Session) -> Answer:
        return Answer(request=request.request_id, decision=decision, **fields)

    return answer


# --- commands ----------------------------------------------------------------------------------------------


@exercises(Capability.PERMISSIONS)
async def test_allowed(codex: Pinned) -> None:
    asked: list[Request] = []

    async def allow(request: Request, session: Session) -> bool:
        asked.append(request)
        return True

    async with codex.open([TOUCH, "Done."], approve=allow) as run:
        said = await run.turn("Touch it.")
    assert (codex.cwd / "here").exists()
    request = said.one(PermissionRequested)
    assert asked == [request]
    assert (request.tool_name, request.kind, request.title) == ("shell", "execute", "touch here")
    assert request.input["cwd"] == str(codex.cwd)
    resolved = said.one(PermissionResolved)
    assert (resolved.request_id, resolved.outcome, resolved.by, resolved.option_id) == (
        request.request_id,
        "allowed",
        "client",
        "accept",
    )
    done = said.one(ToolEnded)
    assert (done.call_id, done.status) == (request.call_id, "completed")
    states = [status.status for status in said.of(SessionStatus)]
    assert states[:3] == ["running", "requires_action", "running"]


async def test_answered_by_hand(codex: Pinned) -> None:
    async with codex.open([TOUCH, "Done."], approve=lambda request, session: None) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        assert await run.session.answer(request.request_id, "allow")
        assert not await run.session.answer(request.request_id, "deny")
        assert [event async for event in stream][-1].outcome == "completed"  # type: ignore[attr-defined]
    assert (codex.cwd / "here").exists()
    assert run.events.one(PermissionResolved).outcome == "allowed"


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


async def test_denied(codex: Pinned) -> None:
    async with codex.open([TOUCH, "Then not."], approve=saying(message="Not on a Sunday.")) as run:
        said = await run.turn("Touch it.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    assert list(codex.cwd.iterdir()) == []
    assert "rejected" in told
    resolved = said.one(PermissionResolved)
    assert (resolved.outcome, resolved.by, resolved.option_id) == ("denied", "client", "decline")
    assert said.one(ToolEnded).status == "declined"
    assert said.said() == ["Then not."]
    assert said.ended.outcome == "completed"


async def test_denied_and_stopped(codex: Pinned) -> None:
    async with codex.open([TOUCH, "Still here."], approve=saying(interrupt=True)) as run:
        said = await run.turn("Touch it.")
        assert len(run.model.requests_of("main")) == 1
        again = await run.turn("And now?")
    assert list(codex.cwd.iterdir()) == []
    resolved = said.one(PermissionResolved)
    assert (resolved.outcome, resolved.option_id) == ("denied", "cancel")
    assert said.ended.outcome == "cancelled"
    assert said.one(ToolEnded).status == "declined"
    assert again.said() == ["Still here."]


async def test_an_answer_that_codex_cannot_take_is_not_sent(codex: Pinned) -> None:
    async with codex.open([TOUCH, "Done."], approve=lambda request, session: None) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        with pytest.raises(UsageError, match="no option 'perhaps'"):
            await run.session.answer(request.request_id, "allow", option="perhaps")
        with pytest.raises(Unsupported, match="updated_input"):
            await run.session.answer(request.request_id, "allow", updated_input={"command": "touch there"})
        assert await run.session.answer(request.request_id, "deny")
        assert [event async for event in stream][-1].outcome == "completed"  # type: ignore[attr-defined]
    assert list(codex.cwd.iterdir()) == []
    assert run.events.one(PermissionResolved).outcome == "denied"


async def test_without_a_handler_the_answer_is_no(codex: Pinned) -> None:
    result = await codex.ask([TOUCH, "Then not."], "Touch it.")
    assert list(codex.cwd.iterdir()) == []
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "no handler")
    [done] = [event for event in result.events if isinstance(event, ToolEnded)]
    assert done.status == "declined"


async def test_a_handler_that_fails_denies(codex: Pinned) -> None:
    def fail(request: Request, session: Session) -> bool:
        raise RuntimeError("out of order")

    result = await codex.ask([TOUCH, "Then not."], "Touch it.", approve=fail)
    assert list(codex.cwd.iterdir()) == []
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "handler failed")


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
        said = await run.turn("Write it.")
        assert len(run.model.requests_of("main")) == 1
    assert list(codex.cwd.iterdir()) == []
    assert said.ended.outcome == "cancelled"
    assert said.of(ToolEnded) == []
    ended = run.events.one(ToolEnded)  # of which Codex says nothing more
    assert (ended.status, ended.synthesized) == ("declined", True)
    assert [change.phase for change in said.of(FileChanged)] == ["proposed"]


async def test_edits_are_allowed_and_commands_asked_for(codex: Pinned) -> None:
    async with codex.open([PATCH, TOUCH, "One of two."], approve="edits") as run:
        said = await run.turn("Do both.")
    assert [file.name for file in codex.cwd.iterdir()] == ["new.txt"]
    edit, command = said.of(PermissionResolved)
    assert (edit.outcome, edit.by) == ("allowed", "policy")
    assert (command.outcome, command.by, command.rule) == ("denied", "policy", "no handler")


async def test_dangerous_is_asked_for_and_the_rest_allowed(codex: Pinned) -> None:
    """Codex itself knows what only looks; what it asks for the rules decide."""
    look = tool("exec_command", cmd="git status --short; echo looked")
    async with codex.open([PATCH, look, TOUCH, "Two of three."], approve="dangerous") as run:
        said = await run.turn("Do it all.")
    assert [file.name for file in codex.cwd.iterdir()] == ["new.txt"]
    edit, *_, command = said.of(PermissionResolved)
    assert (edit.outcome, edit.by) == ("allowed", "policy")
    assert "editing inside the project" in (edit.rule or "")
    assert (command.outcome, command.by) == ("denied", "policy")
    assert "looked" in (said.of(ToolEnded)[1].output or "")


# --- tools of MCP servers ----------------------------------------------------------------------------------


async def test_an_mcp_tool_that_is_allowed(codex: Pinned) -> None:
    async with codex.open([ADD, "Seven."], mcp_servers={"small": SERVER}, approve=saying("allow")) as run:
        said = await run.turn("Add them.")
    request = said.one(PermissionRequested)
    assert (request.tool_name, request.kind, request.input) == ("mcp__small__add", "mcp", {"a": 3, "b": 4})
    done = said.one(ToolEnded)
    assert (done.call_id, done.status, done.output) == (request.call_id, "completed", "7")
    assert said.one(PermissionResolved).outcome == "allowed"


async def test_an_mcp_tool_that_is_allowed_for_the_session(codex: Pinned) -> None:
    lines: Lines = [ADD, ADD, "Seven, twice."]
    remember = saying("allow", remember=["session"])
    async with codex.open(lines, mcp_servers={"small": SERVER}, approve=remember) as run:
        said = await run.turn("Add them.")
    assert said.one(PermissionRequested).call_id == said.of(ToolEnded)[0].call_id
    assert said.one(PermissionResolved).option_id == "acceptForSession"
    assert [done.output for done in said.of(ToolEnded)] == ["7", "7"]


async def test_an_mcp_tool_that_is_denied(codex: Pinned) -> None:
    async with codex.open([ADD, "No."], mcp_servers={"small": SERVER}, approve=saying("deny")) as run:
        said = await run.turn("Add them.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    assert said.one(PermissionResolved).outcome == "denied"
    done = said.one(ToolEnded)
    assert (done.status, done.output) == ("failed", None)  # Codex's word for it
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
