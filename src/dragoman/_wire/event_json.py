"""Canonical events as JSON lines."""

from typing import Any

import msgspec
from msgspec import Struct

from dragoman._model.events import AnyEvent, Event
from dragoman._wire.jsontext import MAX_DEPTH, Invalid, bounded, repaired

_encoder = msgspec.json.Encoder()
_decoder: "msgspec.json.Decoder[Event]" = msgspec.json.Decoder(AnyEvent)


def encode(event: Event) -> bytes:
    """One line, without its newline. Never raises: what JSON cannot hold is repaired."""
    try:
        return _encoder.encode(event)
    except (UnicodeEncodeError, RecursionError, OverflowError):
        return _encoder.encode(repaired(_plain(event)))


def _plain(value: Any, room: int = MAX_DEPTH) -> Any:
    """`value` without structs and without depth, defaults left out as the encoder leaves them out."""
    if isinstance(value, Struct):
        config = value.__struct_config__
        plain = {config.tag_field: config.tag} if config.tag_field else {}
        for name in value.__struct_fields__:
            item = getattr(value, name)
            if item is not None and item is not False and item != [] and item != {}:
                plain[name] = _plain(item, room - 1)
        return plain
    if isinstance(value, list) and any(isinstance(item, Struct) for item in value):
        return [_plain(item, room - 1) for item in value]
    return bounded(value, room)


def decode(line: bytes) -> Event | Invalid:
    """The event on a line of a canonical stream; Invalid with the reason if it is none."""
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Invalid(str(error))
