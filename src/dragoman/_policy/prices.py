"""What tokens cost, from a dated table. A model that is not in it has no known cost: none is invented."""

import fnmatch
import tomllib
from datetime import date
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from dragoman._model.usage import Usage

TABLE: Final = Path(__file__).with_name("prices.toml")
_MILLION: Final = 1_000_000


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens of the models that `model` matches."""

    model: str
    input: float
    output: float
    as_of: date
    cache_read: float | None = None
    cache_write: float | None = None

    def of(self, usage: Usage) -> float:
        read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
        fresh = max((usage.input_tokens or 0) - read - written, 0)
        cost = fresh * self.input + (usage.output_tokens or 0) * self.output
        cost += read * (self.cache_read if self.cache_read is not None else self.input * 0.1)
        cost += written * (self.cache_write if self.cache_write is not None else self.input * 1.25)
        return cost / _MILLION


@cache
def table() -> list[Price]:
    content = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return msgspec.convert(content["price"], list[Price])


def price_of(model: str | None) -> Price | None:
    if model is None:
        return None
    return next((price for price in table() if fnmatch.fnmatchcase(model, price.model)), None)


def cost(model: str | None, usage: Usage | None) -> float | None:
    """What this usage cost; None if nobody knows."""
    price = price_of(model)
    return price.of(usage) if price is not None and usage is not None else None
