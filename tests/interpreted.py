"""What frames become, by machines that raise what a run would report as not understood."""

import json
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

from dragoman._contract.invariants import broken
from dragoman._dialects import DIALECTS
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.machine import Machine, StartOptions, play

E = TypeVar("E", bound=Event)
UNKNOWN = Exit()
"""The end of a run of which nobody knows how it ended."""


@cache
def _strict(dialect: str) -> type[Machine]:
    """A class of its own, so that no other test has its machines strict."""
    machine: type[Machine] = DIALECTS[dialect].part("machine").MACHINE
    return type(f"Strict{machine.__name__}", (machine,), {"strict": True})


def strict_machine(dialect: str, agent: str = "") -> Machine:
    return _strict(dialect)(agent or DIALECTS[dialect].agent)


def interpreted(
    dialect: str,
    frames: Iterable[Frame],
    *,
    launch: Launch | None = None,
    exit: Exit = UNKNOWN,
    native: bool = False,
) -> list[Event]:
    """The events of a run, and that what always holds, holds."""
    machine, kept = strict_machine(dialect), list(frames)
    begun = launch or Launch(agent=machine.agent, dialect=dialect)
    events = list(play(kept, machine, begun, lambda: exit, StartOptions(keeps_lines=native)))
    assert broken(events, frames=[frame.n for frame in kept if frame.dir == "out"]) == []
    return events


def line(value: Any) -> bytes:
    """A line, which may be told by the JSON that it is."""
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def out(lines: Iterable[Any]) -> list[Frame]:
    """The frames of lines that the agent wrote."""
    return [Frame(n, "out", line(value)) for n, value in enumerate(lines, 1)]


def of(events: Iterable[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]
