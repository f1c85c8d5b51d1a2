"""The two roads of reading JSON."""

from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, field

from dragoman._wire.jsontext import Header, Invalid, Ragged, Reader, Unknown, fit, parse, repaired


class Cat(Struct, tag_field="type", tag="cat"):
    lives: int = 9


class Dog(Struct, tag_field="type", tag="dog"):
    name: str = ""


class Talk(Struct):
    text: Ragged = ""
    who: str = ""
    mood: Literal["good", "bad"] = "good"
    pet: Cat | Dog | Unknown | None = None
    pets: list[Cat | Dog | Unknown] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    anything: Any = None
    length: float | None = None


READER: Reader[Header, Talk] = Reader(Header, lambda header: Talk if header.type == "talk" else None)


def talk(**fields: Any) -> Any:
    return READER.read(msgspec.json.encode({"type": "talk", **fields}))


def test_the_fast_road() -> None:
    assert talk(text="hi", pet={"type": "dog", "name": "Rex"}) == Talk(text="hi", pet=Dog("Rex"))


def test_an_unknown_type_is_kept() -> None:
    message = READER.read(b'{"type":"sing","subtype":"loudly","x":[1]}')
    assert isinstance(message, Unknown)
    assert message.native_type == "sing/loudly"
    assert message.native == {"type": "sing", "subtype": "loudly", "x": [1]}


def test_an_unknown_tag_inside_costs_only_itself() -> None:
    message = talk(text="hi", pets=[{"type": "cat"}, {"type": "cow", "milk": 1}, {"type": "dog"}])
    assert message.text == "hi"
    assert message.pets == [Cat(), Unknown({"type": "cow", "milk": 1}), Dog()]


def test_a_field_of_another_type_becomes_its_default() -> None:
    message = talk(text="hi", who=7, mood="odd", counts={"a": 1, "b": "two"}, length="long", pet=[])
    assert message == Talk(text="hi", counts={"a": 1})


@pytest.mark.parametrize("line", [b"", b"{", b"nope", b"\xff\xfe", b'{"type":', b"[" * 100_000, b"1" * 5000])
def test_no_json_at_all(line: bytes) -> None:
    assert isinstance(READER.read(line), Invalid)


@pytest.mark.parametrize("line", [b"[]", b"1", b'"x"', b"null", b"true"])
def test_json_but_no_object(line: bytes) -> None:
    message = READER.read(line)
    assert isinstance(message, Invalid)
    assert "not an object" in message.reason


def test_lone_surrogates_are_repaired_except_where_text_goes_on() -> None:
    message = READER.read(
        rb'{"type":"talk","text":"a\ud83d","who":"b\ud83d","anything":{"k\ude00":["\ud83d"]}}'
    )
    assert isinstance(message, Talk)
    assert message.text == "a\ud83d"
    assert message.who == "b\ufffd"
    assert message.anything == {"k\ufffd": ["\ufffd"]}


def test_halves_that_belong_together_become_one_character() -> None:
    assert repaired(["\ud83d\ude00", "\ude00\ud83d"]) == ["😀", "\ufffd\ufffd"]


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e400"])
def test_numbers_that_json_cannot_hold_are_null(number: bytes) -> None:
    message = READER.read(b'{"type":"talk","text":"x","anything":' + number + b"}")
    assert message == Talk(text="x")


def test_bad_utf8_is_replaced() -> None:
    assert READER.read(b'{"type":"talk","who":"a\xffb"}') == Talk(who="a\ufffdb")


def test_depth_is_cut_so_that_it_can_be_written_again() -> None:
    deep = b'{"type":"talk","length":"no","anything":' + b"[" * 400 + b"]" * 400 + b"}"
    message = READER.read(deep)
    assert isinstance(message, Talk)
    assert b"\\u2026" in msgspec.json.encode(message.anything) or "…" in str(message.anything)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_fitting_never_raises_and_gives_the_type(value: Any) -> None:
    assert isinstance(fit(value, Talk), Talk)
    assert isinstance(fit({"pets": value, "counts": value, "pet": value}, Talk), Talk)


@given(st.binary())
def test_parsing_never_raises(line: bytes) -> None:
    parse(line)
    assert isinstance(READER.read(line), Talk | Unknown | Invalid)
