"""Sessions of agents that speak ACP: resumed, played back, copied, lost, and several at once in one process."""

from pathlib import Path

import anyio
import pytest

from dragoman import (
    Capability,
    CommandEnded,
    Fork,
    Message,
    Prompt,
    RunEnded,
    SessionNotFound,
    SessionStarted,
    TurnEnded,
    TurnStarted,
)
from dragoman.testing import Hold, ScriptedModel, Step, script, turn
from tests.real.capability_marks import by, exercises
from tests.real.driving import Events
from tests.real.tongues import AcpAgent

pytestmark = pytest.mark.anyio

NOBODY = {
    "gemini": "11111111-2222-4333-8444-555555555555",
    "opencode": "ses_111111111111AAAAAAAAAAAAAA",
    "codex-acp": "11111111-2222-7333-8444-555555555555",
}


# --- one after the other -----------------------------------------------------------------------------------


def age(acp: AcpAgent) -> None:
    """Gemini CLI 0.61.0 empties a session that is loaded in the minute in which it began."""
    for number, path in enumerate(sorted(acp.home.glob(".gemini/tmp/*/chats/session-*"))):
        path.rename(path.with_name(f"session-2020-01-01T00-{number:02}-{path.name[-14:]}"))


@exercises(Capability.RESUME)
async def test_resume(acp: AcpAgent) -> None:
    """Quietly where that can be had: Gemini CLI plays the history back in any case."""
    with ScriptedModel(["Seven.", "Eight.", "Nine."]) as model:
        async with acp.open(model) as first:
            await first.turn("Count to seven.")
        age(acp)
        async with acp.open(model, resume=first.session.id) as second:
            eight = await second.turn("Go on.")
        age(acp)
        async with acp.open(model, resume=first.session.id, native={"replay": True}) as third:
            nine = await third.turn("And on.")
        texts = model.requests_of("main")[2].texts
    assert (eight.said(), nine.said()) == (["Eight."], ["Nine."])
    assert {"Count to seven.", "Go on."} <= set(texts)
    assert texts[-1] == "And on."
    for run in (second, third):
        assert run.session.id == first.session.id
        assert run.events.one(SessionStarted).resumed
        assert len(run.events.of(TurnStarted)) == 1
    quiet = [message.text for message in second.events.of(Message, replay=True)]
    assert quiet == [] if acp.agent != "gemini" else quiet[-1] == "Seven."
    history = [message.text for message in third.events.of(Message, replay=True)]
    assert [text for text in history if text in ("Count to seven.", "Seven.", "Go on.", "Eight.")] == [
        "Count to seven.",
        "Seven.",
        "Go on.",
        "Eight.",
    ]


@exercises(Capability.FORK)
@by("opencode", "codex-acp")
async def test_fork(acp: AcpAgent) -> None:
    with ScriptedModel(["Seven.", "Eight."]) as model:
        async with acp.open(model) as first:
            await first.turn("Count to seven.")
        async with acp.open(model, resume=first.session.id, fork=True) as second:
            said = await second.turn("Go on.")
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert said.said() == ["Eight."]
    assert second.session.id != first.session.id
    assert {event.session for event in said} == {second.session.id}


@exercises(Capability.LIVE_FORK)
@by("opencode", "codex-acp")
async def test_fork_while_it_runs(acp: AcpAgent) -> None:
    async with acp.open(["Seven.", "Eight.", "Nine."]) as run:
        await run.turn("Count to seven.")
        answer = await run.session.send(Fork())
        assert answer is not None
        assert (answer.command, answer.ok) == ("fork", True)
        copy = answer.result["sessionId"]
        await run.session.send(Prompt(text="Go on.", session=copy))
        eight = await run.until(TurnEnded, session=copy)
        nine = await run.turn("And the old one?")
        _, forked, old = run.model.requests_of("main")
    assert copy != run.session.id
    assert eight.text == "Eight."
    assert nine.said() == ["Nine."]
    assert {event.session for event in nine} == {run.session.id}
    assert {"Count to seven.", "Go on."} <= set(forked.texts)
    assert "Go on." not in old.texts


@by("gemini", "codex-acp")
async def test_resume_of_an_unknown_session(acp: AcpAgent) -> None:
    async with acp.open(["Never said."], resume=NOBODY[acp.agent]) as run:
        said = await run.turn("Go on.")
        assert run.model.requests_of("main") == []
    assert (said.ended.outcome, said.ended.reason) == ("failed", "no session could be opened")
    assert said.ended.error is not None
    assert run.events.one(RunEnded).outcome == "failed"


# --- side by side ------------------------------------------------------------------------------------------


@exercises(Capability.MANY_SESSIONS)
async def test_two_sessions_at_once(acp: AcpAgent, tmp_path: Path) -> None:
    """Both are at work at the same time: each waits until the other has begun."""
    places = {name: tmp_path / name for name in ("left", "right")}
    for place in places.values():
        place.mkdir()
    routes: dict[str, list[Step]] = {
        name: [turn(acp.tongue.shell("pwd > here"), hold=Hold(name)), f"This was the {name}."]
        for name in places
    }
    said: dict[str, Events] = {}
    async with acp.connect(script(routes=routes), approve="all") as company:
        sessions = {name: await company.session(cwd=place) for name, place in places.items()}
        assert len({watched.session.id for watched in sessions.values()}) == 2

        async def work(name: str) -> None:
            said[name] = await sessions[name].turn(f"[[{name}]] Where are you?")

        async with anyio.create_task_group() as tasks:
            for name in sessions:
                tasks.start_soon(work, name)
            for name in sessions:
                await sessions[name].held(name)
            for name in sessions:
                company.model.open(name)
        with pytest.raises(SessionNotFound):
            await company.session(resume=NOBODY[acp.agent])
    for name, place in places.items():
        assert (place / "here").read_text() == f"{place}\n"
        assert said[name].said() == [f"This was the {name}."]
        assert said[name].ended.outcome == "completed"
        assert {event.session for event in said[name]} == {sessions[name].session.id}
    kinds = [type(event) for event in company.events if isinstance(event, TurnStarted | TurnEnded)]
    assert kinds == [TurnStarted, TurnStarted, TurnEnded, TurnEnded]
    opened = company.events.of(CommandEnded, command="open_session")
    assert [answer.ok for answer in opened] == [True, True, False]
    assert company.events.one(RunEnded).outcome == "completed"


@by("gemini", "codex-acp")
async def test_a_session_is_closed_and_the_other_goes_on(acp: AcpAgent) -> None:
    lines = script(["Still here."], routes={"left": [turn("Never said.", hold=Hold("never"))]})
    async with acp.connect(lines) as company:
        left, right = await company.session(), await company.session()
        stream = left.session.prompt("[[left]] Hello.")
        await left.held("never")
        await left.session.close()
        assert Events([event async for event in stream]).ended.outcome == "cancelled"
        said = await right.turn("And you?")
    assert said.said() == ["Still here."]
    assert company.events.one(RunEnded).outcome == "completed"
