"""What a turn took, in the form that each engine's runner gives it."""

from collections.abc import Callable
from typing import Any, Final

from dragoman._model import events as ev
from dragoman._model.usage import Usage
from dragoman._projections.claude_subtype import claude_subtype
from dragoman._projections.untether.engines import UsageForm

_CODEX: Final = {
    "input_tokens": "input_tokens",
    "cached_input_tokens": "cache_read_tokens",
    "cache_write_input_tokens": "cache_write_tokens",
    "output_tokens": "output_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
}
_PLAIN: Final = (
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
)


def usage_of(
    form: UsageForm, turn: ev.TurnEnded, total: Usage | None, *, live: bool
) -> dict[str, Any] | None:
    """`total` is what the agent last said of the whole session. None where nothing was counted."""
    return _FORMS[form](turn, total, live)


def _gemini(turn: ev.TurnEnded, total: Usage | None, live: bool) -> dict[str, Any] | None:
    """Its own counts where they are at hand: the canonical output has the thoughts in it."""
    stats = turn.ext.get("gemini.stats")
    if not isinstance(stats, dict):
        counted = turn.usage or Usage()
        stats = {name: getattr(counted, name) for name in ("input_tokens", "output_tokens")}
        stats |= {"cached": counted.cache_read_tokens, "total_cost_usd": turn.cost_usd}
        stats |= {"duration_ms": turn.duration_ms}
    if not _known(stats):
        return None
    usage = {name: stats.get(name) for name in ("input_tokens", "output_tokens")}
    shown = {"total_cost_usd": stats.get("total_cost_usd")}
    if live:
        usage["cache_read_tokens"] = stats.get("cached")
        shown["duration_ms"] = stats.get("duration_ms")
    return {**_known(shown), "usage": _known(usage)}


def _claude(turn: ev.TurnEnded, total: Usage | None, live: bool) -> dict[str, Any] | None:
    shown: dict[str, Any] = {
        "total_cost_usd": turn.cost_usd,
        "duration_ms": turn.duration_ms,
        "duration_api_ms": turn.api_duration_ms,
        "num_turns": turn.steps,
        "subtype": claude_subtype(turn),
    }
    counted = turn.usage
    if counted is not None:
        read, written = counted.cache_read_tokens, counted.cache_write_tokens
        fresh = counted.input_tokens
        shown["usage"] = _known(
            {
                "input_tokens": None if fresh is None else fresh - (read or 0) - (written or 0),
                "cache_creation_input_tokens": written,
                "cache_read_input_tokens": read,
                "output_tokens": counted.output_tokens,
            }
        )
    return _known(shown) or None


def _codex(turn: ev.TurnEnded, total: Usage | None, live: bool) -> dict[str, Any] | None:
    """As the agent says it: counted over the whole thread."""
    counted = total or turn.usage
    if counted is None:
        return None
    return _known({name: getattr(counted, field) for name, field in _CODEX.items()}) or None


def _plain(turn: ev.TurnEnded, total: Usage | None, live: bool) -> dict[str, Any] | None:
    counted = turn.usage or Usage()
    usage = _known({name: getattr(counted, name) for name in _PLAIN})
    return _known({"total_cost_usd": turn.cost_usd, "usage": usage or None}) or None


_FORMS: Final[dict[UsageForm, Callable[[ev.TurnEnded, Usage | None, bool], dict[str, Any] | None]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "plain": _plain,
}


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
