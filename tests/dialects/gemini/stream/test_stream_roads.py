"""Lines that go straight to their handlers: the general way, behind it, makes the same events of each."""

import json
from collections.abc import Iterator
from typing import Any

from dragoman._dialects.gemini.stream import messages as m
from dragoman._dialects.gemini.stream.machine import GeminiStream
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._wire.event_json import encode
from dragoman._wire.machine import Machine
from tests.dialects.gemini.stream.stream_lines import ASKED, INIT, result, said
from tests.dialects.test_one_decode import lines_of, mutated
from tests.interpreted import line

TIME = "2026-11-15T19:56:16.857Z"
HALVES = ["\ud83d", "\ude00 and more", "an emoji \ud83d", "é\ud83d\ude00\ud83d", "\ude00"]


class ByTheGeneralWay(GeminiStream):
    on_out = Machine.on_out


def written(machine: GeminiStream, lines: list[bytes]) -> list[bytes]:
    """The events of a run."""
    events = [*machine.start(Launch(agent="gemini", dialect="gemini_stream")).events]
    for n, text in enumerate(lines, 1):
        events += machine.receive(Frame(n, "out", text, 0.5)).events
    return [encode(event) for event in (*events, *machine.end(Exit(code=0)).events)]


def conversations() -> Iterator[list[bytes]]:
    """Each captured line, changed, in the middle of an answer."""
    before, after = [line(INIT), line(ASKED), line(said("So"))], [line(said(" it is")), line(result())]
    for each in lines_of("gemini_stream"):
        yield [*before, *mutated(each, sorted(m.TYPES)), *after]
    yield [b"", b"  ", b"\xff", b"[]", b"5", *before, b"", *after]


def test_both_ways_make_the_same_events() -> None:
    for lines in conversations():
        assert written(GeminiStream(), lines) == written(ByTheGeneralWay(), lines)


def pieces() -> Iterator[dict[str, Any]]:
    for text in HALVES:
        yield {**said(text), "timestamp": TIME}
        yield {"delta": True, "content": text, "role": "assistant", "timestamp": TIME, "type": "message"}
        yield {**said(text, delta=False), "more": text}
        yield {**said(text), "role": "user"}
        yield {**said(text), "role": text}
        yield {**said(text), "role": 5}
        yield {**said(text), "timestamp": text}
        yield {**said(text), "delta": "yes"}
        yield {**said(text), "delta": None, "more": float("nan")}
        yield {**said(text), "type": "tool_use", "parameters": {"a": text}}
        yield {**said(text), "type": "content", "value": text}
        yield {**said(text), "content": [text]}


def test_halves_of_characters_are_read_the_same() -> None:
    taken = 0
    for piece in pieces():
        for whole in (json.dumps(piece).encode(), json.dumps(piece, indent=1).encode()):
            for text in (
                whole,
                whole[:-1] + b',"type":"message"}',
                whole[:-1],
                whole + b"}",
                b"Loading " + whole,
            ):
                found = m._halved(text)
                taken += found is not None
                assert found is None or found == m.READER.read(text)
    assert taken > 50
