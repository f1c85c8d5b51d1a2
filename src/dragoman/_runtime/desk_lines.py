"""What is said at a desk, line by line, as JSON: what other programs ask for, what they are answered, and what they hear
unasked."""

from typing import Any, Final

import anyio
import msgspec
from msgspec import Raw, Struct

from dragoman._model.commands import (
    Answer,
    AnswerQuestion,
    Close,
    Compact,
    Interrupt,
    Prompt,
    SetMode,
    SetModel,
    Steer,
)
from dragoman._model.errors import ErrorKind
from dragoman._wire.event_json import plain
from dragoman._wire.jsontext import repaired

GONE: Final = (
    anyio.IncompleteRead,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)
"""What is raised where the other side has hung up."""
LONGEST: Final = 16 * 1024 * 1024
"""Bytes that a line may have."""
Asked = Prompt | Steer | Interrupt | Answer | AnswerQuestion | SetMode | SetModel | Compact | Close
"""What may be asked for."""


class Numbered(Struct):
    """As much as can be read of a line that asks for something that there is not."""

    id: int | None = None


class Order(Struct):
    """A line to the desk."""

    id: int
    command: Asked
    who: str = ""
    """Who asks, by name."""


class Failure(Struct):
    """Why something was not done."""

    message: str
    kind: ErrorKind = "unknown"


class Said(Struct, omit_defaults=True, kw_only=True):
    """A line from the desk. One with an id is the answer to an order, and has `ok` or an `error`."""

    id: int | None = None
    ok: bool = False
    result: Any = None
    """What the agent answered, where it did."""
    error: Failure | None = None
    asked: Raw = Raw()
    """A permission that is asked for and of which no line of the recording tells, as a canonical event."""
    settled: str | None = None
    """The id of such a request that is not asked any more."""
    policy: str | None = None
    """The approve mode, at first and when it has changed."""


read_order: Final = msgspec.json.Decoder(Order).decode
read_number: Final = msgspec.json.Decoder(Numbered).decode
read_said: Final = msgspec.json.Decoder(Said).decode


def written(line: Order | Said) -> bytes:
    """It as a line."""
    try:
        return msgspec.json.encode(line) + b"\n"
    except (UnicodeEncodeError, RecursionError, OverflowError):
        return msgspec.json.encode(repaired(plain(line))) + b"\n"
