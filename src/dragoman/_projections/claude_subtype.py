"""The subtype of Claude's result, which the published models repeat and no event has."""

from typing import Final

from dragoman._model.events import TurnEnded

_SUBTYPES: Final = {
    "max_turns": "error_max_turns",
    "budget_exhausted": "error_max_budget_usd",
    "aborted_tools": "error_during_execution",
    "aborted_streaming": "error_during_execution",
}
"""By the reason that newer versions give beside it. Every other reason comes with `success`."""


def claude_subtype(turn: TurnEnded) -> str:
    """`subtype` of the result that ended the turn, from what the turn's end says of it."""
    reason = turn.reason
    if reason is not None and reason.startswith("error_"):
        return reason
    failed = turn.outcome in ("failed", "truncated", "cancelled") and reason in (None, turn.outcome)
    return _SUBTYPES.get(reason or "", "error_during_execution" if failed else "success")
