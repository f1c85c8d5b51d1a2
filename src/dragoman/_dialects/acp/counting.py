"""What a turn used and cost. Agents count differently: by turn, over the session, the last call, or each call."""

from typing import Any, Final, Literal

from dragoman._model import events as ev
from dragoman._model.usage import ModelUsage, Usage, added, of_model, since
from dragoman._wire import fields

UsageRule = Literal["turn", "session", "last_call", "calls"]
"""What the usage of a prompt's answer is about. last_call: of no use for a turn. calls: the answer has none, each
call is told with a chunk."""

RULES: Final[dict[str, UsageRule]] = {
    "Copilot": "session",
    "Kilo": "last_call",
    "OpenCode": "last_call",
    "qwen-code": "calls",
}
"""By the name that agents give themselves in initialize: a recording knows no more. The rest count by turn."""

_READ: Final = ("cachedReadTokens", "cachedInputTokens", "cached_input_tokens")
_WRITTEN: Final = ("cachedWriteTokens", "cacheWriteInputTokens", "cached_write_tokens")
_INPUT: Final = ("inputTokens", "input_tokens")
_OUTPUT: Final = ("outputTokens", "output_tokens")
_THOUGHT: Final = ("thoughtTokens", "reasoningOutputTokens", "thought_tokens")
_TOTAL: Final = ("totalTokens", "total_tokens")


def usage_of(native: Any) -> Usage | None:
    """The token counts of a `usage` object; None if it has none. Agents differ in whether input includes
    cached and output includes thought tokens: that reading is taken whose parts sum to the total (captures
    claude-agent-acp and codex-acp, copilot, opencode: hello)."""
    fresh, out, read, written, thought, total = (
        fields.integer(native, *keys) for keys in (_INPUT, _OUTPUT, _READ, _WRITTEN, _THOUGHT, _TOTAL)
    )
    if fresh is None and out is None and total is None:
        return None
    cached, thoughts = (read or 0) + (written or 0), thought or 0
    readings = ((cached, 0), (0, 0), (cached, thoughts), (0, thoughts))
    parts = (fresh or 0) + (out or 0)
    fitting = (both for both in readings if total is not None and parts + sum(both) == total)
    more_in, more_out = next(fitting, (cached if cached > (fresh or 0) else 0, 0))
    return Usage(
        input_tokens=None if fresh is None else fresh + more_in,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=None if out is None else out + more_out,
        reasoning_tokens=thought,
        total_tokens=total,
    )


class Counting:
    """The token counts and the cost of one session."""

    def __init__(self, *, fresh: bool) -> None:
        self._total = Usage()
        """What a session's counter stood at when the last turn ended; a process counts from nothing."""
        self._models: dict[str, ModelUsage] = {}
        """The counts by model that the last turn's answer had."""
        self._calls: Usage | None = None
        self._cost: float | None = None
        self._paid: float | None = 0.0 if fresh else None
        """What it had cost when the turn began; an earlier session's cost is not known until it is said."""

    def begin(self) -> None:
        """A turn begins: its counts start at nothing."""
        self._calls = None
        if self._cost is not None:
            self._paid, self._cost = self._cost, None

    def call_usage(self, native: Any) -> ev.UsageUpdated | None:
        """The event for one call of the model, whose counts came in `_meta.usage` of a chunk; None if there
        are none."""
        usage = usage_of(native)
        if usage is None:
            return None
        self._calls = added(self._calls, usage) if self._calls is not None else usage
        return ev.UsageUpdated(scope="call", usage=usage)

    def standing(self, used: int | None, size: int | None, cost: Any, model: str | None) -> ev.UsageUpdated:
        """The event for a usage_update: tokens in the context, size of the context, cost of the session so
        far."""
        native = fields.as_mapping(cost)
        amount = fields.number(native, "amount") if native.get("currency", "USD") == "USD" else None
        if amount is not None:
            self._cost = float(amount)
        return ev.UsageUpdated(
            scope="session", context_used=used, context_window=size, cost_usd=amount, model=model
        )

    def settle(self, ended: ev.TurnEnded, rule: UsageRule, native: Any) -> ev.UsageUpdated | None:
        """Put the turn's usage and cost on `ended`, by the agent's rule. Returns an event for counts that are
        not those of the turn."""
        quota = fields.mapping(fields.mapping(native, "_meta"), "quota")
        said = usage_of(fields.mapping(native, "usage")) or usage_of(fields.mapping(quota, "token_count"))
        unknown = ended.outcome == "cancelled" and said is not None and not any(_counts(said))
        if (
            unknown
        ):  # a cancelled turn that says zero says nothing (captures claude-agent-acp, opencode: cancel)
            said = None
        ended.cost_usd = self._spent(ended.outcome)
        if rule == "calls" and said is None:
            ended.usage = self._calls
            return None
        if said is None:
            return None
        if rule == "last_call":
            return ev.UsageUpdated(scope="call", usage=said)
        if rule == "session":
            ended.usage, self._total = since(said, self._total), said
            return ev.UsageUpdated(scope="session", usage=said)
        ended.usage = said
        ended.model_usage = self._by_model(quota, said)
        return None

    def _by_model(self, quota: dict[str, Any], turn: Usage) -> dict[str, ModelUsage]:
        """The counts by model of the turn. Some agents give those of the session (capture claude-agent-acp-0.99.1,
        cancel_perm): then the difference adds up to the turn's."""
        before, self._models = self._models, _models(quota)
        rest = {
            model: since(now, before[model]) if model in before else now
            for model, now in self._models.items()
        }
        own = (self._models, {model: used for model, used in rest.items() if any(_counts(used))})
        return next((models for models in own if _sum(models) == turn.total_tokens), self._models)

    def _spent(self, outcome: ev.TurnOutcome) -> float | None:
        now, before = self._cost, self._paid
        if now is None:
            return None
        self._paid, self._cost = now, None
        if before is None or (outcome == "cancelled" and now == before):
            return None
        return now - before if now >= before else now


def _models(quota: dict[str, Any]) -> dict[str, ModelUsage]:
    models = {}
    for item in fields.items(quota, "model_usage"):
        name, usage = fields.text(item, "model"), usage_of(fields.mapping(item, "token_count"))
        if name is not None and usage is not None:
            models[name] = of_model(usage)
    return models


def _sum(models: dict[str, ModelUsage]) -> int:
    return sum(used.total_tokens or 0 for used in models.values())


def _counts(usage: Usage) -> list[int]:
    return [count for name in usage.__struct_fields__ if (count := getattr(usage, name))]
