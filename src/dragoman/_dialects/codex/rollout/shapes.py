"""The lines of Codex's session files by name, for `dragoman drift`."""

from collections.abc import Iterator
from typing import Final

from dragoman._dialects.codex.rollout import messages as m
from dragoman._dialects.codex.rollout.translate import native_type
from dragoman._model.frames import Direction
from dragoman._wire.jsontext import fit, parse
from dragoman._wire.shapes import Calls, Free, Part

FREE: Final[Free] = {
    "arguments": "data",
    "structured_content": "data",
    "structuredContent": "data",
    "tools": "data",
    "state": "data",
    "changes": "map",
    "agents_states": "map",
}


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterator[Part]:
    """One line, by its type, that of its payload and that of its item."""
    value = parse(line)
    if isinstance(value, dict):
        said: m.Line = fit(value, m.Line)
        yield Part(native_type(said), value, m.Line)
