"""What an agent asks is always answered: by a handler, by hand, or with a plain no."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from dragoman._runtime.standing import Request

from dragoman._model.commands import Answer, AnswerQuestion, Reply
from dragoman._model.config import Approve
from dragoman._model.events import (
    Event,
    HostAnswered,
    Message,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    TurnEnded,
)
from dragoman._runtime.requests import Ruling, Verdict
from dragoman._runtime.session import Session
from tests.runtime.recorders import Frames
from tests.runtime.toy_dialect import alone, toy_plan

pytestmark = pytest.mark.anyio


async def outcome(handler: Any, orders: str = "ask Bash") -> tuple[dict[str, Any], Event]:
    """What the agent was told, and the event that says so."""
    async with alone(toy_plan(), handler=handler) as session:
        events = [event async for event in session.prompt(orders)]
    assert isinstance(events[-1], TurnEnded)
    told = next(event.text for event in events if isinstance(event, Message) and event.role == "assistant")
    kinds = (PermissionResolved, QuestionAnswered, HostAnswered)
    [answered] = [event for event in events if isinstance(event, kinds)]
    return json.loads(told or ""), answered


async def resolved(handler: Any) -> PermissionResolved:
    told, event = await outcome(handler)
    assert isinstance(event, PermissionResolved)
    assert told["decision"] == ("allow" if event.outcome == "allowed" else "deny")
    return event


def of(verdict: Verdict) -> list[Callable[[Request, Session], Verdict | Awaitable[Verdict]]]:
    """A sync handler, an async one, and an object that is one."""

    def sync(request: Request, session: Session) -> Verdict:
        return verdict

    async def later(request: Request, session: Session) -> Verdict:
        return verdict

    class Policy:
        async def __call__(self, request: Request, session: Session) -> Verdict:
            return verdict

    return [sync, later, Policy(), lambda request, session: later(request, session)]


@pytest.mark.parametrize("handler", of(True))
async def test_true_allows(handler: Any) -> None:
    event = await resolved(handler)
    assert (event.outcome, event.by, event.rule) == ("allowed", "client", None)


@pytest.mark.parametrize("handler", of(False))
async def test_false_denies(handler: Any) -> None:
    event = await resolved(handler)
    assert (event.outcome, event.by) == ("denied", "client")


async def test_an_answer_in_full_is_sent_as_it_is() -> None:
    answer = Answer(request="r1", decision="deny", message="not on my machine")
    assert (await resolved(lambda request, session: answer)).message == "not on my machine"


async def test_a_ruling_puts_its_rule_on_record() -> None:
    ruling = Ruling(verdict=True, rule="tools: Bash")
    event = await resolved(lambda request, session: ruling)
    assert (event.outcome, event.by, event.rule) == ("allowed", "policy", "tools: Bash")


async def test_a_handler_that_raises_denies_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    def fails(request: Request, session: Session) -> bool:
        raise ValueError("boom")

    event = await resolved(fails)
    assert (event.outcome, event.rule) == ("denied", "handler failed")
    assert event.message is not None
    assert "ValueError: boom" in event.message
    assert "the handler failed" in caplog.text


async def test_without_a_handler_the_answer_is_no_at_once() -> None:
    event = await resolved(None)
    assert (event.outcome, event.by, event.rule) == ("denied", "policy", "no handler")
    assert event.message is not None
    assert "nobody was there to ask" in event.message
    assert "approve=" in event.message


@pytest.mark.parametrize(
    ("mode", "allowed", "denied", "asked"),
    [
        ("ask", "", "", "Bash Edit Read"),
        ("dangerous", "", "", "Bash Edit Read"),
        ("edits", "Edit", "", "Bash Read"),
        ("all", "Bash Edit Read", "", ""),
        ("plan", "Read", "Bash Edit", ""),
        ("never", "", "Bash Edit Read", ""),
    ],
)
async def test_a_mode_settles_what_it_can_before_anyone_is_asked(
    mode: Approve, allowed: str, denied: str, asked: str
) -> None:
    async with alone(toy_plan(), approve=mode, handler=lambda request, session: False) as session:
        tools = {"Bash": "asked", "Edit": "asked", "Read": "asked"}
        for tool in tools:
            async for event in session.prompt(f"ask {tool}"):
                if isinstance(event, PermissionResolved) and event.rule == f"approve={mode}":
                    tools[tool] = event.outcome
    assert [tool for tool in tools if tools[tool] == "allowed"] == allowed.split()
    assert [tool for tool in tools if tools[tool] == "denied"] == denied.split()
    assert [tool for tool in tools if tools[tool] == "asked"] == asked.split()


async def test_none_leaves_the_answer_to_the_hand() -> None:
    async with alone(toy_plan(), handler=lambda request, session: None) as session:
        told = []
        async for event in session.prompt("ask Bash"):
            if isinstance(event, PermissionRequested):
                assert await session.answer(event.request_id, "allow", message="by hand")
                assert not await session.answer(event.request_id, "deny")
            if isinstance(event, PermissionResolved):
                told.append((event.outcome, event.by, event.message))
    assert told == [("allowed", "client", "by hand")]


async def test_a_handler_that_waits_does_not_keep_the_agent_from_being_heard() -> None:
    async def slow(request: Request, session: Session) -> bool:
        async for event in session.events():
            if isinstance(event, Message) and event.text == "steered: go":
                return True
        return False

    async with alone(toy_plan(), handler=slow) as session:
        async for event in session.prompt("ask Bash"):
            if isinstance(event, PermissionRequested):
                await session.steer("go")
            if isinstance(event, PermissionResolved):
                assert event.outcome == "allowed"


async def test_a_request_that_was_withdrawn_at_once_is_not_even_asked() -> None:
    asked = []

    async def handler(request: Request, session: Session) -> bool:
        asked.append(request)
        return True

    async with alone(toy_plan(), handler=handler) as session:
        events = [event async for event in session.prompt("withdraw\nsay on")]
        answers = [event for event in events if isinstance(event, PermissionResolved)]
        assert [(event.outcome, event.by) for event in answers] == [("cancelled", "agent")]
        assert not await session.answer("r2", "allow")
    assert asked == []


async def test_a_verdict_that_comes_after_the_withdrawal_is_not_sent() -> None:
    recorder = Frames()

    async def handler(request: Request, session: Session) -> bool:
        stream = session.events()
        await session.steer("go")
        async for event in stream:
            if isinstance(event, PermissionResolved):
                break
        return True

    async with alone(toy_plan(), handler=handler, recorder=recorder) as session:
        async for _ in session.prompt("regret Bash"):
            pass
    sent = [json.loads(frame.line)["type"] for frame in recorder if frame.dir == "in"]
    assert sent == ["prompt", "steer"]


@pytest.mark.parametrize(
    ("verdict", "action", "answers"),
    [
        (None, "cancelled", {}),
        (False, "declined", {}),
        (True, "accepted", {}),
        (AnswerQuestion(request="q1", answers={"colour": "blue"}), "accepted", {"colour": "blue"}),
    ],
)
async def test_questions(verdict: Verdict, action: str, answers: dict[str, Any]) -> None:
    handler = None if verdict is None else lambda request, session: verdict
    told, event = await outcome(handler, "question which colour?")
    assert isinstance(event, QuestionAnswered)
    assert event.action == told["action"] == action
    assert told["answers"] == answers


@pytest.mark.parametrize(
    ("verdict", "result", "error"),
    [
        (None, None, None),
        (True, None, None),
        (False, None, "The client refuses this call."),
        (Reply(request="h1", result={"content": "x"}), {"content": "x"}, None),
    ],
)
async def test_host_calls(verdict: Verdict, result: Any, error: str | None) -> None:
    handler = None if verdict is None else lambda request, session: verdict
    told, event = await outcome(handler, "call fs/read")
    assert isinstance(event, HostAnswered)
    assert (told["result"], told["error"]) == (result, error)


async def test_questions_and_host_calls_by_hand() -> None:
    async with alone(toy_plan(), handler=lambda request, session: None) as session:
        stream = session.prompt("question which?\ncall fs/read")
        told = []
        async for event in stream:
            if event.__struct_config__.tag == "question.asked":
                assert await session.answer_question("q1", {"which": "this"})
            if event.__struct_config__.tag == "host.called":
                assert await session.reply("h1", error="no such file")
            if isinstance(event, Message) and event.role == "assistant":
                told.append(json.loads(event.text or ""))
    assert told[0]["answers"] == {"which": "this"}
    assert told[1]["error"] == "no such file"
