"""Token counts in Claude Code's words: those of one API call, and those that the CLI sums up for each model. Pure and
total: a count is any JSON."""

from typing import Any, Final

from dragoman._model.usage import ModelUsage, Usage
from dragoman._wire import fields

_COUNTS: Final = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "total_tokens",
)


def usage_of(native: Any) -> Usage | None:
    """The counts of one API call (`usage`); None if there are none."""
    if not isinstance(native, dict):
        return None
    fresh, read, written, output, total = (
        count if type(count) is int else None for count in map(native.get, _COUNTS)
    )
    details = native.get("output_tokens_details")
    thinking = details.get("thinking_tokens") if isinstance(details, dict) else None
    usage = Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=thinking if type(thinking) is int else None,
        total_tokens=total,
    )
    return usage if usage != _NOTHING else None


_NOTHING: Final = Usage()


def model_usage_of(native: Any) -> ModelUsage:
    """The counts of one model, an entry of `modelUsage`."""
    read = fields.integer(native, "cacheReadInputTokens")
    written = fields.integer(native, "cacheCreationInputTokens")
    return ModelUsage(
        input_tokens=_all_input(fields.integer(native, "inputTokens"), read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=fields.integer(native, "outputTokens"),
        reasoning_tokens=fields.integer(native, "thinkingTokens"),
        cost_usd=fields.number(native, "costUSD"),
        context_window=fields.integer(native, "contextWindow"),
        max_output_tokens=fields.integer(native, "maxOutputTokens"),
        web_search_requests=fields.integer(native, "webSearchRequests"),
    )


def _all_input(fresh: int | None, read: int | None, written: int | None) -> int | None:
    """All input tokens: the API counts cached ones apart from the rest."""
    return None if fresh is None else fresh + (read or 0) + (written or 0)
