"""The shape of messages: what a type names, what it does not, and what does not fit it."""

from typing import Annotated, Any

from hypothesis import given
from msgspec import Raw, Struct

from dragoman._wire.jsontext import Unknown, shape
from dragoman._wire.shapes import Calls, Free, Part, rpc_parts, seen
from tests.wire.test_jsontext import JSON


class Dog(Struct, tag_field="type", tag="dog"):
    name: str = ""


class Talk(Struct):
    text: str = ""
    count: int | None = None
    pet: Dog | Unknown | None = None
    pets: list[Dog | Unknown] = []
    usage: dict[str, dict[str, Any]] | None = None
    anything: Any = None
    facts: dict[str, Any] | None = None
    names: Annotated[Raw, shape(list[str] | None)] = Raw()
    dog: Annotated[Dog, shape(dict[str, Any])] | None = None


def strange(value: Any, free: Free | None = None) -> dict[str, str | tuple[str, ...]]:
    """What is not named, with its kind, and what does not fit, with the kinds that would."""
    fields = seen(Part("talk", value, Talk, tags=("type",)), free or {})
    return {field.path: field.expected or field.kind for field in fields if not field.named or field.expected}


def test_what_types_name_is_not_strange() -> None:
    assert strange({"type": "talk", "text": "x", "count": 2.0, "pet": {"type": "dog", "name": "Rex"}}) == {}
    assert strange({"text": None, "count": None, "pets": [{"type": "dog"}], "anything": 5}) == {}


def test_unnamed_fields_are_found_at_any_depth() -> None:
    value = {
        "new": 1,
        "pet": {"type": "dog", "age": 3},
        "anything": {"deep": [{"x": None}]},
        "facts": {"a": "b"},
    }
    assert strange(value) == {
        "new": "number",
        "pet[dog].age": "number",
        "anything.deep": "list",
        "anything.deep[]": "object",
        "anything.deep[].x": "null",
        "facts.a": "string",
    }


def test_a_field_of_another_type_is_told_with_those_that_would_fit() -> None:
    assert strange({"text": 5, "count": "3", "pet": "Rex", "usage": [1]}) == {
        "text": ("string",),
        "count": ("number",),
        "pet": ("object",),
        "usage": ("object",),
    }
    assert strange({"count": 1.5, "pets": {"0": {}}}) == {"count": ("number",), "pets": ("list",)}


def test_a_field_is_of_the_shape_that_it_was_given_however_it_is_read() -> None:
    assert strange({"names": ["a"]}) == {}
    assert strange({"names": 5}) == {"names": ("list",)}
    assert strange({"names": ["a", 5]}) == {"names[]": ("string",)}
    assert strange({"dog": {"name": "Rex"}}) == {"dog.name": "string"}
    assert strange({"dog": 5}) == {"dog": ("object",)}


def test_an_unknown_tag_is_a_place_of_its_own() -> None:
    assert strange({"pet": {"type": "cow", "milk": 1}}) == {"pet[cow]": "object"}
    assert strange({"pets": [{"type": "cow"}]}) == {"pets[cow]": "object"}
    assert strange({"anything": {"type": "cow"}}) == {"anything[cow]": "object"}


def test_the_keys_of_a_map_are_no_fields() -> None:
    expected = {"usage.*": "object", "usage.*.tokens": "number"}
    assert strange({"usage": {"model-a": {"tokens": 1}, "model-b": {"tokens": 2}}}) == expected
    assert strange({"facts": {"a": 1, "b": 2}}, {"facts": "map"}) == {"facts.*": "number"}


def test_what_is_somebody_else_s_is_not_looked_into() -> None:
    assert strange(
        {"anything": {"x": 1}, "facts": {"input": {"y": 1}}}, {"input": "data", "anything": "data"}
    ) == {"facts.input": "object"}
    value = {"facts": {"error": {"type": "e42", "message": "no"}}}
    assert strange(value, {"facts.error": "codes"}) == {
        "facts.error": "object",
        "facts.error.type": "string",
        "facts.error.message": "string",
    }


@given(JSON)
def test_it_never_raises(value: Any) -> None:
    strange(value)
    strange({"pet": value, "pets": value, "usage": value, "facts": value, "anything": value})


def test_answers_go_by_what_was_asked_of_either_side() -> None:
    calls = Calls()

    def names(line: bytes, direction: Any) -> list[tuple[str, bool]]:
        parts = rpc_parts(line, direction, calls, lambda method, params: Part(method, params))
        return list(dict.fromkeys((part.name, part.refused) for part in parts))

    assert names(b'{"id":1,"method":"ask","params":{}}', "in") == [("ask", False)]
    assert names(b'{"id":1,"method":"want","params":{}}', "out") == [("want", False)]
    assert names(b'{"id":1,"result":{}}', "out") == [("ask result", False)]
    refusal = b'{"id":1,"error":{"code":-32601,"message":"no"}}'
    assert ("want error", True) in names(refusal, "in")
    assert names(refusal, "in") == []
    assert names(b"[]", "out") == names(b"no JSON", "out") == []
