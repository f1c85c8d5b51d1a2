"""What is known of the sessions of a run, and what follows from that."""

from msgspec import Struct, field

from dragoman._dialects.agent_event import messages as m
from dragoman._model import events as ev
from dragoman._model.events import Event


class SessionState(Struct):
    """What is known of one session."""

    turn: ev.TurnEnded | None = None
    """The last one that ended."""
    held: m.TurnCompletedEvent | None = None
    """Its turnCompleted, if another turn follows."""
    error: str | None = None
    """What the agent last complained of in this turn."""
    usage: ev.UsageUpdated | None = None
    """What the whole session has used, as last said."""
    starts: dict[str, m.ToolStartedEvent] = field(default_factory=dict)
    """Tools that were announced, but not yet with what they are called for."""
    patches: set[str] = field(default_factory=set)
    """Calls that are shown as changes of files."""
    texts: dict[tuple[str, str | None], str] = field(default_factory=dict)
    """Texts that grow, whole, by kind and id."""


def says_better(event: Event, earlier: Event) -> bool:
    """Whether `event`, of the same line, is what `earlier` was only the beginning of: the whole of a text, the end
    of a tool, or an error that Claude says as a message."""
    if event.frame is None or event.frame != earlier.frame or event.synthesized:
        return False
    if isinstance(event, ev.Message):
        if isinstance(earlier, ev.Delta):
            return event.message_id == earlier.message_id
        return isinstance(earlier, ev.Error) and event.kind == "error"
    ended = isinstance(event, ev.ToolEnded) and isinstance(earlier, ev.ToolUpdated)
    return ended and event.call_id == earlier.call_id  # type: ignore[attr-defined]


def why(turn: ev.TurnEnded | None, error: str | None, run: ev.RunEnded | None, outcome: str) -> str:
    """Why it ended, in the agent's words where it had any."""
    if turn is not None and turn.error is not None:
        return turn.error.message
    if turn is not None and turn.errors:
        return turn.errors[0]
    if error is not None:
        return error
    if run is not None and run.signal is not None:
        return f"ended by {run.signal}"
    if run is not None and run.exit_code:
        last = (run.stderr_tail or "").rstrip().rpartition("\n")[2].strip()
        return f"exit code {run.exit_code}: {last}" if last else f"exit code {run.exit_code}"
    return (turn.reason if turn is not None else None) or outcome
