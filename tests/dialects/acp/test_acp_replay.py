"""History that an agent plays back is marked, makes no turns, and is not mixed with what comes next."""

import pytest

from dragoman._dialects.acp.opening import Opening
from dragoman._model import commands as c
from dragoman._model import events as ev
from tests.dialects.acp.conversation import SESSION, Conversation, chunk, update

HISTORY = [
    chunk("question", "user_message_chunk"),
    chunk("thought", "agent_thought_chunk"),
    chunk("answer"),
    chunk("and more"),
    update("tool_call", toolCallId="c", title="T", status="completed"),
    update("tool_call", toolCallId="d", title="T", status="pending"),
    update("plan", entries=[{"content": "a"}]),
]


def loaded(version: int = 1, before: int = len(HISTORY)) -> Conversation:
    """`before`: how much of the history comes before the answer (gemini sends the rest after it)."""
    talk = Conversation(Opening(cwd="/proj", resume=SESSION)).ready(version, loadSession=True)
    talk.agent(*HISTORY[:before])
    talk.answer({}, to="session/load" if version == 1 else "session/resume")
    talk.agent(*HISTORY[before:])
    return talk


@pytest.mark.parametrize("before", [0, 1, len(HISTORY)])
def test_what_is_played_back(before: int) -> None:
    talk = loaded(before=before)
    told = [event for event in talk.events if event.replay]
    said = [(event.role, event.kind, event.text) for event in told if isinstance(event, ev.Message)]
    assert said == [
        ("user", "text", "question"),
        ("assistant", "thinking", "thought"),
        ("assistant", "text", "answer"),
        ("assistant", "text", "and more"),
    ]
    assert [event.call_id for event in told if isinstance(event, ev.ToolStarted)] == ["c", "d"]
    assert any(isinstance(event, ev.PlanUpdated) for event in told)
    assert not talk.of(ev.Delta)
    assert not talk.of(ev.TurnStarted)
    assert {event.turn for event in told} == {0}
    talk.end(code=0)


def test_the_next_prompt_ends_it() -> None:
    talk = loaded()
    talk.say(c.Prompt(text="next"))
    left = [event for event in talk.of(ev.ToolEnded) if event.call_id == "d"]
    assert [(event.status, event.replay, event.synthesized, event.turn) for event in left] == [
        ("abandoned", True, True, 0)
    ]
    talk.agent(
        chunk("new "), chunk("words"), update("tool_call", toolCallId="c", title="T", status="completed")
    )
    talk.stops()
    fresh = [event for event in talk.of(ev.ToolStarted) if not event.replay]
    assert [event.call_id for event in fresh] == ["c"]
    assert talk.of(ev.TurnEnded)[0].text == "new words"
    [said] = [event for event in talk.of(ev.Message) if event.role == "assistant" and not event.replay]
    assert (said.text, said.turn) == ("new words", 1)
    talk.end(code=0)


def test_a_message_with_an_id_may_come_in_pieces() -> None:
    talk = Conversation(Opening(cwd="/proj", resume=SESSION)).ready(loadSession=True)
    talk.agent(chunk("a", messageId="x"), chunk("b", messageId="x"))
    talk.answer({}, to="session/load")
    talk.say(c.Prompt(text="next"))
    [said] = [event for event in talk.of(ev.Message) if event.role == "assistant"]
    assert (said.text, said.replay) == ("ab", True)
    talk.end()


def test_protocol_2_announces_each_message_empty() -> None:
    talk = Conversation(Opening(cwd="/proj", resume=SESSION, replay=True)).ready(2)
    talk.update("user_message", messageId="u", content=[])
    talk.agent(chunk("question", "user_message_chunk", messageId="u"))
    talk.update("agent_message", messageId="a", content=[])
    talk.agent(chunk("answer", messageId="a"))
    talk.update("state_update", state="idle")
    talk.answer({}, to="session/resume")
    assert [(event.role, event.text, event.replay) for event in talk.of(ev.Message)] == [
        ("user", "question", True),
        ("assistant", "answer", True),
    ]
    assert not talk.of(ev.TurnStarted)
    talk.update("state_update", state="running")
    talk.agent(chunk("awake", messageId="b"))
    talk.update("state_update", state="idle", stopReason="end_turn")
    assert [event.replay for event in talk.of(ev.Delta)] == [True, False]
    talk.end(code=0)


def test_the_same_history_twice() -> None:
    talk = loaded()
    talk.say(c.OpenSession(cwd="/proj", resume=SESSION, id="again"))
    talk.agent(*HISTORY)
    talk.answer({}, to="session/load")
    assert len(talk.of(ev.SessionStarted)) == 1
    talk.end(code=0)
