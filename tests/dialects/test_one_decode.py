"""Lines that are decoded at once, by their type: the general way, behind it, reads each of them the same."""

import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import msgspec
import pytest

from dragoman import encode
from dragoman._dialects import machine_for
from dragoman._dialects.claude.stream import messages as claude_stream
from dragoman._dialects.codex.exec import messages as codex_exec
from dragoman._dialects.codex.rollout import messages as codex_rollout
from dragoman._dialects.gemini.stream import messages as gemini_stream
from dragoman._files.sources import open_source
from dragoman._wire import jsontext
from dragoman._wire.jsontext import Invalid, Unknown
from dragoman._wire.machine import Machine
from tests.golden import captures, source
from tests.interpreted import interpreted, out

DIALECTS = {"codex_exec": codex_exec, "codex_rollout": codex_rollout, "gemini_stream": gemini_stream}
MOST = 5_000
"""Longer lines are no other case, and there is one of 129 kB."""


class Refuses:
    """A decoder that takes nothing."""

    def decode(self, line: bytes) -> Any:
        raise msgspec.ValidationError("refused")


def lines_of(dialect: str) -> list[bytes]:
    """One captured line for each set of keys."""
    found: dict[Any, bytes] = {}
    for capture in captures():
        if capture.parts[-3] == dialect:
            for frame in open_source(source(capture), dialect):
                if frame.line.startswith(b"{") and len(frame.line) < MOST:
                    found.setdefault(tuple(sorted(_keys(json.loads(frame.line)))), frame.line)
    return list(found.values())


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{key}={item}" if key == "type" else key
            yield from _keys(item)


def mutated(line: bytes, types: list[str]) -> Iterator[bytes]:
    """The line, and what no agent writes today and JSON allows, or not even that."""
    value = json.loads(line)
    text = json.dumps
    yield line
    yield b"  " + line + b" "
    yield text(value, indent=2).encode()
    yield text(dict(reversed(value.items()))).encode()
    yield line.replace(b'"type"', b'"ty\\u0070e"', 1)
    for kind in (*types, "?", ""):
        yield line[:-1] + f',"type":{text(kind)}}}'.encode()
        yield b'{"type":' + text(kind).encode() + b"," + line[1:]
    for odd in ("5", "null", '"codex/event/x"', '""', "[]", '{"type":"task_started"}'):
        for key in ("type", "method", "msg", "params", "item", "timestamp", *value):
            yield line[:-1] + f',"{key}":{odd}}}'.encode()
            yield b"{" + f'"{key}":{odd},'.encode() + line[1:]
    for key in value:
        yield text({name: item for name, item in value.items() if name != key}).encode()
    for inner in (name for name, item in value.items() if isinstance(item, dict)):
        for key in value[inner]:
            for odd in (5, 5.0, 2**70, True, None, "x", [], [1], {}, {"a": 1}, "a\ud83d", "\ude00"):
                yield text({**value, inner: {**value[inner], key: odd}}).encode()
    for odd in (b'"\\ud83d"', b"NaN", b"1e400", b'"\xff"', b"[" * 300 + b"]" * 300, b'"x'):
        yield line[:-1] + b',"more":' + odd + b"}"
    yield line[:-1]
    yield line + b" and more"
    yield b"Loading " + line
    yield b"[" + line + b"]"


def reader_of(messages: ModuleType) -> Callable[[bytes], Any]:
    read: Callable[[bytes], Any] = getattr(messages, "read", None) or messages.READER.read
    return read


@pytest.mark.parametrize("dialect", DIALECTS)
def test_both_ways_read_the_same(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: ModuleType = DIALECTS[dialect]
    read = reader_of(messages)
    lines = [line for each in lines_of(dialect) for line in mutated(each, sorted(messages.TYPES))]
    at_once = [read(line) for line in lines]
    if messages is codex_exec:
        monkeypatch.setattr(messages, "_TYPED", Refuses())
    else:
        monkeypatch.setattr(messages.READER, "_common", Refuses())
    assert len(lines) > 1_000
    for line, message in zip(lines, at_once, strict=True):
        assert read(line) == message, line


@pytest.mark.parametrize("dialect", DIALECTS)
def test_captured_lines_are_decoded_at_once(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: ModuleType = DIALECTS[dialect]
    if messages is codex_exec:
        monkeypatch.setattr(messages, "_READER", None)
    else:
        monkeypatch.setattr(messages.READER, "_read_by_header", None)
    for line in lines_of(dialect):
        assert not isinstance(reader_of(messages)(line), (Unknown, Invalid))


def test_lines_of_claude_too() -> None:
    """Its reader is the general one, told of the types that most lines are of."""
    reader, types = claude_stream.READER, ["stream_event", "assistant", "system", "keep_alive"]
    lines = [line for each in lines_of("claude_stream") for line in mutated(each, types)]
    subtype = b'"subtype":"'
    lines += [line.replace(subtype, subtype + b'init",' + subtype) for line in lines if subtype in line]
    assert len(lines) > 10_000
    for line in lines:
        assert reader.read(line) == reader._read_by_header(line), line


def test_most_lines_of_claude_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An init as well, though another word tells it from the other messages of the system."""
    lines = [
        line
        for line in lines_of("claude_stream")
        if any(type.encode() in line[:40] for type in ("stream_event", "assistant", "user", "result", "init"))
    ]
    monkeypatch.setattr(claude_stream.READER, "_header", Refuses())
    monkeypatch.setattr(jsontext, "decoder", lambda wanted: Refuses())
    monkeypatch.setattr(jsontext, "parse", lambda line: Invalid("the standard library was asked"))
    read = [claude_stream.READER.read(line) for line in lines]
    assert sum(isinstance(message, Invalid) for message in read) <= len(lines) // 50


@pytest.mark.parametrize("dialect", ["claude_stream", "codex_exec", "gemini_stream"])
def test_the_general_road_of_a_machine_leads_to_the_same_events(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where `on_out` has a shorter one for the lines that are common."""
    lines = [line for each in lines_of(dialect) for line in mutated(each, ["assistant", "result", "error"])]
    short = [encode(event) for event in interpreted(dialect, out(lines))]
    monkeypatch.setattr(type(machine_for(dialect)), "on_out", Machine.on_out)
    assert [encode(event) for event in interpreted(dialect, out(lines))] == short
