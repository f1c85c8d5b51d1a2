"""Reading Codex's session files, for the tests beside this."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from dragoman._contract.invariants import broken
from dragoman._dialects import machine_for
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch

CAPTURES = Path(__file__).parents[4] / "captures" / "codex_rollout" / "0.166.0"

E = TypeVar("E", bound=Event)


def interpreted(frames: Iterable[Frame]) -> list[Event]:
    machine = machine_for("codex_rollout")
    type(machine).strict = True
    events = list(machine.start(Launch(agent="codex", dialect="codex_rollout")).events)
    for frame in frames:
        events += machine.receive(frame).events
    return [*events, *machine.end(Exit()).events]


def read(lines: Iterable[bytes]) -> list[Event]:
    """The events of these lines, and that they keep every rule."""
    frames = [Frame(n, "out", line) for n, line in enumerate(lines, 1)]
    events = interpreted(frames)
    assert broken(events, frames=range(1, len(frames) + 1)) == []
    return events


def capture(name: str) -> list[Event]:
    return read((CAPTURES / name / "session.jsonl").read_bytes().splitlines())


def lines(*parts: tuple[str, dict[str, Any]]) -> list[Event]:
    """A file of the older kind, put together: (type, payload) each."""
    time = "2025-10-01T12:00:00.000Z"
    return read(json.dumps({"timestamp": time, "type": t, "payload": p}).encode() for t, p in parts)


def of(events: list[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]
