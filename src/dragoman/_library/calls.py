"""Model calls: one for each that an agent wrote down, with a key that is the same wherever it is written again.

An agent writes a call several times: a line for each block of the answer, a copy in every fork and resume, on the wire and
on disk. So what is counted are keys, not lines: in one unit the greatest output of a key wins, over all units the earliest
one owns it. Where an agent tells of turns only, the turn stands for its calls.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dragoman._model.events import TurnEnded, UsageUpdated
from dragoman._model.usage import Usage
from dragoman._prices.estimate import tier_of

TURN: Final = "turn"
"""The flag of a row that stands for the calls of a turn. It counts where no unit tells of the session's calls."""
NO_MODEL: Final = "no_model"


COUNTS: Final = ("input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
"""The columns that are counts of tokens."""


class Sighting(Struct):
    """A call, as one unit tells of it. The columns of `sighting`, but for the unit."""

    key: str
    """The agent's own, or one of ours where it has none."""
    request: str | None
    """The API's id of the request, where the agent keeps it: ids of messages may repeat in sessions of one gateway."""
    session: str
    inherited: bool
    turn: int
    at: float | None
    model: str | None
    tier: str | None
    input: int | None
    cache_read: int | None
    cache_write: int | None
    cache_write_1h: int | None
    output: int | None
    reasoning: int | None
    cost: float | None
    flags: str = ""


class Calls:
    """The calls of a unit."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Sighting] = {}
        self._turns: dict[str, list[Sighting]] = {}
        """What turns say, by session."""
        self._told: set[str] = set()
        """Sessions of which calls are told."""

    def take(
        self, event: UsageUpdated, native_id: str, session: str, at: float | None, *, inherited: bool
    ) -> None:
        """A `usage.updated` of scope call. `inherited`: of a session before this one."""
        usage = event.usage
        if not usage:
            return
        self._told.add(native_id)
        key = event.call or f"{native_id}/{event.seq}"
        sighting = _sighting(key, session, event.turn, at, event.model, usage, event.cost_usd)
        sighting.request, sighting.inherited, sighting.tier = event.request_id, inherited, tier_of(event)
        known = self._found.get((session, key))
        self._found[session, key] = _merged(known, sighting) if known is not None else sighting

    def take_turn(self, event: TurnEnded, native_id: str, session: str, at: float | None) -> None:
        """What a turn says of itself: for agents that tell of no calls."""
        when = f"{at:.3f}" if at is not None else str(event.seq)
        models: Iterable[tuple[str | None, Usage, float | None]]
        if event.model_usage:
            models = [(model, usage, usage.cost_usd) for model, usage in event.model_usage.items()]
        else:
            models = [(None, event.usage, event.cost_usd)] if event.usage else []
        for model, usage, cost in models:
            key = f"{native_id}/turn/{when}/{model or ''}"
            sighting = _sighting(key, session, event.turn, at, model, usage, cost)
            sighting.flags = TURN
            self._turns.setdefault(native_id, []).append(sighting)

    def all(self) -> list[Sighting]:
        """One for each call, and the turns of those sessions of which no calls are told."""
        turns = [each for id, found in self._turns.items() if id not in self._told for each in found]
        return [*self._found.values(), *turns]


def usage_of(counts: Iterable[int | None]) -> Usage:
    """The usage that these columns tell."""
    input, read, write, hour, output, reasoning = counts
    return Usage(
        input_tokens=input,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_write_1h_tokens=hour,
        output_tokens=output,
        reasoning_tokens=reasoning,
    )


def _sighting(
    key: str,
    session: str,
    turn: int,
    at: float | None,
    model: str | None,
    usage: Usage,
    cost: float | None,
) -> Sighting:
    return Sighting(
        key=key,
        request=None,
        session=session,
        inherited=False,
        turn=turn,
        at=at,
        model=model,
        tier=None,
        input=usage.input_tokens,
        cache_read=usage.cache_read_tokens,
        cache_write=usage.cache_write_tokens,
        cache_write_1h=usage.cache_write_1h_tokens,
        output=usage.output_tokens,
        reasoning=usage.reasoning_tokens,
        cost=cost,
        flags="" if model else NO_MODEL,
    )


def _merged(first: Sighting, then: Sighting) -> Sighting:
    """The numbers of the one that has the greater output, the time, turn and request of the first."""
    best = then if (then.output or 0) >= (first.output or 0) else first
    best.at = first.at if first.at is not None else then.at
    best.turn, best.request = first.turn, first.request or then.request
    best.inherited = first.inherited and then.inherited
    best.model, best.cost = (
        best.model or first.model or then.model,
        best.cost if best.cost is not None else first.cost,
    )
    return best
