"""The public names: one list, complete, and cheap to import."""

import ast
import subprocess
import sys
from pathlib import Path

import dragoman
from dragoman._model import events

SOURCE = Path(dragoman.__file__)


def test_every_name_is_there() -> None:
    assert sorted(dragoman.__all__) == dir(dragoman)
    assert len(set(dragoman.__all__)) == len(dragoman.__all__)
    for name in dragoman.__all__:
        assert getattr(dragoman, name) is not None


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(SOURCE.read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.name for node in ast.walk(block) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert imported | {"__version__"} == set(dragoman.__all__)


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
    heavy = {"anyio", "click", "rich", "psutil", "msgspec", "asyncio", "sqlite3"}
    assert heavy.isdisjoint(loaded)
