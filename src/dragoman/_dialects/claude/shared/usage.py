"""Token counts in Claude Code's words: those of one API call, and those that the CLI sums up for each model. Pure and
total: a count is any JSON."""

from typing import Any, Final

from dragoman._model.usage import ModelUsage, Usage
from dragoman._wire import fields

_MODEL_COUNTS: Final = (
    "inputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
    "outputTokens",
    "thinkingTokens",
    "contextWindow",
    "maxOutputTokens",
    "webSearchRequests",
)


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
    generated, total = get("output_tokens") if output else None, get("total_tokens")
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
        output_tokens=generated if type(generated) is int else None,
        reasoning_tokens=thinking if type(thinking) is int else None,
        total_tokens=total if type(total) is int else None,
    )
    return usage if usage != _NOTHING else None


_NOTHING: Final = Usage()


def model_usage_of(native: Any) -> ModelUsage:
    """The counts of one model, an entry of `modelUsage`."""
    counts = _integers(native, _MODEL_COUNTS) if isinstance(native, dict) else [None] * len(_MODEL_COUNTS)
    fresh, read, written, output, thinking, window, longest, searches = counts
    return ModelUsage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=thinking,
        cost_usd=fields.number(native, "costUSD"),
        context_window=window,
        max_output_tokens=longest,
        web_search_requests=searches,
    )


def _integers(native: dict[str, Any], keys: tuple[str, ...]) -> list[int | None]:
    """The counts at these keys; None for each that is no integer. In one go: there are some for every message."""
    return [count if type(count) is int else None for count in map(native.get, keys)]
