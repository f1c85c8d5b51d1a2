"""Calls of the model, under the keys that the session file has for them."""

from dragoman._model import events as ev
from tests.dialects.codex.app.conversation import THREAD, TURN, Conversation
from tests.interpreted import of


def tell(talk: Conversation, total: int, last: int, turn: str = TURN, thread: str = THREAD) -> None:
    used = {
        of: {"inputTokens": 10 * tokens, "outputTokens": tokens, "totalTokens": 11 * tokens}
        for of, tokens in (("total", total), ("last", last))
    }
    talk.notify("thread/tokenUsage/updated", threadId=thread, turnId=turn, tokenUsage=used)


def calls(talk: Conversation) -> list[ev.UsageUpdated]:
    return [event for event in of(talk.events, ev.UsageUpdated) if event.scope == "call"]


def test_each_call_of_a_turn_has_a_key() -> None:
    talk = Conversation().opened().in_turn()
    for total, last in ((1, 1), (1, 1), (3, 2), (3, 0)):
        tell(talk, total, last)
    said = [(call.call, call.usage.output_tokens) for call in calls(talk) if call.usage]
    assert said == [(f"{TURN}/1", 1), (f"{TURN}/2", 2)]


def test_what_is_told_outside_a_turn_is_where_it_begins() -> None:
    talk = Conversation().opened()
    tell(talk, 5, 5, turn="turn-0")
    talk.in_turn()
    tell(talk, 5, 5)
    tell(talk, 7, 2)
    assert [call.call for call in calls(talk)] == [f"{TURN}/1"]
