"""The lines of `codex exec --json` by name, for `dragoman drift`."""

from collections.abc import Iterator
from typing import Final

from dragoman._dialects.codex.exec import messages as m
from dragoman._model.frames import Direction
from dragoman._wire import fields
from dragoman._wire.jsontext import fit, parse
from dragoman._wire.shapes import Calls, Free, Part

FREE: Final[Free] = {
    "arguments": "data",
    "structured_content": "data",
    "result._meta": "data",
    "agents_states": "map",
    # What older versions said, as event messages: no version since items speaks so.
    "msg": "data",
    "params": "data",
    "payload": "data",
}


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterator[Part]:
    """One line, by its type and that of its item."""
    value = parse(line)
    if direction == "out" and isinstance(value, dict):
        header = fit(value, m.Header)
        item = fields.text(fields.mapping(value, "item"), "type")
        name = "/".join(part for part in (header.type, item) if part) or "codex/event"
        yield Part(name, value, m.choose(header), tags=("type",))
