"""A stream seen through a published view: what the tests of the views begin with."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from dragoman._files.convert import convert
from dragoman._model.events import Event
from dragoman._projections import published
from dragoman._projections.published import Profile
from tests import golden

STAMPED = ("id", "timestamp")


def lines_of(stream: str | Iterable[Any]) -> list[bytes]:
    """Lines as they are printed, or values that become lines."""
    if isinstance(stream, str):
        return [line.encode() for line in stream.splitlines() if line.strip()]
    return [json.dumps(value).encode() for value in stream]


def seen(
    view: str,
    stream: str | Iterable[Any],
    dialect: str,
    *,
    profile: Profile = "seed",
    extended: bool = False,
    exit: int | None = None,
    vendor: str = "",
    native: bool = False,
) -> list[dict[str, Any]]:
    """All items, as JSON, of an agent's lines."""
    events = convert(lines_of(stream), dialect, exit=exit, native=native)
    return shown(view, events, profile=profile, extended=extended, vendor=vendor)


def shown(
    view: str,
    events: Iterable[Event],
    *,
    profile: Profile = "seed",
    extended: bool = False,
    vendor: str = "",
) -> list[dict[str, Any]]:
    """All items, as JSON, of events."""
    projector = published.view(view).projector(profile=profile, extended=extended, vendor=vendor)
    return [json.loads(projector.encode(item)) for item in published.project(events, projector)]


def bare(items: list[dict[str, Any]], *more: str) -> list[dict[str, Any]]:
    """Without ids and times, and without what else is said in each."""
    left_out = (*STAMPED, "sessionId", *more)
    return [{key: value for key, value in item.items() if key not in left_out} for item in items]


@cache
def captured(capture: Path, native: bool = False) -> list[Event]:
    """The events of a capture, read once. They are not to be changed."""
    return golden.events_of(capture, native=native)


CAPTURES = golden.captures()
name = golden.name
