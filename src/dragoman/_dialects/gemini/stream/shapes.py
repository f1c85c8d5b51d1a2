"""The events of Gemini CLI's stream-json by name, for `dragoman drift`."""

from collections.abc import Iterator
from typing import Final

from dragoman._dialects.gemini.stream import messages as m
from dragoman._model.frames import Direction
from dragoman._wire import fields
from dragoman._wire.jsontext import Invalid, parse
from dragoman._wire.shapes import Calls, Free, Part

FREE: Final[Free] = {
    "parameters": "data",
    "args": "data",
    "output": "data",
    "models": "map",
    "error": "codes",
}


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterator[Part]:
    """One event; other programs' words may stand before it."""
    value = parse(line)
    start = line.find(m.START)
    if isinstance(value, Invalid) and start > 0:
        value = parse(line[start:])
    if isinstance(value, dict):
        name = fields.text(value, "type") or ""
        yield Part(name, value, m.TYPES.get(name), tags=("type",))
