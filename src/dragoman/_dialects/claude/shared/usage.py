"""Token counts in Claude Code's words: those of one API call, and those that the CLI sums up for each model. Pure and
total: a count is any JSON."""

from typing import Any

from dragoman._model.usage import ModelUsage, Usage
from dragoman._wire import fields


def usage_of(native: Any) -> Usage | None:
    """The counts of one API call (`usage`); None if there are none."""
    read = fields.integer(native, "cache_read_input_tokens")
    written = fields.integer(native, "cache_creation_input_tokens")
    usage = Usage(
        input_tokens=_all_input(fields.integer(native, "input_tokens"), read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=fields.integer(native, "output_tokens"),
        reasoning_tokens=fields.integer(fields.value(native, "output_tokens_details"), "thinking_tokens"),
        total_tokens=fields.integer(native, "total_tokens"),
    )
    return usage if usage else None


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
