"""The lines of Copilot CLI's session files by name, for `dragoman drift`."""

from collections.abc import Iterator
from typing import Final

from dragoman._dialects.copilot import messages as m
from dragoman._model.frames import Direction
from dragoman._wire.jsontext import fit, parse
from dragoman._wire.shapes import Calls, Free, Part

FREE: Final[Free] = {
    "arguments": "data",
    "structuredContent": "data",
    "toolTelemetry": "data",
    "input": "data",
    "output": "data",
    "modelInfo": "data",
    "responseChunk": "data",
    "messages": "data",
    "variables": "data",
    "models": "map",
    "modelMetrics": "map",
    "agentMetrics": "map",
    "toolCounts": "map",
    "usageAccountingWatermarks": "map",
}


def parts(line: bytes, direction: Direction, calls: Calls) -> Iterator[Part]:
    """One line, by its type."""
    value = parse(line)
    if isinstance(value, dict):
        said: m.Line = fit(value, m.Line)
        yield Part(said.type, value, m.Line)
