"""What comes of asking an agent one thing, and the error that belongs to it where it went wrong."""

from typing import Any

from msgspec import Struct, field

from dragoman._model.errors import AgentFailed, DragomanError, LimitReached, PermissionDenied, TimedOut
from dragoman._model.events import (
    AnyEvent,
    ErrorInfo,
    FileChanged,
    PermissionResolved,
    RunEnded,
    RunOutcome,
    ToolEnded,
    TurnEnded,
)
from dragoman._model.usage import Usage


class Result(Struct, kw_only=True):
    """What came of asking an agent one thing."""

    outcome: RunOutcome
    """How the run ended: completed, failed, cancelled, limited, timeout, crashed or truncated."""
    text: str | None = None
    """The final answer."""
    error: ErrorInfo | None = None
    """What the agent says went wrong."""
    usage: Usage | None = None
    """Tokens of the whole run, where the agent tells them."""
    cost_usd: float | None = None
    """What the whole run cost, where the agent tells it."""
    changes: list[FileChanged] = field(default_factory=list)
    """The changes that were made to files, in their order."""
    structured_output: Any = None
    """The final answer as JSON, where `output_schema` asked for it."""
    session: str | None = None
    """The agent's session id, to resume it."""
    events: list[AnyEvent] = field(default_factory=list)
    """Everything that was told, from run.started to run.ended."""


def failure(result: Result, agent: str) -> DragomanError | None:
    """The error that belongs to a result, None for one that is well: a `completed` turn in a run that was in time.

    Its `exit_status` is the one that `dragoman run` exits with (_cli/terminal/exit_status.py), but for a turn that
    was cancelled, which has no error of its own: AgentFailed.
    """
    turn = next(event for event in reversed(result.events) if isinstance(event, TurnEnded))
    if result.outcome != "timeout" and turn.outcome == "completed":
        return None
    said = turn.error.message if turn.error is not None else turn.reason
    kind: type[DragomanError]
    if result.outcome == "timeout":
        kind, what = TimedOut, "was not done in time"
    elif _ended_by_denial(turn, result.events):
        kind, what = PermissionDenied, "did not finish, since it may not do what it asked for"
    elif turn.outcome == "limited":
        kind, what = LimitReached, "was stopped by a limit"
    else:
        kind, what = AgentFailed, f"did not finish ({turn.outcome})"
    run = next((event for event in result.events if isinstance(event, RunEnded)), None)
    return kind(
        f"{agent} {what}: {said}" if said else f"{agent} {what}",
        agent=agent,
        exit_code=run.exit_code if run is not None else None,
        native=run.stderr_tail if run is not None else None,
        result=result,
    )


def _ended_by_denial(turn: TurnEnded, events: list[AnyEvent]) -> bool:
    denied = _denied_last(events)
    if turn.outcome == "cancelled":
        return denied or bool(turn.denials)
    return bool(turn.denials) and (denied or turn.outcome != "limited")


def _denied_last(events: list[AnyEvent]) -> bool:
    """Whether the last thing that was decided was a denial, and no tool completed since."""
    for event in reversed(events):
        if isinstance(event, PermissionResolved):
            return event.outcome == "denied"
        if isinstance(event, ToolEnded) and event.status == "completed":
            return False
    return False
