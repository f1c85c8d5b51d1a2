"""Notes: what no line of traffic says, put into the recording before the line that it explains.

They pass through the machine like any other frame, so a replay knows who decided and why we stopped.
"""

from typing import Any

import msgspec
from msgspec import Struct

from dragoman._model.commands import Answer, By, Response
from dragoman._model.frames import StopReason


class Decided(Struct, tag_field="note", tag="decided", omit_defaults=True, kw_only=True):
    """Who answers a request, and by which rule."""

    request: str
    by: By = "client"
    rule: str | None = None
    who: str | None = None


class Stopping(Struct, tag_field="note", tag="stopping", omit_defaults=True, kw_only=True):
    """Why the run or its turn is being stopped by us."""

    reason: StopReason
    detail: str | None = None
    """Such as the limit that was reached."""


Note = Decided | Stopping

_decoder = msgspec.json.Decoder(Note)


def of(response: Response) -> Decided | None:
    """Who gave this answer, where that is to be kept."""
    if isinstance(response, Answer) or response.rule is not None or response.who is not None:
        return Decided(request=response.request, by=response.by, rule=response.rule, who=response.who)
    return None


def write(note: Note) -> bytes:
    return msgspec.json.encode(note)


def read(line: bytes) -> Note | None:
    """The note, or None for one of another recorder's."""
    try:
        note: Any = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return note if isinstance(note, Note) else None
