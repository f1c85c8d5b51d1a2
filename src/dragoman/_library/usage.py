"""Usage: what model calls came to, by day, model, project, agent or session. One row of `model_call` is one call; each is
priced by itself, since a long one costs more than two of half its length."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Literal

from msgspec import Struct, field

from dragoman._agents import AGENTS
from dragoman._library.calls import COUNTS, usage_of
from dragoman._library.database import Database, Row, rows_in
from dragoman._library.sessions import Filter
from dragoman._model.usage import Usage
from dragoman._prices.estimate import Estimate, Prices, Unpriced

By = Literal["day", "week", "month", "model", "project", "agent", "session"]


class Sums(Struct, kw_only=True):
    """What some calls came to."""

    input_tokens: int = 0
    """Cached ones included."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    """Reasoning included."""
    reasoning_tokens: int = 0
    calls: int = 0
    sessions: int = 0
    cost_usd: float | None = None
    """What the agents themselves say, where they do."""
    cost_estimated_usd: float | None = None
    """What the other calls cost by the table of prices."""
    unpriced_calls: int = 0
    """Calls whose cost nobody knows: with any, the costs are the least it can be."""


class UsageRow(Sums, kw_only=True):
    key: str
    """The day, model, folder …"""


class UnpricedModel(Struct, kw_only=True):
    model: str | None
    calls: int = 0
    why: str = ""


class Incomplete(Struct, kw_only=True, omit_defaults=True):
    """Why a total is the least that it can be: of an agent in general, or of one session."""

    agent: str | None = None
    session: str | None = None
    why: str


class UsageReport(Struct, kw_only=True):
    """Usage of a library, or of a part of it."""

    totals: Sums
    rows: list[UsageRow]
    unpriced: list[UnpricedModel] = field(default_factory=list)
    incomplete: list[Incomplete] = field(default_factory=list)
    prices_of: str | None = None
    """The date of the table by which costs are estimated."""


def usage(db: Database, wanted: Filter, by: By, prices: Prices) -> UsageReport:
    """What the calls of the sessions that are meant came to. `since` and `until` of the filter are times of calls, days
    those of whoever looks."""
    totals, groups = _Group(), dict[str, _Group]()
    unpriced: dict[str | None, UnpricedModel] = {}
    dates, agents = set[str](), set[str]()
    for call in _calls(db, wanted):
        agents.add(call.agent)
        key = _KEYS[by](call)
        group = groups.get(key)
        if group is None:
            group = groups[key] = _Group()
        estimated, why = None, ""
        if call.cost is None:
            found = _price(call, prices)
            if isinstance(found, Unpriced):
                why = found.why
                told = unpriced.setdefault(call.model, UnpricedModel(model=call.model, why=why))
                told.calls += 1
            else:
                estimated = found.usd
                if found.price.as_of is not None:
                    dates.add(found.price.as_of.isoformat())
        for each in (totals, group):
            each.add(call, estimated)
    rows = [UsageRow(key=key, **group.fields()) for key, group in groups.items()]
    rows.sort(key=_order(by))
    return UsageReport(
        totals=Sums(**totals.fields()),
        rows=rows,
        unpriced=sorted(unpriced.values(), key=lambda model: -model.calls),
        incomplete=_incomplete(db, wanted, agents),
        prices_of=max(dates, default=None),
    )


def of_sessions(db: Database, ids: list[str], prices: Prices) -> dict[str, Sums]:
    """What each of these sessions came to, with the subagents that work for it."""
    owner = dict(zip(ids, ids, strict=True))
    level = ids
    while level:
        level = [
            child
            for child, parent in rows_in(
                db, "SELECT id, parent FROM session WHERE relation = 'subagent' AND parent IN", level
            )
            if child not in owner and not owner.update({child: owner[parent]})
        ]
    groups = {id: _Group() for id in ids}
    for row in rows_in(db, f"SELECT {_COLUMNS}, {_COST} FROM model_call c WHERE c.session IN", owner):
        call = _call(row)
        groups[owner[call.session]].add(call, _estimated(call, prices))
    return {id: Sums(**group.fields()) for id, group in groups.items()}


def _estimated(call: "_Call", prices: Prices) -> float | None:
    if call.cost is not None:
        return None
    found = _price(call, prices)
    return None if isinstance(found, Unpriced) else found.usd


def _price(call: "_Call", prices: Prices) -> Estimate | Unpriced:
    return prices.estimate(call.model, call.usage, on=call.day_in_utc(), tier=call.tier)


class _Call(Struct):
    """A row of `model_call`. `cost`: what its agent says, of it or of its turn."""

    session: str
    agent: str
    project: str | None
    at: float | None
    model: str | None
    tier: str | None
    usage: Usage
    cost: float | None

    def day(self) -> date | None:
        """The day of whoever looks."""
        return datetime.fromtimestamp(self.at).date() if self.at is not None else None

    def day_in_utc(self) -> date | None:
        return datetime.fromtimestamp(self.at, UTC).date() if self.at is not None else None


class _Group:
    """Sums that grow."""

    def __init__(self) -> None:
        self._sums = Sums()
        self._sessions: set[str] = set()

    def add(self, call: _Call, estimated: float | None) -> None:
        sums, usage = self._sums, call.usage
        sums.input_tokens += usage.input_tokens or 0
        sums.cache_read_tokens += usage.cache_read_tokens or 0
        sums.cache_write_tokens += usage.cache_write_tokens or 0
        sums.output_tokens += usage.output_tokens or 0
        sums.reasoning_tokens += usage.reasoning_tokens or 0
        sums.calls += 1
        self._sessions.add(call.session)
        if call.cost is not None:
            sums.cost_usd = (sums.cost_usd or 0.0) + call.cost
        elif estimated is not None:
            sums.cost_estimated_usd = (sums.cost_estimated_usd or 0.0) + estimated
        else:
            sums.unpriced_calls += 1

    def fields(self) -> dict[str, Any]:
        self._sums.sessions = len(self._sessions)
        return {name: getattr(self._sums, name) for name in Sums.__struct_fields__}


UNKNOWN: Final = "unknown"


def _day(call: _Call) -> str:
    day = call.day()
    return day.isoformat() if day is not None else UNKNOWN


def _week(call: _Call) -> str:
    """The Monday that it begins with."""
    day = call.day()
    return (day - timedelta(days=day.weekday())).isoformat() if day is not None else UNKNOWN


_KEYS: Final[dict[By, Callable[[_Call], str]]] = {
    "day": _day,
    "week": _week,
    "month": lambda call: _day(call)[:7],
    "model": lambda call: call.model or UNKNOWN,
    "project": lambda call: call.project or UNKNOWN,
    "agent": lambda call: call.agent,
    "session": lambda call: call.session,
}


def _order(by: By) -> Callable[[UsageRow], Any]:
    """Days in their order; all else by what it took, most first."""
    if by in ("day", "week", "month"):
        return lambda row: row.key
    return lambda row: (-(row.input_tokens + row.output_tokens), row.key)


_COLUMNS: Final = ", ".join(
    f"c.{name}" for name in ("session", "agent", "project", "at", "model", "tier", *COUNTS)
)
_COST: Final = "COALESCE(c.cost, c.share)"


def _calls(db: Database, wanted: Filter) -> Iterator[_Call]:
    where, values = wanted.of_calls()
    for row in db.stream(
        f"SELECT {_COLUMNS}, {_COST} FROM model_call c WHERE {where} ORDER BY c.at, c.key", values
    ):
        yield _call(row)


def _call(row: Row) -> _Call:
    session, agent, project, at, model, tier, *counts, cost = row
    return _Call(session, agent, project, at, model, tier, usage_of(counts), cost)


def _incomplete(db: Database, wanted: Filter, agents: set[str]) -> list[Incomplete]:
    where, values = wanted.where()
    rows = db.rows(
        "SELECT s.id, s.flags FROM session s LEFT JOIN label l ON l.session = s.id"
        f" WHERE s.flags <> '' AND {where} ORDER BY s.id",
        values,
    )
    records = (AGENTS[agent] for agent in sorted(agents) if agent in AGENTS)
    general = [Incomplete(agent=each.name, why=each.unwritten) for each in records if each.unwritten]
    return general + [Incomplete(session=id, why=flags) for id, flags in rows]
