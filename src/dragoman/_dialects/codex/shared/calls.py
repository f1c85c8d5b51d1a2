"""The calls of the model that a Codex thread made, each told once.

0.166.0 writes one record for each. 0.135.0 has only `token_count`, which says what the last call used and
the thread's total: it repeats itself (after an interrupt, before a compaction, with every news of rate limits), so a call
is where the total has moved.
"""

from dragoman._model import events as ev
from dragoman._model.usage import Usage, added, since


def call_key(place: str, number: int) -> str:
    """The key of a call: the turn that made it, and which one of the turn's it was. A fork's file repeats the turns of its
    parent under their own ids; the app-server and the file say the same ones."""
    return f"{place}/{number}"


class Calls:
    """The calls of one thread. `agent_id`: the thread, if it is a subagent's."""

    def __init__(self, thread: str | None = None, *, agent_id: str | None = None) -> None:
        self.model: str | None = None
        self.service_tier: str | None = None
        self.spent: Usage | None = None
        """The sum of the calls so far, but for those that were copied from another thread."""
        self.copied = False
        """What is read is the history of another thread."""
        self._place = thread or ""
        """The turn; the thread, in files of 2025, whose turns have no ids."""
        self._number = 0
        self._agent_id = agent_id
        self._recorded = False
        """The thread has records of its calls."""
        self._total: Usage | None = None

    def enter(self, turn_id: str | None) -> None:
        """A turn begins, or is told of again."""
        if turn_id is not None and turn_id != self._place:
            self._place, self._number = turn_id, 0

    def record(self, usage: Usage, turn_id: str | None) -> ev.UsageUpdated:
        """The event for the record of a call."""
        self._recorded = True
        self.enter(turn_id)
        return self._next(usage)

    def count(self, total: Usage, last: Usage | None) -> ev.UsageUpdated | None:
        """The event for the call that a `token_count` tells of; None if it tells of none. After a compaction it has a
        `last` of nothing but a guess at the context."""
        before, self._total = self._total, total
        if self._recorded or total == before:
            return None
        used = last if last is not None else since(total, before or Usage())
        return self._next(used) if used.input_tokens or used.output_tokens else None

    def begin_at(self, total: Usage | None) -> None:
        """The total is this, and no call has led to it: it was told outside a turn, or turns were taken back (None)."""
        self._total = total

    def _next(self, usage: Usage) -> ev.UsageUpdated:
        self._number += 1
        if not self.copied:
            self.spent = added(self.spent, usage) if self.spent is not None else usage
        return ev.UsageUpdated(
            scope="call",
            usage=usage,
            model=self.model,
            call=call_key(self._place, self._number) if self._place else None,
            agent_id=self._agent_id if not self.copied else None,
            service_tier=self.service_tier,
            replay=self.copied,
        )
