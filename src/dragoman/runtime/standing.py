"""How a run stands, gathered from its events: what a session must know to serve, to wait and to stop."""

from collections.abc import Callable, Sequence
from typing import Any

from dragoman.model.events import (
    Event,
    HostAnswered,
    HostCalled,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    RunEnded,
    SessionStarted,
    SessionUpdated,
    TurnEnded,
    TurnStarted,
)

Request = PermissionRequested | QuestionAsked | HostCalled


class Standing:
    def __init__(self) -> None:
        self.session: str | None = None
        """The agent's own id of the (first) session."""
        self.turns: set[int] = set()
        """Open ones."""
        self.requests: dict[str, Request] = {}
        """What the agent asked and nobody answered."""
        self.opening: list[Event] = []
        """All events before the first turn."""
        self.result: RunEnded | None = None
        self._turned = False
        self._asked: list[Request] = []
        self._rules: dict[type[Event], Callable[[Any], None]] = {
            SessionStarted: self._session_started,
            SessionUpdated: self._session_updated,
            TurnStarted: lambda event: self.turns.add(event.turn),
            TurnEnded: lambda event: self.turns.discard(event.turn),
            PermissionRequested: self._requested,
            QuestionAsked: self._requested,
            HostCalled: self._requested,
            PermissionResolved: self._answered,
            QuestionAnswered: self._answered,
            HostAnswered: self._answered,
            RunEnded: self._run_ended,
        }

    def follow(self, events: Sequence[Event]) -> list[Request]:
        """Take note of `events`; returns the requests among them that still want an answer."""
        for event in events:
            if not self._turned:
                self._turned = type(event) is TurnStarted
                if not self._turned:
                    self.opening.append(event)
            rule = self._rules.get(type(event))
            if rule is not None:
                rule(event)
        asked, self._asked = self._asked, []
        return [request for request in asked if self.waits(request)]

    def waits(self, request: Request) -> bool:
        """Whether this very request still wants an answer."""
        return self.requests.get(request.request_id) is request

    def _session_started(self, event: SessionStarted) -> None:
        self.session = self.session or event.session

    def _session_updated(self, event: SessionUpdated) -> None:
        self.session = event.session_id or self.session

    def _requested(self, event: Request) -> None:
        if not event.replay:
            self.requests[event.request_id] = event
            self._asked.append(event)

    def _answered(self, event: PermissionResolved | QuestionAnswered | HostAnswered) -> None:
        self.requests.pop(event.request_id, None)

    def _run_ended(self, event: RunEnded) -> None:
        self.result = event
