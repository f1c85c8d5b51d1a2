"""Canonical events as JSON lines; and a frame's exact text on an event, which `--native` adds and `--view native`
writes again."""

from base64 import b64decode, b64encode
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from dragoman._model.events import AnyEvent, Event
from dragoman._model.frames import Frame
from dragoman._model.patches import TextsDiff
from dragoman._wire.jsontext import MAX_DEPTH, Invalid, bounded, repaired


def _made(value: Any) -> Any:
    """A diff that nobody has read yet; anything else is no part of an event."""
    if isinstance(value, TextsDiff):
        return value.made()
    raise TypeError(f"an event holds no {type(value).__name__}")


_encoder = msgspec.json.Encoder(enc_hook=_made)


def encode(event: Event) -> bytes:
    """The event's line, without its newline. Never raises: what JSON cannot hold is repaired."""
    try:
        return _encoder.encode(event)
    except (UnicodeEncodeError, RecursionError, OverflowError):
        return _encoder.encode(repaired(plain(event)))


def plain(value: Any, room: int = MAX_DEPTH) -> Any:
    """`value` without structs and without depth, defaults left out as the encoder leaves them out."""
    if isinstance(value, Struct):
        config, omitted = value.__struct_config__, _omitted(type(value))
        found = {config.tag_field: config.tag} if config.tag_field else {}
        for name, shown in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            item = getattr(value, name)
            if name not in omitted or item != omitted[name]:
                found[shown] = plain(item, room - 1)
        return found
    if room > 0 and isinstance(value, list):
        return [plain(item, room - 1) for item in value]
    if room > 0 and isinstance(value, dict):
        return {key: plain(item, room - 1) for key, item in value.items()}
    return bounded(value, room)


@cache
def _omitted(cls: type[Struct]) -> dict[str, Any]:
    """The values that the encoder leaves out, by field; none where it writes everything."""
    if not cls.__struct_config__.omit_defaults:
        return {}
    made = (list, dict)
    return {
        field.name: field.default_factory() if field.default_factory in made else field.default
        for field in msgspec.structs.fields(cls)
        if field.default is not msgspec.NODEFAULT or field.default_factory in made
    }


@cache
def _decoder() -> "msgspec.json.Decoder[Event]":
    return msgspec.json.Decoder(
        AnyEvent
    )  # not while importing: it takes long to make, and few runs read events


def decode(line: bytes) -> Event | Invalid:
    """The event on a line of a canonical stream; Invalid with the reason if it is none."""
    try:
        return _decoder().decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Invalid(str(error))


# --- a frame's exact text ----------------------------------------------------------------------------------


def attach(event: Event, frame: Frame) -> None:
    """Put a frame's bytes on an event: `line`, or `line_b64` where they are no UTF-8, and `eol`."""
    try:
        event.line = frame.line.decode()
    except UnicodeDecodeError:
        event.line_b64 = b64encode(frame.line).decode()
    event.eol = frame.eol


def detach(event: Event) -> bytes | None:
    """The bytes that `attach` put on an event, newline included; None if there are none."""
    if event.line is not None:
        line = event.line.encode()
    elif event.line_b64 is not None:
        line = b64decode(event.line_b64)
    else:
        return None
    return line + b"\n" if event.eol else line
