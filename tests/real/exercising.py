"""Which capabilities a test exercises, for tests/real/test_capabilities.py to count."""

from collections.abc import Callable
from typing import TypeVar

from dragoman import Capability

F = TypeVar("F", bound=Callable[..., object])


def exercises(*capabilities: Capability) -> Callable[[F], F]:
    """Marks a test that fails if a real agent cannot do this."""

    def mark(test: F) -> F:
        test.exercises = frozenset(capabilities)  # type: ignore[attr-defined]
        return test

    return mark
