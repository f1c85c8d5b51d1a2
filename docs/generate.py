"""Writes docs/events.md, docs/api.md, docs/http-api.md and the table of agents in README.md from the code itself: `python
docs/generate.py`."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeGuard, is_typeddict

from http_page import http_page
from msgspec import Struct
from source_words import Field, cell, documented, fields_of, kind_of, own_words, paragraphs, table

import dragoman
from dragoman import agent_protocol, blocking, server, testing, untether
from dragoman._agents import AGENTS
from dragoman._model import content, events, usage
from dragoman._model.config import SessionConfig

DOCS = Path(__file__).parent

# --- events.md -----------------------------------------------------------------------------------------------

EVENTS_HEAD = """\
# Events

`dragoman.events/1`. One JSON object per line. Absent means unknown or empty: null, [], {} and false flags are left
out; "" and 0 are kept. Fields may be added within this schema; none is ever renamed. `type` is the event's name, the
heading below; in Python `event.type`, beside the class.
This page is made from the types (`python docs/generate.py`).
"""


def events_page() -> str:
    parts = [EVENTS_HEAD, event_section("The envelope", events.Event)]
    for name, cls in events.EVENTS.items():
        shared = [
            base
            for base in cls.__mro__[1:-1]
            if base.__module__ == events.__name__ and base is not events.Event
        ]
        parts.append(event_section(name, cls, *shared))
    values: tuple[type, ...] = (
        usage.Usage,
        usage.ModelUsage,
        *events.Value.__subclasses__(),
        *content.Block.__subclasses__(),
    )
    parts += ["# Parts", *(event_section(cls.__name__, cls) for cls in values)]
    return "\n\n".join(parts) + "\n"


def event_section(title: str, cls: type, *shared: type) -> str:
    fields = [field for each in (*shared, cls) for field in fields_of(each)]
    return paragraphs(f"## {title}", own_words(cls), table(fields))


# --- api.md --------------------------------------------------------------------------------------------------

API_HEAD = """\
# The Python API

What is public is `dragoman`, `dragoman.blocking`, `dragoman.server`, `dragoman.testing`, `dragoman.untether` and `dragoman.agent_protocol`,
each with the names on this page; whatever else can be imported may change at any time. This page is made from the code (`python docs/generate.py`)."""

GROUPS = {
    "Opening an agent": ("dragoman.api",),
    "Options": ("dragoman._model.config",),
    "Results": ("dragoman._model.result",),
    "Sessions and connections": (
        "dragoman._runtime.session",
        "dragoman._runtime.facts",
        "dragoman._runtime.connection",
        "dragoman._model.facts",
    ),
    "Streams": ("dragoman._runtime.streams", "dragoman._runtime.view_stream"),
    "Answering": ("dragoman._runtime.requests",),
    "Commands": ("dragoman._model.commands",),
    "Content": ("dragoman._model.content",),
    "Errors": ("dragoman._model.errors",),
    "Events": ("dragoman._model.events", "dragoman._model.usage"),
    "Files": (
        "dragoman._files.convert",
        "dragoman._files.archives",
        "dragoman._wire.event_json",
        "dragoman._wire.jsontext",
        "dragoman._model.frames",
    ),
}
"""Titles, and the modules whose public names stand under them. Names of other modules stand under the last title."""
REST = "More"

CONSTRUCTED = (
    *("ScriptedModel", "AgentClient", "ProtocolAdapter", "AgentError"),
    *("MockTransport", "StdioTransport"),
    *("Application", "Client"),
)
"""Classes that a caller makes. The others come from a call, or are plain values made by their fields."""


def api_page() -> str:
    groups: dict[str, list[str]] = {title: [] for title in (*GROUPS, REST)}
    for name in dragoman.__all__:
        home = home_of(dragoman, name).__name__
        title = next((title for title, homes in GROUPS.items() if home in homes), REST)
        groups[title].append(name)
    parts = [API_HEAD, "# dragoman"]
    for title, names in groups.items():
        if names:
            render = event_rows if title == "Events" else sections
            parts += [f"## {title}", render(dragoman, names)]
    for module in (blocking, server, testing, untether, agent_protocol):
        words, _, _ = (module.__doc__ or "").partition("\n\n")
        parts += [f"# {module.__name__}", words, sections(module, module.__all__)]
    return paragraphs(*parts) + "\n"


def in_order(module: ModuleType, names: list[str]) -> list[str]:
    """What a module defines itself first; then module by module, as the source has it."""

    def place(name: str) -> tuple[bool, str, int]:
        home = home_of(module, name)
        line = definition(home, name)[0].lineno if home is not getattr(module, name) else 0
        return home is not module, home.__name__, line

    return sorted(names, key=place)


def event_rows(module: ModuleType, names: list[str]) -> str:
    """Events and their parts have a page of their own."""
    rows = ["Their fields are in [events.md](events.md).", "", "| | type | |", "|---|---|---|"]
    for name in in_order(module, names):
        value = getattr(module, name)
        tag = f"`{value.__struct_config__.tag}`" if value in events.EVENTS.values() else ""
        words = own_words(value) if isinstance(value, type) else definition(home_of(module, name), name)[1]
        rows.append(f"| `{name}` | {tag} | {cell(' '.join(words.split()))} |")
    return "\n".join(rows)


def sections(module: ModuleType, names: list[str]) -> str:
    return paragraphs(*(section(module, name) for name in in_order(module, names)))


def section(module: ModuleType, name: str) -> str:
    title, value = f"### `{name}`", getattr(module, name)
    if isinstance(value, ModuleType):
        return paragraphs(title, f"The module `{value.__name__}`: see below.")
    if module is not dragoman and getattr(dragoman, name, None) is value:
        return paragraphs(title, f"As in `{dragoman.__name__}`.")
    node, words = definition(home_of(module, name), name)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return paragraphs(title, code(signature(node)), inspect.cleandoc(ast.get_docstring(node) or ""))
    if isinstance(node, ast.ClassDef):
        return paragraphs(title, *class_parts(value, node))
    assert isinstance(node, ast.Assign | ast.AnnAssign)
    assert node.value is not None
    return paragraphs(title, code(ast.unparse(node.value)), words)


def class_parts(cls: type, node: ast.ClassDef) -> Iterator[str]:
    if node.name in CONSTRUCTED:
        [start] = _starts(node)
        yield code(signature(start, node.name))
    yield own_words(cls)
    bases = [base.__name__ for base in cls.__bases__ if base not in (object, Struct, dict)]
    if bases:
        yield f"A kind of `{'`, `'.join(bases)}`."
    if issubclass(cls, Enum):
        yield table([*_members(node)]).replace("| field | type |", "| member | value |")
        return
    fields = [field for field in attributes(cls, node) if not field.name.startswith("_")]
    if fields:
        yield table(fields)
    for method in node.body:
        if _public(method) and not _is_property(method):
            yield f"#### `{method.name}`"
            yield code(signature(method))
            yield inspect.cleandoc(ast.get_docstring(method) or "")


def attributes(cls: type, node: ast.ClassDef) -> Iterator[Field]:
    """What can be read of an object: fields, what `__init__` sets and explains, properties."""
    aliases = _aliases(import_module(cls.__module__))
    said = {field.name: field.words for field in fields_of(SessionConfig)} if is_typeddict(cls) else {}
    for field in fields_of(cls):  # Options are the fields of SessionConfig, which say what they mean
        yield field._replace(
            kind=_spelled_out(field.kind, aliases), words=field.words or said.get(field.name, "")
        )
    for start in _starts(node):
        kinds = {arg.arg: kind_of(arg.annotation) for arg in _all(start.args) if arg.annotation}
        for line, words in documented(start.body):
            if words and isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Attribute):
                yield Field(line.target.attr, kind_of(line.annotation), words)
            elif words and isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Attribute):
                yield Field(line.targets[0].attr, kinds.get(ast.unparse(line.value), "Any"), words)
    for method in node.body:
        if _public(method) and _is_property(method) and method.returns is not None:
            yield Field(
                method.name, kind_of(method.returns), " ".join((ast.get_docstring(method) or "").split())
            )


def _members(node: ast.ClassDef) -> Iterator[Field]:
    for line, words in documented(node.body):
        if isinstance(line, ast.Assign):
            yield Field(ast.unparse(line.targets[0]), ast.unparse(line.value), words)


def _starts(node: ast.ClassDef) -> list[ast.FunctionDef]:
    return [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]


def _public(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)


def _aliases(module: ModuleType) -> dict[str, str]:
    """Types that a module gives a name that is not public: without the name, and without what Annotated adds."""
    found: dict[str, str] = {}
    for node in tree_of(module).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            name, value = ast.unparse(node.target), node.value
            if isinstance(value, ast.Subscript) and ast.unparse(value.value) == "Annotated":
                assert isinstance(value.slice, ast.Tuple)
                value = value.slice.elts[0]
            if name not in dragoman.__all__ and value is not None:
                found[name] = _spelled_out(ast.unparse(value), found)
    return found


def _spelled_out(kind: str, aliases: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda word: aliases.get(word[0], word[0]), kind)


# --- where a public name is defined, and how it is written ----------------------------------------------------


def tree_of(module: ModuleType) -> ast.Module:
    assert module.__file__ is not None
    return ast.parse(Path(module.__file__).read_text("utf-8"))


def home_of(module: ModuleType, name: str) -> ModuleType:
    """The module that defines a name, found along its imports; of a module, itself."""
    if isinstance(value := getattr(module, name), ModuleType):
        return value
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and any(
            (each.asname or each.name) == name for each in node.names
        ):
            package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
            relative = "." * node.level + (node.module or "")
            return home_of(import_module(relative, package), name)
    return module


def definition(home: ModuleType, name: str) -> tuple[ast.stmt, str]:
    """The statement that defines a name, and the docstring behind it."""
    for node, words in documented(tree_of(home).body):
        if isinstance(node, ast.Assign):
            names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        elif isinstance(node, ast.AnnAssign):
            names = [ast.unparse(node.target)]
        else:
            names = [getattr(node, "name", "")]
        if name in names:
            return node, words
    raise LookupError(f"{home.__name__} does not define {name}")


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str | None = None) -> str:
    """As one would write it, on several lines if it is long."""
    given = [part for part in _parameters(node.args) if part != "self"]
    word = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    head = name if name is not None else word + node.name
    tail = f" -> {kind_of(node.returns)}" if node.returns is not None and name is None else ""
    line = f"{head}({', '.join(given)}){tail}"
    if len(line) <= 100:
        return line
    return "\n".join((f"{head}(", *(f"    {part}," for part in given), f"){tail}"))


def _all(args: ast.arguments) -> list[ast.arg]:
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def _parameters(args: ast.arguments) -> Iterator[str]:
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    for place, (arg, default) in enumerate(zip(plain, defaults, strict=True), 1):
        yield _parameter(arg, default)
        if place == len(args.posonlyargs):
            yield "/"
    if args.vararg is not None:
        yield f"*{_parameter(args.vararg, None)}"
    elif args.kwonlyargs:
        yield "*"
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield _parameter(arg, default)
    if args.kwarg is not None:
        yield f"**{_parameter(args.kwarg, None)}"


def _parameter(arg: ast.arg, default: ast.expr | None) -> str:
    kind = f": {kind_of(arg.annotation)}" if arg.annotation is not None else ""
    if default is None:
        return arg.arg + kind
    return f"{arg.arg}{kind} = {ast.unparse(default)}" if kind else f"{arg.arg}={ast.unparse(default)}"


def code(text: str) -> str:
    return f"```py\n{text}\n```"


# --- the agents, in README.md ---------------------------------------------------------------------------------

README = DOCS.parent / "README.md"
_TABLE = re.compile(r"(<!-- agents: python docs/generate.py -->\n).*?(<!-- /agents -->)", re.DOTALL)


def readme() -> str:
    """README.md with the table of agents as the records have it."""
    return _TABLE.sub(lambda marks: marks[1] + agents_table() + marks[2], README.read_text("utf-8"))


def agents_table() -> str:
    """The agents that did a turn, one in a row; the others by name."""
    by_state: dict[str, list[str]] = {}
    rows = []
    for name in AGENTS:
        agent = AGENTS[name]
        by_state.setdefault(agent.state, []).append(f"`{name}`")
        if agent.tested_versions and agent.install:
            versions = ", ".join(agent.tested_versions)
            speaks = ", ".join(agent.dialects)
            rows.append(f"| `{name}` | {agent.title} | {speaks} | {versions} | `{agent.install}` |")
    head = ("| name | agent | speaks | did turns | install |", "|---|---|---|---|---|")
    others = (
        f"Started, and did no turn: {', '.join(by_state['starts'])}.",
        f"Not tried: {', '.join(by_state['not tried'])}.",
    )
    return "\n".join((*head, *rows, "", *others, ""))


PAGES: dict[str, Callable[[], str]] = {
    "events.md": events_page,
    "api.md": api_page,
    "http-api.md": http_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), "utf-8")
    README.write_text(readme(), "utf-8")
