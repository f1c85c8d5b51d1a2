"""What agents say that turns cost, shared among the calls of these turns: each has the part that it would have by the table
of prices. The parts of a turn are what was said of it, to the last digit."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from dragoman._library.calls import COUNTS, usage_of
from dragoman._library.database import Database, Row, batches, places, rows_in
from dragoman._prices.estimate import Prices, Unpriced


class _Turn(NamedTuple):
    """A turn with a cost, as one unit tells of it."""

    unit: int
    n: int
    at: float | None
    ended: float | None
    cost: float
    kind: str


class _Call(NamedTuple):
    key: str
    request: str
    at: float | None
    weight: float | None
    """What it costs by the table, if that is known."""
    tokens: int
    has_cost: bool
    """Its agent says what this call cost."""
    session: str
    """The one that it belongs to."""


def share(db: Database, sessions: Iterable[str]) -> None:
    """Share what is said of turns of these sessions, anew."""
    sessions = list(sessions)
    for some in batches(sessions):
        db.run(
            f"UPDATE model_call SET share = NULL WHERE share IS NOT NULL AND session IN ({places(some)})",
            some,
        )
    turns: dict[str, list[_Turn]] = {}
    for session, *turn in rows_in(
        db,
        "SELECT t.session, t.unit, t.n, t.at, t.ended, t.cost, p.kind FROM turn t"
        " JOIN part p ON p.unit = t.unit AND p.session = t.session WHERE t.cost > 0 AND t.session IN",
        sessions,
    ):
        turns.setdefault(session, []).append(_Turn(*turn))
    for session, found in turns.items():
        parts = _parts(db, session, found)
        db.run_many(
            "UPDATE model_call SET share = ? WHERE key = ? AND request = ?",
            [(part, *call) for call, part in sorted(parts.items())],
        )


def _parts(db: Database, session: str, turns: list[_Turn]) -> dict[tuple[str, str], float]:
    """What each call of a session has of the costs of its turns. Recordings come first: what they say has subagents in it,
    and requests that the agent keeps nowhere. What a turn cost for calls that belong to another session, as those do that
    a fork copied, is left out: there they are counted."""
    told: dict[int, dict[str, int]] = {}
    for unit, key, n in db.rows("SELECT unit, key, turn FROM sighting WHERE session = ?", (session,)):
        told.setdefault(unit, {})[key] = n
    calls = [_call(row) for row in db.rows(f"{_CALLS} session = ? {_ORDER}", (session,))]
    copied = {key for keys in told.values() for key in keys}.difference(call.key for call in calls)
    calls += [_call(row) for row in rows_in(db, f"{_CALLS} key IN", sorted(copied))]
    units: dict[int, list[_Turn]] = {}
    for turn in sorted(turns, key=lambda t: (t.kind == "disk", t.at or 0, t.unit, t.n)):
        units.setdefault(turn.unit, []).append(turn)
    parts: dict[tuple[str, str], float] = {}
    for unit, of_unit in units.items():
        for cost, members in _paid(of_unit, calls, told.get(unit, {})):
            if not any(call.has_cost or (call.key, call.request) in parts for call in members):
                parts |= _divided(cost, members)
    own = {(call.key, call.request) for call in calls if call.session == session}
    return {call: part for call, part in parts.items() if call in own}


def _paid(
    turns: list[_Turn], calls: list[_Call], told: dict[str, int]
) -> Iterable[tuple[float, list[_Call]]]:
    """The costs of a unit's turns, each with the calls that it is for: those that the unit tells in this turn; and if it is
    a recording, those that others tell and that came since the turn before. A cost without any, such as that of a
    compaction, is added to that of the next turn, or else of the last."""
    out: list[tuple[float, list[_Call]]] = []
    left, before = 0.0, None
    for turn in sorted(turns, key=lambda t: t.n):
        since = before.ended if before is not None and before.n == turn.n - 1 else turn.at
        members = [
            call
            for call in calls
            if (
                told[call.key] == turn.n
                if call.key in told
                else turn.kind != "disk" and _is_between(since, call.at, turn.ended)
            )
        ]
        before, left = turn, left + turn.cost
        if members:
            out.append((left, members))
            left = 0.0
    if left and out:
        cost, members = out[-1]
        out[-1] = cost + left, members
    return out


def _is_between(first: float | None, at: float | None, last: float | None) -> bool:
    return first is not None and at is not None and last is not None and first < at <= last


def _divided(cost: float, calls: list[_Call]) -> dict[tuple[str, str], float]:
    """A cost in parts, by what the calls cost by the table; if it does not know one of them, by their tokens."""
    weights = [call.weight for call in calls]
    known = [weight for weight in weights if weight is not None]
    if len(known) < len(weights) or not sum(known):
        known = [float(call.tokens) for call in calls]
    whole = sum(known)
    parts = [cost * weight / whole if whole else cost / len(calls) for weight in known]
    parts[-1] = cost - sum(parts[:-1])
    return {(call.key, call.request): part for call, part in zip(calls, parts, strict=True)}


_CALLS: Final = (
    f"SELECT key, request, session, at, cost, model, tier, {', '.join(COUNTS)} FROM model_call WHERE"
)
_ORDER: Final = "ORDER BY at, key, request"
_PRICES: Final = Prices()
"""Those of Dragoman alone: what is derived is the same for everybody."""


def _call(row: Row) -> _Call:
    key, request, session, at, cost, model, tier, *counts = row
    usage = usage_of(counts)
    found = _PRICES.estimate(model, usage, tier=tier)
    weight = found.usd if not isinstance(found, Unpriced) else None
    return _Call(key, request, at, weight, usage.count, cost is not None, session)
