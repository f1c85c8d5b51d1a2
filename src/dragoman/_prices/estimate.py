"""What one call of a model costs. A call whose price nobody knows has none: it is never zero."""

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from operator import mul
from typing import Final

from msgspec import Struct

from dragoman._model.events import UsageUpdated
from dragoman._model.usage import Usage
from dragoman._prices.names import plain_name
from dragoman._prices.table import Price, Tariff, our_prices

_MILLION: Final = 1_000_000
_STANDARD: Final = frozenset(("", "standard", "default", "auto"))
"""What agents call the tier that needs no name."""


class Estimate(Struct, frozen=True, gc=False):
    """What a call costs by a table."""

    usd: float
    price: Price
    """The row that says so: its `models`, `valid_from` and `as_of`."""


class Unpriced(Struct, frozen=True, gc=False):
    """A call whose price is not known."""

    why: str


class Prices:
    """Prices of several tables, the first of which counts; those of Dragoman come last. Names are looked up once."""

    def __init__(self, first: Sequence[Price] = ()) -> None:
        self._first = first
        self._rows: dict[str | None, list[Price]] = {None: []}
        self._tariffs: dict[tuple[str | None, date | None, str | None], tuple[Price, Tariff] | Unpriced] = {}

    def knows(self, model: str | None) -> bool:
        """Whether the model has a price."""
        return bool(self._rows_of(model))

    def estimate(
        self,
        model: str | None,
        usage: Usage,
        *,
        on: date | None = None,
        tier: str | None = None,
    ) -> Estimate | Unpriced:
        """What one call costs, or why that is not known. `on` is the day of the call in UTC (if not given, the day of
        the table), `tier` its service tier or speed as the agent calls it. Cache writes that are not said to be kept for
        an hour are of five minutes. Sums of several calls are not for this: a long one costs more than two of half its length."""
        key = model, on, tier
        found = self._tariffs.get(key)
        if found is None:
            found = self._tariffs[key] = self._tariff(model, on, (tier or "").strip().lower())
        if isinstance(found, Unpriced):
            return found
        if usage.input_tokens is None and usage.output_tokens is None:
            return Unpriced("it is not known how many tokens it took")
        (price, (short, above, long)), tokens, output = (
            found,
            usage.input_tokens or 0,
            usage.output_tokens or 0,
        )
        hour = usage.cache_write_1h_tokens or 0
        minutes = max((usage.cache_write_tokens or 0) - hour, 0)
        read, reasoning = usage.cache_read_tokens or 0, min(usage.reasoning_tokens or 0, output)
        counts = max(tokens - read - minutes - hour, 0), read, minutes, hour, output - reasoning, reasoning
        try:
            dollars = sum(map(mul, counts, long if tokens > above else short)) / _MILLION
        except OverflowError:
            return Unpriced("no call takes that many tokens")
        return Estimate(max(dollars, 0.0), price)

    def _tariff(self, model: str | None, on: date | None, tier: str) -> tuple[Price, Tariff] | Unpriced:
        rows = self._rows_of(model)
        price = next((row for row in rows if _is_valid(row, on)), None)
        if price is None:
            name = f"the model {model}" if model else "a model that is not named"
            return Unpriced(f"the price of {name} is not known{' on that day' if rows else ''}")
        tariff = price.in_tier("" if tier in _STANDARD else tier)
        return (
            (price, tariff)
            if tariff is not None
            else Unpriced(f"the price of {model} as {tier} is not known")
        )

    def _rows_of(self, model: str | None) -> list[Price]:
        """The prices of a model, the one that counts first."""
        if model not in self._rows:
            name = plain_name(model or "")
            self._rows[model] = [row for row in (*self._first, *our_prices()) if _is_of(row, name)]
        return self._rows[model]


def tier_of(call: UsageUpdated) -> str | None:
    """What the price of a call depends on beside its model: its speed, where that is another than usual, else its tier."""
    return call.speed if call.speed not in (None, "standard") else call.service_tier


def _is_of(price: Price, name: str) -> bool:
    return any(fnmatchcase(name, model.lower().replace(".", "-")) for model in price.models)


def _is_valid(price: Price, on: date | None) -> bool:
    on = on or price.as_of
    return price.valid_from is None or on is None or price.valid_from <= on
