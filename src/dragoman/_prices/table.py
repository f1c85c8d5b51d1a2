"""A table of prices as a file says it, and the one that comes with Dragoman."""

import tomllib
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta, Struct, field

FILE: Final = Path(__file__).with_name("prices.toml")

Dollars = Annotated[float, Meta(ge=0, le=1_000_000)]
Kinds = tuple[float, float, float, float, float, float]
"""What a million tokens cost: input, cache read, cache write of five minutes and of an hour, output, reasoning."""


class Tariff(NamedTuple):
    """What the tokens of a call cost, and what they cost where its input is longer than `above`."""

    short: Kinds
    above: float
    long: Kinds


class Rates(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Dollars per million tokens, as far as they are said."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write_5m: Dollars | None = None
    cache_write_1h: Dollars | None = None
    reasoning: Dollars | None = None

    def kinds(self, factor: float = 1.0) -> Kinds:
        """Of every kind: what is not said is as input, as output, or as the other cache write."""
        write = _first(self.cache_write_5m, self.input)
        return (
            self.input * factor,
            _first(self.cache_read, self.input) * factor,
            write * factor,
            _first(self.cache_write_1h, write) * factor,
            self.output * factor,
            _first(self.reasoning, self.output) * factor,
        )


class Long(Rates, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rates of all tokens of a call with more than `above` input tokens."""

    above: Annotated[int, Meta(gt=0)]


class Scale(Rates, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rates of a service tier, short and long."""

    long: Long | None = None

    def tariff(self, factor: float = 1.0) -> Tariff:
        above, long = (self.long.above, self.long) if self.long is not None else (float("inf"), self)
        return Tariff(self.kinds(factor), above, long.kinds(factor))


class Price(Scale, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What some models cost from a day on: one `[[price]]` of a file."""

    models: Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1)]
    provider: str | None = None
    valid_from: date | None = None
    tiers: dict[str, Dollars | Scale] = field(default_factory=dict)
    as_of: date | None = None
    """When this was known to be right; the table's own day, if the price says no other."""

    def in_tier(self, tier: str) -> Tariff | None:
        """What a service tier costs; the standard one has no name. None if that is not known."""
        if not tier:
            return self.tariff()
        other = self.tiers.get(tier)
        if isinstance(other, Scale):
            return other.tariff()
        return self.tariff(other) if other is not None else None


class _File(Struct, forbid_unknown_fields=True):
    as_of: date | None = None
    price: list[Price] = field(default_factory=list)


def prices_in(text: str) -> list[Price]:
    """The prices of a file, the newest first. Raises ValueError in words that name the place."""
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    dated = [msgspec.structs.replace(price, as_of=price.as_of or file.as_of) for price in file.price]
    return sorted(dated, key=lambda price: price.valid_from or date.min, reverse=True)


@cache
def our_prices() -> list[Price]:
    return prices_in(FILE.read_text(encoding="utf-8"))


def _first(said: float | None, otherwise: float) -> float:
    return said if said is not None else otherwise
