"""Totals: what a run came to, in numbers. History that an agent plays back counts for nothing."""

from collections.abc import Iterable

from msgspec import Struct, field

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Bill, ModelUsage, Usage, added


class Totals(Struct, omit_defaults=True, kw_only=True):
    """Unknown is absent: a run whose agent tells no cost has none, not zero."""

    usage: Usage | None = None
    models: dict[str, ModelUsage] = field(default_factory=dict)
    cost_usd: float | None = None
    sessions: list[str] = field(default_factory=list)
    turns: dict[str, int] = field(default_factory=dict)
    """By outcome."""
    steps: int | None = None
    tools: dict[str, dict[str, int]] = field(default_factory=dict)
    """By kind, then by status."""
    permissions: dict[str, int] = field(default_factory=dict)
    """By outcome."""
    subagents: int = field(default_factory=int)
    files: int = field(default_factory=int)
    """How many files were changed."""
    errors: int = field(default_factory=int)
    retries: int = field(default_factory=int)
    compactions: int = field(default_factory=int)
    unknown: int = field(default_factory=int)
    """Lines that nobody understood."""
    duration_ms: float | None = None
    """What the agent says its turns took, together."""
    api_duration_ms: float | None = None
    elapsed: float | None = None
    """Seconds from start to end, where frames have times."""
    outcome: ev.RunOutcome | None = None


def totals(events: Iterable[Event]) -> Totals:
    """What `events` come to."""
    total = Totals()
    kinds: dict[tuple[str | None, str], str] = {}
    files: set[str] = set()
    sessions: dict[str, None] = {}
    told: dict[str | None, ev.UsageUpdated] = {}
    bill = Bill()
    for event in events:
        if event.session is not None:
            sessions[event.session] = None
        if event.at is not None:
            total.elapsed = event.at
        if event.replay:
            continue
        if isinstance(event, ev.TurnEnded):
            _add_turn(total, bill, event)
        elif isinstance(event, ev.ToolStarted):
            kinds[event.session, event.call_id] = event.kind
        elif isinstance(event, ev.ToolEnded):
            statuses = total.tools.setdefault(kinds.get((event.session, event.call_id), "other"), {})
            _count(statuses, event.status)
        elif isinstance(event, ev.PermissionResolved):
            _count(total.permissions, event.outcome)
        elif isinstance(event, ev.FileChanged):
            if event.phase == "applied":
                files.add(event.path)
        elif isinstance(event, ev.UsageUpdated):
            if event.scope == "session":
                told[event.session] = event
        elif isinstance(event, ev.RunEnded):
            total.outcome = event.outcome
        elif (counted := _COUNTED.get(type(event))) is not None:
            setattr(total, counted, getattr(total, counted) + 1)
    total.sessions = list(sessions)
    total.files = len(files)
    total.usage, total.cost_usd = bill.usage, bill.cost_usd
    if bill.usage is None and bill.cost_usd is None:  # no turn said what it took
        total.usage, total.cost_usd = _of_sessions(told.values())
    return total


_COUNTED: dict[type[Event], str] = {
    ev.SubagentStarted: "subagents",
    ev.Error: "errors",
    ev.Retry: "retries",
    ev.ContextCompacted: "compactions",
    ev.NativeUnknown: "unknown",
    ev.NativeInvalid: "unknown",
}


def _add_turn(total: Totals, bill: Bill, turn: ev.TurnEnded) -> None:
    _count(total.turns, turn.outcome)
    bill.add(turn.usage, turn.model_usage, turn.cost_usd)
    for model, usage in turn.model_usage.items():
        total.models[model] = added(total.models[model], usage) if model in total.models else usage
    total.duration_ms = _sum(total.duration_ms, turn.duration_ms)
    total.api_duration_ms = _sum(total.api_duration_ms, turn.api_duration_ms)
    if turn.steps is not None:
        total.steps = (total.steps or 0) + turn.steps


def _of_sessions(told: Iterable[ev.UsageUpdated]) -> tuple[Usage | None, float | None]:
    """What the agent last said of each session."""
    usage: Usage | None = None
    cost: float | None = None
    for last in told:
        if last.usage is not None:
            usage = added(usage, last.usage) if usage is not None else last.usage
        cost = _sum(cost, last.cost_usd)
    return usage, cost


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


def _sum(total: float | None, more: float | None) -> float | None:
    return total if more is None else (total or 0.0) + more
