"""Reading JSON that agents wrote: a fast typed road, and a tolerant second one for whatever it refuses.

msgspec rejects a whole line for an unknown tag at any depth, for a field of another type, for a lone
`\\ud83d` even in a field it skips, for NaN and for 1e400. Real agents send all of these. The second road takes
what the standard library can parse and fits it to the same types as far as it goes: what does not fit becomes
the field's default, an object with an unknown tag becomes the union's `Unknown` member, and text is repaired
with U+FFFD. Nothing here raises for any input.
"""

import json
import math
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec import inspect as mi

MAX_DEPTH = 200
"""Deeper structures are cut: writing them again could exhaust the stack that reading them did not."""

Ragged = Annotated[str, Meta(extra={"ragged": True})]
"""Text that may begin or end inside a surrogate pair, because the next piece goes on there."""


def shape(wanted: Any) -> Meta:
    """Marks a field that is JSON of the type `wanted` to whoever looks at what agents write, however it is read: left
    as it is (`Raw`, see `late`), or into a type that names a part of it."""
    return Meta(extra={"shape": wanted})


def shape_of(info: mi.Metadata) -> mi.Type | None:
    """The type that `shape` gave a field."""
    wanted = (info.extra or {}).get("shape")
    return None if wanted is None else _type_info(wanted)


class Unknown(Struct, tag_field="type", tag="\0unknown"):
    """An object whose tag this version does not know. Give it as a member of a union to keep such objects."""

    native: dict[str, Any]

    @property
    def native_type(self) -> str | None:
        parts = (self.native.get("type"), self.native.get("subtype"))
        return "/".join(part for part in parts if isinstance(part, str)) or None


class Invalid(Struct):
    """A line that is no JSON object."""

    reason: str


class Header(Struct):
    """The fields that tell what a message is, read before anything else."""

    type: str = ""
    subtype: str = ""


H = TypeVar("H")
M = TypeVar("M")
_ABSENT = object()
REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for a line that it does not take."""


class Reader(Generic[H, M]):
    """Reads lines of one dialect: a header first, then the type that `choose` names for it.

    `choose(header)` gives the message type, or None for a message this version does not know. `common` is a union of
    the types that most lines are of, each tagged with the words that `choose` knows it by: such a line is read once,
    since msgspec finds the type on its way (a line of 600 bytes in 2.5 µs instead of 3.5). `short` is the member, if
    there is one, that serves as a header too: it stands for all types that a further word tells apart.
    """

    def __init__(
        self,
        header: type[H],
        choose: Callable[[H], type[M] | None],
        common: Any = None,
        short: type[H] | None = None,
    ) -> None:
        self._header = msgspec.json.Decoder(header)
        self._header_type = header
        self._short = header if short is None else short
        self._choose: Callable[[H], Any] = choose
        self._common = msgspec.json.Decoder(common) if common is not None else self._header

    def read(self, line: bytes) -> M | Unknown | Invalid:
        try:
            message: Any = self._common.decode(line)
            if type(message) is self._short:
                wanted = self._choose(message)
                if wanted is not self._short:
                    message = decoder(wanted).decode(line) if wanted is not None else None
            if message is not None:
                common: M = message
                return common
        except REFUSED:
            pass
        return self._read_by_header(line)

    def _read_by_header(self, line: bytes) -> M | Unknown | Invalid:
        try:
            wanted = self._choose(self._header.decode(line))
            if wanted is not None:
                message: M = decoder(wanted).decode(line)
                return message
        except REFUSED:
            pass
        return self._read_tolerant(line)

    def _read_tolerant(self, line: bytes) -> M | Unknown | Invalid:
        value = parse(line)
        if isinstance(value, Invalid):
            return value
        if not isinstance(value, dict):
            return Invalid(f"JSON, but not an object: {type(value).__name__}")
        wanted = self._choose(fit(value, self._header_type))
        if wanted is None:
            return Unknown(repaired(value))
        fitted: M = fit(value, wanted)
        return fitted


@cache
def decoder(wanted: Any) -> "msgspec.json.Decoder[Any]":
    """The decoder of a type, made once."""
    return msgspec.json.Decoder(wanted)


def late(raw: bytes, wanted: Any) -> Any:
    """What a field holds that was left as it is: as `wanted` as far as it goes."""
    try:
        return decoder(wanted).decode(raw)
    except REFUSED:
        return fit(parse(raw), wanted)


def parse(line: bytes) -> Any:
    """Any JSON value, or Invalid. Lone surrogates are kept (see `repaired`)."""
    try:
        text = line.decode("utf-8", "replace")
        return bounded(json.loads(text))
    except RecursionError:
        return Invalid("nested too deeply")
    except ValueError as error:
        return Invalid(f"not JSON: {str(error)[:120]}")


def bounded(value: Any, room: int = MAX_DEPTH) -> Any:
    """`value` with what lies deeper than `room` cut to text, and numbers that JSON cannot hold made null."""
    if isinstance(value, dict):
        return "…" if room == 0 else {key: bounded(item, room - 1) for key, item in value.items()}
    if isinstance(value, list):
        return "…" if room == 0 else [bounded(item, room - 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def repaired(value: Any) -> Any:
    """`value` with every lone surrogate in it replaced by U+FFFD."""
    if isinstance(value, str):
        return repaired_text(value)
    if isinstance(value, dict):
        return {repaired_text(key): repaired(item) for key, item in value.items()}
    if isinstance(value, list):
        return [repaired(item) for item in value]
    return value


def repaired_text(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        # Through UTF-16, so that two halves that do belong together become one character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# --- fitting plain values to types ----------------------------------------------------------------------


def fit(value: Any, wanted: Any) -> Any:
    """`value` as `wanted` as far as it goes; its default where it does not fit at all."""
    fitted = _fit(value, _type_info(wanted))
    if fitted is not _ABSENT:
        return fitted
    return wanted() if isinstance(wanted, type) and issubclass(wanted, Struct) else None


def fits(value: Any, info: mi.Type) -> bool:
    """Whether something of `value` is left when it is read as this type."""
    return _fit(value, info) is not _ABSENT


@cache
def _type_info(wanted: Any) -> mi.Type:
    return mi.type_info(wanted)


def _fit(value: Any, info: mi.Type) -> Any:
    if isinstance(info, mi.Metadata):
        if (info.extra or {}).get("ragged") and isinstance(value, str):
            return value
        if isinstance(info.type, mi.RawType):
            fitted = _fit(value, shape_of(info) or info.type)
            return fitted if fitted is _ABSENT else Raw(msgspec.json.encode(fitted))
        return _fit(value, info.type)
    if isinstance(info, mi.AnyType):
        return repaired(value)
    if isinstance(info, mi.StructType):
        return _fit_struct(value, info)
    if isinstance(info, mi.UnionType):
        return _fit_union(value, info)
    if isinstance(info, mi.ListType):
        if not isinstance(value, list):
            return _ABSENT
        return [item for item in (_fit(item, info.item_type) for item in value) if item is not _ABSENT]
    if isinstance(info, mi.DictType):
        return _fit_dict(value, info)
    if isinstance(info, mi.StrType):
        return repaired_text(value) if isinstance(value, str) else _ABSENT
    if isinstance(info, mi.LiteralType):
        return value if isinstance(value, (str, int)) and value in info.values else _ABSENT
    if isinstance(info, mi.IntType) and isinstance(value, float) and value.is_integer():
        return int(value)  # JSON has one kind of number: 5.0 is an integer to others
    fits = _SCALARS.get(type(info))
    return value if fits is None or fits(value) else _ABSENT


_SCALARS: dict[type[mi.Type], Callable[[Any], bool]] = {
    mi.IntType: lambda value: isinstance(value, int) and not isinstance(value, bool),
    mi.FloatType: lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    mi.BoolType: lambda value: isinstance(value, bool),
    mi.NoneType: lambda value: value is None,
}


def _fit_dict(value: Any, info: mi.DictType) -> Any:
    if not isinstance(value, dict):
        return _ABSENT
    items = ((repaired_text(key), _fit(item, info.value_type)) for key, item in value.items())
    return {key: item for key, item in items if item is not _ABSENT}


def _fit_struct(value: Any, info: mi.StructType) -> Any:
    if not isinstance(value, dict):
        return _ABSENT
    fields: dict[str, Any] = {}
    for item in info.fields:
        given = value.get(item.encode_name, _ABSENT)
        fitted = _ABSENT if given is _ABSENT else _fit(given, item.type)
        if fitted is not _ABSENT:
            fields[item.name] = fitted
        elif item.required:
            return _ABSENT
    return info.cls(**fields)


def _fit_union(value: Any, info: mi.UnionType) -> Any:
    structs = [member for member in info.types if isinstance(member, mi.StructType)]
    if isinstance(value, dict) and structs:
        for member in structs:
            if member.tag_field is None or value.get(member.tag_field) == member.tag:
                fitted = _fit_struct(value, member)
                if fitted is not _ABSENT:
                    return fitted
        if any(member.cls is Unknown for member in structs):
            return Unknown(repaired(value))
        return _ABSENT
    for other in info.types:
        if not isinstance(other, mi.StructType):
            fitted = _fit(value, other)
            if fitted is not _ABSENT:
                return fitted
    return _ABSENT
