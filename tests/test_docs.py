"""Docs that are made from the code are what the code makes of them."""

import importlib
import re
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import dragoman
from dragoman import agent_protocol, blocking, server, testing, untether
from dragoman._model import events
from dragoman._server.calls import CALLS

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture
def generate(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("generate")


@pytest.mark.parametrize("page", ["events.md", "api.md", "http-api.md"])
def test_a_generated_page_is_up_to_date(generate: Any, page: str) -> None:
    assert generate.PAGES[page]() == (DOCS / page).read_text("utf-8"), "run: python docs/generate.py"


def test_the_agents_in_the_readme_are_those_of_the_records(generate: Any) -> None:
    text = generate.README.read_text("utf-8")
    assert generate.readme() == text, "run: python docs/generate.py"
    assert "| `kilo` | Kilo Code | acp |" in text


def test_every_type_of_the_http_api_is_told_and_can_be_found() -> None:
    text = (DOCS / "http-api.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(#(\w+)\)", text))
    titles = {title.lower() for title in re.findall(r"^#+ (\w+)$", text, re.MULTILINE)}
    assert {"about", "permissionask", "usagerow"} <= linked <= titles


@pytest.mark.parametrize("call", [f"{call.method} {call.path}" for call in CALLS])
def test_every_call_of_the_http_api_is_told(call: str) -> None:
    assert f"| `{call}` |" in (DOCS / "http-api.md").read_text("utf-8")


def test_the_api_reference_names_what_is_public_and_nothing_else() -> None:
    text = (DOCS / "api.md").read_text("utf-8")
    parts = re.split(r"^# (dragoman\S*)$", text, flags=re.MULTILINE)[1:]
    told = {
        name: sorted(re.findall(r"^(?:### |\| )`(\w+)`", words, re.MULTILINE))
        for name, words in zip(parts[::2], parts[1::2], strict=True)
    }
    assert told == {
        module.__name__: sorted(module.__all__)
        for module in (dragoman, blocking, server, testing, untether, agent_protocol)
    }


@pytest.mark.parametrize("module", [dragoman, blocking, server, testing, untether])
def test_what_is_public_says_what_it_is(module: ModuleType) -> None:
    """Events say it by their fields, in events.md."""
    values = {name: getattr(module, name) for name in module.__all__}
    defined = {name: value for name, value in values.items() if isinstance(value, type | FunctionType)}
    silent = [name for name, value in defined.items() if not vars(value).get("__doc__", value.__doc__)]
    assert [name for name in silent if defined[name].__module__ != events.__name__] == []
