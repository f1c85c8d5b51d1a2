"""Which agents a test runs on, and which of their capabilities it exercises, for tests/real/test_capabilities.py to
count."""

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

import pytest

from dragoman import Capability
from tests.real.pins import pins

F = TypeVar("F", bound=Callable[..., object])

ACTORS = ("claude", "codex", "gemini")
"""Those that the fixture `actor` stands for: one for each way to drive an agent."""
ACP_AGENTS = ("gemini", "opencode", "codex-acp")


def exercises(*capabilities: Capability, of: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Marks a test that fails if a real agent cannot do this; with `of`, only these agents."""

    def mark(test: F) -> F:
        marks: list[tuple[Capability, tuple[str, ...]]] = getattr(test, "exercises", [])
        test.exercises = [*marks, *((capability, of) for capability in capabilities)]  # type: ignore[attr-defined]
        return test

    return mark


def by(*agents: str) -> Callable[[F], F]:
    """Restricts a test that takes `agent` to some: the others cannot do it, or do it in another way."""

    def mark(test: F) -> F:
        marked: F = pytest.mark.parametrize("agent", pins(*agents), indirect=True, ids=str)(test)
        marked.agents = agents  # type: ignore[attr-defined]
        return marked

    return mark


def ways(*pairs: tuple[str, str]) -> Callable[[F], F]:
    """A test that takes `agent` or `actor`, and `dialect`: once for each of these agents and dialects."""

    def mark(test: F) -> F:
        fixture = "actor" if "actor" in signature(test).parameters else "agent"
        pinned = [(pin, dialect) for name, dialect in pairs for pin in pins(name)]
        marked: F = pytest.mark.parametrize((fixture, "dialect"), pinned, indirect=[fixture], ids=str)(test)
        marked.agents = {name for name, _ in pairs}  # type: ignore[attr-defined]
        return marked

    return mark


def agents_of(test: Callable[..., Any]) -> set[str]:
    """The agents that a test runs on, by the fixture that it takes."""
    fixtures = set(signature(test).parameters)
    if agents := getattr(test, "agents", None):
        return set(agents)
    if "agent" in fixtures:
        return {pin.agent for pin in pins()}
    return set(ACTORS) if "actor" in fixtures else fixtures


def exercised(test: Callable[..., Any], agent: str) -> set[Capability]:
    """What it exercises of an agent."""
    if agent not in agents_of(test):
        return set()
    return {capability for capability, of in getattr(test, "exercises", ()) if not of or agent in of}
