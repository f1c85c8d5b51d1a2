"""How a run stands, gathered from its events: what a session must know to serve, to wait and to stop."""

from collections.abc import Callable, Sequence
from typing import Any

from dragoman._model.events import (
    AgentReady,
    Error,
    Event,
    FileChanged,
    HostAnswered,
    HostCalled,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    RunEnded,
    SessionStarted,
    SessionUpdated,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from dragoman._runtime.streams import EARLY

Request = PermissionRequested | QuestionAsked | HostCalled


class Standing:
    def __init__(self) -> None:
        self.session: str | None = None
        """The agent's own id of the (first) session."""
        self.ready = False
        """The agent has said what it is."""
        self.refusal: Error | None = None
        """Why it will never be ready."""
        self.turns: dict[int, str | None] = {}
        """Open ones, and the sessions that they are in."""
        self.requests: dict[str, Request] = {}
        """What the agent asked and nobody answered."""
        self._allowed: set[tuple[str | None, str]] = set()
        """Tool calls, by session and id, for which a permission was given."""
        self._files: dict[tuple[str | None, str], list[str]] = {}
        """Files that open tool calls, by session and id, are known to be about."""
        self.opening: list[Event] = []
        """All events before the first turn."""
        self.result: RunEnded | None = None
        self.turned = False
        """There was a turn."""
        self._asked: list[Request] = []
        self._rules: dict[type[Event], Callable[[Any], None]] = {
            SessionStarted: self._session_started,
            SessionUpdated: self._session_updated,
            AgentReady: self._agent_ready,
            Error: self._error,
            TurnStarted: self._turn_started,
            TurnEnded: self._turn_ended,
            PermissionRequested: self._requested,
            QuestionAsked: self._requested,
            HostCalled: self._requested,
            PermissionResolved: self._resolved,
            QuestionAnswered: self._answered,
            HostAnswered: self._answered,
            ToolStarted: self._tool_started,
            FileChanged: self._file_changed,
            ToolEnded: self._tool_ended,
            RunEnded: self._run_ended,
        }

    def follow(self, events: Sequence[Event]) -> list[Request]:
        """Take note of `events`; returns the requests among them that still want an answer."""
        for event in events:
            if not self.turned:
                self.turned = type(event) is TurnStarted
                if not self.turned and len(self.opening) < EARLY:
                    self.opening.append(event)
            rule = self._rules.get(type(event))
            if rule is not None:
                rule(event)
        asked, self._asked = self._asked, []
        return [request for request in asked if self.waits(request)]

    def waits(self, request: Request) -> bool:
        """Whether this very request still wants an answer."""
        return self.requests.get(request.request_id) is request

    def allowed(self, session: str | None, call_id: str | None) -> bool:
        """Whether a permission was given for this tool call."""
        return call_id is not None and (session, call_id) in self._allowed

    def files(self, request: Request) -> list[str]:
        """The files that the call which a request is for was said to be about."""
        return self._files.get((request.session, getattr(request, "call_id", None) or ""), [])

    def _agent_ready(self, event: AgentReady) -> None:
        self.ready = True

    def _error(self, event: Error) -> None:
        if not self.ready and not event.will_retry and event.scope in ("session", "protocol"):
            self.refusal = event

    def _turn_started(self, event: TurnStarted) -> None:
        self.turns[event.turn] = event.session

    def _turn_ended(self, event: TurnEnded) -> None:
        self.turns.pop(event.turn, None)

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

    def _resolved(self, event: PermissionResolved) -> None:
        request = self.requests.get(event.request_id)
        if isinstance(request, PermissionRequested) and request.call_id and event.outcome == "allowed":
            self._allowed.add((request.session, request.call_id))
        self._answered(event)

    def _tool_started(self, event: ToolStarted) -> None:
        if event.locations and not event.replay:
            self._files[event.session, event.call_id] = [location.path for location in event.locations]

    def _file_changed(self, event: FileChanged) -> None:
        if event.phase == "proposed" and event.call_id is not None and not event.replay:
            known = self._files.setdefault((event.session, event.call_id), [])
            known += [path for path in (event.path, event.move_to) if path is not None]

    def _tool_ended(self, event: ToolEnded) -> None:
        self._files.pop((event.session, event.call_id), None)

    def _run_ended(self, event: RunEnded) -> None:
        self.result = event
