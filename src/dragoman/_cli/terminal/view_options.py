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
    """Events in, lines of a view out. Who speaks is known with the first event."""

    def __init__(self, view: str, *, profile: Profile, extended: bool) -> None:
        self._view = view
        self._profile = profile
        self._extended = extended
        self._projector: Projector | None = None

    def see(self, event: Event) -> Iterator[bytes]:
        """Raises UsageError if the view cannot show this agent."""
        if self._projector is None:
            self._projector = self._start(event)
        return self._lines(self._projector.feed(event), self._projector)

    def end(self) -> Iterator[bytes]:
        return (
            self._lines(self._projector.end(), self._projector) if self._projector is not None else iter(())
        )

    def _start(self, event: Event) -> Projector:
        """Whose agent it is, its record says, where it is another one's adapter; else the event does."""
        from dragoman._agents import AGENTS

        record = AGENTS.get(event.agent)
        vendor = (record.vendor if record is not None else None) or published.vendor_of(event)
        return published.projector(self._view, profile=self._profile, extended=self._extended, vendor=vendor)

    def _lines(self, items: Iterable[Struct], projector: Projector) -> Iterator[bytes]:
        return (projector.encode(item) + b"\n" for item in items)


def view_lines(
    events: Iterable[Event], view: str, *, profile: Profile = "seed", extended: bool = False
) -> Iterator[bytes]:
    """A finished stream, line by line."""
    viewer = Viewer(view, profile=profile, extended=extended)
    for event in events:
        yield from viewer.see(event)
    yield from viewer.end()
