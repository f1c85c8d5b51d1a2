"""What a call costs."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._model.usage import Usage
from dragoman._prices.estimate import Estimate, Prices, Unpriced
from dragoman._prices.table import Price, our_prices, prices_in

OURS = Prices()
MODELS = sorted({model for price in our_prices() for model in price.models if "?" not in model})

counts = st.integers(0, 2_000_000)
models = st.sampled_from(MODELS)


def dollars(model: str | None, prices: Prices = OURS, **fields: Any) -> float:
    tokens = {name: fields.pop(name) for name in Usage.__struct_fields__ if name in fields}
    found = prices.estimate(model, Usage(**tokens), **fields)
    assert isinstance(found, Estimate), found
    return found.usd


def why(model: str | None, **fields: Any) -> str:
    tokens = {name: fields.pop(name) for name in Usage.__struct_fields__ if name in fields}
    found = OURS.estimate(model, Usage(**tokens), **fields)
    assert isinstance(found, Unpriced), found
    return found.why


@pytest.mark.parametrize(
    ("model", "tokens", "says"),
    [
        ("claude-opus-5-5", (100, 50, 10, 20), 0.00086),
        ("claude-opus-5-5", (700, 350, 70, 140), 0.00602),
        ("claude-sonnet-5-5", (100, 50, 10, 20), 0.00043),
        ("claude-haiku-4-5", (300, 150, 30, 60), 0.0006525),
        ("claude-opus-4-8[1m]", (600, 300, 60, 120), 0.006525),
    ],
)
def test_what_claude_code_says_itself(model: str, tokens: tuple[int, ...], says: float) -> None:
    """`modelUsage` of captures claude_stream 2.1.197 and 2.1.325: tokens fresh, read, written and put out, and costUSD."""
    fresh, read, written, output = tokens
    assert dollars(
        model,
        input_tokens=fresh + read + written,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
    ) == pytest.approx(says, rel=1e-9)


def test_a_cache_write_of_an_hour_costs_more() -> None:
    written = {"input_tokens": 1_000_000, "cache_write_tokens": 1_000_000, "output_tokens": 0}
    assert dollars("claude-opus-5-5", **written) == 5.0
    assert dollars("claude-opus-5-5", **written, cache_write_1h_tokens=1_000_000) == 8.0
    assert dollars("claude-opus-5-5", **written, cache_write_1h_tokens=400_000) == pytest.approx(
        0.6 * 5 + 0.4 * 8
    )
    assert (
        dollars("claude-opus-5-5", input_tokens=1_000_000, output_tokens=0, cache_write_1h_tokens=1_000_000)
        == 8.0
    )


def test_above_the_threshold_all_tokens_cost_more() -> None:
    assert dollars("gemini-2.5-pro", input_tokens=200_000, output_tokens=0) == pytest.approx(0.25)
    assert dollars("gemini-2.5-pro", input_tokens=200_001, output_tokens=0) == pytest.approx(0.5, rel=1e-4)


def test_the_day_of_the_call_counts() -> None:
    call = {"input_tokens": 1_000_000, "output_tokens": 0}
    assert dollars("claude-opus-4-6", **call, on=date(2026, 3, 12)) == 10.0
    assert dollars("claude-opus-4-6", **call, on=date(2026, 3, 13)) == 5.0
    assert dollars("gemini-4-argon", **call) == 2.0  # on the day of the table
    assert dollars("gemini-4-argon", **call, on=date(2026, 12, 1)) == 4.0


def test_service_tiers() -> None:
    call = {"input_tokens": 300_000, "output_tokens": 0}
    assert dollars("gpt-5.5", **call, tier="default") == dollars("gpt-5.5", **call) == pytest.approx(3.0)
    assert dollars("gpt-5.5", **call, tier="flex") == pytest.approx(1.5)
    assert dollars("gpt-5.5", **call, tier="Priority") == pytest.approx(
        3.75
    )  # prices of its own, long or not
    assert why("claude-opus-5-5", **call, tier="fast") == "the price of claude-opus-5-5 as fast is not known"


@pytest.mark.parametrize(
    "model",
    [
        "gpt-6",
        "sonnet",
        "default",
        "<synthetic>",
        "claude-haiku-5",
        "claude-opus-5-6",
        "gpt-5.5-mini",
        "",
        "qwen3",
    ],
)
def test_an_unknown_model_has_no_price(model: str) -> None:
    """Also where the beginning of its name is a model's that has one."""
    assert "is not known" in why(model, input_tokens=1, output_tokens=1)
    assert not OURS.knows(model)


def test_no_model_and_no_tokens() -> None:
    assert why(None, input_tokens=1) == "the price of a model that is not named is not known"
    assert why("gpt-5.5", total_tokens=5) == "it is not known how many tokens it took"
    assert why("gpt-5.5", input_tokens=10**400) == "no call takes that many tokens"


def test_ones_own_price_comes_first() -> None:
    [mine] = prices_in(
        'as_of = 2026-01-02\n[[price]]\nmodels = ["GPT-5.*"]\nvalid_from = 2026-01-01\ninput = 1\noutput = 2'
    )
    prices = Prices([mine])
    assert dollars("gpt-5.5", prices, input_tokens=1_000_000, output_tokens=1_000_000) == 3.0
    found = prices.estimate("gpt-5.5", Usage(input_tokens=1), on=date(2026, 5, 1))
    assert isinstance(found, Estimate)
    assert (found.price.as_of, found.price.valid_from) == (date(2026, 1, 2), date(2026, 1, 1))
    assert (
        dollars("gpt-5.5", prices, input_tokens=1_000_000, output_tokens=0, on=date(2025, 12, 31)) == 10.0
    )  # ours


@given(models, counts, counts, counts, counts, counts)
def test_a_cost_is_never_negative_and_grows_with_each_kind(
    model: str, fresh: int, read: int, written: int, output: int, reasoning: int
) -> None:
    def cost(fresh: int, read: int, written: int, output: int) -> float:
        return dollars(
            model,
            input_tokens=fresh + read + written,
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=output,
            reasoning_tokens=reasoning,
        )

    base = cost(fresh, read, written, output)
    assert base >= 0
    assert all(
        cost(*more) >= base
        for more in (
            (fresh + 1, read, written, output),
            (fresh, read + 1, written, output),
            (fresh, read, written + 1, output),
            (fresh, read, written, output + 1),
        )
    )


@given(
    st.text(), st.none() | st.integers(), st.none() | st.integers(), st.integers(), st.integers(), st.text()
)
def test_nothing_that_an_agent_says_raises(
    model: str, tokens: int | None, output: int | None, read: int, hour: int, tier: str
) -> None:
    usage = Usage(
        input_tokens=tokens,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_1h_tokens=hour,
        reasoning_tokens=read,
    )
    for name in (model, "claude-opus-5-5"):
        found = OURS.estimate(name, usage, tier=tier)
        assert isinstance(found, Unpriced) or found.usd >= 0


class TestTable:
    @pytest.mark.parametrize("price", our_prices(), ids=lambda price: price.models[0])
    def test_every_price_is_dated_and_has_a_provider(self, price: Price) -> None:
        assert price.as_of is not None
        assert price.provider in ("anthropic", "openai", "google")

    def test_no_model_has_two_prices_of_one_day(self) -> None:
        days = [(model, price.valid_from) for price in our_prices() for model in price.models]
        assert len(days) == len(set(days))

    @pytest.mark.parametrize("model", MODELS)
    def test_every_model_has_a_price_under_its_own_name(self, model: str) -> None:
        found = OURS.estimate(model, Usage(input_tokens=1, output_tokens=1))
        assert isinstance(found, Estimate)
        assert model in found.price.models

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("input = -1", "input"),
            ("input = nan", "input"),
            ("inptu = 1", "inptu"),
            ("input = 'x'", "input"),
            ("[", "Invalid"),
        ],
    )
    def test_what_is_not_right_is_told(self, line: str, says: str) -> None:
        with pytest.raises(ValueError, match=says):
            prices_in(f'[[price]]\nmodels = ["x"]\noutput = 1\n{line}')
