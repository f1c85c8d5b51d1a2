"""A running session as a published view."""

import pytest

from dragoman._dialects.agent_event import messages as agent_event
from dragoman._dialects.insights import messages as insights
from dragoman._model.errors import UsageError
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = pytest.mark.anyio


async def test_the_items_come_as_the_run_goes() -> None:
    async with alone(toy_plan()) as session:
        view = session.view("insights")
        turn = session.prompt("say one")
        item = None
        async for item in view:
            if isinstance(item, insights.TurnCompleteEvent):
                break
        assert item is not None
        assert b'"event":"turn_complete"' in view.encode(item)
        assert [event async for event in turn]


async def test_the_view_ends_with_the_run() -> None:
    async with alone(toy_plan()) as session:
        view = session.view("agent-event", extended=True)
        async for _ in session.prompt("say one"):
            pass
    told = [type(item) async for item in view]
    assert told[0] is agent_event.TurnStartedEvent
    assert {agent_event.SessionStartedEvent, agent_event.TextChunkEvent} <= set(told)
    assert told[-1] is agent_event.SessionEndedEvent
    await view.aclose()


async def test_views_that_cannot_be() -> None:
    async with alone(toy_plan()) as session:
        with pytest.raises(UsageError, match="no view is called"):
            session.view("nothing")
        with pytest.raises(UsageError, match="claude, codex, gemini"):
            session.view("agent-event")
        session.view("agent-event", vendor="claude")
