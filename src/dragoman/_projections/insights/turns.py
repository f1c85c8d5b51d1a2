"""How a turn came out, in each provider's words. Stateless and total."""

from typing import Any, Final

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev
from dragoman._model.usage import ModelUsage, Usage
from dragoman._projections.insights import counts

_CLAUDE: Final = {
    "max_turns": "error_max_turns",
    "budget_exhausted": "error_max_budget_usd",
    "aborted_tools": "error_during_execution",
    "aborted_streaming": "error_during_execution",
}
"""Claude's subtype, by the reason that newer versions give beside it. Every other reason comes with `success`."""

_CODEX: Final = {"completed": "success", "failed": "error_api", "cancelled": "interrupted"}


def completion(
    provider: m.Provider,
    event: ev.TurnEnded,
    native: dict[str, Any],
    usage: Usage | None,
    usages: dict[str, ModelUsage],
    *,
    live: bool,
) -> m.TurnCompleteEvent:
    """`native` is the agent's own line, where it is at hand; `usage` what the turn or the thread has used."""
    is_error = _is_error(provider, event, native)
    denials = [
        m.PermissionDenial(
            tool_name=denial.tool_name or "", tool_use_id=denial.call_id or "", tool_input=denial.input
        )
        for denial in event.denials
    ]
    return m.TurnCompleteEvent(
        is_error=is_error,
        subtype=_subtype(provider, event, native),
        errors=_errors(provider, event, is_error),
        result=event.text if provider == "claude" or live else None,
        cost_usd=event.cost_usd,
        duration_ms=event.duration_ms,
        duration_api_ms=event.api_duration_ms,
        num_turns=event.steps,
        usage=counts.tokens(provider, usage),
        model_usage=counts.models(provider, usages),
        permission_denials=denials or None,
    )


def _is_error(provider: m.Provider, event: ev.TurnEnded, native: dict[str, Any]) -> bool:
    said = native.get("is_error") if provider == "claude" else None
    if isinstance(said, bool):
        return said
    if event.outcome == "cancelled":
        return provider == "claude"
    return event.outcome != "completed"


def _subtype(provider: m.Provider, event: ev.TurnEnded, native: dict[str, Any]) -> str | None:
    reason = event.reason
    if provider == "claude":
        said = native.get("subtype")
        if isinstance(said, str):
            return said
        if reason is not None and reason.startswith("error_"):
            return reason
        failed = event.outcome in ("failed", "truncated", "cancelled") and reason in (None, event.outcome)
        return _CLAUDE.get(reason or "", "error_during_execution" if failed else "success")
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
