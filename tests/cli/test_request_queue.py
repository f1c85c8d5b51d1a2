"""The queue of requests: one thing at a time, in order, and nothing waits for what is settled."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from dragoman._cli.terminal.request_queue import RequestQueue
from dragoman._model.commands import Answer, AnswerQuestion
from dragoman._model.events import (
    Event,
    HostAnswered,
    HostCalled,
    Notice,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
)
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.requests import LATER

pytestmark = pytest.mark.anyio


def asks(id: str) -> PermissionRequested:
    return PermissionRequested(request_id=id)


def settled(id: str) -> PermissionResolved:
    return PermissionResolved(request_id=id, outcome="allowed")


class Person:
    """Sits at the terminal: is asked, and answers when told to."""

    def __init__(self) -> None:
        self.shown: list[Event] = []
        self.asked: list[str] = []
        self.says = anyio.Event()
        self.answers: dict[str, Any] = {}
        self.queue = RequestQueue(self.shown.append, self.permission, self.question)

    async def permission(self, request: PermissionRequest) -> Answer:
        self.shown.append(request.event)
        self.asked.append(request.id)
        await self.says.wait()
        return Answer(request=request.id, decision="allow")

    async def question(self, request: QuestionAsked) -> AnswerQuestion:
        self.asked.append(request.request_id)
        await self.says.wait()
        return AnswerQuestion(request=request.request_id, answers={"colour": "blue"})

    async def handle(self, event: PermissionRequested | QuestionAsked) -> None:
        """As a session does that asks its handlers."""
        if isinstance(event, QuestionAsked):
            self.answers[event.request_id] = await self.queue.answer(event)
        else:
            self.answers[event.request_id] = await self.queue.approve(PermissionRequest(event))


@pytest.fixture
def person() -> Person:
    return Person()


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(60):
        while not condition():
            await anyio.lowlevel.checkpoint()


async def test_nothing_is_shown_over_an_open_question(person: Person) -> None:
    first, meanwhile, end = asks("a"), Notice(message="meanwhile"), settled("a")
    async with anyio.create_task_group() as group:
        group.start_soon(person.handle, first)
        person.queue.see(first)
        person.queue.see(meanwhile)
        await until(lambda: person.asked == ["a"])
        assert person.shown == [first]
        person.says.set()
        await until(lambda: "a" in person.answers)
        person.queue.see(end)
    assert person.answers["a"] == Answer(request="a", decision="allow")
    assert person.shown == [first, meanwhile, end]


async def test_a_question_is_asked_only_once_it_is_shown(person: Person) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(person.handle, asks("a"))
        await anyio.wait_all_tasks_blocked()
        assert person.asked == []
        person.queue.see(asks("a"))
        await until(lambda: person.asked == ["a"])
        person.says.set()


async def test_one_question_after_the_other(person: Person) -> None:
    async with anyio.create_task_group() as group:
        for id in ("a", "b"):
            group.start_soon(person.handle, asks(id))
            person.queue.see(asks(id))
        await anyio.wait_all_tasks_blocked()
        assert person.asked == ["a"]
        person.says.set()
        await until(lambda: "a" in person.answers)
        person.queue.see(settled("a"))
        await until(lambda: "b" in person.answers)
    assert person.asked == ["a", "b"]


async def test_a_question_that_is_taken_back_closes(person: Person) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(person.handle, asks("a"))
        person.queue.see(asks("a"))
        await until(lambda: person.asked == ["a"])
        person.queue.see(settled("a"))
        await until(lambda: "a" in person.answers)
    assert person.answers["a"] is LATER
    assert person.shown == [asks("a"), settled("a")]


async def test_a_question_that_is_settled_before_its_turn_is_not_asked(person: Person) -> None:
    async with anyio.create_task_group() as group:
        for id in ("a", "b"):
            group.start_soon(person.handle, asks(id))
            person.queue.see(asks(id))
        await until(lambda: person.asked == ["a"])
        person.queue.see(settled("b"))
        person.queue.see(settled("a"))
        await until(lambda: set(person.answers) == {"a", "b"})
    assert person.asked == ["a"]
    assert person.shown == [asks("a"), asks("b"), settled("b"), settled("a")]


async def test_a_permission_is_shown_by_whoever_asks_for_it(person: Person) -> None:
    """In full to the person who is asked; until then it is not known that a person is."""
    person.queue.see(asks("a"))
    assert person.shown == []
    async with anyio.create_task_group() as group:
        group.start_soon(person.handle, asks("a"))
        await until(lambda: person.asked == ["a"])
        assert person.shown == [asks("a")]
        person.says.set()


async def test_what_a_rule_answers_never_reaches_the_person(person: Person) -> None:
    person.queue.see(asks("a"))
    person.queue.see(settled("a"))
    person.queue.see(Notice())
    assert person.shown == [asks("a"), settled("a"), Notice()]
    assert person.asked == []


async def test_permissions_and_questions_stand_in_one_queue(person: Person) -> None:
    question = QuestionAsked(request_id="q", message="Which colour?")
    async with anyio.create_task_group() as group:
        for event in (asks("a"), question):
            group.start_soon(person.handle, event)
            person.queue.see(event)
        await anyio.wait_all_tasks_blocked()
        assert person.asked == ["a"]
        person.says.set()
        await until(lambda: "a" in person.answers)
        person.queue.see(settled("a"))
        await until(lambda: "q" in person.answers)
        person.queue.see(QuestionAnswered(request_id="q", action="accepted"))
    assert person.asked == ["a", "q"]
    assert person.answers["q"] == AnswerQuestion(request="q", answers={"colour": "blue"})


async def test_what_the_host_is_about_to_do_is_asked_like_anything_else(person: Person) -> None:
    """No event of the agent's asks for it; the answer to its call closes it."""
    call = HostCalled(request_id="h", method="fs/write_text_file")
    question = PermissionRequested(request_id="h", tool_name="fs/write_text_file", synthesized=True)
    answered = HostAnswered(request_id="h")
    async with anyio.create_task_group() as group:
        person.queue.see(call)
        group.start_soon(person.handle, question)
        await until(lambda: person.asked == ["h"])
        person.queue.see(Notice())
        assert person.shown == [call, question]
        person.says.set()
        await until(lambda: "h" in person.answers)
        person.queue.see(answered)
    assert person.answers["h"] == Answer(request="h", decision="allow")
    assert person.shown == [call, question, Notice(), answered]


async def test_one_that_is_answered_elsewhere_before_its_turn_is_not_asked(person: Person) -> None:
    """The session leaves its handler then; the answer to the call is what is heard of it."""
    question = PermissionRequested(request_id="h", tool_name="fs/write_text_file", synthesized=True)
    answered = HostAnswered(request_id="h", who="phone")
    async with anyio.create_task_group() as group:
        group.start_soon(person.handle, asks("a"))
        person.queue.see(asks("a"))
        await until(lambda: person.asked == ["a"])
        async with anyio.create_task_group() as elsewhere:
            elsewhere.start_soon(person.handle, question)
            await anyio.wait_all_tasks_blocked()
            elsewhere.cancel_scope.cancel()
        person.queue.see(settled("a"))
        person.queue.see(answered)
        await until(lambda: "a" in person.answers)
    assert person.asked == ["a"]
    assert person.shown == [asks("a"), question, settled("a"), answered]
