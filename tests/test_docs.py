"""Docs that are made from the code are what the code makes of them."""

import importlib.util
import re
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import dragoman
from dragoman import agent_protocol, blocking, testing, untether
from dragoman._model import events

DOCS = Path(__file__).parent.parent / "docs"


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    return generate


@pytest.mark.parametrize("page", ["events.md", "api.md"])
def test_a_generated_page_is_up_to_date(page: str) -> None:
    assert generator().PAGES[page]() == (DOCS / page).read_text("utf-8"), "run: python docs/generate.py"


def test_the_agents_in_the_readme_are_those_of_the_records() -> None:
    generate = generator()
    text = generate.README.read_text("utf-8")
    assert generate.readme() == text, "run: python docs/generate.py"
    assert "| `kilo` | Kilo Code | acp |" in text


def test_the_api_reference_names_what_is_public_and_nothing_else() -> None:
    text = (DOCS / "api.md").read_text("utf-8")
    parts = re.split(r"^# (dragoman\S*)$", text, flags=re.MULTILINE)[1:]
    told = {
        name: sorted(re.findall(r"^(?:### |\| )`(\w+)`", words, re.MULTILINE))
        for name, words in zip(parts[::2], parts[1::2], strict=True)
    }
    assert told == {
        module.__name__: sorted(module.__all__)
        for module in (dragoman, blocking, testing, untether, agent_protocol)
    }


@pytest.mark.parametrize("module", [dragoman, blocking, testing, untether])
def test_what_is_public_says_what_it_is(module: ModuleType) -> None:
    """Events say it by their fields, in events.md."""
    values = {name: getattr(module, name) for name in module.__all__}
    defined = {name: value for name, value in values.items() if isinstance(value, type | FunctionType)}
    silent = [name for name, value in defined.items() if not vars(value).get("__doc__", value.__doc__)]
    assert [name for name in silent if defined[name].__module__ != events.__name__] == []
