"""What a thread has used. Codex counts over the whole thread, also over what it did before this process began:
only the difference belongs to a turn.

An update for a turn that is not open is a baseline (after a resume or a fork, capture thread_mgmt). With no
baseline, or after a revert, which sets the count back without a word, the last call alone is counted.
"""

from collections.abc import Iterator
from typing import Any

from dragoman._dialects.codex.app.translate import usage_of
from dragoman._model import events as ev
from dragoman._model.usage import Usage, added, since
from dragoman._wire import fields


class Meter:
    """The counts of one thread."""

    def __init__(self) -> None:
        self.total: Usage | None = None
        """As the agent last said; None where there is nothing to take a difference from."""
        self.context: int | None = None
        """Tokens that the context holds."""
        self.window: int | None = None
        self._turn: Usage | None = None

    def update(self, native: dict[str, Any], *, in_turn: bool) -> Iterator[ev.UsageUpdated]:
        total, last = usage_of(native.get("total")), usage_of(native.get("last"))
        return self.count(total, last, fields.integer(native, "modelContextWindow"), in_turn=in_turn)

    def count(
        self, total: Usage | None, last: Usage | None, window: int | None, *, in_turn: bool
    ) -> Iterator[ev.UsageUpdated]:
        self.window = window or self.window
        if last is not None:
            self.context = last.total_tokens
        if total is None:
            return
        before, self.total = self.total, total
        if in_turn and total != before:  # said again unchanged, it is no call
            used = since(total, before) if before is not None else last or total
            self._turn = added(self._turn, used) if self._turn is not None else used
            yield ev.UsageUpdated(
                scope="call", usage=last or used, context_used=self.context, context_window=self.window
            )
        yield ev.UsageUpdated(
            scope="session", usage=total, context_used=self.context, context_window=self.window
        )

    def turn_over(self) -> Usage | None:
        """The usage of the turn, which has ended."""
        used, self._turn = self._turn, None
        return used

    def forget_total(self) -> None:
        self.total = None
