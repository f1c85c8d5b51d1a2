"""Who may do what: every way to answer a permission request, and what the agent then really does."""

import json

import pytest

from dragoman import Answer, Capability, PermissionRequested, PermissionResolved, Session, ToolEnded
from dragoman._runtime.standing import Request
from dragoman.testing import tool
from tests.real.capability_marks import exercises
from tests.real.driving import Lines, Pinned

pytestmark = pytest.mark.anyio

TOUCH = tool("Bash", command="touch here")


@exercises(Capability.PERMISSIONS)
async def test_allowed(claude: Pinned) -> None:
    asked: list[Request] = []

    async def allow(request: Request, session: Session) -> bool:
        asked.append(request)
        return True

    async with claude.open([TOUCH, "Done."], approve=allow) as run:
        said = await run.turn("Touch it.")
    assert (claude.cwd / "here").exists()
    request = said.one(PermissionRequested)
    assert asked == [request]
    assert (request.tool_name, request.kind, request.input["command"]) == ("Bash", "execute", "touch here")
    resolved = said.one(PermissionResolved)
    assert (resolved.request_id, resolved.outcome, resolved.by) == (request.request_id, "allowed", "client")
    assert resolved.updated_input is None
    done = said.one(ToolEnded)
    assert (done.call_id, done.status) == (request.call_id, "completed")


async def test_answered_by_hand(claude: Pinned) -> None:
    async with claude.open([TOUCH, "Done."], approve=lambda request, session: None) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        assert await run.session.answer(request.request_id, "allow")
        assert not await run.session.answer(request.request_id, "deny")
        assert [event async for event in stream][-1].outcome == "completed"  # type: ignore[attr-defined]
    assert (claude.cwd / "here").exists()
    assert run.events.one(PermissionResolved).outcome == "allowed"


@exercises(Capability.UPDATED_INPUT)
async def test_allowed_with_another_input(claude: Pinned) -> None:
    def elsewhere(request: Request, session: Session) -> Answer:
        return Answer(
            request=request.request_id, decision="allow", updated_input={"command": "touch elsewhere"}
        )

    async with claude.open([TOUCH, "Done."], approve=elsewhere) as run:
        said = await run.turn("Touch it.")
    assert [file.name for file in claude.cwd.iterdir()] == ["elsewhere"]
    assert said.one(PermissionResolved).updated_input == {"command": "touch elsewhere"}
    assert said.one(ToolEnded).status == "completed"


@exercises(Capability.REMEMBER)
async def test_allowed_and_remembered(claude: Pinned) -> None:
    def remember(request: Request, session: Session) -> Answer:
        rule = {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}],
            "behavior": "allow",
            "destination": "session",
        }
        return Answer(request=request.request_id, decision="allow", remember=[rule])

    script: Lines = [TOUCH, "One.", tool("Bash", command="touch there"), "Two."]
    async with claude.open(script, approve=remember) as run:
        first = await run.turn("Touch it.")
        second = await run.turn("Touch the other.")
    assert {file.name for file in claude.cwd.iterdir()} == {"here", "there"}
    assert first.one(PermissionResolved).outcome == "allowed"
    assert second.of(PermissionRequested) == []
    assert second.one(ToolEnded).status == "completed"


async def test_a_suggestion_of_the_agent_can_be_remembered(claude: Pinned) -> None:
    """Edits are asked for with a suggestion to accept all of them from now on."""

    def remember(request: Request, session: Session) -> Answer:
        assert isinstance(request, PermissionRequested)
        chosen = [s for s in request.suggestions if s["type"] == "setMode"]
        return Answer(request=request.request_id, decision="allow", remember=chosen)

    one, two = claude.cwd / "one", claude.cwd / "two"
    script = [tool("Write", file_path=str(path), content=f"{path.name}\n") for path in (one, two)]
    async with claude.open([*script, "Done."], approve=remember) as run:
        said = await run.turn("Write them.")
    assert (one.read_text(), two.read_text()) == ("one\n", "two\n")
    assert said.one(PermissionRequested).call_id == said.of(ToolEnded)[0].call_id
    assert not list(claude.cwd.glob(".claude/*"))


async def test_denied(claude: Pinned) -> None:
    def deny(request: Request, session: Session) -> Answer:
        return Answer(request=request.request_id, decision="deny", message="Not on a Sunday.")

    async with claude.open([TOUCH, "Then not."], approve=deny) as run:
        said = await run.turn("Touch it.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    assert list(claude.cwd.iterdir()) == []
    assert "Not on a Sunday." in told
    resolved = said.one(PermissionResolved)
    assert (resolved.outcome, resolved.by, resolved.message) == ("denied", "client", "Not on a Sunday.")
    assert said.one(ToolEnded).status == "declined"
    assert said.ended.outcome == "completed"
    assert [denial.tool_name for denial in said.ended.denials] == ["Bash"]


async def test_denied_and_stopped(claude: Pinned) -> None:
    def stop(request: Request, session: Session) -> Answer:
        return Answer(request=request.request_id, decision="deny", message="Stop.", interrupt=True)

    async with claude.open([TOUCH, "Never said."], approve=stop) as run:
        said = await run.turn("Touch it.")
        assert len(run.model.requests_of("main")) == 1
    assert list(claude.cwd.iterdir()) == []
    assert said.ended.outcome == "cancelled"
    assert said.one(ToolEnded).status == "declined"


async def test_without_a_handler_the_answer_is_no(claude: Pinned) -> None:
    result = await claude.ask([TOUCH, "Then not."], "Touch it.")
    assert list(claude.cwd.iterdir()) == []
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "no handler")
    assert "nobody was there to ask" in (resolved.message or "")


async def test_a_handler_that_fails_denies(claude: Pinned) -> None:
    def fail(request: Request, session: Session) -> bool:
        raise RuntimeError("out of order")

    result = await claude.ask([TOUCH, "Then not."], "Touch it.", approve=fail)
    assert list(claude.cwd.iterdir()) == []
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.by) == ("denied", "policy")
    assert "out of order" in (resolved.message or "")


async def test_never_denies_without_asking(claude: Pinned) -> None:
    result = await claude.ask([TOUCH, "Then not."], "Touch it.", approve="never")
    assert list(claude.cwd.iterdir()) == []
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "approve=never")
    [done] = [event for event in result.events if isinstance(event, ToolEnded)]
    assert done.status == "declined"


async def test_tools_that_are_allowed_and_blocked_by_name(claude: Pinned) -> None:
    fields = {"allowed_tools": ["Bash(touch:*)"], "blocked_tools": ["Write"]}
    write = tool("Write", file_path=str(claude.cwd / "written"), content="x")
    async with claude.open([TOUCH, write, "Done."], **fields) as run:
        said = await run.turn("Do both.")
        assert "Write" not in run.model.requests_of("main")[0].tools
    assert [file.name for file in claude.cwd.iterdir()] == ["here"]
    assert [done.status for done in said.of(ToolEnded)] == ["completed", "failed"]
