"""The queue of requests at a terminal: events are shown and requests are put to a person, one thing at a time.

While a request is open nothing else is written; what happens meanwhile is shown after it. A request that the
agent takes back, or that a rule has answered, closes by itself. A permission is shown when it is known who answers it:
in full to the person who is asked, in short where a rule has settled it.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

import anyio

from dragoman._model.commands import Answer, AnswerQuestion
from dragoman._model.events import (
    Event,
    HostAnswered,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
)
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.requests import LATER, Later

Question = PermissionRequested | QuestionAsked
Q = TypeVar("Q", PermissionRequest, QuestionAsked)
T = TypeVar("T", Answer, AnswerQuestion)
ANSWERS = (PermissionResolved, QuestionAnswered, HostAnswered)


class RequestQueue:
    """`show` gets every event in order, but for a permission that `ask_permission` gets; `approve` and `answer` are
    for the session, as its handlers."""

    def __init__(
        self,
        show: Callable[[Event], None],
        ask_permission: Callable[[PermissionRequest], Awaitable[Answer]],
        ask_question: Callable[[QuestionAsked], Awaitable[AnswerQuestion]],
    ) -> None:
        self._show = show
        self._ask_permission = ask_permission
        self._ask_question = ask_question
        self._waiting: deque[Event] = deque()
        """What has happened and is not shown yet."""
        self._open: str | None = None
        """The request that is being asked."""
        self._unshown: PermissionRequested | None = None
        """The open permission, until it is asked or answered."""
        self._reached: dict[str, anyio.Event] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}

    def see(self, event: Event) -> None:
        self._waiting.append(event)
        if isinstance(event, ANSWERS):
            self._close(event.request_id)
        while self._waiting and self._open is None:
            event = self._waiting.popleft()
            asked = isinstance(event, Question) and not self._has_answer(event.request_id)
            if asked and isinstance(event, PermissionRequested):
                self._unshown = event
            else:
                self._show(event)
            if asked and isinstance(event, Question):
                self._open = event.request_id
                self._reach(event.request_id).set()

    async def approve(self, request: PermissionRequest) -> Answer | Literal[Later.LATER]:
        """The person's answer to a permission request."""
        if request.event.synthesized:
            self.see(
                request.event
            )  # it is for what the host is about to do: no event of the agent's asks for it
        return await self._in_turn(request.id, self._ask_permission, request)

    async def answer(self, question: QuestionAsked) -> AnswerQuestion | Literal[Later.LATER]:
        """The person's answer to a question."""
        return await self._in_turn(question.request_id, self._ask_question, question)

    async def _in_turn(
        self, id: str, ask: Callable[[Q], Awaitable[T]], request: Q
    ) -> T | Literal[Later.LATER]:
        """Wait until the request is the thing at hand, then ask. LATER if it is not asked any more."""
        with anyio.CancelScope() as scope:
            self._scopes[id] = scope
            await self._reach(id).wait()
            self._unshown = None
            return await ask(request)
        return LATER

    def _has_answer(self, id: str) -> bool:
        return any(isinstance(event, ANSWERS) and event.request_id == id for event in self._waiting)

    def _reach(self, id: str) -> anyio.Event:
        return self._reached.setdefault(id, anyio.Event())

    def _close(self, id: str) -> None:
        if self._open == id:
            self._open = None
            if self._unshown is not None:
                self._show(self._unshown)
                self._unshown = None
        self._reached.pop(id, None)
        if (scope := self._scopes.pop(id, None)) is not None:
            scope.cancel()
