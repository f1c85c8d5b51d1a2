"""The same for programs that are not async."""

from typing import Literal

import pytest

from dragoman import blocking
from dragoman._model.errors import ProcessExited, Unsupported
from dragoman._model.events import (
    Event,
    Message,
    PermissionResolved,
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
