"""What a turn cost. The CLI counts cost, models and API time over the whole process, and 2.1.325 even over the
sessions that a process resumes (capture resume_2_resume): only the difference belongs to the turn."""

from dragoman._dialects.claude.shared.usage import ModelCounts
from dragoman._dialects.claude.stream import messages as m
from dragoman._model.usage import ModelUsage, since

_CENTS = 10
"""Decimal places that survive a difference of two sums of cents."""


class Costs:
    """The totals so far, to take differences from."""

    def __init__(self) -> None:
        self.resumed = False
        """The process goes on with a session, and may count from that one's beginning."""
        self._models: dict[str, ModelCounts] = {}
        """The counts of each model, as the last `modelUsage` has them."""
        self._cost: float | None = None
        self._api_ms: float | None = None
        self._session: str | None = None

    def enter(self, result: m.Result) -> None:
        """Begin anew where another process counts: a file may hold the lines of several, one after the other. Of
        another session's result the totals are its own, unless they are those of before: /clear of 2.1.197 goes on
        under another id, and its own result adds nothing (capture slash_various). Costs never fall otherwise."""
        session, cost = result.session_id or self._session, result.total_cost_usd
        elsewhere = self._session is not None and session != self._session
        moved = (cost, result.duration_api_ms) != (self._cost, self._api_ms)
        fell = cost is not None and self._cost is not None and 0 <= cost < self._cost
        if (elsewhere and moved) or fell:
            self._models, self._cost, self._api_ms = {}, None, None
        self._session = session

    def reset(self) -> None:
        """/clear sets the CLI's counters back (2.1.325, capture slash_various)."""
        self._models, self._cost, self._api_ms = {}, 0.0, 0.0

    def models(self, result: m.Result) -> dict[str, ModelUsage]:
        """The usage of each model that this turn used."""
        totals, stated, before = result.modelUsage, result.model_usage_since_last_result, self._models
        if totals:
            self._models = totals
        if stated is not None:
            return _by_model(stated)
        used: dict[str, ModelUsage] = {}
        if not totals or (not before and self.resumed and self._carried_over(result)):
            return used
        for model, counts in totals.items():
            usage = counts.usage()
            if model in before:
                usage = since(usage, before[model].usage())
            if usage.input_tokens or usage.output_tokens or usage.cost_usd:
                used[model] = usage
        return used

    def cost(self, result: m.Result) -> float | None:
        total, before = result.total_cost_usd, self._cost
        if total is None or total < 0:
            return None
        self._cost = total
        if result.model_usage_since_last_result is not None:
            said = _stated_cost(result.model_usage_since_last_result)
            if said is not None:
                return said
        if before is None:
            return None if self.resumed and self._carried_over(result) else total
        return round(total - before, _CENTS) if total >= before else total

    def api_ms(self, result: m.Result, cost: float | None) -> float | None:
        """The turn's time in the API; None for the first turn of a resumed session, whose total began before
        this process."""
        total, before = result.duration_api_ms, self._api_ms
        if total is None or total < 0:
            return None
        self._api_ms = max(total, before or 0.0)
        if before is not None:
            return max(total - before, 0.0)
        whole = result.total_cost_usd
        began_before = self.resumed if cost is None else whole is not None and whole > cost
        return None if began_before else total

    def _carried_over(self, result: m.Result) -> bool:
        """Whether the totals of the first result of a resumed session may be those of the whole session, and nothing says
        the turn's share: 2.1.300 goes on counting where a session is resumed, 2.1.275 and before did not. They are the turn's own where a
        model used just what the turn did."""
        turn = result.usage.usage() if result.usage is not None else None
        if turn is None:
            return False
        used = (turn.input_tokens, turn.output_tokens)
        models = _by_model(result.modelUsage).values()
        return bool(models) and all((model.input_tokens, model.output_tokens) != used for model in models)


def _stated_cost(models: dict[str, ModelCounts]) -> float | None:
    """The turn's own cost, the sum over `model_usage_since_last_result`; None where one is not told."""
    total: float = 0
    for counts in models.values():
        cost = counts.costUSD
        if cost is None or cost < 0:
            return None
        if cost:
            total += cost
    return total


def _by_model(counts: dict[str, ModelCounts] | None) -> dict[str, ModelUsage]:
    return {model: each.usage() for model, each in (counts or {}).items()}
