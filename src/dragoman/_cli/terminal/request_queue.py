"""The queue of requests at a terminal: events are shown and requests are put to a person, one thing at a time.

While a request is open nothing else is written; what happens meanwhile is shown after it. A request that the
agent takes back, or that a rule has answered, closes by itself.
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
Q = TypeVar("Q", PermissionRequested, QuestionAsked)
T = TypeVar("T", Answer, AnswerQuestion)
ANSWERS = (PermissionResolved, QuestionAnswered, HostAnswered)


class RequestQueue:
    """`show` gets every event in order; `approve` and `answer` are for the session, as its handlers."""

    def __init__(
        self,
        show: Callable[[Event], None],
        ask_permission: Callable[[PermissionRequested], Awaitable[Answer]],
        ask_question: Callable[[QuestionAsked], Awaitable[AnswerQuestion]],
    ) -> None:
        self._show = show
        self._ask_permission = ask_permission
        self._ask_question = ask_question
        self._waiting: deque[Event] = deque()
        """What has happened and is not shown yet."""
        self._open: str | None = None
        """The request that is being asked."""
        self._reached: dict[str, anyio.Event] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}

    def see(self, event: Event) -> None:
        self._waiting.append(event)
        if isinstance(event, ANSWERS):
            self._close(event.request_id)
        while self._waiting and self._open is None:
            shown = self._waiting.popleft()
            self._show(shown)
            if isinstance(shown, Question) and not self._has_answer(shown.request_id):
                self._open = shown.request_id
                self._reach(shown.request_id).set()

    async def approve(self, request: PermissionRequest) -> Answer | Literal[Later.LATER]:
        """The person's answer to a permission request."""
        if request.event.synthesized:
            self.see(
                request.event
            )  # it is for what the host is about to do: no event of the agent's asks for it
        return await self._in_turn(request.event, self._ask_permission)

    async def answer(self, question: QuestionAsked) -> AnswerQuestion | Literal[Later.LATER]:
        """The person's answer to a question."""
        return await self._in_turn(question, self._ask_question)

    async def _in_turn(self, request: Q, ask: Callable[[Q], Awaitable[T]]) -> T | Literal[Later.LATER]:
        """Wait until the request is the thing at hand, then ask. LATER if it is not asked any more."""
        with anyio.CancelScope() as scope:
            self._scopes[request.request_id] = scope
            await self._reach(request.request_id).wait()
            return await ask(request)
        return LATER

    def _has_answer(self, id: str) -> bool:
        return any(isinstance(event, ANSWERS) and event.request_id == id for event in self._waiting)

    def _reach(self, id: str) -> anyio.Event:
        return self._reached.setdefault(id, anyio.Event())

    def _close(self, id: str) -> None:
        if self._open == id:
            self._open = None
        self._reached.pop(id, None)
        if (scope := self._scopes.pop(id, None)) is not None:
            scope.cancel()
