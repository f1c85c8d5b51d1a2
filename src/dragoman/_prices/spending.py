"""What a run costs, as far as its events tell: what the agent says, and estimates of what it says nothing of."""

from collections.abc import Iterable
from datetime import UTC, date

from msgspec import Struct

from dragoman._model import events as ev
from dragoman._model.usage import Usage
from dragoman._prices.estimate import Prices, Unpriced, tier_of


class Cost(Struct):
    """What some calls cost."""

    reported: float | None = None
    """What the agent says, of those of which it says something."""
    estimated: float | None = None
    """What the others cost by the table of prices."""
    unpriced: int = 0
    """How many are left, whose cost nobody knows."""

    @property
    def usd(self) -> float:
        """All of it that is known."""
        return (self.reported or 0.0) + (self.estimated or 0.0)

    def add(self, other: "Cost") -> None:
        self.reported = _sum(self.reported, other.reported)
        self.estimated = _sum(self.estimated, other.estimated)
        self.unpriced += other.unpriced

    def __str__(self) -> str:
        """As people read it: $0.0123, ~$0.0123 if some of it is estimated, "" if nothing is known."""
        if self.reported is None and self.estimated is None:
            return ""
        least, about = "at least " if self.unpriced else "", "~" if self.estimated is not None else ""
        return f"{least}{about}${self.usd:.4f}"


class Spending:
    """A fold over the events of a run. History that is played back was paid for before."""

    def __init__(self, prices: Prices, model: str | None = None) -> None:
        self.turn = Cost()
        """What the last turn cost that has ended."""
        self.table: date | None = None
        """The day of the table by which a cost was estimated, until the agent says what it was."""
        self.why: str | None = None
        """Why a cost is not known, until the agent says it."""
        self._prices = prices
        self._model = model
        self._done = Cost()
        self._open = Cost()
        """Of the open turn, call by call: replaced by what the agent says when it ends."""
        self._has_calls = False

    @property
    def total(self) -> Cost:
        """What the run has cost so far."""
        total = Cost()
        total.add(self._done)
        total.add(self._open)
        return total

    def feed(self, event: ev.Event) -> None:
        if event.replay:
            return
        if isinstance(event, (ev.SessionStarted, ev.SessionUpdated)):
            self._model = event.model or self._model
        elif isinstance(event, ev.UsageUpdated):
            if event.scope == "call" and event.usage is not None:
                self._has_calls = True
                self._open.add(self._cost(event, event.model, event.usage, event.cost_usd, tier_of(event)))
            elif event.scope == "turn" and event.cost_usd is not None:  # a turn that the agent took by itself
                self._end(self._paid(event.cost_usd))
        elif isinstance(event, ev.TurnEnded):
            self._end(self._of_turn(event))

    def _end(self, cost: Cost) -> None:
        self.turn = cost
        self._done.add(cost)
        self._open, self._has_calls = Cost(), False

    def _of_turn(self, turn: ev.TurnEnded) -> Cost:
        if turn.cost_usd is not None:
            return self._paid(turn.cost_usd)
        if self._has_calls:
            return self._open
        cost = Cost()
        for model, usage in turn.model_usage.items():
            cost.add(self._cost(turn, model, usage, usage.cost_usd))
        if not turn.model_usage and turn.usage is not None:
            cost.add(self._cost(turn, None, turn.usage))
        return cost

    def _paid(self, cost: float) -> Cost:
        self.table = self.why = None
        return Cost(reported=cost)

    def _cost(
        self,
        event: ev.Event,
        model: str | None,
        usage: Usage,
        said: float | None = None,
        tier: str | None = None,
    ) -> Cost:
        """What the agent says, or else the table."""
        if said is not None:
            return Cost(reported=said)
        if not usage.count:
            return Cost()
        day = event.time.astimezone(UTC).date() if event.time is not None else None
        found = self._prices.estimate(model or self._model, usage, on=day, tier=tier)
        if isinstance(found, Unpriced):
            self.why = found.why
            return Cost(unpriced=1)
        self.table = found.price.as_of
        return Cost(estimated=found.usd)


def spent(events: Iterable[ev.Event], prices: Prices, model: str | None = None) -> Cost:
    """What a run has cost. `model`: which is used, until the agent says another."""
    spending = Spending(prices, model)
    for event in events:
        spending.feed(event)
    return spending.total


def _sum(a: float | None, b: float | None) -> float | None:
    return b if a is None else a if b is None else a + b
