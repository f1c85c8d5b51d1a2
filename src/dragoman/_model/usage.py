"""Token counts. Unknown is absent, never zero."""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

COUNTS = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "total_tokens",
)


class Usage(Struct, omit_defaults=True, kw_only=True, gc=False):
    """What was read and written, in tokens."""

    input_tokens: int | None = None
    """All prompt tokens, cached ones included."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    """All generated tokens, reasoning included."""
    reasoning_tokens: int | None = None
    total_tokens: int | None = None

    def __bool__(self) -> bool:
        return not (
            self.input_tokens is None
            and self.output_tokens is None
            and self.total_tokens is None
            and self.cache_read_tokens is None
            and self.cache_write_tokens is None
            and self.reasoning_tokens is None
        )


class ModelUsage(Usage, omit_defaults=True, kw_only=True, gc=False):
    """The usage of one model, with what else agents say per model."""

    cost_usd: int | float | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    web_search_requests: int | None = None


_NOTHING = Usage()
_SUMMED = frozenset((*COUNTS, "cost_usd", "web_search_requests"))

U = TypeVar("U", bound=Usage)


def added(a: U, b: U) -> U:
    """The sum of two usages; a count that only one side knows counts as that side's."""
    total = type(a)()
    for name in a.__struct_fields__:
        x, y = getattr(a, name), getattr(b, name)
        both = name in _SUMMED and x is not None and y is not None
        setattr(total, name, x + y if both else (x if x is not None else y))
    return total


def since(now: U, before: U) -> U:
    """What came after `before`. A count that fell was restarted by the agent, so all of it is new."""
    if before == _NOTHING:  # so it is before most turns
        return replace(now)
    rest = type(now)()
    for name in now.__struct_fields__:
        x, y = getattr(now, name), getattr(before, name)
        known = name in _SUMMED and x is not None and y is not None and x >= y
        setattr(rest, name, x - y if known else x)
    return rest
