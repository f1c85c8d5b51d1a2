"""A survey: all that is in the frames of a run and that no type names, or that nobody understood."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dragoman._dialects import DIALECTS
from dragoman._model import events as ev
from dragoman._model.frames import Frame
from dragoman._wire.shapes import Calls, Free, Part, Parts, seen

UNKNOWN: Final = "(unknown)"
"""In place of a path: the message as a whole is not known."""
REFUSED: Final = "(refused)"
"""In place of a path: the request could not be answered."""
NO_JSON: Final = "(no message at all)"


class Spot(Struct, frozen=True):
    """A place in a message, and what kind of JSON was there."""

    name: str
    path: str
    kind: str = ""


class Sight(Struct):
    """How often something was seen, where first, and what its type would have it be."""

    count: int
    frame: int
    expected: tuple[str, ...] = ()


class Survey:
    """Of one run. The lines of a client are looked at unless they are `ours`: what Dragoman itself writes is no
    drift."""

    def __init__(self, dialect: str, *, ours: bool = False) -> None:
        self.dialect = dialect
        self.agent = ""
        self.versions: list[str] = []
        """What the CLI says its version is."""
        self.frames = 0
        """How many lines of the agent's and its client's were looked at."""
        self.sights: dict[Spot, Sight] = {}
        self._ours = ours
        self._calls = Calls()
        record = DIALECTS.get(dialect)
        shapes = record.part("shapes") if record is not None and not record.published else None
        self._parts: Parts | None = shapes.parts if shapes is not None else None
        self._free: Free = shapes.FREE if shapes is not None else {}

    def feed(self, frame: Frame | None, events: Iterable[ev.Event]) -> None:
        """A frame, and what it became. None: events that no frame made."""
        understood = True
        number = frame.n if frame is not None else 0
        for event in events:
            if isinstance(event, ev.NativeUnknown | ev.NativeInvalid):
                understood = False
                name = (event.native_type or "") if isinstance(event, ev.NativeUnknown) else NO_JSON
                self._note(Spot(name, UNKNOWN), number)
            elif isinstance(event, ev.RunStarted | ev.AgentReady | ev.SessionStarted):
                self.agent = event.agent or self.agent
                if event.cli_version is not None and event.cli_version not in self.versions:
                    self.versions.append(event.cli_version)
        if frame is not None and frame.dir in ("out", "in") and self._parts is not None:
            self.frames += 1
            self._look(frame, self._parts(frame.line, frame.dir, self._calls), understood)

    def _look(self, frame: Frame, parts: Iterable[Part], understood: bool) -> None:
        for part in parts:
            if part.refused:
                self._note(Spot(part.name.removesuffix(" error"), REFUSED), frame.n)
            if part.unknown and understood:
                self._note(Spot(part.name, UNKNOWN), frame.n)
            if part.unknown or not understood or (frame.dir == "in" and self._ours):
                continue
            for field in seen(part, self._free):
                if not field.named or field.expected:
                    self._note(Spot(part.name, field.path, field.kind), frame.n, field.expected)

    def _note(self, spot: Spot, frame: int, expected: tuple[str, ...] = ()) -> None:
        sight = self.sights.get(spot)
        if sight is None:
            self.sights[spot] = Sight(1, frame, expected)
        else:
            sight.count += 1
