"""Sessions that need not be open, on the agents themselves: listed, put away, given a title, deleted."""

import pytest

import dragoman
from dragoman import Capability, SessionInfo, SessionNotFound, Unsupported
from dragoman.testing import Scenario, ScriptedModel
from tests.real.capability_marks import by, exercises
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio


async def listed(agent: Pinned, model: Scenario, *, archived: bool = False) -> list[SessionInfo]:
    return await dragoman.list_sessions(agent.name, archived=archived, **agent.fields(model))


async def a_session(agent: Pinned, model: Scenario) -> str:
    result = await agent.ask(model, "Count to seven.")
    assert result.session is not None
    return result.session


@exercises(Capability.LIST_SESSIONS)
@by("codex", "opencode", "codex-acp")
async def test_the_agent_lists_them(agent: Pinned) -> None:
    with ScriptedModel(["Seven."]) as model:
        id = await a_session(agent, model)
        [found] = await listed(agent, model)
        async with dragoman.connect(agent.name, **agent.fields(model)) as connection:
            [same] = await connection.list_sessions(agent.cwd)
    assert (found.id, found.agent, found.cwd) == (id, agent.name, str(agent.cwd))
    assert found.updated is not None
    assert same == found


@exercises(Capability.ARCHIVE)
@by("codex")
async def test_one_is_put_away_and_back(agent: Pinned) -> None:
    with ScriptedModel(["Seven."]) as model:
        id, fields = await a_session(agent, model), agent.fields(model)
        await dragoman.archive_session(agent.name, id[:-4], **fields)
        assert await listed(agent, model) == []
        [away] = await listed(agent, model, archived=True)
        assert (away.id, away.archived) == (id, True)
        await dragoman.archive_session(agent.name, id, archived=False, **fields)
        assert [info.id for info in await listed(agent, model)] == [id]
        assert await listed(agent, model, archived=True) == []


@exercises(Capability.RENAME)
@by("codex")
async def test_one_gets_a_title(agent: Pinned) -> None:
    with ScriptedModel(["Seven."]) as model:
        id = await a_session(agent, model)
        await dragoman.rename_session(agent.name, id, "Numbers", **agent.fields(model))
        [found] = await listed(agent, model)
    assert (found.id, found.title) == (id, "Numbers")


@exercises(Capability.DELETE)
@by("codex", "codex-acp")
async def test_one_is_deleted(agent: Pinned) -> None:
    with ScriptedModel(["Seven."]) as model:
        id, fields = await a_session(agent, model), agent.fields(model)
        if agent.differs("nothing_is_deleted"):
            with pytest.raises(Unsupported, match="codex cannot do this: delete"):
                await dragoman.delete_session(agent.name, id, **fields)
            return
        await dragoman.delete_session(agent.name, id, **fields)
        assert await listed(agent, model) == []
        with pytest.raises(SessionNotFound, match=f"{agent.name} has no session {id}"):
            await dragoman.delete_session(agent.name, id, **fields)


@by("claude", "gemini")
async def test_others_cannot(agent: Pinned) -> None:
    with ScriptedModel([]) as model:
        for change in (dragoman.archive_session, dragoman.delete_session):
            with pytest.raises(Unsupported, match=f"{agent.name} cannot do this: (archive|delete)"):
                await change(agent.name, "x", **agent.fields(model))
