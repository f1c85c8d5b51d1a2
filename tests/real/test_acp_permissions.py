"""Who may do what, with agents that speak ACP: every way to answer, and what the agent then really does."""

from typing import Any

import pytest

from dragoman import (
    Answer,
    Capability,
    PermissionRequested,
    PermissionResolved,
    Session,
    ToolEnded,
    UsageError,
)
from dragoman._runtime.standing import Request
from tests.real.capability_marks import by, exercises
from tests.real.driving import Events, Lines
from tests.real.tongues import AcpAgent

pytestmark = pytest.mark.anyio

TOUCH = "touch here"

LASTING = {"gemini": "proceed_always", "opencode": "always", "codex-acp": "accept_execpolicy_amendment"}
"""The option of a command that holds from now on."""


def saying(decision: Any = "deny", **fields: Any) -> Any:
    """A handler that always answers so."""

    def answer(request: Request, session: Session) -> Answer:
        return Answer(request=request.request_id, decision=decision, **fields)

    return answer


@exercises(Capability.PERMISSIONS, Capability.REMEMBER)
async def test_allowed_by_hand_and_from_now_on(acp: AcpAgent) -> None:
    """With the option of the agent that says so: then it does not ask again."""
    lines: Lines = [acp.tongue.shell(TOUCH), "One.", acp.tongue.shell(TOUCH), "Two."]
    async with acp.open(lines, approve=lambda request, session: None) as run:
        stream = run.session.prompt("Touch it.")
        request = await run.until(PermissionRequested)
        assert (request.tool_name, request.kind) == (acp.tongue.shell_name, "execute")
        assert {"allow_once", "allow_always", "reject_once"} <= {option.kind for option in request.options}
        with pytest.raises(UsageError, match="no option 'perhaps'"):
            await run.session.answer(request.request_id, "allow", option="perhaps")
        assert list(acp.cwd.iterdir()) == []
        assert await run.session.answer(request.request_id, "allow", option=LASTING[acp.agent])
        assert not await run.session.answer(request.request_id, "deny")
        first = Events([event async for event in stream])
        (acp.cwd / "here").unlink()
        second = await run.turn("Touch it again.")
    resolved = first.one(PermissionResolved)
    assert (resolved.outcome, resolved.by, resolved.option_id) == ("allowed", "client", LASTING[acp.agent])
    done = first.one(ToolEnded)
    assert (done.call_id, done.status) == (request.call_id, "completed")
    assert second.of(PermissionRequested) == []
    assert second.one(ToolEnded).status == "completed"
    assert (acp.cwd / "here").exists()


@by("gemini")
async def test_allowed_for_this_session(acp: AcpAgent) -> None:
    lines: Lines = [acp.tongue.shell(TOUCH), "One.", acp.tongue.shell(TOUCH), "Two."]
    async with acp.open(lines, approve=saying("allow", remember=["session"])) as run:
        first = await run.turn("Touch it.")
        second = await run.turn("Touch it again.")
    assert first.one(PermissionResolved).by == "client"
    assert [resolved.by for resolved in second.of(PermissionResolved)] in ([], ["policy"])
    assert second.one(ToolEnded).status == "completed"


async def test_denied(acp: AcpAgent) -> None:
    """Gemini lets the model go on; OpenCode ends the turn, and Codex cancels it."""
    async with acp.open([acp.tongue.shell(TOUCH), "Then not."], approve=saying("deny")) as run:
        said = await run.turn("Touch it.")
        asked = len(run.model.requests_of("main"))
    assert list(acp.cwd.iterdir()) == []
    resolved = said.one(PermissionResolved)
    assert (resolved.outcome, resolved.by) == ("denied", "client")
    assert said.one(ToolEnded).status in ("declined", "failed")
    assert (asked, said.ended.outcome) == {
        "gemini": (2, "completed"),
        "opencode": (1, "completed"),
        "codex-acp": (1, "cancelled"),
    }[acp.agent]


@by("gemini")
async def test_without_a_handler_the_answer_is_no(acp: AcpAgent) -> None:
    result = await acp.ask([acp.tongue.shell(TOUCH), "Then not."], "Touch it.")
    assert list(acp.cwd.iterdir()) == []
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "no handler")
