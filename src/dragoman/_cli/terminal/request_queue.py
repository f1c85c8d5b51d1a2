"""The desk: where events are shown and requests are put to a person, one thing at a time.

While a request is open nothing else is written; what happens meanwhile is shown after it. A request that the
agent takes back, or that a rule has answered, closes by itself.
"""

from collections import deque
from collections.abc import Awaitable, Callable

import anyio

from dragoman._model.commands import Answer, AnswerQuestion, Reply
from dragoman._model.events import (
    Event,
    HostAnswered,
    HostCalled,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
)
from dragoman._runtime.session import Session

Question = PermissionRequested | QuestionAsked
ANSWERS = (PermissionResolved, QuestionAnswered, HostAnswered)
Asker = Callable[[Question, Session], Awaitable[Answer | AnswerQuestion]]


class Desk:
    """`see` every event in order; give the desk itself to the session as its handler."""

    def __init__(self, show: Callable[[Event], None], ask: Asker) -> None:
        self._show = show
        self._ask = ask
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
            if isinstance(shown, Question) and not self._answered(shown.request_id):
                self._open = shown.request_id
                self._reach(shown.request_id).set()

    async def __call__(
        self, request: Question | HostCalled, session: Session
    ) -> Answer | AnswerQuestion | Reply | None:
        """Wait until the request is the thing at hand, then ask. None if it is not asked any more."""
        if isinstance(request, HostCalled):
            return Reply(request=request.request_id)
        id = request.request_id
        if isinstance(request, PermissionRequested) and request.synthesized:
            self.see(request)  # it is for what the host is about to do: no event of the agent's asks for it
        with anyio.CancelScope() as scope:
            self._scopes[id] = scope
            await self._reach(id).wait()
            return await self._ask(request, session)
        return None

    def _answered(self, id: str) -> bool:
        return any(isinstance(event, ANSWERS) and event.request_id == id for event in self._waiting)

    def _reach(self, id: str) -> anyio.Event:
        return self._reached.setdefault(id, anyio.Event())

    def _close(self, id: str) -> None:
        if self._open == id:
            self._open = None
        self._reached.pop(id, None)
        if (scope := self._scopes.pop(id, None)) is not None:
            scope.cancel()
