"""Which capabilities a test exercises, for tests/real/test_capabilities.py to count."""

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

import pytest

from dragoman import Capability

F = TypeVar("F", bound=Callable[..., object])


def exercises(*capabilities: Capability) -> Callable[[F], F]:
    """Marks a test that fails if a real agent cannot do this."""

    def mark(test: F) -> F:
        test.exercises = frozenset(capabilities)  # type: ignore[attr-defined]
        return test

    return mark


ACP_AGENTS = ("gemini", "opencode", "codex-acp")
"""Those that the fixture `acp` stands for."""


def by(*agents: str) -> Callable[[F], F]:
    """Restricts a test that takes `acp` to some of them: the others cannot do it, or do it in another way."""

    def mark(test: F) -> F:
        marked: F = pytest.mark.parametrize("acp", agents, indirect=True)(test)
        marked.agents = agents  # type: ignore[attr-defined]
        return marked

    return mark


def agents_of(test: Callable[..., Any]) -> set[str]:
    """The agents that a test runs on, by the fixture that it takes."""
    fixtures = set(signature(test).parameters)
    if "acp" in fixtures:
        return set(getattr(test, "agents", ACP_AGENTS))
    return {fixture.replace("_", "-") for fixture in fixtures}
