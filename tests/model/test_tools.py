"""What a signature says is the schema of a tool."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Optional

import msgspec
import pytest
from msgspec import Meta, Struct

from dragoman import Tool, UsageError, tool
from dragoman._model.hooks import checked_hooks
from dragoman._model.tools import checked_tools


@dataclass
class Place:
    name: str
    floor: int = 0


class Node(Struct):
    word: str
    below: list["Node"] = []


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


def schema(function: Callable[..., Any]) -> dict[str, Any]:
    return tool(function).input_schema


def result(function: Callable[..., Any], **arguments: Any) -> Any:
    return tool(function).call_of(arguments)()


def test_names_and_descriptions() -> None:
    def shout(word: Annotated[str, Meta(description="What to shout.")]) -> str:
        """Shouts.

        Loudly.
        """
        return word.upper()

    made = tool(shout)
    assert (made.name, made.description) == ("shout", "Shouts.\n\nLoudly.")
    assert made.input_schema == {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "What to shout."}},
        "required": ["word"],
        "additionalProperties": False,
    }
    renamed = tool(shout, name="cry", description="Cries.")
    assert (renamed.name, renamed.description, renamed.input_schema) == ("cry", "Cries.", made.input_schema)


def test_every_kind_of_type() -> None:
    def f(
        number: Annotated[int, Meta(ge=1)],
        place: Place,
        how: Literal["car", "train"] = "car",
        color: Color = Color.RED,
        maybe: Optional[int] = None,  # noqa: UP045 - the older way to write it
        many: list[Place] | None = None,
        *,
        named: "dict[str, float]" = {},  # noqa: B006 - as somebody might
    ) -> Any:
        return number, place, how, color, maybe, many, named

    said = schema(f)
    place = {
        "title": "Place",
        "type": "object",
        "properties": {"name": {"type": "string"}, "floor": {"type": "integer", "default": 0}},
        "required": ["name"],
    }
    assert said["required"] == ["number", "place"]
    assert said["properties"]["number"] == {"type": "integer", "minimum": 1}
    assert said["properties"]["place"] == place
    assert said["properties"]["how"] == {"type": "string", "enum": ["car", "train"], "default": "car"}
    assert said["properties"]["color"]["default"] == "red"
    assert said["properties"]["maybe"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert {"type": "array", "items": place} in said["properties"]["many"]["anyOf"]
    assert "$defs" not in said
    assert result(f, number=1, place={"name": "Rome"}, color="blue", named={"x": 1}) == (
        *(1, Place("Rome"), "car", Color.BLUE, None, None, {"x": 1.0}),
    )


def test_a_type_that_holds_itself() -> None:
    def f(node: Node) -> int:
        return len(node.below)

    said = schema(f)
    assert said["properties"]["node"]["properties"]["below"]["items"] == {"$ref": "#/$defs/Node"}
    assert said["$defs"]["Node"]["properties"]["below"]["items"] == {"$ref": "#/$defs/Node"}
    assert result(f, node={"word": "a", "below": [{"word": "b"}]}) == 1


def test_parameters_may_be_called_anything() -> None:
    def f(enum: str, __odd: int, self: str, p0: str = "x", title: str = "t") -> Any:
        return enum, __odd, self, p0, title

    assert list(schema(f)["properties"]) == ["enum", "__odd", "self", "p0", "title"]
    assert "type" not in schema(f)["properties"].keys() - {"type"}
    assert result(f, enum="e", __odd=1, self="s") == ("e", 1, "s", "x", "t")


def test_defaults_are_the_functions_own() -> None:
    nothing = object()

    def f(a: int = 1, b: int = 2, /, c: Any = nothing) -> Any:
        return a, b, c

    assert "default" not in schema(f)["properties"]["c"]
    assert result(f) == (1, 2, nothing)
    assert result(f, b=5) == (1, 5, nothing)


def test_methods_partials_and_objects() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def add(self, many: int) -> int:
            """Adds."""
            self.count += many
            return self.count

        def __call__(self, many: int) -> int:
            """Calls."""
            return self.add(many)

    counter = Counter()
    assert result(counter.add, many=2) == 2
    assert tool(counter.add).name == "add"
    assert tool(counter, name="call").call_of({"many": 3})() == 5
    assert tool(partial(counter.add, many=4), name="four").call_of({})() == 9


@pytest.mark.parametrize(
    "arguments",
    [{}, {"a": "1"}, {"a": None}, {"a": 1, "b": 2}, {"a": 1.5}, {"a": True}, [1], "a", 7, {"a": {"a": 1}}],
)
def test_arguments_that_do_not_fit(arguments: Any) -> None:
    def f(a: int) -> int:
        return a

    with pytest.raises(msgspec.ValidationError):
        tool(f).call_of(arguments)


def test_no_arguments_at_all() -> None:
    assert tool(lambda: 7, name="seven").call_of(None)() == 7


def untyped(a, b: int):  # type: ignore[no-untyped-def]
    return a


def starred(*words: str) -> None: ...


def keyed(**words: str) -> None: ...


def strange(a: complex | type) -> None: ...


def unresolved(a: "NoSuchType") -> None: ...  # type: ignore[name-defined] # noqa: F821


def größe(a: int) -> None: ...


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (untyped, "the parameter a of the tool untyped has no type: write one, such as a: str"),
        (starred, "takes \\*words: str: it must name each"),
        (keyed, "takes \\*\\*words: str: it must name each"),
        (strange, "a parameter whose type JSON cannot hold"),
        (unresolved, "no signature that can be read: name 'NoSuchType'"),
        (größe, "a name of up to 48 letters, digits, _ and -; not 'größe'"),
        (lambda a: a, "not '<lambda>': give it one with dragoman.tool"),
        (7, "a tool must be a function; not 7"),
        (int, "no signature"),
        (partial(print), "must have a name"),
    ],
)
def test_what_is_no_tool(given: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        checked_tools([given])


@pytest.mark.parametrize("name", ["", "a b", "a/b", "1a", "-a", "a" * 49, 7])
def test_names_that_no_agent_takes(name: Any) -> None:
    with pytest.raises(UsageError, match="must have a name"):
        tool(lambda: 1, name=name)


def test_lists_of_tools() -> None:
    def f() -> None: ...

    assert checked_tools(None) == checked_tools([]) == ()
    assert [each.name for each in checked_tools((f, tool(f, name="g")))] == ["f", "g"]
    assert all(isinstance(each, Tool) for each in checked_tools([f]))
    with pytest.raises(UsageError, match="two tools are called 'f'"):
        checked_tools([f, f])
    for wrong in (f, "f", {"f": f}, 7):
        with pytest.raises(UsageError, match="tools must be a list of functions"):
            checked_tools(wrong)  # type: ignore[arg-type]


def test_hooks_are_functions_by_event() -> None:
    def hook(call: Any) -> None: ...

    assert checked_hooks(None) == {}
    assert checked_hooks({"PreToolUse": hook}) == {"PreToolUse": hook}
    for wrong in ([hook], hook, "PreToolUse"):
        with pytest.raises(UsageError, match="hooks must be a dict"):
            checked_hooks(wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"hooks\['PreToolUse'\] must be a function"):
        checked_hooks({"PreToolUse": "echo"})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="decided by approve="):
        checked_hooks({"PermissionRequest": hook})
