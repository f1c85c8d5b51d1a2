"""Insights files that repeat the agent's own lines in `raw`: those lines, read by the agent's dialect.

More than the model carries comes back that way. The lines are believed only if they tell the same as the items: lines
that made no item are missing, and with them, now and then, what a later one needed.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from dragoman._dialects import detect, machine_for
from dragoman._dialects.insights import messages as m
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._projections import published
from dragoman._projections.published import PROFILES, Profile
from dragoman._wire.machine import StartOptions, play


def gathered(frames: Iterator[Frame]) -> tuple[list[Frame], list[m.InsightsEvent]]:
    """The frames up to the first line that repeats none of the agent's, and their items: all of them, if each line
    has its `raw`; else no items."""
    seen: list[Frame] = []
    items: list[m.InsightsEvent] = []
    for frame in frames:
        seen.append(frame)
        item = m.ITEMS.read(frame.line)
        if isinstance(item, m.InsightsEvent) and item.raw is not None:
            items.append(item)
        elif frame.line.strip():
            return seen, []
    return seen, items


def events_of(items: Sequence[m.InsightsEvent], launch: Launch, exit: Exit) -> list[Event] | None:
    """The events of the lines in `raw`, each with the items that it is shown as (`messages.ITEMS`); None if no dialect
    knows the lines, if they tell something else, or if they are nested too deeply to tell."""
    try:
        return _believed(items, launch, exit)
    except RecursionError:
        return None


def _believed(items: Sequence[m.InsightsEvent], launch: Launch, exit: Exit) -> list[Event] | None:
    lines = _lines(items)
    dialect = detect(lines)
    if dialect is None:
        return None
    events = _interpreted(lines, msgspec.structs.replace(launch, dialect=dialect), exit)
    for profile in PROFILES:
        shown = _items_by_event(events, items, profile)
        if shown is not None:
            return [_keeping(event, kept) for event, kept in zip(events, shown, strict=True)]
    return None


def _lines(items: Sequence[m.InsightsEvent]) -> list[bytes]:
    """Each line once; the items of one line follow each other."""
    lines: list[bytes] = []
    last: Any = None
    for item in items:
        if item.raw != last:
            last = item.raw
            lines.append(msgspec.json.encode(item.raw))
    return lines


def _interpreted(lines: list[bytes], launch: Launch, exit: Exit) -> list[Event]:
    frames = (Frame(number, "out", line) for number, line in enumerate(lines, 1))
    machine, options = machine_for(launch.dialect, launch.agent), StartOptions(keeps_lines=True)
    return list(play(frames, machine, launch, lambda: exit, options))


def _items_by_event(
    events: list[Event], items: Sequence[m.InsightsEvent], profile: Profile
) -> list[list[m.InsightsEvent]] | None:
    """Which of `items` each event is shown as; None if the events are shown as something else."""
    projector = published.view("insights").projector(profile=profile)
    shown: list[list[m.InsightsEvent]] = []
    rest = iter(items)
    for event in events:
        kept: list[m.InsightsEvent] = []
        for made in projector.feed(event):
            item = next(rest, None)
            if item is None or _plain(made) != _plain(item):
                return None
            kept.append(item)
        shown.append(kept)
    return shown if next(rest, None) is None else None


def _keeping(event: Event, items: list[m.InsightsEvent]) -> Event:
    """`event` with its items in place of the line, which is in their `raw`."""
    event.line, event.line_b64, event.eol = None, None, True
    if items:
        m.ITEMS.keep(event, *items)
    return event


def _plain(item: msgspec.Struct) -> dict[str, Any]:
    """All that an item says, but for its id and time."""
    value: dict[str, Any] = json.loads(published.encode(item))
    return {key: part for key, part in value.items() if key not in ("id", "timestamp")}
