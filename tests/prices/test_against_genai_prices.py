"""Our table beside that of genai-prices: where they differ, one of them is stale."""

import random
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import genai_prices
import pytest

from dragoman._model.usage import Usage
from dragoman._prices.estimate import Estimate, Prices
from dragoman._prices.table import Price, our_prices

OURS = Prices()
ROUNDS = 20


def theirs(model: str, price: Price, day: date, tier: str, **tokens: int) -> float:
    context = {"processing" if tier == "batch" else "service_tier": tier} if tier else None
    found = genai_prices.calc_price(
        genai_prices.Usage(**{name: count for name, count in tokens.items() if count}),
        model,
        provider_id=price.provider,
        genai_request_timestamp=datetime.combine(day, time(12), UTC),
        price_context=context,
    )
    return float(found.total_price)


def day_of(price: Price) -> date:
    """The day of the table; where the price is not valid then, the nearest on which it is."""
    assert price.as_of is not None
    later = [
        other.valid_from
        for other in our_prices()
        if other.models == price.models
        and other.valid_from is not None
        and (price.valid_from is None or other.valid_from > price.valid_from)
    ]
    last = min(later) - timedelta(days=1) if later else date.max
    return min(max(price.as_of, price.valid_from or date.min), last)


def usages(seed: str) -> list[dict[str, int]]:
    """Of all lengths: short ones, and ones around every threshold."""
    rand = random.Random(seed)
    found = []
    for _ in range(ROUNDS):
        tokens = rand.choice(
            (rand.randrange(1, 50_000), rand.randrange(50_000, 400_000), 100_000, 200_001, 272_000, 272_001)
        )
        read = rand.randrange(tokens)
        written = rand.randrange(tokens - read)
        found.append(
            {
                "input_tokens": tokens,
                "cache_read_tokens": read,
                "cache_write_tokens": written,
                "cache_write_1h_tokens": rand.randrange(written + 1),
                "output_tokens": rand.randrange(1, 60_000),
            }
        )
    return found


@pytest.mark.parametrize("price", our_prices(), ids=lambda price: f"{price.models[0]}-{price.valid_from}")
def test_the_same_price(price: Price) -> None:
    day = day_of(price)
    for model in (name for name in price.models if "?" not in name):
        for tier in ("", *price.tiers):
            for tokens in usages(f"{model} {tier}"):
                if price.provider != "anthropic":
                    tokens["cache_write_1h_tokens"] = 0
                ours = estimated(model, day, tier, tokens)
                expected = theirs(model, price, day, tier, **tokens)
                assert ours == pytest.approx(expected, rel=1e-9), (model, day, tier, tokens)


def estimated(model: str, day: date, tier: str, tokens: dict[str, Any]) -> float:
    usage = Usage(**{name: tokens[name] for name in Usage.__struct_fields__ if name in tokens})
    found = OURS.estimate(model, usage, on=day, tier=tier)
    assert isinstance(found, Estimate), found
    return found.usd
