"""The agent's own lines in `raw`, read again by its dialect: more than the model carries comes back.

They are believed only if they tell the same: lines that made no item are missing, and with them, now and then, what
a later one needed.
"""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from dragoman._dialects import DIALECTS, detect, machine_for
from dragoman._dialects.insights import messages as m
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._projections import published
from dragoman._projections.insights.project import InsightsProjector
from dragoman._projections.published import PROFILES, Profile
from dragoman._projections.stamps import STAMPS


def reread(items: Sequence[m.InsightsEvent | str]) -> list[Event] | None:
    """The events of the lines in `raw`; None if some item has none, or if they tell something else."""
    lines = _lines(items)
    dialect = detect(lines) if lines is not None else None
    if lines is None or dialect is None:
        return None
    for profile in PROFILES:
        events = _events(lines, dialect)
        if _tell(events, items, profile):
            return events
    return None


def _lines(items: Sequence[m.InsightsEvent | str]) -> list[bytes] | None:
    """Each line once; the items of one line follow each other."""
    lines: list[bytes] = []
    last: Any = None
    for item in items:
        if isinstance(item, str) or item.raw is None:
            return None
        if item.raw != last:
            last = item.raw
            lines.append(msgspec.json.encode(item.raw))
    return lines


def _events(lines: list[bytes], dialect: str) -> list[Event]:
    machine = machine_for(dialect, native=True)
    events = list(machine.start(Launch(agent=DIALECTS[dialect].agent, dialect=dialect)).events)
    for number, line in enumerate(lines, 1):
        events += machine.receive(Frame(number, "out", line)).events
    return [*events, *machine.end(Exit()).events]


def _tell(events: list[Event], items: Sequence[m.InsightsEvent | str], profile: Profile) -> bool:
    """Whether `events` are seen as `items`; if so, they get the ids and times of these."""
    projector = InsightsProjector(profile=profile)
    stamps: list[list[list[str]]] = []
    told = 0
    for event in events:
        mine: list[list[str]] = []
        for shown in projector.feed(event):
            item = items[told] if told < len(items) else None
            if not isinstance(item, m.InsightsEvent) or _plain(shown) != _plain(item):
                return False
            mine.append([item.id, item.timestamp])
            told += 1
        stamps.append(mine)
    if told != len(items):
        return False
    for event, mine in zip(events, stamps, strict=True):
        if mine:
            event.ext = {**event.ext, STAMPS: mine}
    return True


def _plain(item: msgspec.Struct) -> dict[str, Any]:
    """All that an item says, but for its id and time."""
    value: dict[str, Any] = json.loads(published.encode(item))
    return {key: part for key, part in value.items() if key not in ("id", "timestamp")}
