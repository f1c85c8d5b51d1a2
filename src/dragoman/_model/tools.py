"""Functions of the caller's that an agent calls as tools: what a signature says is their schema."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, Union, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from dragoman._model.errors import UsageError

SERVER: Final = "dragoman"
"""The MCP server that they are of, as agents name it and events tell it."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,47}")
"""What every agent and model takes, with the server's name before it."""
_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)

Function = Callable[..., Any]


class Tool(Struct, frozen=True, kw_only=True):
    """A function as agents see it; `dragoman.tool` makes one."""

    name: str
    description: str
    input_schema: dict[str, Any]
    function: Function
    arguments_type: type[Struct]
    """What the arguments of a call are converted to."""

    def call_of(self, arguments: Any) -> Callable[[], Any]:
        """The call with these arguments, to be made. Raises msgspec.ValidationError for arguments that do not fit."""
        given = msgspec.convert({} if arguments is None else arguments, self.arguments_type)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter, field in zip(_parameters(self.function), given.__struct_fields__, strict=True):
            value = getattr(given, field)
            if parameter.kind not in _BY_NAME:
                positional.append(value if value is not UNSET else parameter.default)
            elif value is not UNSET:
                named[parameter.name] = value
        return partial(self.function, *positional, **named)


def tool(function: Function, *, name: str | None = None, description: str | None = None) -> Tool:
    """A function as a tool, for `tools=[…]`: under its own name and with its docstring, unless told otherwise. The schema
    of its input is made of the type hints of its parameters; `Annotated[int, msgspec.Meta(description="…")]` describes one.
    Raises UsageError for what cannot be a tool."""
    if not callable(function):
        raise UsageError(f"a tool must be a function; not {function!r:.60}")
    called = name if name is not None else getattr(function, "__name__", "")
    if not isinstance(called, str) or _NAME.fullmatch(called) is None:
        raise UsageError(
            f"a tool must have a name of up to 48 letters, digits, _ and -; not {called!r:.60}: give it one with "
            "dragoman.tool(function, name=...)"
        )
    about = description if description is not None else inspect.getdoc(function) or ""
    arguments = _arguments_type(function, called)
    return Tool(
        name=called,
        description=about,
        input_schema=_schema(function, arguments, called),
        function=function,
        arguments_type=arguments,
    )


def checked_tools(given: Iterable[Function | Tool] | None) -> tuple[Tool, ...]:
    """What a caller gave as `tools`. Raises UsageError."""
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        raise UsageError(f"tools must be a list of functions; not {given!r:.60}")
    tools = tuple(each if isinstance(each, Tool) else tool(each) for each in given)
    names = [each.name for each in tools]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"two tools are called {name!r}: name one of them otherwise with dragoman.tool(function, name=...)"
            )
    return tools


# --- of a signature ------------------------------------------------------------------------------------------


def _parameters(function: Function) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _arguments_type(function: Function, name: str) -> type[Struct]:
    """A type with a field for each parameter. One that has a default may be absent: then the function's own holds."""
    try:
        parameters, hints = _parameters(function), _hints(function)
    except Exception as error:
        raise UsageError(f"the tool {name} has no signature that can be read: {error}") from error
    fields: list[Any] = []
    for number, parameter in enumerate(parameters):
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise UsageError(f"the tool {name} takes {parameter}: it must name each of its parameters")
        if parameter.name not in hints:
            raise UsageError(
                f"the parameter {parameter.name} of the tool {name} has no type: write one, such as {parameter.name}: str"
            )
        hint = hints[parameter.name]
        if parameter.default is inspect.Parameter.empty:
            fields.append((f"p{number}", hint))
        else:
            fields.append((f"p{number}", Union[hint, UnsetType], UNSET))  # noqa: UP007 - it is no name
    names = {f"p{number}": parameter.name for number, parameter in enumerate(parameters)}
    return msgspec.defstruct(name, fields, kw_only=True, rename=names, forbid_unknown_fields=True)


def _hints(function: Function) -> dict[str, Any]:
    """The types of the parameters, also those of a partial, or of an object that can be called."""
    while isinstance(function, partial):
        function = function.func
    if not inspect.isroutine(function):
        function = type(function).__call__
    return get_type_hints(function, include_extras=True)


def _schema(function: Function, arguments: type[Struct], name: str) -> dict[str, Any]:
    """The JSON Schema of the arguments. Types stand where they are used, since not every agent follows references; only one
    that holds itself is referred to."""
    try:
        schema = msgspec.json.schema(arguments)
    except Exception as error:
        raise UsageError(
            f"the tool {name} has a parameter whose type JSON cannot hold: {str(error).splitlines()[-1]}"
        ) from error
    kept: dict[str, Any] = {}
    made: dict[str, Any] = _inlined(schema, schema.get("$defs", {}), (), kept)
    made.pop("title", None)
    for parameter in _parameters(function):
        if parameter.default is not inspect.Parameter.empty and parameter.default is not None:
            _show_default(made["properties"][parameter.name], parameter.default)
    return {**made, **({"$defs": kept} if kept else {})}


def _show_default(schema: dict[str, Any], default: Any) -> None:
    try:
        schema["default"] = msgspec.json.decode(msgspec.json.encode(default))
    except Exception:  # it has no form in JSON: then it is not told
        return


_REFERENCE: Final = "#/$defs/"


def _inlined(node: Any, types: Mapping[str, Any], within: tuple[str, ...], kept: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, types, within, kept) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: value for key, value in node.items() if key != "$defs"}
    name = str(node.pop("$ref", "")).removeprefix(_REFERENCE)
    if name in within:
        if name not in kept:
            kept[name] = None
            kept[name] = _inlined(types[name], types, (name,), kept)
        return {"$ref": _REFERENCE + name, **node}
    if name:
        inner: dict[str, Any] = _inlined(types[name], types, (*within, name), kept)
        return {**inner, **_inlined(node, types, within, kept)}
    made = {key: _inlined(value, types, within, kept) for key, value in node.items()}
    words = made.get("enum")
    if "type" not in made and isinstance(words, list) and all(isinstance(word, str) for word in words):
        made["type"] = "string"  # which some models' APIs insist on
    return made
