"""What a run takes, in tokens and dollars, while it goes on: what an open turn takes is known call by call, and what its agent
says when it ends takes the place of that."""

from collections.abc import Iterable
from typing import Final, TypeVar

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Bill, Usage, added
from dragoman._prices.estimate import Prices
from dragoman._prices.spending import Cost, Spending

MOST: Final = 5_000
"""Entries of a kind that are kept."""

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V]):
    """Only the last entries: nobody knows whether what is open will ever end."""

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > MOST:
            del self[next(iter(self))]


class RunUsage:
    """A fold over the events of one run."""

    def __init__(self, prices: Prices) -> None:
        self.calls = 0
        """Of a model, as far as they are told one by one."""
        self._spending = Spending(prices)
        self._whole: ev.RunEnded | None = None
        """What its agent says of all of it, if that is the cost too."""
        self._of_turns: Usage | None = None
        self._turns_tell = False
        self._open = Recent[object, Usage]()
        """The calls since the last turn ended."""
        self._of_sessions = Recent[str | None, Usage]()
        """What the agent said last of each."""

    def feed(self, event: Event) -> None:
        self._spending.feed(event)
        if isinstance(event, ev.UsageUpdated):
            self._updated(event)
        elif isinstance(event, ev.RunEnded) and event.cost_usd is not None:
            self._whole = event

    def end_turn(self, event: ev.TurnEnded) -> tuple[Usage | None, float | None]:
        """What a turn took, and what it cost by its agent, else by the table of prices: both of the same calls. To be called once
        it was fed."""
        calls = _sum(self._open.values())
        self._open.clear()
        used = calls if calls is not None and event.cost_usd is None else _told(event)
        self._turns_tell = self._turns_tell or used is not None or event.cost_usd is not None
        self._of_turns = _plus(self._of_turns, used)
        cost = self._spending.turn
        return used, cost.reported if cost.reported is not None else cost.estimated

    @property
    def cost(self) -> Cost:
        return Cost(reported=self._whole.cost_usd) if self._whole is not None else self._spending.total

    @property
    def usage(self) -> Usage:
        """What its turns took, and the calls since; where turns tell nothing, what was said of its sessions."""
        if self._whole is not None and self._whole.usage is not None:
            return self._whole.usage
        if self._of_sessions and not self._turns_tell:
            return _sum(self._of_sessions.values()) or Usage()
        return _plus(self._of_turns, _sum(self._open.values())) or Usage()

    def _updated(self, event: ev.UsageUpdated) -> None:
        if event.usage is None:
            return
        if event.scope == "call":
            call: object = event.call if event.call is not None else event.seq
            self.calls += call not in self._open
            self._open[call] = event.usage
        elif event.scope == "session":
            self._of_sessions[event.session] = event.usage


def _told(turn: ev.TurnEnded) -> Usage | None:
    """What the agent says of a turn."""
    bill = Bill()
    bill.add(turn.usage, turn.model_usage, turn.cost_usd)
    return bill.usage


def _sum(some: Iterable[Usage]) -> Usage | None:
    total: Usage | None = None
    for usage in some:
        total = _plus(total, usage)
    return total


def _plus(a: Usage | None, b: Usage | None) -> Usage | None:
    return a if b is None else added(a if a is not None else Usage(), b)
