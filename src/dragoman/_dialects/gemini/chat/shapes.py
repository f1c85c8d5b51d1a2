"""The lines of Gemini CLI's session files by name, for `dragoman drift`."""

from collections.abc import Iterator
from typing import Final

from dragoman._dialects.gemini.chat import messages as m
from dragoman._model.frames import Direction
from dragoman._wire.jsontext import fit, parse
from dragoman._wire.shapes import Calls, Free, Part

FREE: Final[Free] = {
    "args": "data",
    "functionResponse.response": "data",
    "resultDisplay": "data",
    "memoryScratchpad": "data",
}


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterator[Part]:
    """One line, by what it is: a message, a header, a change."""
    value = parse(line)
    if isinstance(value, dict):
        wanted = m.choose(fit(value, m.Marks))
        if wanted is not None:
            yield Part(m.NAMES[wanted], value, wanted)
