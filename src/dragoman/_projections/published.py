"""The published event models that other programs speak: one table, one interface.

A published view is a package beside this file whose `__init__` offers:

- `projector(*, profile, extended, vendor)` -> a `Projector`. Fed canonical events one by one, it gives the
  items of its model, and what it still held back at `end`. It never raises, whatever the events and their order.
- `schema(*, extended)` -> the JSON Schema of one line of that view.
- `refusal(*, extended, vendor)` -> why this view cannot show that vendor's agents, or "" if it can.

`profile`: `seed` is a pure function of the stream, each line is projected when it comes, exactly by the published
tables; `live` holds an error of the agent until the turn's result, which alone says whether it was final.
`extended` adds what the model's tables name but its strict schema does not have.
`vendor` says whose agent speaks: `claude`, `codex`, `gemini`, `acp` or any other name; "" takes it from the events
(`vendor_of`).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final, Literal, Protocol, cast

import msgspec
from msgspec import Struct

from dragoman._model.errors import UsageError
from dragoman._model.events import Event
from dragoman._wire.event_json import plain
from dragoman._wire.jsontext import repaired
from dragoman._wire.native_line import NativeLine
from dragoman._wire.published_items import SAID

Profile = Literal["seed", "live"]
PROFILES: Final[tuple[Profile, ...]] = ("seed", "live")

VIEWS: Final[Mapping[str, str]] = {
    "agent-event": "dragoman._projections.agent_event",
    "insights": "dragoman._projections.insights",
    "untether": "dragoman._projections.untether",
}

VENDORS: Final = ("claude", "codex", "gemini")
"""Those whose agents have names and dialects of their own."""


class Projector(Protocol):
    """One run seen through a published model. All state of the view is here."""

    def feed(self, event: Event) -> list[Struct]:
        """The items that `event` makes; none for most."""

    def end(self) -> list[Struct]:
        """What was held back, once no event follows."""

    def encode(self, item: Struct) -> bytes:
        """One line of the view, without its newline."""


class View(Protocol):
    """What the package of a published model offers."""

    def projector(
        self, *, profile: Profile = "seed", extended: bool = False, vendor: str = ""
    ) -> Projector: ...

    def schema(self, *, extended: bool = False) -> dict[str, Any]: ...

    def refusal(self, *, extended: bool = False, vendor: str = "") -> str: ...


@cache
def view(name: str) -> View:
    """The package of the published model `name` (a key of VIEWS), imported when first asked for."""
    return cast(View, import_module(VIEWS[name]))


def vendor_of(event: Event) -> str:
    """Whose agent speaks: by its own name, else by the dialect's, else whatever it is called."""
    if event.agent in VENDORS:
        return event.agent
    prefix = event.dialect.partition("_")[0]
    return prefix if prefix in (*VENDORS, "acp") else event.agent


def projector(
    view_name: str, *, profile: Profile = "live", extended: bool = False, vendor: str = "", agent: str = ""
) -> Projector:
    """A projector onto a published model: agent-event, insights or untether. `vendor` says whose agent speaks (claude,
    codex, gemini, acp); without it, the events do. Raises UsageError if there is no such model, or it cannot show the
    agents of that vendor, or that `agent`."""
    if view_name not in VIEWS:
        raise UsageError(f"no view is called {view_name!r}; known are: {', '.join(VIEWS)}")
    published = view(view_name)
    speaker = vendor or agent
    if speaker and (why := published.refusal(extended=extended, vendor=speaker)):
        raise UsageError(why)
    return published.projector(profile=profile, extended=extended, vendor=vendor)


def project(events: Iterable[Event], projector: Projector) -> Iterator[Struct]:
    """All items of a finished stream."""
    for event in events:
        yield from projector.feed(event)
    yield from projector.end()


def _made(value: Any) -> Any:
    """A line of the agent's, as it was; anything else is no part of an item."""
    if type(value) is NativeLine:
        return msgspec.Raw(value.text.encode())
    raise TypeError(f"an item holds no {type(value).__name__}")


_encoder = msgspec.json.Encoder(enc_hook=_made)


def encode(item: Struct) -> bytes:
    """An item as JSON; one that was read, as it was. Never raises: what JSON cannot hold is repaired."""
    said = getattr(item, SAID, None)
    shown = item if said is None else said
    try:
        return _encoder.encode(shown)
    except (UnicodeEncodeError, RecursionError, OverflowError):
        return _encoder.encode(repaired(plain(shown)))
