"""How much a run may do: dollars, tokens, model steps, tool calls. The same on every agent.

A fold over the events: it counts, and says which limit was reached. What an agent says it cost counts; where it says
nothing, or not yet, the cost is estimated call by call (_prices/spending.py).
"""

from typing import Final

from msgspec import Struct

from dragoman._model import events as ev
from dragoman._model.config import SessionConfig
from dragoman._prices.estimate import Prices
from dragoman._prices.spending import Spending

UNKNOWN_COST_REMEDY: Final = "add it to your prices.toml (docs/prices.md), or set allow_unknown_cost"

_SAYING: Final = (ev.Message, ev.Delta, ev.ToolStarted)


class Limits(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What may not be exceeded. Absent means no limit."""

    max_cost_usd: float | None = None
    max_tokens: int | None = None
    max_turns: int | None = None
    """Model steps within one turn: each answer of the model, with the tools it calls, is one."""
    max_tool_calls: int | None = None
    model: str | None = None
    """Which is used, until the agent says another."""
    every_cost: bool = False
    """What has no known price ends the run as well: the agent does not say what it cost."""

    def __bool__(self) -> bool:
        return any(getattr(self, name) is not None for name in _LIMITS)

    @classmethod
    def of(cls, config: SessionConfig, *, says_cost: bool) -> "Limits":
        return cls(
            **{name: getattr(config, name) for name in _LIMITS},
            model=config.model,
            every_cost=not says_cost and not config.allow_unknown_cost,
        )


_LIMITS: Final = ("max_cost_usd", "max_tokens", "max_turns", "max_tool_calls")


class Spent:
    """What a run has spent so far."""

    def __init__(self, limits: Limits, prices: Prices | None = None) -> None:
        self._limits = limits
        self._spending = (
            Spending(prices or Prices(), limits.model) if limits.max_cost_usd is not None else None
        )
        self._steps = 0
        self._listening = True
        """Whether the next thing that the model says begins a step."""
        self._tools = 0
        self._done_tokens = 0
        self._open_tokens = 0
        """Of the open turn, call by call: replaced by what the agent says when it ends."""

    def feed(self, event: ev.Event) -> str | None:
        """The limit that this event reached, in words; None if all is well. History that is played back was spent
        before."""
        if event.replay:
            return None
        if self._spending is not None:
            self._spending.feed(event)
        if isinstance(event, ev.TurnStarted):
            self._steps, self._listening = 0, True
        elif isinstance(event, ev.UsageUpdated):
            if event.scope == "call" and event.usage is not None:
                self._open_tokens += event.usage.count
        elif isinstance(event, ev.ToolStarted):
            self._tools += 1
        if event.parent is None:
            self._count_steps(event)
        if isinstance(event, ev.TurnEnded):
            usage = event.usage if event.usage is not None and event.usage else None
            self._done_tokens += usage.count if usage is not None else self._open_tokens
            self._open_tokens = 0
        return self._limit_reached()

    def _count_steps(self, event: ev.Event) -> None:
        if isinstance(event, ev.ToolEnded):
            self._listening = True
        elif isinstance(event, _SAYING) and getattr(event, "role", "assistant") == "assistant":
            self._steps += self._listening
            self._listening = False

    def _limit_reached(self) -> str | None:
        limits, cost = self._limits, self._spending
        spent: dict[str, tuple[float, float | None]] = {
            "max_cost_usd": (cost.total.usd if cost is not None else 0.0, limits.max_cost_usd),
            "max_tokens": (self._done_tokens + self._open_tokens, limits.max_tokens),
            "max_turns": (self._steps, None if limits.max_turns is None else limits.max_turns + 1),
            "max_tool_calls": (
                self._tools,
                None if limits.max_tool_calls is None else limits.max_tool_calls + 1,
            ),
        }
        for name, (value, limit) in spent.items():
            if limit is not None and value >= limit:
                table = cost.table if cost is not None and name == "max_cost_usd" else None
                by = f", estimated by the prices of {table}" if table is not None else ""
                return f"{name}={getattr(limits, name):g} reached{by}"
        if limits.every_cost and cost is not None and cost.why is not None:
            return f"max_cost_usd={limits.max_cost_usd:g} cannot be kept: {cost.why}; {UNKNOWN_COST_REMEDY}"
        return None
