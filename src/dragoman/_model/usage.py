"""Token counts. Unknown is absent, never zero."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

COUNTS = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
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
    cache_write_5m_tokens: int | None = None
    """Of those written, what is kept for five minutes; known where an agent tells how long."""
    cache_write_1h_tokens: int | None = None
    """Of those written, what is kept for an hour, which costs more."""
    output_tokens: int | None = None
    """All generated tokens, reasoning included."""
    reasoning_tokens: int | None = None
    total_tokens: int | None = None

    @property
    def count(self) -> int:
        """All tokens, as far as they are known."""
        return self.total_tokens or (self.input_tokens or 0) + (self.output_tokens or 0)

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
_SUMMED = frozenset(("cost_usd", "web_search_requests"))
"""What else of ModelUsage is a count."""

U = TypeVar("U", bound=Usage)


def added(a: U, b: U) -> U:
    """The sum of two usages; a count that only one side knows counts as that side's."""
    return _each(_sum, a, b)


def summed(calls: Iterable[tuple[str | None, Usage]]) -> tuple[Usage | None, dict[str, ModelUsage]]:
    """The sum of calls, each with its model, and the sums by model; None if there are no calls."""
    total: Usage | None = None
    models: dict[str, ModelUsage] = {}
    for model, usage in calls:
        total = added(total, usage) if total is not None else usage
        if model is not None:
            counts = of_model(usage)
            models[model] = added(models[model], counts) if model in models else counts
    return total, models


def of_model(usage: Usage) -> ModelUsage:
    """The same counts, as those of one model."""
    return ModelUsage(**{name: getattr(usage, name) for name in COUNTS})


def since(now: U, before: U) -> U:
    """What came after `before`. A count that fell was restarted by the agent, so all of it is new."""
    if before == _NOTHING:  # so it is before most turns
        return replace(now)
    return _each(_rest, now, before)


def _sum(x: Any, y: Any) -> Any:
    return y if x is None else x if y is None else x + y


def _rest(x: Any, y: Any) -> Any:
    return x - y if x is not None and y is not None and x >= y else x


def _each(count: Callable[[Any, Any], Any], a: U, b: U) -> U:
    """What `count` makes of the counts of both, one by one; what else is known is `a`'s. They are written out: half the time
    that a loop takes, with every answer of the model."""
    made = type(a)(
        input_tokens=count(a.input_tokens, b.input_tokens),
        cache_read_tokens=count(a.cache_read_tokens, b.cache_read_tokens),
        cache_write_tokens=count(a.cache_write_tokens, b.cache_write_tokens),
        output_tokens=count(a.output_tokens, b.output_tokens),
        reasoning_tokens=count(a.reasoning_tokens, b.reasoning_tokens),
        total_tokens=count(a.total_tokens, b.total_tokens),
    )
    short, long = a.cache_write_5m_tokens, a.cache_write_1h_tokens
    if short is not b.cache_write_5m_tokens or short is not None:  # few agents tell these
        made.cache_write_5m_tokens = count(short, b.cache_write_5m_tokens)
    if long is not b.cache_write_1h_tokens or long is not None:
        made.cache_write_1h_tokens = count(long, b.cache_write_1h_tokens)
    for name in a.__struct_fields__[len(COUNTS) :]:
        x, y = getattr(a, name), getattr(b, name)
        setattr(made, name, count(x, y) if name in _SUMMED or x is None else x)
    return made


class Bill:
    """Tokens and cost of several turns, both of the same calls. Where a turn tells its tokens by model, these are what its
    cost is for: they have subagents and the agent's own requests in them, which `usage` leaves out. If a part of the
    tokens has no known cost, neither has the whole."""

    __slots__ = ("_cost", "_unpriced", "usage")

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self._cost: float | None = None
        self._unpriced = False

    def add(self, usage: Usage | None, models: dict[str, ModelUsage], cost: float | None) -> None:
        """Take in a turn."""
        for counts in models.values() if models else (usage,):
            if counts is not None:
                self.usage = added(self.usage if self.usage is not None else Usage(), counts)
        if models and usage is not None and usage.cache_write_5m_tokens is not None:
            self._add_writes(usage, models)
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost
        elif usage is not None:
            self._unpriced = True

    def _add_writes(self, usage: Usage, models: dict[str, ModelUsage]) -> None:
        """Claude says of a turn, not of its models, how long the cache keeps what was written: it holds for both if they
        wrote as much."""
        told = [
            counts.cache_write_tokens or 0
            for counts in models.values()
            if counts.cache_write_5m_tokens is None
        ]
        if self.usage is not None and len(told) == len(models) and sum(told) == usage.cache_write_tokens:
            self.usage.cache_write_5m_tokens = _sum(
                self.usage.cache_write_5m_tokens, usage.cache_write_5m_tokens
            )
            self.usage.cache_write_1h_tokens = _sum(
                self.usage.cache_write_1h_tokens, usage.cache_write_1h_tokens
            )

    @property
    def cost_usd(self) -> float | None:
        return None if self._unpriced else self._cost
