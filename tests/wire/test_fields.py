"""Fields of native objects: the right kind or nothing, and never an exception."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._wire import fields

READERS: dict[str, Any] = {
    "text": (fields.text, None),
    "integer": (fields.integer, None),
    "number": (fields.number, None),
    "time": (fields.time, None),
    "flag": (fields.flag, False),
    "mapping": (fields.mapping, {}),
    "items": (fields.items, []),
    "mappings": (fields.mappings, []),
}
"""Each function, and what it returns where there is nothing of the kind."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("text", ["", "x"], [None, 1, True, ["x"], {}]),
        ("integer", [0, -1], [None, "1", True, False, 1.0]),
        ("number", [0, 1.5], [None, "1", True, False]),
        ("flag", [True], [None, 1, "true", False]),
        ("mapping", [{"x": 1}, {}], [None, [], "x"]),
        ("items", [[1], []], [None, {}, "x"]),
        ("mappings", [[{"x": 1}], []], [None, {}, [1, "x", None]]),
    ],
)
def test_a_value_counts_if_it_is_of_the_kind(name: str, good: list[Any], bad: list[Any]) -> None:
    read, nothing = READERS[name]
    for value in good:
        assert read({"a": value}, "a") == value
        assert type(read({"a": value}, "a")) is type(value)
    for value in bad:
        assert read({"a": value}, "a") == nothing
    assert read({}, "a") == nothing


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("native", [None, "a", ["a"], 1, True])
def test_what_is_no_object_has_no_fields(name: str, native: Any) -> None:
    read, nothing = READERS[name]
    assert read(native, "a") == nothing
    assert fields.value(native, "a") is None
    assert fields.as_mapping(native) == {}


def test_the_first_key_with_a_value_of_the_kind_counts() -> None:
    native = {"a": None, "b": "", "c": "x", "d": 0, "e": 2}
    assert fields.text(native, "a", "b", "c") == ""
    assert fields.text(native, "e", "c") == "x"
    assert fields.integer(native, "b", "d", "e") == 0
    assert fields.flag({"a": False, "b": True}, "a", "b") is True


def test_times() -> None:
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    for text in (
        "2026-01-02T12:00:00Z",
        "2026-01-02T13:00:00+01:00",
        "2026-01-02T12:00:00",
        "2026-01-02 12:00",
    ):
        assert fields.time({"a": text}, "a") == noon
    for odd in ("", "noon", "2026-13-01", 1, None):
        assert fields.time({"a": odd}, "a") is None


def test_objects_in_a_list_come_without_the_rest_of_it() -> None:
    assert fields.mappings({"a": [1, {"b": 2}, None, {}]}, "a") == [{"b": 2}, {}]


def test_a_value_of_any_kind() -> None:
    assert fields.value({"a": [1]}, "a") == [1]
    assert fields.as_mapping({"a": 1}) == {"a": 1}


@given(JSON)
def test_no_reader_raises(native: Any) -> None:
    for read, _ in READERS.values():
        read(native, "a", "b")
    fields.value(native, "a")
    fields.as_mapping(native)
