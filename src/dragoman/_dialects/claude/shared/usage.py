"""Token counts in Claude Code's words: those of one API call, and those that the CLI sums up for each model. Pure and
total: a count is any JSON."""

from typing import Any, Final

from dragoman._model.usage import ModelUsage, Usage
from dragoman._wire import fields


def usage_of(native: Any, *, output: bool = True) -> Usage | None:
    """The counts of one API call (`usage`), but for those of its `output` where these say nothing yet; None if there are
    none. The API counts cached tokens of the input apart from the rest."""
    if type(native) is not dict:
        return None
    get = native.get  # there is one for every message: no call more than needed
    fresh, read, written = (
        get("input_tokens"),
        get("cache_read_input_tokens"),
        get("cache_creation_input_tokens"),
    )
    details = get("output_tokens_details")
    thinking = details.get("thinking_tokens") if type(details) is dict else None
    if type(read) is not int:
        read = None
    if type(written) is not int:
        written = None
    usage = Usage(
        input_tokens=fresh + (read or 0) + (written or 0) if type(fresh) is int else None,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=count if output and type(count := get("output_tokens")) is int else None,
        reasoning_tokens=thinking if type(thinking) is int else None,
        total_tokens=count if type(count := get("total_tokens")) is int else None,
    )
    return usage if usage != _NOTHING else None


_NOTHING: Final = Usage()


def model_usage_of(native: Any) -> ModelUsage:
    """The counts of one model, an entry of `modelUsage`."""
    if type(native) is not dict:
        return ModelUsage()
    get = native.get
    fresh, read, written = get("inputTokens"), get("cacheReadInputTokens"), get("cacheCreationInputTokens")
    if type(read) is not int:
        read = None
    if type(written) is not int:
        written = None
    return ModelUsage(
        input_tokens=fresh + (read or 0) + (written or 0) if type(fresh) is int else None,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=count if type(count := get("outputTokens")) is int else None,
        reasoning_tokens=count if type(count := get("thinkingTokens")) is int else None,
        cost_usd=fields.number(native, "costUSD"),
        context_window=count if type(count := get("contextWindow")) is int else None,
        max_output_tokens=count if type(count := get("maxOutputTokens")) is int else None,
        web_search_requests=count if type(count := get("webSearchRequests")) is int else None,
    )
