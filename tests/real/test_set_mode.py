"""A mode that is changed while a session goes on is the policy's mode too."""

import pytest

from dragoman import Answer, PermissionRequest
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio


def refuse(request: PermissionRequest) -> Answer:
    return Answer(decision="deny", message="No.")


async def test_our_own_words_are_taken_by_every_agent(actor: Pinned) -> None:
    """The agent's mode was changed and the policy went on as before."""
    lines = [actor.write("one"), "One.", actor.write("two"), "Two.", actor.write("three"), "Three."]
    async with actor.open(lines, mode="ask", approve=refuse) as run:
        await run.turn("Write one.")
        assert actor.files == []
        await run.session.set_mode("edits")
        await run.turn("Write two.")
        assert actor.files == ["two"]
        await run.session.set_mode("never")
        await run.turn("Write three.")
    assert actor.files == ["two"]


async def test_every_word_is_taken(actor: Pinned) -> None:
    async with actor.open(["Hi."], mode="ask", approve=refuse) as run:
        await run.turn("Hi.")
        for word in ("dangerous", "edits", "all", "never", "ask", "plan", "ask"):
            answer = await run.session.set_mode(word)
            assert answer is None or answer.ok
            assert run.session._connection._requests.policy.mode == word


@pytest.mark.parametrize(
    ("native", "meant"), [("acceptEdits", "edits"), ("plan", "plan"), ("default", "ask"), ("auto", "ask")]
)
async def test_a_mode_of_claude_s_own_is_the_policy_s_too(claude: Pinned, native: str, meant: str) -> None:
    """One of which nobody knows what it means leaves the policy as it is."""
    async with claude.open(["Hi."], mode="ask", approve=refuse) as run:
        await run.turn("Hi.")
        await run.session.set_mode(native)
        assert run.session._connection._requests.policy.mode == meant


async def test_a_mode_that_the_agent_refuses_loosens_nothing(claude: Pinned) -> None:
    async with claude.open(["Hi."], mode="ask", approve=refuse) as run:
        await run.turn("Hi.")
        answer = await run.session.set_mode("bypassPermissions")
        assert answer is not None
        assert run.session._connection._requests.policy.mode == ("all" if answer.ok else "ask")
