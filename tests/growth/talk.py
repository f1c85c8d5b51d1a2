"""Runs that go on and on: what opens them, and what comes again and again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from dragoman._model.frames import Direction, Frame, Launch
from dragoman._wire.machine import Machine
from tests.interpreted import line, strict_machine

Line = tuple[Direction, dict[str, Any]]


@dataclass(frozen=True)
class Scenario:
    """A run of a dialect: `unit(n)` are the lines of the nth time that the same thing happens."""

    name: str
    dialect: str
    unit: Callable[[int], Iterable[Line]]
    opening: Iterable[Line] = ()
    told_again: int = 0
    """Bytes of each time before that the events have to tell again."""


class Talk:
    """A run of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._machine: Machine = strict_machine(scenario.dialect)
        self._machine.start(Launch(agent="tester", dialect=scenario.dialect, cwd="/repo"))
        self._numbers, self._units = count(1), count()
        self._pass(self._frames(scenario.opening))

    def go_on(self, units: int) -> "Talk":
        """As many times more."""
        for _ in range(units):
            self.next()()
        return self

    def next(self) -> Callable[[], None]:
        """What the next time means for the machine; its lines are written already."""
        frames = self._frames(self._scenario.unit(next(self._units)))
        return lambda: self._pass(frames)

    def _frames(self, lines: Iterable[Line]) -> list[Frame]:
        return [Frame(next(self._numbers), way, line(value), 0.5) for way, value in lines]

    def _pass(self, frames: list[Frame]) -> None:
        for frame in frames:
            for event in self._machine.receive(frame).events:
                del event
