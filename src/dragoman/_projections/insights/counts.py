"""Token counts in each provider's own way: Claude's input leaves out what the cache had, everyone else's includes it."""

from dragoman._dialects.insights import messages as m
from dragoman._model.usage import ModelUsage, Usage


def _fresh(provider: str, usage: Usage) -> int | None:
    if provider != "claude" or usage.input_tokens is None:
        return usage.input_tokens
    return usage.input_tokens - (usage.cache_read_tokens or 0) - (usage.cache_write_tokens or 0)


def tokens(provider: str, usage: Usage | None) -> m.TokenUsage | None:
    """None unless both counts that the model requires are known."""
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return m.TokenUsage(
        input_tokens=_fresh(provider, usage) or 0,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_creation_tokens=usage.cache_write_tokens,
    )


def models(provider: str, usages: dict[str, ModelUsage]) -> dict[str, m.ModelTokenUsage] | None:
    shown: dict[str, m.ModelTokenUsage] = {}
    for name, usage in usages.items():
        counted = tokens(provider, usage)
        if counted is not None:
            shown[name] = m.ModelTokenUsage(
                input_tokens=counted.input_tokens,
                output_tokens=counted.output_tokens,
                cache_read_tokens=counted.cache_read_tokens,
                cache_creation_tokens=counted.cache_creation_tokens,
                cost_usd=usage.cost_usd,
                context_window=usage.context_window,
                web_search_requests=usage.web_search_requests,
            )
    return shown or None


def step(provider: str, usage: Usage) -> dict[str, int]:
    """One call to the model's API, in its own words."""
    counts = {
        "input_tokens": _fresh(provider, usage),
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None}
