"""What `dragoman run` exits with."""

from dragoman._model.errors import AgentFailed
from dragoman._model.events import Event, PermissionResolved, RunEnded, ToolEnded, TurnEnded

COMPLETED, FAILED, USAGE, NOT_STARTED, DENIED, LIMITED, TIMEOUT, INTERRUPTED = 0, 1, 2, 3, 4, 5, 124, 130
SIGNALLED = 128
"""Plus the number of the signal, as a shell says it: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""


class NotStarted(AgentFailed):
    """The agent's program ran and ended, and never said a word."""

    exit_status = NOT_STARTED


class Outcome:
    """Follows a run to say how it went."""

    def __init__(self) -> None:
        self._turn: TurnEnded | None = None
        self._run: RunEnded | None = None
        self._agent_spoke = False
        """The agent said something."""
        self._denied = False
        """The last thing that was decided was a denial, and nothing went on since."""

    def see(self, event: Event) -> None:
        self._agent_spoke = self._agent_spoke or event.origin == "agent"
        if isinstance(event, PermissionResolved):
            self._denied = event.outcome == "denied"
        elif isinstance(event, ToolEnded) and event.status == "completed":
            self._denied = False
        elif isinstance(event, TurnEnded):
            self._turn = event
        elif isinstance(event, RunEnded):
            self._run = event

    def status(self, signal: int | None) -> int:
        """`signal` is the one that told us to end, if any did."""
        turn, run = self._turn, self._run
        if run is not None and run.outcome == "timeout":
            return TIMEOUT
        if turn is not None and turn.outcome == "completed":
            return COMPLETED
        if signal is not None:
            return SIGNALLED + signal
        if turn is None or not self._agent_spoke:
            raise _not_started(run)
        if turn.outcome == "limited" and not self._denied:
            return LIMITED
        if turn.denials or (turn.outcome == "cancelled" and self._denied):
            return DENIED
        return {"limited": LIMITED, "cancelled": INTERRUPTED}.get(turn.outcome, FAILED)


def _not_started(run: RunEnded | None) -> NotStarted:
    if run is None:
        return NotStarted("the agent did not start")
    how = run.signal or (f"exit {run.exit_code}" if run.exit_code is not None else "exit unknown")
    words = (f"{run.agent} ended without a word ({how})", (run.stderr_tail or "").strip())
    return NotStarted(": ".join(filter(None, words)))
