"""The same for programs that are not async."""

import json
import threading
from typing import Literal

import pytest

from dragoman import blocking
from dragoman._dialects.insights import messages as insights
from dragoman._model.commands import Reply
from dragoman._model.errors import ProcessExited, Unsupported, UsageError
from dragoman._model.events import (
    Event,
    HostCalled,
    Message,
    PermissionResolved,
    QuestionAsked,
    RunEnded,
    TurnEnded,
)
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.requests import LATER, Later
from tests.runtime.toy_agent import TOY


def said(events: list[Event]) -> list[str | None]:
    return [event.text for event in events if isinstance(event, Message) and event.role == "assistant"]


def test_a_conversation() -> None:
    with blocking.open(TOY) as session:
        everything = session.events()
        assert said(list(session.prompt("say one\nsay two"))) == ["one", "two"]
        for _ in session.prompt("say left early"):
            break
        assert said(list(session.prompt("say three"))) == ["three"]
        assert (session.id, session.agent) == ("s-1", "toy")
        mode = session.set_mode("plan")
        assert mode is not None
        assert mode.ok
        with pytest.raises(Unsupported):
            session.set_model("other")
    events = list(everything)
    assert said(events) == ["one", "two", "left early", "three"]
    assert isinstance(events[-1], RunEnded)
    assert session.result is events[-1]
    assert session.exit is not None
    assert session.exit.reason == "closed"
    assert session.recording_error is None


def test_an_interrupted_turn_and_a_closed_stream() -> None:
    with blocking.open(TOY) as session:
        stream = session.prompt("say working\nwait")
        for event in stream:
            if said([event]) == ["working"]:
                session.steer("on")
                session.interrupt()
        other = session.prompt("say unheard")
        other.close()
        assert list(other) == []
        session.close()
        with pytest.raises(ProcessExited):
            session.prompt("say too late")


def test_a_handler_may_use_the_session_it_serves() -> None:
    def by_hand(request: PermissionRequest) -> Literal[Later.LATER]:
        assert session.answer(request.id, "allow", message="by hand")
        return LATER

    with blocking.open(TOY, approve=by_hand) as session:
        events = list(session.prompt("ask Bash"))
    [resolved] = [event for event in events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.message) == ("allowed", "by hand")


def test_handlers_of_either_kind() -> None:
    async def approve(request: PermissionRequest) -> bool:
        return request.tool == "Bash"

    def answer(question: QuestionAsked) -> dict[str, str]:
        return {question.message or "": "blue"}

    def serve(call: HostCalled) -> Reply:
        return Reply(result=call.method)

    with blocking.open(TOY, approve=approve, answer=answer, serve=serve) as session:
        told = said(list(session.prompt("ask Bash\nquestion colour\ncall fs/read")))
    answers = [json.loads(text or "") for text in told]
    assert answers[0]["decision"] == "allow"
    assert answers[1]["answers"] == {"colour": "blue"}
    assert answers[2]["result"] == "fs/read"


def test_a_handler_that_takes_too_long() -> None:
    released = threading.Event()

    def approve(request: PermissionRequest) -> bool:
        return released.wait(600)

    with blocking.open(TOY, approve=approve, handler_timeout=0.01) as session:
        events = list(session.prompt("ask Bash"))
        released.set()
    [resolved] = [event for event in events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.by) == ("denied", "timeout")


def test_until_done_and_what_came_after() -> None:
    with blocking.open(TOY) as session:
        assert not session.busy
        session.prompt("take steer\nsay one")
        session.prompt("say two")
        stream = session.until_done()
        session.steer("go")
        events = list(stream)
        assert said(events) == ["steered: go", "one", "two"]
        assert isinstance(events[-1], TurnEnded)
        assert not session.busy
        assert list(session.until_done()) == []
    rest = stream.drain()
    assert rest[-1] is session.result
    numbers = [event.seq for event in [*events, *rest]]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_drain_gives_what_was_not_iterated() -> None:
    with blocking.open(TOY, prompt="say one") as session:
        stream = session.until_done()
        first = next(stream)
        for _ in session.until_done():
            pass
    rest = stream.drain()
    assert [event.seq for event in [first, *rest]] == list(range(1, len(rest) + 2))
    assert isinstance(rest[-1], RunEnded)


def test_a_view() -> None:
    with blocking.open(TOY) as session:
        view = session.view("insights")
        session.prompt("say one")
        for item in view:
            if isinstance(item, insights.TurnCompleteEvent):
                break
        assert b'"event":"turn_complete"' in view.encode(item)
        view.close()
        assert not any(isinstance(item, insights.TurnCompleteEvent) for item in view)
        with pytest.raises(UsageError, match="no view is called"):
            session.view("nothing")


def test_a_stop_with_its_reason() -> None:
    with blocking.open(TOY, prompt="say working\nwait") as session:
        for event in session.events():
            if said([event]) == ["working"]:
                break
        assert session.busy
        session.stop("limited", "enough")
    assert session.result is not None
    assert session.result.outcome == "limited"


def test_questions_and_calls_by_hand() -> None:
    with blocking.open(TOY, answer=lambda question: LATER, serve=lambda call: LATER) as session:
        told = []
        for event in session.prompt("question which?\ncall fs/read"):
            if isinstance(event, QuestionAsked):
                assert session.answer_question(event.request_id, {"which": "this"})
                assert not session.answer_question(event.request_id)
            if isinstance(event, HostCalled):
                assert session.reply(event.request_id, error="no such file")
            told += [json.loads(text or "") for text in said([event])]
    assert told[0]["answers"] == {"which": "this"}
    assert told[1]["error"] == "no such file"


def test_an_exception_in_the_block_leaves_no_agent_behind() -> None:
    session = blocking.open(TOY)

    def work() -> None:
        with session:
            next(session.prompt("wait"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert session.exit is not None
    assert session.exit.reason == "cancelled"


def test_ask() -> None:
    result = blocking.ask(TOY, "ask Bash\nsay hello", approve=lambda request: True)
    assert said(result.events)[1:] == ["hello"]
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert resolved.outcome == "allowed"
    assert isinstance(result.events[-2], TurnEnded)
