"""Lines that a published model repeats: they say the same whether they are parsed or written as they were."""

import json
from typing import Any

import msgspec
import pytest

from dragoman._dialects.insights import messages as m
from dragoman._projections import published
from dragoman._wire.jsontext import parse
from dragoman._wire.native_line import NativeLine

DEEP = '{"a":' * 250 + "1" + "}" * 250
WIDE = json.dumps({"a": [[n] for n in range(300)]})
PLAIN = [
    '{"type":"x","n":1}',
    '{"a":1,"a":2}',
    '{"a": "\\u00e9 \\ud83d\\ude00 \u2028", "b": [1.50, -0, 123456789012345678901234567890]}',
]
ODD = [
    "", "{}", "{ }", "[]", "1", "null", "words", 'words {"a":1}', ' {"a":1}', '{"a":1}\r', '{"a":\r1}', '{"a":1',
    '{"a":"\\ud83d"}', '{"a":NaN}', '{"a":"\t"}', '{"a":1} x', DEEP, WIDE, "[" * 100_000,
]  # fmt: skip


class Some(msgspec.Struct):
    type: Any = None
    a: int | None = None


def said(text: str) -> dict[str, Any]:
    value = parse(text.encode())
    return value if isinstance(value, dict) else {}


@pytest.mark.parametrize("text", PLAIN + ODD)
def test_it_says_what_is_parsed(text: str) -> None:
    assert NativeLine(text).value == said(text)


@pytest.mark.parametrize("text", PLAIN + ODD)
def test_in_an_item_it_is_read_and_written_the_same(text: str) -> None:
    item = m.TextEvent(text="hi", kind="text", raw=NativeLine(text).field)  # type: ignore[arg-type]
    written = published.encode(item)
    assert b"\n" not in written
    assert b"\r" not in written
    assert item.raw == (said(text) or None)
    shown = m.TextEvent(text="hi", kind="text", raw=said(text) or None)
    assert item == shown
    assert json.loads(written) == json.loads(published.encode(shown))


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_line_is_written_as_it_was(text: str) -> None:
    line = NativeLine(text)
    assert line.field is line
    item = m.TextEvent(text="hi", kind="text", raw=line.field)  # type: ignore[arg-type]
    assert text.encode() in published.encode(item)


@pytest.mark.parametrize("text", ODD)
def test_any_other_line_is_not(text: str) -> None:
    assert not isinstance(NativeLine(text).field, NativeLine)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"type":"t","a":1}', Some("t", 1)),
        ('{"type":"t","a":"x"}', Some("t")),
        ('{"a":1,"b":"\\ud83d"}', Some(None, 1)),
        ("words", Some()),
    ],
)
def test_some_fields_of_it(text: str, expected: Some) -> None:
    assert NativeLine(text).read(Some) == expected


@pytest.mark.parametrize("text", PLAIN + ODD)
def test_a_line_that_was_read_is_shown_as_any_other(text: str) -> None:
    line, other = NativeLine(text), NativeLine(text)
    line.read(Some)
    assert type(line.field) is type(other.field)
    assert line.field == other.field


def test_a_word_that_may_be_spelled_out() -> None:
    assert NativeLine('{"type":"result"}').may_say("result")
    assert NativeLine('{"type":"res\\u0075lt"}').may_say("result")
    assert not NativeLine('{"type":"\\n"}').may_say("result")
