"""Token counts in Claude Code's words: those of one API call, and those that the CLI sums up for each model."""

from typing import Any, Final

from msgspec import Struct, ValidationError, convert

from dragoman._model.events import UsageUpdated
from dragoman._model.usage import ModelUsage, Usage
from dragoman._wire.jsontext import fit


class OutputDetails(Struct, gc=False):
    thinking_tokens: int | None = None


class CacheWrites(Struct, gc=False):
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class ServerTools(Struct, gc=False):
    web_search_requests: int | None = None


class Counts(Struct, gc=False):
    """Those of one API call (`usage`), and what else its price depends on. The API counts cached tokens of the input apart
    from the rest."""

    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: OutputDetails | None = None
    total_tokens: int | None = None
    cache_creation: CacheWrites | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    server_tool_use: ServerTools | None = None

    def usage(self, *, output: bool = True) -> Usage | None:
        """In our words, but for those of the `output` where these say nothing yet; None if there are none."""
        fresh, read, written = (
            self.input_tokens,
            self.cache_read_input_tokens,
            self.cache_creation_input_tokens,
        )
        details = self.output_tokens_details
        usage = Usage(
            input_tokens=fresh + (read or 0) + (written or 0) if fresh is not None else None,
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=self.output_tokens if output else None,
            reasoning_tokens=details.thinking_tokens if details is not None else None,
            total_tokens=self.total_tokens,
        )
        if written and self.cache_creation is not None:
            kept = self.cache_creation
            short, long = kept.ephemeral_5m_input_tokens or 0, kept.ephemeral_1h_input_tokens or 0
            if short + long == written:  # behind a gateway both may be zero
                usage.cache_write_5m_tokens, usage.cache_write_1h_tokens = short, long
        return usage if usage != _NOTHING else None

    def call(self, call: str, usage: Usage, model: str | None, request_id: str | None) -> UsageUpdated:
        """The event for the call, whose counts are `usage`. `call`: the id of the message that it answered with."""
        tools = self.server_tool_use
        return UsageUpdated(
            scope="call",
            usage=usage,
            model=model,
            message_id=call,
            call=call,
            request_id=request_id,
            service_tier=self.service_tier,
            speed=self.speed,
            inference_geo=self.inference_geo or None,
            web_search_requests=(tools.web_search_requests or None) if tools is not None else None,
        )


_NOTHING: Final = Usage()


class ModelCounts(Struct, gc=False):
    """Those of one model, an entry of `modelUsage`."""

    inputTokens: int | None = None
    cacheReadInputTokens: int | None = None
    cacheCreationInputTokens: int | None = None
    outputTokens: int | None = None
    thinkingTokens: int | None = None
    costUSD: int | float | None = None
    contextWindow: int | None = None
    maxOutputTokens: int | None = None
    webSearchRequests: int | None = None

    def usage(self) -> ModelUsage:
        """In our words."""
        fresh, read, written = self.inputTokens, self.cacheReadInputTokens, self.cacheCreationInputTokens
        return ModelUsage(
            input_tokens=fresh + (read or 0) + (written or 0) if fresh is not None else None,
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=self.outputTokens,
            reasoning_tokens=self.thinkingTokens,
            cost_usd=self.costUSD,
            context_window=self.contextWindow,
            max_output_tokens=self.maxOutputTokens,
            web_search_requests=self.webSearchRequests,
        )


def counts_of(native: Any) -> Counts:
    """The counts of one API call in plain JSON, whatever that is."""
    try:
        counts = convert(native, Counts)
    except ValidationError:
        counts = fit(native, Counts)
    return counts


def model_usage_of(native: Any) -> ModelUsage:
    """The counts of one model in plain JSON, whatever that is."""
    try:
        counts = convert(native, ModelCounts)
    except ValidationError:
        counts = fit(native, ModelCounts)
    return counts.usage()
