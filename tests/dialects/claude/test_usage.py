from hypothesis import given
from hypothesis import strategies as st

from dragoman._dialects.claude.shared.usage import counts_of, model_usage_of
from dragoman._model.usage import ModelUsage, Usage


def test_input_tokens_include_the_cache() -> None:
    native = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 50,
        "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    assert counts_of(native).usage() == Usage(
        input_tokens=160, cache_read_tokens=50, cache_write_tokens=10, output_tokens=20, reasoning_tokens=5
    )


def test_unknown_counts_are_absent() -> None:
    assert counts_of({"output_tokens": 0, "output_tokens_details": None}).usage() == Usage(output_tokens=0)
    assert counts_of({"input_tokens": "7", "service_tier": None}).usage() is None
    assert counts_of(None).usage() is None


def test_the_counts_of_a_model() -> None:
    native = {
        "inputTokens": 1,
        "cacheReadInputTokens": 2,
        "outputTokens": 3,
        "costUSD": 0.5,
        "webSearchRequests": True,
    }
    assert model_usage_of(native) == ModelUsage(
        input_tokens=3, cache_read_tokens=2, output_tokens=3, cost_usd=0.5
    )
    assert model_usage_of(None) == ModelUsage()


@given(st.none() | st.text() | st.lists(st.none()) | st.dictionaries(st.text(), st.booleans()))
def test_no_counts_raise(native: object) -> None:
    counts_of(native).usage()
    model_usage_of(native)
