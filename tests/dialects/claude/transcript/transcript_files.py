"""Reading captured session files, for the tests beside this."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from dragoman._dialects import machine_for
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch

CAPTURES = Path(__file__).parents[4] / "captures" / "claude_transcript"
SCENARIOS = sorted(path.parent for path in CAPTURES.glob("*/*/session.jsonl"))
FILES = sorted(path for path in CAPTURES.glob("*/*/*.jsonl") if path.name != "events.jsonl")
OLD, NEW = CAPTURES / "2.1.197", CAPTURES / "2.1.325"

E = TypeVar("E", bound=Event)


def frames(paths: Iterable[Path]) -> list[Frame]:
    lines = []
    for path in paths:
        *whole, rest = path.read_bytes().split(b"\n")
        lines += [(line, True) for line in whole] + ([(rest, False)] if rest else [])
    return [Frame(n, "out", line, eol=eol) for n, (line, eol) in enumerate(lines, 1)]


def events_of(traffic: Iterable[Frame], *, native: bool = False) -> list[Event]:
    machine = machine_for("claude_transcript", native=native)
    events = list(machine.start(Launch(agent="claude", dialect="claude_transcript")).events)
    for frame in traffic:
        events += machine.receive(frame).events
    return [*events, *machine.end(Exit()).events]


def read(*paths: Path) -> list[Event]:
    return events_of(frames(paths))


def lines(*values: Any) -> list[Event]:
    return events_of(Frame(n, "out", json.dumps(value).encode()) for n, value in enumerate(values, 1))


def of(events: list[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def files(scenario: Path) -> list[Path]:
    return [scenario / "session.jsonl", *sorted(scenario.glob("subagent-*.jsonl"))]


def outcomes(events: list[Event]) -> list[tuple[str, str | None]]:
    return [(turn.outcome, turn.reason) for turn in of(events, ev.TurnEnded)]
