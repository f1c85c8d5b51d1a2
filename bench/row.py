"""A row of the table: what is measured, against whom, and what was to be reached."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """What a row's measurement found, in the row's unit."""

    ours: float
    peer: float | None = None
    floor: float | None = None
    """The least that anybody has to pay for it."""


@dataclass(frozen=True)
class Goal:
    """What was to be reached: `reached(figures)` is the number that is compared, `met(number)` whether it is enough."""

    text: str
    reached: Callable[[Figures], float | None]
    met: Callable[[float], bool]


def faster(times: float) -> Goal:
    """At least so many times as fast as the peer."""
    return Goal(
        f"≥ {times:g}× as fast", lambda it: it.peer and it.peer / it.ours, lambda number: number >= times
    )


def within(times: float) -> Goal:
    """At most so many times the peer's cost."""
    return Goal(
        f"≤ {times:g}× the cost", lambda it: it.peer and it.ours / it.peer, lambda number: number <= times
    )


def below(limit: float, unit: str) -> Goal:
    """Less than so much, whatever the peer needs."""
    return Goal(f"< {limit:g} {unit}", lambda it: it.ours, lambda number: number < limit)


@dataclass(frozen=True)
class Row:
    name: str
    """What `make bench ROWS=` calls it."""
    title: str
    peer: str
    unit: str
    goal: Goal
    measure: Callable[[], Figures]
