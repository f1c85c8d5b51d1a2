"""What the tests of this view share: lines in, items out."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from dragoman._files.convert import convert
from dragoman._model.events import Event
from dragoman._projections import untether
from dragoman._projections.published import project
from dragoman._projections.untether import ActionEvent, CompletedEvent, StartedEvent


def seen(
    source: Iterable[Event] | bytes, dialect: str | None = None, *, exit: int | None = None, **how: Any
) -> list[Struct]:
    """The items of a stream: of canonical events, or of the lines of a dialect."""
    events = convert(source, dialect, exit=exit) if isinstance(source, bytes) else source
    return list(project(events, untether.projector(**how)))


def said(agent: str, *events: Event, dialect: str = "", session: str | None = "s-1") -> list[Event]:
    """Events as a run of `agent` would carry them."""
    return [
        structs.replace(event, agent=agent, dialect=dialect, session=event.session or session)
        for event in events
    ]


def actions(items: Iterable[Struct]) -> list[ActionEvent]:
    return [item for item in items if isinstance(item, ActionEvent)]


def started(items: Iterable[Struct]) -> list[StartedEvent]:
    return [item for item in items if isinstance(item, StartedEvent)]


def completed(items: list[Struct]) -> CompletedEvent:
    """The last item, which must be the only one of its kind."""
    assert [item for item in items if isinstance(item, CompletedEvent)] == items[-1:]
    last = items[-1]
    assert isinstance(last, CompletedEvent)
    return last
