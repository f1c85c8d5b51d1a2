"""Who may do what: the ways to answer a permission request that all agents know, and what each then really does."""

import pytest

from dragoman import (
    LATER,
    Capability,
    PermissionRequest,
    PermissionRequested,
    PermissionResolved,
    SessionStatus,
    ToolEnded,
    Unsupported,
    UsageError,
)
from tests.real.capability_marks import ACP_AGENTS, by, exercises
from tests.real.driving import Events, Lines, Pinned, saying, told

pytestmark = pytest.mark.anyio

TOUCH = "touch here"


# --- yes -----------------------------------------------------------------------------------------------------


@exercises(Capability.PERMISSIONS)
@by("claude", "codex")
async def test_allowed(agent: Pinned) -> None:
    asked: list[PermissionRequest] = []

    async def allow(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    async with agent.open([agent.tools.shell(TOUCH), "Done."], approve=allow) as run:
        said = await run.turn("Touch it.")
    assert agent.files == ["here"]
    request = said.one(PermissionRequested)
    assert [heard.event for heard in asked] == [request]
    assert (asked[0].commands, asked[0].cwd) == ([["touch", "here"]], str(agent.cwd))
    assert (request.tool_name, request.kind) == (agent.tools.shell_name, "execute")
    resolved = said.one(PermissionResolved)
    assert (resolved.request_id, resolved.outcome, resolved.by) == (request.request_id, "allowed", "client")
    assert resolved.updated_input is None
    done = said.one(ToolEnded)
    assert (done.call_id, done.status) == (request.call_id, "completed")
    if agent.name == "claude":
        assert request.input["command"] == TOUCH
    else:
        assert (request.title, request.input["cwd"], resolved.option_id) == (TOUCH, str(agent.cwd), "accept")
        states = [status.status for status in said.of(SessionStatus)]
        assert states[:3] == ["running", "requires_action", "running"]


@by("claude", "codex")
async def test_allowed_by_hand(agent: Pinned) -> None:
    """What the agent could not take is not sent, and the request is open as before."""
    async with agent.open([agent.tools.shell(TOUCH), "Done."], approve=lambda request: LATER) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        if agent.name == "codex":
            with pytest.raises(UsageError, match="no option 'perhaps'"):
                await run.session.answer(request.request_id, "allow", option="perhaps")
            with pytest.raises(Unsupported, match="updated_input"):
                await run.session.answer(request.request_id, "allow", updated_input={"command": "true"})
        assert agent.files == []
        assert await run.session.answer(request.request_id, "allow")
        assert not await run.session.answer(request.request_id, "deny")
        said = Events([event async for event in stream])
    assert agent.files == ["here"]
    assert said.ended.outcome == "completed"
    assert said.one(PermissionResolved).outcome == "allowed"


LASTING = {"gemini": "proceed_always", "opencode": "always", "codex-acp": "accept_execpolicy_amendment"}
"""The option of a command that holds from now on."""


@exercises(Capability.PERMISSIONS, Capability.REMEMBER)
@by(*ACP_AGENTS)
async def test_allowed_by_hand_and_from_now_on(agent: Pinned) -> None:
    """With the option of the agent that says so: then it does not ask again, or, where it is made to ask for every call,
    the policy knows."""
    lines: Lines = [agent.tools.shell(TOUCH), "One.", agent.tools.shell(TOUCH), "Two."]
    async with agent.open(lines, approve=lambda request: LATER) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        assert (request.tool_name, request.kind) == (agent.tools.shell_name, "execute")
        assert {"allow_once", "allow_always", "reject_once"} <= {option.kind for option in request.options}
        with pytest.raises(UsageError, match="no option 'perhaps'"):
            await run.session.answer(request.request_id, "allow", option="perhaps")
        assert agent.files == []
        assert await run.session.answer(request.request_id, "allow", option=LASTING[agent.name])
        assert not await run.session.answer(request.request_id, "deny")
        first = Events([event async for event in stream])
        (agent.cwd / "here").unlink()
        second = await run.turn("Touch it again.")
    resolved = first.one(PermissionResolved)
    assert (resolved.outcome, resolved.by, resolved.option_id) == ("allowed", "client", LASTING[agent.name])
    done = first.one(ToolEnded)
    assert (done.call_id, done.status) == (request.call_id, "completed")
    assert [(r.outcome, r.by) for r in second.of(PermissionResolved)] == (
        [("allowed", "policy")] if agent.name == "gemini" else []
    )
    assert second.one(ToolEnded).status == "completed"
    assert agent.files == ["here"]


@by("gemini")
async def test_allowed_for_this_session(agent: Pinned) -> None:
    lines: Lines = [agent.tools.shell(TOUCH), "One.", agent.tools.shell(TOUCH), "Two."]
    async with agent.open(lines, approve=saying("allow", remember=["session"])) as run:
        first = await run.turn("Touch it.")
        second = await run.turn("Touch it again.")
    assert first.one(PermissionResolved).by == "client"
    assert [resolved.by for resolved in second.of(PermissionResolved)] in ([], ["policy"])
    assert second.one(ToolEnded).status == "completed"


# --- no ------------------------------------------------------------------------------------------------------

DENIED = {
    "claude": (2, "completed", "Not on a Sunday."),
    "codex": (2, "completed", "rejected"),
    "gemini": (2, "completed", ""),
    "opencode": (1, "completed", ""),
    "codex-acp": (1, "cancelled", ""),
}
"""How often the model is then asked, how the turn ends, and what the model is told. Only Claude Code has a place for
our words; OpenCode ends the turn, and codex-acp cancels it."""


async def test_denied(agent: Pinned) -> None:
    no = saying("deny", message="Not on a Sunday.")
    async with agent.open([agent.tools.shell(TOUCH), "Then not."], approve=no) as run:
        said = await run.turn("Touch it.")
        requests = run.model.requests_of("main")
    asked, outcome, words = DENIED[agent.name]
    assert agent.files == []
    assert (len(requests), said.ended.outcome) == (asked, outcome)
    assert words in told(run.model, -1)
    resolved = said.one(PermissionResolved)
    assert (resolved.outcome, resolved.by) == ("denied", "client")
    done = said.one(ToolEnded)
    if agent.name in ("claude", "codex"):
        assert done.status == "declined"
        assert said.said() == ["Then not."]
    assert done.status in ("declined", "failed")
    if agent.name == "claude":
        assert resolved.message == "Not on a Sunday."
        assert [denial.tool_name for denial in said.ended.denials] == ["Bash"]
    if agent.name == "codex":
        assert resolved.option_id == "decline"


@by("claude", "codex")
async def test_denied_and_stopped(agent: Pinned) -> None:
    stop = saying("deny", message="Stop.", interrupt=True)
    async with agent.open([agent.tools.shell(TOUCH), "Still here."], approve=stop) as run:
        said = await run.turn("Touch it.")
        assert len(run.model.requests_of("main")) == 1
        again = await run.turn("And now?")
    assert agent.files == []
    assert said.one(PermissionResolved).outcome == "denied"
    if agent.name == "codex":
        assert said.one(PermissionResolved).option_id == "cancel"
    assert said.ended.outcome == "cancelled"
    assert said.one(ToolEnded).status == "declined"
    assert again.said() == ["Still here."]


@by("claude", "codex", "gemini")
async def test_without_a_handler_the_answer_is_no(agent: Pinned) -> None:
    result = await agent.ask([agent.tools.shell(TOUCH), "Then not."], "Touch it.")
    events = Events(result.events)
    assert agent.files == []
    assert (result.outcome, result.text, result.changes) == ("completed", "Then not.", [])
    assert result.session == events[-1].session is not None
    assert (result.usage, result.cost_usd is not None) == (events.ended.usage, agent.name == "claude")
    resolved = events.one(PermissionResolved)
    assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "no handler")
    assert events.one(ToolEnded).status == "declined"
    if agent.name == "claude":
        assert "nobody was there to ask" in (resolved.message or "")


@by("claude", "codex")
async def test_a_handler_that_fails_denies(agent: Pinned) -> None:
    def fail(request: PermissionRequest) -> bool:
        raise RuntimeError("out of order")

    result = await agent.ask([agent.tools.shell(TOUCH), "Then not."], "Touch it.", approve=fail)
    assert agent.files == []
    resolved = Events(result.events).one(PermissionResolved)
    assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "handler failed")
    if agent.name == "claude":
        assert "out of order" in (resolved.message or "")
