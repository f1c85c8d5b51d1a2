"""Sums of tokens, and tokens and cost together."""

from dragoman._model.usage import Bill, ModelUsage, Usage, added, since, summed

ONE = Usage(input_tokens=10, cache_write_tokens=4, cache_write_5m_tokens=4, output_tokens=1)
TWO = Usage(input_tokens=20, cache_write_tokens=6, cache_write_1h_tokens=6, output_tokens=2)


def test_how_long_a_cache_is_kept_is_added_up_like_all_else() -> None:
    both = Usage(
        input_tokens=30,
        cache_write_tokens=10,
        cache_write_5m_tokens=4,
        cache_write_1h_tokens=6,
        output_tokens=3,
    )
    assert added(ONE, TWO) == both
    assert since(both, ONE).cache_write_5m_tokens == 0


def test_calls_are_summed_up_by_model() -> None:
    total, models = summed([("opus", ONE), ("haiku", TWO), (None, ONE), ("opus", ONE)])
    assert total is not None
    assert (total.input_tokens, total.output_tokens) == (50, 5)
    assert {model: used.input_tokens for model, used in models.items()} == {"opus": 20, "haiku": 20}
    assert summed([]) == (None, {})


def test_a_bill_is_for_the_tokens_that_its_cost_is_for() -> None:
    bill = Bill()
    with_subagent = {"opus": ModelUsage(input_tokens=10), "haiku": ModelUsage(input_tokens=90)}
    bill.add(Usage(input_tokens=10), with_subagent, 0.5)
    bill.add(None, {}, None)
    assert (bill.usage, bill.cost_usd) == (Usage(input_tokens=100), 0.5)
    bill.add(Usage(input_tokens=1), {}, None)
    assert (bill.usage, bill.cost_usd) == (Usage(input_tokens=101), None)
