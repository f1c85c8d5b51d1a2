"""A line of an agent's that a published model repeats: looked into where something of it is wanted, and written again
as it was."""

from functools import cache
from typing import Any, TypeVar

import msgspec

from dragoman._wire.jsontext import MAX_DEPTH, fit, parse

S = TypeVar("S", bound=msgspec.Struct)
_REFUSED = (msgspec.MsgspecError, UnicodeError, RecursionError)
_ANY = msgspec.json.Decoder(msgspec.Raw)


@cache
def _decoder(wanted: type[S]) -> "msgspec.json.Decoder[S]":
    return msgspec.json.Decoder(wanted)


class NativeLine:
    """The text of a line. To parse all lines, and to write them anew, took twice as long as to understand them."""

    _value: dict[str, Any] | None = None
    _field: "NativeLine | dict[str, Any] | None" = None
    _is_json = False
    """It is known to be an object of JSON, from end to end."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def may_say(self, word: str) -> bool:
        """Whether `word`, in ASCII, can be in it; if not, it need not be parsed to know."""
        text = self.text
        # One character is found in a quarter of the time, and most lines have none.
        return word in text or ("\\" in text and "\\u00" in text)

    @property
    def value(self) -> dict[str, Any]:
        """What the line says; nothing if it is no JSON object."""
        if self._value is None:
            found: Any = None
            try:
                if _is_flat(self.text):
                    found = msgspec.json.decode(self.text)
            except _REFUSED:
                pass
            if found is None:
                found = parse(self.text.encode("utf-8", "surrogatepass"))
            self._value = found if isinstance(found, dict) else {}
        return self._value

    def read(self, wanted: type[S]) -> S:
        """Some fields of it, as far as they fit; their defaults if it is no JSON object."""
        try:
            found: S = _decoder(wanted).decode(self.text)
        except _REFUSED:
            found = fit(self.value, wanted)
        else:
            self._is_json = True
        return found

    @property
    def field(self) -> "NativeLine | dict[str, Any] | None":
        """What stands for it in a field of an item: itself if its text is a JSON object that any program can read, on
        one line; else what it says, and None if that is nothing."""
        if self._field is None and self.text:
            self._field = self if self._is_plain() else self.value or None
        return self._field

    def _is_plain(self) -> bool:
        text = self.text
        if not text.startswith('{"') or "\r" in text or not _is_flat(text):
            return False
        if not self._is_json:
            try:
                _ANY.decode(text)
            except _REFUSED:
                return False
        return True

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, NativeLine) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.value)


def _is_flat(text: str) -> bool:
    """Whether it is surely nested no deeper than may be written: there are not more brackets than that."""
    return len(text) < 2 * MAX_DEPTH or text.count("{") + text.count("[") <= MAX_DEPTH
