"""How much a run may do: dollars, tokens, model steps, tool calls. The same on every agent.

A fold over the events: it counts, and says which limit was reached. What an agent says it cost counts; where it says
nothing, or not yet, its tokens are priced by the table (see prices).
"""

from typing import Final

from msgspec import Struct

from dragoman._model import events as ev
from dragoman._model.config import SessionConfig
from dragoman._model.usage import Usage
from dragoman._policy import prices

_SAYING: Final = (ev.Message, ev.Delta, ev.ToolStarted)


class Limits(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What may not be exceeded. Absent means no limit."""

    max_cost_usd: float | None = None
    max_tokens: int | None = None
    max_turns: int | None = None
    """Model steps within one turn: each answer of the model, with the tools it calls, is one."""
    max_tool_calls: int | None = None

    def __bool__(self) -> bool:
        return self != Limits()

    @classmethod
    def of(cls, config: SessionConfig) -> "Limits":
        return cls(
            max_cost_usd=config.max_cost_usd,
            max_tokens=config.max_tokens,
            max_turns=config.max_turns,
            max_tool_calls=config.max_tool_calls,
        )


class Spent:
    """What a run has spent so far."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._model: str | None = None
        self._steps = 0
        self._listening = True
        """Whether the next thing that the model says begins a step."""
        self._tools = 0
        self._done_cost = 0.0
        self._done_tokens = 0
        self._open_cost = 0.0
        self._open_tokens = 0
        """Of the open turn, call by call: replaced by what the agent says when it ends."""

    def feed(self, event: ev.Event) -> str | None:
        """The limit that this event reached, in words; None if all is well. History that is played back was spent
        before."""
        if event.replay:
            return None
        if isinstance(event, (ev.SessionStarted, ev.SessionUpdated)):
            self._model = event.model or self._model
        elif isinstance(event, ev.TurnStarted):
            self._steps, self._listening = 0, True
        elif isinstance(event, ev.UsageUpdated) and event.scope == "call":
            self._count_call(event.usage, event.model or self._model)
        elif isinstance(event, ev.ToolStarted):
            self._tools += 1
        if event.parent is None:
            self._count_steps(event)
        if isinstance(event, ev.TurnEnded):
            self._end_turn(event)
        return self._limit_reached()

    def _count_steps(self, event: ev.Event) -> None:
        if isinstance(event, ev.ToolEnded):
            self._listening = True
        elif isinstance(event, _SAYING) and getattr(event, "role", "assistant") == "assistant":
            self._steps += self._listening
            self._listening = False

    def _count_call(self, usage: Usage | None, model: str | None) -> None:
        if usage is not None:
            self._open_tokens += usage.total_tokens or (usage.input_tokens or 0) + (usage.output_tokens or 0)
            self._open_cost += prices.cost(model, usage) or 0.0

    def _end_turn(self, turn: ev.TurnEnded) -> None:
        usage = turn.usage
        if usage is not None and usage:
            self._done_tokens += usage.total_tokens or (usage.input_tokens or 0) + (usage.output_tokens or 0)
        else:
            self._done_tokens += self._open_tokens
        cost = turn.cost_usd
        if cost is None:
            cost = prices.cost(self._model, usage) if usage is not None else self._open_cost
        self._done_cost += cost or 0.0
        self._open_cost, self._open_tokens = 0.0, 0

    def _limit_reached(self) -> str | None:
        limits = self._limits
        spent: dict[str, tuple[float, float | None]] = {
            "max_cost_usd": (self._done_cost + self._open_cost, limits.max_cost_usd),
            "max_tokens": (self._done_tokens + self._open_tokens, limits.max_tokens),
            "max_turns": (self._steps, None if limits.max_turns is None else limits.max_turns + 1),
            "max_tool_calls": (
                self._tools,
                None if limits.max_tool_calls is None else limits.max_tool_calls + 1,
            ),
        }
        for name, (value, limit) in spent.items():
            if limit is not None and value >= limit:
                return f"{name}={getattr(limits, name):g} reached"
        return None
