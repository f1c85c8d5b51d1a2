"""Token counts of the two models, both ways. Insights repeats each provider's own way of counting: Claude's input
leaves out what the cache had, everyone else's includes it."""

from typing import Any

from dragoman._dialects.insights import messages as m
from dragoman._model.usage import ModelUsage, Usage


def _fresh(provider: str, usage: Usage) -> int | None:
    if provider != "claude" or usage.input_tokens is None:
        return usage.input_tokens
    return usage.input_tokens - (usage.cache_read_tokens or 0) - (usage.cache_write_tokens or 0)


def _all(provider: str, fresh: int | None, read: int | None, written: int | None) -> int | None:
    if provider != "claude" or fresh is None:
        return fresh
    return fresh + (read or 0) + (written or 0)


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


def usage_of(provider: str, tokens: m.TokenUsage | None) -> Usage | None:
    if tokens is None:
        return None
    read, written = tokens.cache_read_tokens, tokens.cache_creation_tokens
    return Usage(
        input_tokens=_all(provider, tokens.input_tokens, read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=tokens.output_tokens,
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


def model_usages(provider: str, shown: dict[str, m.ModelTokenUsage] | None) -> dict[str, ModelUsage]:
    return {name: _model_usage(provider, item) for name, item in (shown or {}).items()}


def _model_usage(provider: str, item: m.ModelTokenUsage) -> ModelUsage:
    read, written = item.cache_read_tokens, item.cache_creation_tokens
    return ModelUsage(
        input_tokens=_all(provider, item.input_tokens, read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=item.output_tokens,
        cost_usd=item.cost_usd,
        context_window=item.context_window,
        web_search_requests=item.web_search_requests,
    )


def step(provider: str, usage: Usage) -> dict[str, int]:
    """One call to the model's API, in its own words."""
    counts = {
        "input_tokens": _fresh(provider, usage),
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None}


def step_usage(provider: str, counts: dict[str, Any]) -> Usage:
    fresh, written, read, output = (
        counts[key] if type(counts.get(key)) is int else None
        for key in (
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        )
    )
    return Usage(
        input_tokens=_all(provider, fresh, read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
    )
