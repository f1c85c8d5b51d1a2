"""Sessions are listed, gone on with by LATEST and by the beginning of their ids, and not found: the same on every agent
and in every dialect."""

import pytest

from dragoman import SessionNotFound
from dragoman.testing import ScriptedModel
from tests.real.capability_marks import by
from tests.real.command_line import run
from tests.real.driving import Pinned
from tests.real.pins import newest, pins
from tests.real.test_sessions import NOBODY

pytestmark = pytest.mark.anyio

WAYS = [
    *((pin, "claude_stream") for pin in pins("claude")),
    (newest("codex"), "codex_app"),
    (newest("codex"), "codex_exec"),
    (newest("gemini"), "acp"),
    (newest("gemini"), "gemini_stream"),
    (newest("opencode"), "acp"),
    (newest("codex-acp"), "acp"),
]
"""Every driven dialect, and the agents that speak ACP."""

on_every_way = pytest.mark.parametrize(("agent", "dialect"), WAYS, indirect=["agent"], ids=str)


# --- not found -----------------------------------------------------------------------------------------------


@on_every_way
@pytest.mark.parametrize("fork", [False, True], ids=["resumed", "forked"])
async def test_a_session_that_is_not_there(agent: Pinned, dialect: str, fork: bool) -> None:
    nobody = NOBODY[agent.name]
    if fork and agent.name == "gemini":
        pytest.skip("Gemini CLI copies no sessions")
    with pytest.raises(SessionNotFound, match=f"`dragoman ls {agent.name}`") as raised:
        await agent.ask(["Never said."], "Go on.", dialect=dialect, resume=nobody, fork=fork)
    assert raised.value.kind == "sessionNotFound"
    assert raised.value.exit_status == 1


@on_every_way
def test_the_command_line_says_so_in_one_sentence(agent: Pinned, dialect: str) -> None:
    with ScriptedModel(["Never said."]) as model:
        done = run(agent, model, "Go on.", "--dialect", dialect, "--resume", NOBODY[agent.name], "--json")
        assert model.requests_of("main") == []
    assert done.returncode == 1, done.stderr
    [said] = done.stderr.decode().splitlines()
    assert said.endswith(f"`dragoman ls {agent.name}` lists those that there are")


@by("claude", "codex", "gemini", "opencode", "codex-acp")
async def test_the_turn_of_a_session_that_is_not_there(agent: Pinned) -> None:
    async with agent.open(["Never said."], resume=NOBODY[agent.name]) as watched:
        with pytest.raises(SessionNotFound, match="does not open session"):
            await watched.turn("Go on.")
        with pytest.raises(SessionNotFound, match="does not open session"):
            await watched.turn("Are you there?")
        assert watched.model.requests_of("main") == []
