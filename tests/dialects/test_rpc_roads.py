"""A captured run in other words is the same run: whichever road the lines of a JSON-RPC dialect take, the same events
come of them."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from dragoman._model.frames import Frame
from tests.generated_lines import Line, runs
from tests.interpreted import interpreted

Variant = Callable[[bytes], bytes]


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(item) for key, item in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _spaced(line: bytes) -> bytes:
    return b" " + json.dumps(json.loads(line), separators=(" , ", " : ")).encode() + b"\t"


def _turned(line: bytes) -> bytes:
    """Every object the other way round: what a line is called comes last."""
    return json.dumps(_reversed(json.loads(line)), separators=(",", ":")).encode()


def _escaped(line: bytes) -> bytes:
    """Every letter of every key and text as an escape."""

    def text(value: str) -> str:
        units = value.encode("utf-16-be", "surrogatepass")
        return '"' + "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2)) + '"'

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ",".join(f"{text(key)}:{written(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(written, value)) + "]"
        return text(value) if isinstance(value, str) else json.dumps(value)

    return written(json.loads(line)).encode()


def _repeated(line: bytes) -> bytes:
    """The fields that tell what a line is, twice, and wrong the first time: the last one counts."""
    value = json.loads(line)
    wrong = b"".join(
        b'"%s":%s,' % (key.encode(), json.dumps(odd).encode())
        for key, odd in (("id", True), ("method", 7), ("params", [[]]), ("result", "x"), ("error", 1.5))
        if key in value
    )
    return b"{" + wrong + line.lstrip().removeprefix(b"{")


VARIANTS: Final[dict[str, Variant]] = {
    "spaced": _spaced,
    "turned": _turned,
    "escaped": _escaped,
    "repeated": _repeated,
}


def varied(line: bytes, variant: Variant) -> bytes:
    """The line in other words; as it is, if it is no object."""
    try:
        return variant(line) if isinstance(json.loads(line), dict) else line
    except (ValueError, RecursionError):
        return line


def framed(run: list[Line], variant: Variant = bytes) -> list[Frame]:
    return [
        Frame(n, direction, varied(line, variant) if direction == "out" else line)
        for n, (direction, line) in enumerate(run, 1)
    ]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dialect", ["acp", "codex_app"])
def test_other_words(dialect: str, variant: str) -> None:
    for run in runs(dialect):
        assert interpreted(dialect, framed(run, VARIANTS[variant])) == interpreted(dialect, framed(run))
