"""What comes of asking an agent one thing, and what went wrong where something did: by one rule, for every agent."""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct, field, structs

from dragoman._model.errors import (
    AgentFailed,
    DragomanError,
    ErrorKind,
    LimitReached,
    LoginRequired,
    NotJson,
    PermissionDenied,
    ProcessExited,
    ProtocolBroken,
    SessionNotFound,
    TimedOut,
)
from dragoman._model.events import (
    AnyEvent,
    Error,
    ErrorInfo,
    Event,
    FileChanged,
    NativeInvalid,
    NativeUnknown,
    PermissionResolved,
    RunEnded,
    RunOutcome,
    ToolEnded,
    TurnEnded,
)
from dragoman._model.sessions import remedy
from dragoman._model.usage import Usage


class Result(Struct, kw_only=True):
    """What came of asking an agent one thing."""

    outcome: RunOutcome
    """How the run ended: completed, failed, cancelled, limited, timeout, crashed or truncated."""
    text: str | None = None
    """The final answer."""
    error: ErrorInfo | None = None
    """What went wrong, in the agent's words where it has some, and by its `kind`; None if the turn completed in time."""
    usage: Usage | None = None
    """Tokens of the whole run, where the agent tells them."""
    cost_usd: float | None = None
    """What the run cost, as far as the agent tells it."""
    cost_estimated_usd: float | None = None
    """What those of its calls cost by the table of prices of which the agent tells nothing (docs/prices.md)."""
    unpriced_calls: int = 0
    """How many calls are left, whose cost nobody knows: with any, the costs are the least it can be."""
    changes: list[FileChanged] = field(default_factory=list)
    """The changes that were made to files, in their order."""
    structured_output: Any = None
    """The final answer as JSON, where `output_schema` asked for it."""
    session: str | None = None
    """The agent's session id, to resume it."""
    events: list[AnyEvent] = field(default_factory=list)
    """Everything that was told, from run.started to run.ended."""


_ERRORS: Final[dict[ErrorKind, type[DragomanError]]] = {
    error.kind: error
    for error in (
        TimedOut, SessionNotFound, LoginRequired, PermissionDenied, LimitReached, ProcessExited, ProtocolBroken, NotJson,
    )
}  # fmt: skip

NEVER_BEGAN: Final[frozenset[ErrorKind | None]] = frozenset(
    ("sessionNotFound", "loginRequired", "protocolError", "jsonParseError")
)
"""Causes for which the work never began: whatever else came of it, these are raised."""


def error_class(kind: ErrorKind | None) -> type[DragomanError]:
    """The error that a cause is raised as."""
    return _ERRORS.get(kind or "unknown", AgentFailed)


_WHAT: Final[dict[ErrorKind | None, str]] = {
    "timeout": "was not done in time",
    "permissionDenied": "did not finish, since it may not do what it asked for",
    "limitReached": "was stopped by a limit",
    "processExitError": "exited before it was done",
    "jsonParseError": "wrote nothing that is JSON of its protocol",
    "protocolError": "does not keep to its protocol",
    "sessionNotFound": "does not open the session",
    "loginRequired": "is not logged in, or its key is not accepted",
}


class Verdict:
    """Follows a run to say how it went."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.turn: TurnEnded | None = None
        """How the last turn ended."""
        self.run: RunEnded | None = None
        self.agent_spoke = False
        """The agent said something that its protocol has."""
        self._refusal: Error | None = None
        """The last error that was not one of a turn."""
        self._noise = False
        """The agent wrote lines that its protocol has not."""
        self._denied = False
        """The last thing that was decided was a denial, and no tool completed since."""
        for event in events:
            self.see(event)

    def see(self, event: Event) -> None:
        if event.origin == "agent":
            noise = isinstance(event, NativeInvalid | NativeUnknown)
            self._noise = self._noise or noise
            self.agent_spoke = self.agent_spoke or not noise
        if isinstance(event, PermissionResolved):
            self._denied = event.outcome == "denied"
        elif isinstance(event, ToolEnded) and event.status == "completed":
            self._denied = False
        elif isinstance(event, Error) and event.scope != "turn" and not event.will_retry:
            self._refusal = event
        elif isinstance(event, TurnEnded):
            self.turn = event
        elif isinstance(event, RunEnded):
            self.run = event

    @property
    def began(self) -> bool:
        """There was a turn, and the agent said something."""
        return self.turn is not None and self.agent_spoke

    @property
    def error(self) -> ErrorInfo | None:
        """What went wrong, by its kind; None for a turn that completed, in a run that was in time."""
        turn, run = self.turn, self.run
        late = run is not None and run.outcome == "timeout"
        astray = self._refusal is not None and self._refusal.kind == "sessionNotFound"
        if turn is not None and turn.outcome == "completed" and not late and not astray:
            return None
        said = turn.error if turn is not None else None
        if said is None and (turn is None or turn.synthesized or astray) and self._refusal is not None:
            said = ErrorInfo(message=self._refusal.message, code=self._refusal.code, kind=self._refusal.kind)
        kind = "timeout" if late else self._kind(said)
        if said is not None:
            return structs.replace(said, kind=kind)
        reason = turn.reason if turn is not None else None
        return ErrorInfo(message=reason or self._how(kind), kind=kind)

    def _how(self, kind: ErrorKind) -> str:
        """How it ended, where nobody has said why."""
        turn, run = self.turn, self.run
        if run is not None and kind in ("processExitError", "jsonParseError"):
            code = f"exit code {run.exit_code}" if run.exit_code is not None else "unknown how"
            return (run.stderr_tail or "").strip() or run.signal or code
        return turn.outcome if turn is not None else "it never began"

    def _kind(self, said: ErrorInfo | None) -> ErrorKind:
        turn = self.turn
        if said is not None and said.kind is not None:
            return said.kind
        if turn is not None and self._ended_by_denial(turn):
            return "permissionDenied"
        if turn is not None and turn.outcome == "limited":
            return "limitReached"
        if self._noise and not self.agent_spoke:
            return "jsonParseError"
        if turn is None or (turn.synthesized and turn.outcome == "truncated"):
            return "processExitError"
        return "unknown"

    def _ended_by_denial(self, turn: TurnEnded) -> bool:
        if turn.outcome == "cancelled":
            return self._denied or bool(turn.denials)
        return bool(turn.denials) and (self._denied or turn.outcome != "limited")

    def raised(self, agent: str, login: str = "", result: Result | None = None) -> DragomanError | None:
        """The error that belongs to it, None if all is well. `login` says how to log in to the agent.

        A turn that was cancelled has no error of its own: AgentFailed.
        """
        error = self.error
        if error is None:
            return None
        what = (
            _WHAT.get(error.kind)
            or f"did not finish ({self.turn.outcome if self.turn else 'it never began'})"
        )
        how = {"loginRequired": login, "sessionNotFound": remedy(agent)}.get(error.kind or "")
        return error_class(error.kind)(
            f"{agent} {what}: {error.message}{'; ' + how if how else ''}",
            agent=agent,
            exit_code=self.run.exit_code if self.run is not None else None,
            native=self.run.stderr_tail if self.run is not None else None,
            result=result,
        )
