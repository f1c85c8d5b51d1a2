"""How a turn came out and what it took, in each provider's words. Stateless and total."""

from typing import Any, Final

from msgspec import Struct

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev
from dragoman._model.usage import ModelUsage, Usage
from dragoman._projections.claude_subtype import claude_subtype
from dragoman._wire.native_line import NativeLine

_CODEX: Final = {"completed": "success", "failed": "error_api", "cancelled": "interrupted"}


class ClaudeResult(Struct):
    """What Claude's own result says that no event does."""

    is_error: Any = None
    subtype: Any = None


def completion(
    provider: m.Provider,
    event: ev.TurnEnded,
    line: NativeLine,
    usage: Usage | None,
    usages: dict[str, ModelUsage],
    *,
    live: bool,
) -> m.TurnCompleteEvent:
    """`line` is the agent's own, where it is at hand; `usage` what the turn or the thread has used."""
    native = line.read(ClaudeResult) if provider == "claude" else ClaudeResult()
    is_error = _is_error(provider, event, native)
    return m.TurnCompleteEvent(
        is_error=is_error,
        subtype=_subtype(provider, event, native),
        errors=_errors(provider, event, is_error),
        result=event.text if provider == "claude" or live else None,
        cost_usd=event.cost_usd,
        duration_ms=event.duration_ms,
        duration_api_ms=event.api_duration_ms,
        num_turns=event.steps,
        usage=tokens(provider, usage),
        model_usage=models(provider, usages),
        permission_denials=_denials(event.denials) if event.denials else None,
    )


def _denials(denials: list[ev.Denial]) -> list[m.PermissionDenial]:
    return [
        m.PermissionDenial(
            tool_name=denial.tool_name or "", tool_use_id=denial.call_id or "", tool_input=denial.input
        )
        for denial in denials
    ]


def _is_error(provider: m.Provider, event: ev.TurnEnded, native: ClaudeResult) -> bool:
    if isinstance(native.is_error, bool):
        return native.is_error
    if event.outcome == "cancelled":
        return provider == "claude"
    return event.outcome != "completed"


def _subtype(provider: m.Provider, event: ev.TurnEnded, native: ClaudeResult) -> str | None:
    reason = event.reason
    if provider == "claude":
        return native.subtype if isinstance(native.subtype, str) else claude_subtype(event)
    if provider == "codex":
        return _CODEX.get(event.outcome, reason or event.outcome)
    if provider == "gemini":
        return None if event.outcome == "completed" else reason or event.outcome
    return reason


def _errors(provider: m.Provider, event: ev.TurnEnded, is_error: bool) -> list[str] | None:
    if provider == "claude":
        return event.errors or None
    return [event.error.message] if is_error and event.error is not None else None


def one_model(usage: Usage | None, model: str | None, window: int | None) -> dict[str, ModelUsage]:
    """Codex counts no models apart, but says which one it is and how large its context."""
    if usage is None or model is None:
        return {}
    return {
        model: ModelUsage(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
            context_window=window,
        )
    }


# --- counts: Claude's input leaves out what the cache had, everyone else's includes it -----------------------


def _fresh(provider: str, usage: Usage) -> int | None:
    if provider != "claude" or usage.input_tokens is None:
        return usage.input_tokens
    return max(usage.input_tokens - (usage.cache_read_tokens or 0) - (usage.cache_write_tokens or 0), 0)


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
    counts: dict[str, int] = {}
    if (fresh := _fresh(provider, usage)) is not None:
        counts["input_tokens"] = fresh
    if usage.output_tokens is not None:
        counts["output_tokens"] = usage.output_tokens
    if usage.cache_write_tokens is not None:
        counts["cache_creation_input_tokens"] = usage.cache_write_tokens
    if usage.cache_read_tokens is not None:
        counts["cache_read_input_tokens"] = usage.cache_read_tokens
    return counts
