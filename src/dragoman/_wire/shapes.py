"""The shape of what is written: every field of a message with its kind of JSON, and whether a type names it.

For `dragoman drift` and its lists of what is known; nothing here is on the road from a line to its events. Types name
the fields that something is made of (see jsontext). Below plain JSON nothing has a name, and only the lists of `_drift`
can say what was there before. Paths are dotted; what is in a list, or says its `type`, has that in brackets:
`message.content[text].citations`, `models[].id`; `*` stands for the keys of a map.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal

from msgspec import Struct, field
from msgspec import inspect as mi

from dragoman._model.frames import Direction
from dragoman._wire.jsonrpc import METHOD_NOT_FOUND, Notification, Request, Response, classify
from dragoman._wire.jsontext import Unknown, fits, parse, shape_of

Kind = Literal["null", "boolean", "number", "string", "list", "object"]

Free = Mapping[str, Literal["data", "map", "codes"]]
"""What is somebody else's in a dialect, by the name of the field or by `parent.name`: `data` is not looked into, the
keys of a `map` are no fields, and `type` says nothing of the fields where it is one of many `codes`."""


class Part(Struct, frozen=True):
    """A message, by the name that its dialect has for it."""

    name: str
    value: Any
    wanted: Any = None
    """The type that it is read as; None where it stays plain JSON."""
    tags: tuple[str, ...] = ()
    """Fields that its name is made of."""
    unknown: bool = False
    """It is a request of a kind that nobody here can answer. Other messages that are not known become events that say
    so."""
    refused: bool = False
    """It is the client's word that it cannot answer such a request."""


class Calls(Struct):
    """What both sides have asked, so that an answer goes by the name of its question."""

    asked: dict[tuple[Direction, str], str] = field(default_factory=dict)


Parts = Callable[[bytes, Direction, Calls], Iterable[Part]]
"""The messages on a line of either side; none, if it is not of the dialect at all."""


class Seen(Struct, frozen=True):
    """One field, as it was sent."""

    path: str
    kind: Kind
    named: bool
    """A type names it."""
    expected: tuple[str, ...] = ()
    """The kinds that its type allows, where it is none of them."""


def seen(part: Part, free: Free) -> Iterator[Seen]:
    """Every field of a message, from the outermost inwards; what is in a field that does not fit is not told."""
    if isinstance(part.value, dict):
        told = {name: item for name, item in part.value.items() if name not in part.tags}
        yield from _fields(told, _type_info(part.wanted), "", (), free)


def kind_of(value: Any) -> Kind:
    return next((kind for python, kind in _KINDS if isinstance(value, python)), "null")


_KINDS: Final[tuple[tuple[type, Kind], ...]] = (
    (bool, "boolean"), (int, "number"), (float, "number"), (str, "string"), (list, "list"), (dict, "object"),
)  # fmt: skip

# --- the walk ----------------------------------------------------------------------------------------------

_PLAIN: Final = mi.AnyType()
_WORD: Final = re.compile(r"[A-Za-z][\w./:-]{0,59}")


@cache
def _type_info(wanted: Any) -> mi.Type:
    return _PLAIN if wanted is None else mi.type_info(wanted)


def _value(
    value: Any, info: mi.Type, path: str, names: tuple[str, ...], free: Free, *, named: bool
) -> Iterator[Seen]:
    """What is at `path`, and all that is in it."""
    member = _PLAIN if value is None else _meant(value, info)
    yield Seen(path, kind_of(value), named, () if member is not None else tuple(_kinds(info)))
    rule = free.get(names[-1], free.get(".".join(names[-2:])))
    if member is None or rule == "data":
        return
    if isinstance(value, list):
        item_type = member.item_type if isinstance(member, mi.ListType) else _PLAIN
        for item in value:
            yield from _value(item, item_type, f"{path}[]", names, free, named=not _is_plain(item_type))
    elif isinstance(value, dict) and (rule == "map" or _is_map(member)):
        item_type = member.value_type if isinstance(member, mi.DictType) else _PLAIN
        for item in value.values():
            yield from _value(item, item_type, f"{path}.*", names, free, named=not _is_plain(item_type))
    elif isinstance(value, dict):
        yield from _object(value, member, path, names, free, tagged=rule != "codes")


def _object(
    value: dict[str, Any], info: mi.Type, path: str, names: tuple[str, ...], free: Free, *, tagged: bool
) -> Iterator[Seen]:
    tag = info.tag_field if isinstance(info, mi.StructType) else "type"
    word = value.get(tag) if tag is not None else None
    if tagged and isinstance(word, str) and _WORD.fullmatch(word):
        path = f"{path.removesuffix('[]')}[{word}]"
        value = {name: item for name, item in value.items() if name != tag}
        if _is_plain(info) or _is_unknown(info):
            yield Seen(path, "object", named=False)
    if not _is_unknown(info):
        yield from _fields(value, info, f"{path}.", names, free)


def _fields(
    value: dict[str, Any], info: mi.Type, path: str, names: tuple[str, ...], free: Free
) -> Iterator[Seen]:
    types = {item.encode_name: item.type for item in info.fields} if isinstance(info, mi.StructType) else {}
    for name, item in value.items():
        named = name in types
        yield from _value(item, types.get(name, _PLAIN), f"{path}{name}", (*names, name), free, named=named)


def _meant(value: Any, info: mi.Type) -> mi.Type | None:
    """The type among those in `info` that a value is meant as; None if it fits none."""
    if isinstance(info, mi.Metadata):
        return _meant(value, shape_of(info) or info.type)
    if isinstance(info, mi.UnionType):
        found = (member for item in info.types if (member := _meant(value, item)) is not None)
        return min(found, key=_is_unknown, default=None)  # what has a type of its own goes first
    if isinstance(info, mi.StructType):
        return info if isinstance(value, dict) and _is_tagged(value, info) else None
    if isinstance(info, mi.ListType | mi.DictType):
        return info if isinstance(value, list if isinstance(info, mi.ListType) else dict) else None
    if isinstance(info, mi.AnyType | mi.RawType):
        return _PLAIN
    return info if fits(value, info) else None


def _kinds(info: mi.Type) -> list[str]:
    """The kinds of JSON that a type allows, for people."""
    if isinstance(info, mi.Metadata):
        return _kinds(shape_of(info) or info.type)
    if isinstance(info, mi.UnionType):
        return list(dict.fromkeys(kind for item in info.types for kind in _kinds(item) if kind != "null"))
    return [_KINDS_OF_TYPES.get(type(info), "null")]


_KINDS_OF_TYPES: Final[Mapping[type[mi.Type], Kind]] = {
    mi.BoolType: "boolean",
    mi.IntType: "number",
    mi.FloatType: "number",
    mi.StrType: "string",
    mi.LiteralType: "string",
    mi.ListType: "list",
    mi.DictType: "object",
    mi.StructType: "object",
}


def _is_tagged(value: dict[str, Any], info: mi.StructType) -> bool:
    return info.tag_field is None or value.get(info.tag_field) == info.tag or _is_unknown(info)


def _is_unknown(info: mi.Type) -> bool:
    return isinstance(info, mi.StructType) and info.cls is Unknown


def _is_map(info: mi.Type) -> bool:
    """Whether the keys of an object are data: a type says what the values are, and so that all are alike."""
    return isinstance(info, mi.DictType) and not _is_plain(info)


def _is_plain(info: mi.Type) -> bool:
    """Whether a type says nothing of what is inside: any JSON, or any object."""
    return isinstance(info, mi.AnyType | mi.RawType) or (
        isinstance(info, mi.DictType) and isinstance(info.value_type, mi.AnyType)
    )


# --- lines of JSON-RPC ---------------------------------------------------------------------------------------

_ENVELOPE: Final = ("jsonrpc", "id", "method", "params", "result", "error")
_OTHER: Final[Mapping[Direction, Direction]] = {"out": "in", "in": "out"}


def rpc_parts(
    line: bytes,
    direction: Direction,
    calls: Calls,
    message: Callable[[str, Any], Part | None],
    envelope: Any = None,
) -> Iterator[Part]:
    """The messages on a line: `message` says what a method's params are read as, and None for what is not looked at.
    Answers go by the name of what was asked; those of which that is not known are left out. `envelope` names what a
    line has beside the protocol's own fields."""
    value = parse(line)
    for item in value if isinstance(value, list) else (value,):
        said = classify(item)
        if isinstance(said, Request):
            calls.asked[direction, str(said.id)] = said.method
        if isinstance(said, Request | Notification):
            part = message(said.method, said.params)
        elif isinstance(said, Response):
            method = calls.asked.pop((_OTHER[direction], str(said.id)), None)
            part = _answer(method, said, item, direction) if method is not None else None
        else:
            part = None
        if part is not None:
            yield part
            yield Part(part.name, item, envelope, tags=_ENVELOPE)


def _answer(method: str, said: Response, item: dict[str, Any], direction: Direction) -> Part:
    if said.error is None:
        return Part(f"{method} result", said.result)
    refused = direction == "in" and said.error.code == METHOD_NOT_FOUND
    return Part(f"{method} error", {"error": item["error"]}, refused=refused)
