"""A captured run in other words is the same run: whichever road the lines of a JSON-RPC dialect take, the same events
come of them."""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
import pytest

from dragoman._dialects.codex.app import messages as codex_app
from dragoman._model.events import PermissionRequested
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


# --- notifications and requests of Codex, which are decoded at once ------------------------------------------------

ODD: Final = (5, 5.0, 2**70, True, None, "x", [], [1], {}, {"type": "?"}, "a\ud83d", "\ude00")


def _ended(more: str) -> Variant:
    """Every line with something more at its end."""
    return lambda line: line.rstrip()[:-1] + f",{more}}}".encode()


def _changed(place: int, odd: Any, inner: bool) -> Variant:
    """Another value for one of the params, or for a field of what is the first object in them."""

    def change(line: bytes) -> bytes:
        value = json.loads(line)
        changed = value.get("params")
        if inner and isinstance(changed, dict):
            changed = next((item for item in changed.values() if isinstance(item, dict)), None)
        if not isinstance(changed, dict) or not changed:
            return line
        changed[sorted(changed)[place % len(changed)]] = odd
        return json.dumps(value, separators=(",", ":")).encode()

    return change


def _without_params(line: bytes) -> bytes:
    value = json.loads(line)
    value.pop("params", None)
    return json.dumps(value, separators=(",", ":")).encode()


def mutations() -> Iterator[Variant]:
    yield bytes
    yield _without_params
    for more in (
        '"more":{"a":[1]}',
        '"more":NaN',
        '"more":"\\ud83d"',
        '"emittedAtMs":"soon"',
        '"emittedAtMs":null',
    ):
        yield _ended(more)
    for key in ("id", "method", "params", "result"):
        for odd in (
            "null",
            "true",
            "7",
            '"turn/started"',
            "[]",
            "{}",
            '{"threadId":"t","item":{"type":"plan"}}',
        ):
            yield _ended(f'"{key}":{odd}')
    for odd in ODD:
        for place in range(4):
            yield _changed(place, odd, inner=False)
            yield _changed(place, odd, inner=True)


class Refuses:
    """A decoder that takes nothing."""

    def decode(self, line: bytes) -> Any:
        raise msgspec.ValidationError("refused")


def test_notifications_decoded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they make, the general way makes of them too, whatever else is in them."""
    for mutation in mutations():
        for run in runs("codex_app")[::9]:
            frames = framed(run, mutation)
            at_once = interpreted("codex_app", frames)
            with monkeypatch.context() as patch:
                patch.setattr(codex_app, "NOTES", Refuses())
                assert interpreted("codex_app", frames) == at_once


def test_captured_notifications_and_requests_are_decoded_at_once() -> None:
    at_once = {*codex_app.NOTIFICATIONS, *codex_app.REQUESTS}
    for run in runs("codex_app"):
        for direction, line in run:
            if direction == "out" and (value := json.loads(line)).get("method") in at_once:
                note = codex_app.NOTES.decode(line)
                assert (note.method, note.id) == (value["method"], value.get("id"))


@pytest.mark.parametrize("id", ["7", '"a"', "true", "1.5", "null", "[]", str(2**70), '"\\ud83d"'])
@pytest.mark.parametrize("depth", [1, 150, 300])
def test_requests_decoded_at_once(id: str, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their id is, and however deep their params are."""
    inner = '{"a":' * depth + "1" + "}" * depth
    lines = [
        f'{{"method":"{method}","id":{id},"params":{params}}}'.encode()
        for method in sorted(codex_app.REQUESTS)
        for params in (inner, f'{{"threadId":"t","itemId":"i","permissions":{inner}}}', "null", "[]", "7")
    ]
    at_once = [interpreted("codex_app", [Frame(1, "out", line)]) for line in lines]
    asked = any(isinstance(event, PermissionRequested) for events in at_once for event in events)
    assert asked == (id not in ("true", "1.5", "null", "[]"))
    monkeypatch.setattr(codex_app, "NOTES", Refuses())
    assert [interpreted("codex_app", [Frame(1, "out", line)]) for line in lines] == at_once
