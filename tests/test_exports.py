"""The public names: one list, complete, and cheap to import."""

import ast
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import dragoman
from dragoman import agent_protocol, api, blocking, server, testing, untether
from dragoman._model import events

SOURCE = Path(dragoman.__file__)


def seen_by_type_checkers() -> dict[str, str]:
    """The public names, and the modules that they are imported from under TYPE_CHECKING."""
    tree = ast.parse(SOURCE.read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: str(node.module)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_every_name_is_there() -> None:
    assert sorted(dragoman.__all__) == dir(dragoman)
    assert len(set(dragoman.__all__)) == len(dragoman.__all__)
    for name in dragoman.__all__:
        assert getattr(dragoman, name) is not None


def test_type_checkers_see_the_same_names() -> None:
    homes = seen_by_type_checkers()
    assert homes.keys() | {"__version__"} == set(dragoman.__all__)
    for name, home in homes.items():
        assert getattr(dragoman, name) is getattr(import_module(home), name)


def test_only_these_modules_are_public() -> None:
    found = {module.name for module in pkgutil.iter_modules(dragoman.__path__) if module.name[0] != "_"}
    assert found == {"agent_protocol", "api", "blocking", "server", "testing", "untether"}
    for package in (agent_protocol, testing):
        assert all(module.name[0] == "_" for module in pkgutil.iter_modules(package.__path__))
    for module in (agent_protocol, api, blocking, server, testing, untether):
        assert all(hasattr(module, name) for name in module.__all__)
    assert all(getattr(dragoman, name) is getattr(api, name) for name in api.__all__)


def test_every_event_is_public() -> None:
    for cls in events.EVENTS.values():
        assert getattr(dragoman, cls.__name__) is cls


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(dragoman, "no_such_thing")


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys, dragoman; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"anyio", "click", "rich", "psutil", "msgspec", "asyncio", "sqlite3", "tree_sitter"}
    assert heavy.isdisjoint(loaded)
