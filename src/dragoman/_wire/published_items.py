"""Items of the published models: how a line of such a model is read, and how it is shown again as it was.

An item that was read knows all that its line said, fields included that its type does not name: another program may
add some. Null is the same as absent, and a field that does not fit its type is left out.
"""

from contextlib import suppress
from typing import Any, Final, Generic, TypeVar, get_args

import msgspec
from msgspec import Struct

from dragoman._model.events import Event
from dragoman._wire.jsontext import Invalid, Unknown, fit, parse, repaired

SAID: Final = "_said"
"""Where an item keeps the line that it was read from: in its dict, which those that are made here do without."""


class Item(Struct, omit_defaults=True, rename="camel", dict=True):
    """One line of a published model."""

    @property
    def said(self) -> dict[str, Any] | None:
        """The line that it was read from, as JSON; None of an item that was made here."""
        said: dict[str, Any] | None = getattr(self, SAID, None)
        return said


I = TypeVar("I", bound=Item)  # noqa: E741


class Items(Generic[I]):
    """The items of one model."""

    def __init__(self, union: Any, *, tag: str, kept: str) -> None:
        """`union` are its types, which the field `tag` tells apart. `kept` is the key in `ext` of an event under
        which the items of its line are."""
        self._union, self._tag, self._kept = union, tag, kept
        self._decoder: msgspec.json.Decoder[I] = msgspec.json.Decoder(union)
        self.types: dict[str, type[I]] = {str(cls.__struct_config__.tag): cls for cls in get_args(union)}
        """By what `tag` says."""

    def read(self, line: bytes) -> I | Unknown | Invalid:
        """The item on a line. Optional fields that do not fit are left out; without a required one it is Invalid."""
        try:
            return _saying(msgspec.json.decode(line), self._decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            reason = str(error)
        value = parse(line)
        if isinstance(value, Invalid):
            return value
        if not isinstance(value, dict):
            return Invalid(f"JSON, but not an object: {type(value).__name__}")
        value, kind = repaired(value), value.get(self._tag)
        if not isinstance(kind, str) or kind not in self.types:
            return Unknown({**value, "type": kind})
        fitted: I | None = fit(value, self._union)
        return _saying(value, fitted) if fitted is not None else Invalid(reason)

    def keep(self, event: Event, *items: I) -> None:
        """Keep on `event` what its items said; nothing of one that is nested too deeply to be written again."""
        event.ext = {**event.ext, self._kept: [item.said for item in items if item.said is not None]}

    def kept(self, event: Event) -> list[I]:
        """The items that `event` was read from. None of them if one is no such item."""
        try:
            return [
                _saying(value, msgspec.convert(value, self.types[value[self._tag]]))
                for value in event.ext.get(self._kept, ())
            ]
        except (msgspec.ValidationError, LookupError, TypeError, UnicodeError, RecursionError):
            return []


def _saying(value: Any, item: I) -> I:
    with suppress(RecursionError):
        item.__dict__[SAID] = _whole(value, item)
    return item


def _whole(value: Any, read: Any) -> Any:
    """What was `read` of `value`: its fields as far as they fit, and those that no type names."""
    if isinstance(read, Struct) and isinstance(value, dict):
        whole: dict[str, Any] = msgspec.to_builtins(read)
        for key, name in zip(read.__struct_encode_fields__, read.__struct_fields__, strict=True):
            part = getattr(read, name)
            if value.get(key) is not None and part is not None:
                whole[key] = _whole(value[key], part)
        named = (read.__struct_config__.tag_field, *read.__struct_encode_fields__)
        return whole | {key: more for key, more in value.items() if key not in named}
    if isinstance(read, list) and isinstance(value, list) and len(read) == len(value):
        return [_whole(*pair) for pair in zip(value, read, strict=True)]
    if isinstance(read, dict) and isinstance(value, dict):
        return {key: _whole(value.get(key), part) for key, part in read.items()}
    return msgspec.to_builtins(read)
