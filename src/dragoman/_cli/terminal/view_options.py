"""Runs as other programs want to see them: the published views on the command line."""

from collections.abc import Iterable, Iterator
from typing import Final

import click
from msgspec import Struct

from dragoman._model.events import Event
from dragoman._projections import published
from dragoman._projections.published import PROFILES, Profile, Projector

WITH_LINES: Final = ("insights",)
"""Views that repeat the agent's own lines."""

profile_option: Final = click.option(
    "--profile",
    type=click.Choice(PROFILES),
    help="How a view treats errors. seed: by the published tables, line by line. live: held until the result.",
)
extended_option: Final = click.option(
    "--extended", is_flag=True, help="Let a view say more than its strict schema has."
)


class Viewer:
    """Events in, lines of a view out, as they come. Who speaks is known with the first event."""

    def __init__(self, view: str, *, profile: Profile, extended: bool) -> None:
        self._view = view
        self._profile = profile
        self._extended = extended
        self._projector: Projector | None = None

    def see(self, event: Event) -> list[bytes]:
        """Raises UsageError if the view cannot show this agent."""
        if self._projector is None:
            self._projector = _projector(event, self._view, self._profile, extended=self._extended)
        return list(_lines(self._projector.feed(event), self._projector))

    def end(self) -> list[bytes]:
        return list(_lines(self._projector.end(), self._projector)) if self._projector is not None else []


def _projector(event: Event, view: str, profile: Profile, *, extended: bool) -> Projector:
    """The view of the agent that `event` is from. Whose agent it is, its record says, where it is another one's adapter;
    else the event does."""
    from dragoman._agents import AGENTS

    record = AGENTS.get(event.agent)
    vendor = (record.vendor if record is not None else None) or published.vendor_of(event)
    return published.projector(view, profile=profile, extended=extended, vendor=vendor)


def _lines(items: Iterable[Struct], projector: Projector) -> Iterator[bytes]:
    return (projector.encode(item) + b"\n" for item in items)


def view_lines(
    events: Iterable[Event], view: str, *, profile: Profile = "seed", extended: bool = False
) -> Iterator[bytes]:
    """A finished stream, line by line."""
    projector: Projector | None = None
    for event in events:
        if projector is None:
            projector = _projector(event, view, profile, extended=extended)
        for item in projector.feed(event):
            yield projector.encode(item) + b"\n"
    if projector is not None:
        yield from _lines(projector.end(), projector)
