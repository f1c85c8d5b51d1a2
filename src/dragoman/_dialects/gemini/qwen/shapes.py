"""The lines of Qwen Code's session files by name, for `dragoman drift`."""

from collections.abc import Iterator
from typing import Final

from dragoman._dialects.gemini.qwen import messages as m
from dragoman._model.frames import Direction
from dragoman._wire.jsontext import fit, parse
from dragoman._wire.shapes import Calls, Free, Part

FREE: Final[Free] = {
    "args": "data",
    "function_args": "data",
    "functionResponse.response": "data",
    "resultDisplay": "data",
    "error": "data",
    "fileStates": "data",
    "trackedFileBackups": "data",
    "compressedHistory": "data",
}


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterator[Part]:
    """One line, by its type, its subtype and what it counts."""
    value = parse(line)
    if isinstance(value, dict):
        said: m.Record = fit(value, m.Record)
        yield Part(m.native_type(said), value, m.Record)
