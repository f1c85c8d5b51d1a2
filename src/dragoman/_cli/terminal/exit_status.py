"""What `dragoman run` exits with."""

from dragoman._model.errors import AgentFailed
from dragoman._model.events import RunEnded
from dragoman._model.result import NEVER_BEGAN, Verdict

COMPLETED, NOT_STARTED, TIMEOUT, INTERRUPTED = 0, 3, 124, 130
"""Beside those of the errors (_model/errors.py)."""
SIGNALLED = 128
"""Plus the number of the signal, as a shell says it: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""


class NotStarted(AgentFailed):
    """The agent's program ran and ended, and never said a word."""

    exit_status = NOT_STARTED


def status_of(verdict: Verdict, agent: str, login: str, signal: int | None) -> int:
    """The exit status of a run. `signal` is the one that told us to end, if any did; `login` says how to log in.

    Raises what is to be said in a sentence of its own: the agent did not start, or its work never began.
    """
    turn, run, error = verdict.turn, verdict.run, verdict.error
    if run is not None and run.outcome == "timeout":
        return TIMEOUT
    if error is None:
        return COMPLETED
    if signal is not None:
        return SIGNALLED + signal
    raised = verdict.raised(agent, login)
    assert raised is not None
    if error.kind in NEVER_BEGAN:
        raise raised
    if turn is None or not verdict.began:
        raise _not_started(run)
    cancelled = turn.outcome == "cancelled" and error.kind == "unknown"
    return INTERRUPTED if cancelled else raised.exit_status


def _not_started(run: RunEnded | None) -> NotStarted:
    if run is None:
        return NotStarted("the agent did not start")
    how = run.signal or (f"exit {run.exit_code}" if run.exit_code is not None else "exit unknown")
    words = (f"{run.agent} ended without a word ({how})", (run.stderr_tail or "").strip())
    return NotStarted(": ".join(filter(None, words)))
