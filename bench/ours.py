"""Our side of every comparison: lines to events."""

from bench.clock import Work
from bench.material import Runs
from dragoman._dialects import machine_for
from dragoman._model.frames import Frame, Launch
from dragoman._wire.machine import Machine


def machines(dialect: str, runs: Runs) -> list[Machine]:
    """One that has started, for each run."""
    made = [machine_for(dialect) for _ in runs]
    for machine in made:
        machine.start(Launch(agent="bench", dialect=dialect))
    return made


def to_events(dialect: str, runs: Runs) -> Work:
    """What makes events of the lines; the number of them. That a run has to start is no cost of a line."""
    ready = machines(dialect, runs)

    def work() -> int:
        events = 0
        for machine, lines in zip(ready, runs, strict=True):
            receive = machine.receive
            for n, line in enumerate(lines, 1):
                events += len(receive(Frame(n, "out", line, 0.5)).events)
        return events

    return work
