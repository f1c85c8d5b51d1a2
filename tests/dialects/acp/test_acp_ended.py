"""What has ended: kept while something may be said of it, then forgotten; and made only if somebody reads it."""

import gc
from collections.abc import Callable
from typing import Any

import pytest

from dragoman._dialects.acp.opening import Opening
from dragoman._dialects.acp.terminals import LOOSE_KEPT
from dragoman._dialects.acp.tools import ENDED_KEPT, Call
from dragoman._model import events as ev
from dragoman._model import patches
from dragoman._model.commands import OpenSession, Prompt, Reply
from tests.dialects.acp.conversation import SESSION, Conversation, chunk

DIFF = {"type": "diff", "path": "/a", "oldText": "a\n", "newText": "b\n"}


def text(words: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": words}}


def others(talk: Conversation, number: int, **fields: Any) -> None:
    """Calls that begin and end after those that a test is about."""
    for n in range(number):
        talk.update("tool_call", toolCallId=f"other{n}", title="O", status="completed", **fields)


def calls_kept() -> int:
    gc.collect()
    return sum(isinstance(found, Call) for found in gc.get_objects())


@pytest.mark.parametrize("ended", [0, ENDED_KEPT - 1])
def test_a_call_that_ended_not_long_ago_is_known_in_full(ended: int) -> None:
    talk = Conversation().working()
    talk.update("tool_call", toolCallId="c", title="T", status="completed", content=[text("one")])
    others(talk, ended)
    talk.update("tool_call_update", toolCallId="c", status="completed")
    assert [(event.call_id, event.output, event.late) for event in talk.of(ev.ToolUpdated)] == [
        ("c", "one", True)
    ]
    talk.end()


def test_a_call_that_ended_long_ago_is_neither_begun_nor_ended_again() -> None:
    talk = Conversation().working()
    talk.update("tool_call", toolCallId="c", title="T", status="completed", content=[text("one")])
    others(talk, ENDED_KEPT)
    talk.agent(chunk("in the middle of "))
    talk.update("tool_call_update", toolCallId="c", content=[text("two")])
    talk.agent(chunk("a sentence"))
    talk.update("tool_call_update", toolCallId="c", status="failed", title="T")
    assert [(event.output, event.title, event.late) for event in talk.of(ev.ToolUpdated)] == [
        ("two", None, True),
        (None, "T", True),
        ("two", None, True),
    ]
    assert [event.call_id for event in talk.of(ev.ToolStarted)].count("c") == 1
    assert [event.call_id for event in talk.of(ev.ToolEnded)].count("c") == 1
    talk.stops()
    assert [event.text for event in talk.of(ev.Message) if event.role == "assistant"] == [
        "in the middle of a sentence"
    ]
    talk.end(code=0)


def test_the_calls_of_a_history_are_forgotten_too() -> None:
    talk = Conversation(Opening(cwd="/proj", resume=SESSION, replay=True)).ready(loadSession=True)
    for call in ("c", *(f"other{n}" for n in range(ENDED_KEPT)), "c"):
        talk.update("tool_call", toolCallId=call, title="T", status="completed", content=[text(call)])
    talk.answer({}, to="session/load")
    started = talk.of(ev.ToolStarted)
    assert len(started) == 1 + ENDED_KEPT
    assert all(event.replay for event in started)
    assert [event.output for event in talk.of(ev.ToolUpdated) if event.late][-1] == "c"
    talk.end()


@pytest.mark.parametrize(
    "work",
    [
        lambda talk: others(talk, 1_000, content=[DIFF]),
        lambda talk: others(talk, 1_000, _meta={"terminal_output": {"data": "x"}}),
    ],
)
def test_ended_calls_do_not_add_up(work: Callable[[Conversation], None]) -> None:
    before, talk = calls_kept(), Conversation().working()
    work(talk)
    assert calls_kept() - before <= ENDED_KEPT + 1


def test_calls_that_end_with_their_turns_do_not_add_up() -> None:
    before, talk = calls_kept(), Conversation().opened()
    for n in range(3 * ENDED_KEPT):
        talk.say(Prompt(text="go"))
        talk.update("tool_call", toolCallId=f"c{n}", title="T", status="pending")
        talk.stops()
    assert len(talk.of(ev.ToolEnded)) == 3 * ENDED_KEPT
    assert calls_kept() - before <= ENDED_KEPT + 2


def test_terminals_go_with_their_calls() -> None:
    talk = Conversation().working(2)
    shown = [{"type": "terminal", "terminalId": "t"}]
    talk.update("tool_call_update", toolCallId="c", status="completed", content=shown)
    talk.update("terminal_output_chunk", terminalId="t", data="eA==")
    others(talk, ENDED_KEPT)
    talk.update("terminal_output_chunk", terminalId="t", data="eQ==")
    assert [event.text for event in talk.of(ev.Delta)] == ["x"]
    talk.end()


@pytest.mark.parametrize(("more", "told"), [(LOOSE_KEPT - 1, ["xy"]), (LOOSE_KEPT, ["y"])])
def test_a_terminal_that_no_call_shows_is_kept_a_while(more: int, told: list[str]) -> None:
    talk = Conversation().working(2)
    talk.update("terminal_output_chunk", terminalId="t", data="eA==")
    for n in range(more):
        talk.update("terminal_output_chunk", terminalId=f"other{n}", data="eA==")
    talk.update("terminal_output_chunk", terminalId="t", data="eQ==")
    talk.update("tool_call_update", toolCallId="c", content=[{"type": "terminal", "terminalId": "t"}])
    assert [event.text for event in talk.of(ev.Delta)] == told
    talk.end()


def test_terminals_are_told_in_the_order_in_which_they_became_known() -> None:
    talk = Conversation().working(2)
    for id in ("t1", "t2"):
        talk.update("terminal_output_chunk", terminalId=id, data="eA==" if id == "t1" else "eQ==")
    shown = [{"type": "terminal", "terminalId": id} for id in ("t2", "t1")]
    talk.update("tool_call_update", toolCallId="c", content=shown)
    talk.update("tool_call_update", toolCallId="c", status="completed")
    assert [event.output for event in talk.of(ev.ToolEnded)] == ["x\ny"]
    talk.end()


# --- made only if it is read -------------------------------------------------------------------------------------


def test_a_diff_is_made_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    from_texts = patches.from_texts
    monkeypatch.setattr(
        patches, "from_texts", lambda path, *texts: made.append(path) or from_texts(path, *texts)
    )
    talk = Conversation().working()
    talk.agent(
        {
            "id": 1,
            "method": "session/request_permission",
            "params": {
                "sessionId": SESSION,
                "toolCall": {"toolCallId": "c", "content": [DIFF]},
                "options": [],
            },
        }
    )
    talk.update("tool_call_update", toolCallId="c", status="completed", content=[DIFF])
    proposed, applied = talk.of(ev.FileChanged)
    assert (proposed.phase, applied.phase, made) == ("proposed", "applied", [])
    assert applied.diff == proposed.diff == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"
    assert made


def test_content_that_comes_in_pieces_is_told_as_it_stands() -> None:
    """What an event has said does not change with the next piece."""
    talk = Conversation().working(2)
    for piece in (text("one"), text(""), DIFF, text("two"), {"type": "terminal", "terminalId": "t"}):
        talk.update("tool_call_content_chunk", toolCallId="c", content=piece)
    updates = talk.of(ev.ToolUpdated)
    assert [event.output for event in updates] == ["one", "one\n", "one\n", "one\n\ntwo", "one\n\ntwo"]
    assert [len(event.ext["acp.toolContent"]) for event in updates] == [1, 2, 3, 4, 5]
    assert [len(event.content) for event in updates] == [0, 0, 3, 4, 5]
    talk.update("tool_call_update", toolCallId="c", status="completed")
    assert [change.path for change in talk.of(ev.FileChanged)] == ["/a"]
    talk.end()


# --- whose it is -------------------------------------------------------------------------------------------------


def test_a_file_that_the_client_wrote_is_of_the_session_that_asked() -> None:
    talk = Conversation(offers=frozenset(("fs",))).opened()
    talk.say(OpenSession(cwd="/two", id="o1"))
    talk.agent({"id": "o1", "result": {"sessionId": "s2"}})
    params = {"sessionId": "s2", "path": "/two/a", "content": "x"}
    talk.agent({"id": 5, "method": "fs/write_text_file", "params": params})
    talk.say(Reply(request="5", result={}))
    assert [(change.session, change.path) for change in talk.of(ev.FileChanged)] == [("s2", "/two/a")]
    talk.end()
