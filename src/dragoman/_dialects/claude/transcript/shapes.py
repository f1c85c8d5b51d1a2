"""The lines of Claude Code's session files by name, for `dragoman drift`."""

from collections.abc import Iterator
from typing import Final

from dragoman._dialects.claude.transcript import messages as m
from dragoman._model.frames import Direction
from dragoman._wire.jsontext import fit, parse
from dragoman._wire.shapes import Calls, Free, Part

FREE: Final[Free] = {
    "input": "data",
    "toolUseResult": "data",
    "snapshot": "data",
    "schema": "data",
    "input_schema": "data",
    # What was sent to the model's API: nothing is made of it.
    "params": "data",
    "shape": "data",
    "cacheControl": "data",
    "permissionDecision": "data",
    "modelUsage": "map",
}


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterator[Part]:
    """One line, by its type."""
    value = parse(line)
    if isinstance(value, dict):
        header = fit(value, m.Header)
        name = "/".join(part for part in (header.type, header.subtype) if part) or "agent meta"
        yield Part(name, value, m.choose(header), tags=("type", "subtype"))
