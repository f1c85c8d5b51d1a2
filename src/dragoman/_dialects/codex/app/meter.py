"""What a thread has used. Codex counts over the whole thread, also over what it did before this process began:
only the difference belongs to a turn.

An update for a turn that is not open is a baseline (after a resume or a fork, capture thread_mgmt). With no
baseline, or after a revert, which sets the count back without a word, the last call alone is counted.
"""

from typing import Any

from dragoman._dialects.codex.app.translate import COUNTS
from dragoman._dialects.codex.shared.calls import Calls
from dragoman._dialects.codex.shared.values import usage_of
from dragoman._model import events as ev
from dragoman._model.usage import Usage, added, since


class Meter:
    """The counts of one thread."""

    def __init__(self) -> None:
        self.total: Usage | None = None
        """As the agent last said; None where there is nothing to take a difference from."""
        self.context: int | None = None
        """Tokens that the context holds."""
        self.window: int | None = None
        self.calls = Calls()
        self._turn: Usage | None = None

    def update(self, native: dict[str, Any], model: str | None, *, in_turn: bool) -> list[ev.UsageUpdated]:
        """The events for a `tokenUsage`."""
        total, last = usage_of(native.get("total"), COUNTS), usage_of(native.get("last"), COUNTS)
        window = native.get("modelContextWindow")
        return self.count(total, last, window if type(window) is int else None, model, in_turn=in_turn)

    def count(
        self,
        total: Usage | None,
        last: Usage | None,
        window: int | None,
        model: str | None = None,
        *,
        in_turn: bool,
    ) -> list[ev.UsageUpdated]:
        """The events for the thread's total and what its last call used: that of the call, if it was one, and that of
        the session."""
        self.window = window or self.window
        if last is not None:
            self.context = last.total_tokens
        if total is None:
            return []
        context, window = self.context, self.window
        before, self.total = self.total, total
        session = ev.UsageUpdated(
            scope="session", usage=total, context_used=context, context_window=window, model=model
        )
        if not in_turn:
            self.calls.begin_at(total)
            return [session]
        self.calls.model = model
        call = self.calls.count(total, last)
        if call is None or call.usage is None:
            return [session]
        used = since(total, before) if before is not None else call.usage
        self._turn = added(self._turn, used) if self._turn is not None else used
        call.context_used, call.context_window = context, window
        return [call, session]

    def turn_over(self) -> Usage | None:
        """The usage of the turn, which has ended."""
        used, self._turn = self._turn, None
        return used

    def forget_total(self) -> None:
        self.total = None
        self.calls.begin_at(None)
