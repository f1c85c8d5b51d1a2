"""What a session did, summed up as it goes on: its turns, files, commands and permissions, and what it cost. History that an
agent plays back counts for nothing."""

import shlex
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.result import Verdict
from dragoman._model.usage import Usage, added
from dragoman._prices.estimate import Prices
from dragoman._prices.spending import Cost
from dragoman._reports.changes import Files, is_change
from dragoman._reports.deed_entries import (
    CommandDone,
    Context,
    DeedsSummary,
    End,
    ErrorDone,
    FileDone,
    PermissionDone,
    Place,
    Spent,
    SubagentDone,
    TurnDone,
)
from dragoman._reports.diffs import counted, diff_of, diff_rows
from dragoman._reports.moments import moment
from dragoman._reports.run_usage import MOST, Recent, RunUsage

LONGEST: Final = 2_000
"""Characters that are kept of a text."""

_RUNNING: Final = "running"

E = TypeVar("E", bound=Place)


class _Listed(Generic[E]):
    """Entries of one kind, as many as are kept."""

    def __init__(self) -> None:
        self.all: list[E] = []
        self.more = 0

    def add(self, entry: E) -> E:
        if len(self.all) < MOST:
            self.all.append(entry)
        else:
            self.more += 1
        return entry


class _Run:
    """One run: what is open in it."""

    def __init__(self, id: str, prices: Prices) -> None:
        self.id = id
        self.verdict = Verdict()
        self.usage = RunUsage(prices)
        self.turns = Recent[int, TurnDone]()
        self.commands = Recent[tuple[str | None, str], tuple[CommandDone, float | None]]()
        """Those that have not ended, and when they began."""
        self.asked = Recent[str, PermissionDone]()
        self.subagents = Recent[str, SubagentDone]()

    def feed(self, event: Event) -> None:
        self.verdict.see(event)
        self.usage.feed(event)


class Deeds:
    """A fold over the events of a session, of one run or of several."""

    def __init__(self, prices: Prices | None = None) -> None:
        self._prices = prices if prices is not None else Prices()
        self._runs: dict[str, _Run] = {}
        self._turns = _Listed[TurnDone]()
        self._files = Files(lambda step: FileDone(run="", seq=0, path=step.path, change=step.change))
        self._more_changes = 0
        self._commands = _Listed[CommandDone]()
        self._permissions = _Listed[PermissionDone]()
        self._subagents = _Listed[SubagentDone]()
        self._errors = _Listed[ErrorDone]()
        self._context: Context | None = None
        self._ended: End | None = None

    def see(self, event: Event, run: str = "") -> None:
        """Take in an event of a run. Never raises."""
        if event.replay:
            return
        known = self._runs.get(run)
        if known is None:
            known = self._runs[run] = _Run(run, self._prices)
        known.feed(event)
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, known, event)

    def summary(self) -> DeedsSummary:
        """All of it so far."""
        cost, usage, calls = Cost(), Usage(), 0
        for run in self._runs.values():
            cost.add(run.usage.cost)
            usage, calls = added(usage, run.usage.usage), calls + run.usage.calls
        counts = {name: getattr(usage, name) or 0 for name in Spent.__struct_fields__ if name != "calls"}
        more = {
            "turns": self._turns.more,
            "files": self._more_changes,
            "commands": self._commands.more,
            "permissions": self._permissions.more,
            "subagents": self._subagents.more,
            "errors": self._errors.more,
        }
        return DeedsSummary(
            turns=list(self._turns.all),
            files=[file for file in self._files.all if file.change != "none"],
            commands=list(self._commands.all),
            permissions=list(self._permissions.all),
            subagents=list(self._subagents.all),
            errors=list(self._errors.all),
            usage=Spent(**counts, calls=calls),
            cost_usd=cost.reported,
            cost_estimated_usd=cost.estimated,
            unpriced_calls=cost.unpriced,
            context=self._context,
            ended=self._ended,
            more={name: count for name, count in more.items() if count},
        )

    # --- turns --------------------------------------------------------------------------------------------

    def _run_started(self, run: _Run, event: ev.RunStarted) -> None:
        self._ended = None

    def _turn_started(self, run: _Run, event: ev.TurnStarted) -> None:
        entry = TurnDone(
            run=run.id, seq=event.seq, turn=event.turn, prompt=_short(event.prompt), at=moment(event)
        )
        run.turns[event.turn] = self._turns.add(entry)

    def _turn_ended(self, run: _Run, event: ev.TurnEnded) -> None:
        used, cost = run.usage.end_turn(event)
        turn = run.turns.get(event.turn)
        if turn is None:
            turn = self._turns.add(TurnDone(run=run.id, seq=event.seq, turn=event.turn))
        turn.outcome, turn.cost_usd = event.outcome, cost
        turn.duration_ms = (
            event.duration_ms if event.duration_ms is not None else _since(turn.at, moment(event))
        )
        if used is not None:
            turn.input_tokens, turn.output_tokens = used.input_tokens, used.output_tokens

    def _error(self, run: _Run, event: ev.Error) -> None:
        if not event.will_retry:
            self._errors.add(ErrorDone(run=run.id, seq=event.seq, message=_short(event.message) or ""))
            if event.turn in run.turns:
                run.turns[event.turn].errors += 1

    def _usage(self, run: _Run, event: ev.UsageUpdated) -> None:
        if event.context_used is not None and event.parent is None and event.agent_id is None:
            window = event.context_window or (self._context.window if self._context is not None else None)
            self._context = Context(used=event.context_used, window=window)

    def _run_ended(self, run: _Run, event: ev.RunEnded) -> None:
        error = run.verdict.error
        self._ended = End(
            outcome=event.outcome,
            exit_code=event.exit_code,
            signal=event.signal,
            reason=_short(error.message) if error is not None else None,
        )

    # --- what was done in them ----------------------------------------------------------------------------

    def _tool_started(self, run: _Run, event: ev.ToolStarted) -> None:
        if event.turn in run.turns:
            run.turns[event.turn].tools += 1
        if event.kind == "execute":
            line = _line(event.input) or event.title or event.name
            entry = CommandDone(run=run.id, seq=event.seq, line=_short(line) or "", status=_RUNNING)
            run.commands[event.session, event.call_id] = self._commands.add(entry), moment(event)

    def _tool_ended(self, run: _Run, event: ev.ToolEnded) -> None:
        command, begun = run.commands.pop((event.session, event.call_id), (None, None))
        if command is not None:
            command.status, command.exit_code = event.status, event.exit_code
            lasted = event.duration_ms
            command.duration_ms = lasted if lasted is not None else _since(begun, moment(event))

    def _file_changed(self, run: _Run, event: ev.FileChanged) -> None:
        if not is_change(event):
            return
        if len(self._files.all) >= MOST and not self._files.knows(event.path):
            self._more_changes += 1
            return
        file = self._files.see(event)
        added, removed = counted(diff_rows(diff_of(event)))
        file.added, file.removed = file.added + added, file.removed + removed
        file.run, file.seq = run.id, event.seq

    def _permission_requested(self, run: _Run, event: ev.PermissionRequested) -> None:
        tool = event.tool_name or event.kind
        what = _line(event.input) or event.title or tool
        run.asked[event.request_id] = PermissionDone(
            run=run.id, seq=event.seq, tool=tool, what=_short(what) or "", outcome="", by=""
        )

    def _permission_resolved(self, run: _Run, event: ev.PermissionResolved) -> None:
        asked = run.asked.pop(event.request_id, None)
        entry = asked or PermissionDone(run=run.id, seq=event.seq, tool="", what="", outcome="", by="")
        entry.outcome, entry.by, entry.rule, entry.who = event.outcome, event.by, event.rule, event.who
        self._permissions.add(entry)

    def _subagent_started(self, run: _Run, event: ev.SubagentStarted) -> None:
        key = event.call_id or event.agent_id or ""
        about = event.description or event.agent_type or ""
        entry = SubagentDone(
            run=run.id, seq=event.seq, call_id=key, description=_short(about) or "", status=_RUNNING
        )
        run.subagents[key] = self._subagents.add(entry)

    def _subagent_ended(self, run: _Run, event: ev.SubagentEnded) -> None:
        entry = run.subagents.pop(event.call_id or event.agent_id or "", None)
        if entry is not None:
            entry.status = event.status or "ended"


_HANDLERS: Final[dict[type[Event], Callable[[Deeds, Any, Any], None]]] = {
    ev.RunStarted: Deeds._run_started,
    ev.TurnStarted: Deeds._turn_started,
    ev.TurnEnded: Deeds._turn_ended,
    ev.Error: Deeds._error,
    ev.UsageUpdated: Deeds._usage,
    ev.RunEnded: Deeds._run_ended,
    ev.ToolStarted: Deeds._tool_started,
    ev.ToolEnded: Deeds._tool_ended,
    ev.FileChanged: Deeds._file_changed,
    ev.PermissionRequested: Deeds._permission_requested,
    ev.PermissionResolved: Deeds._permission_resolved,
    ev.SubagentStarted: Deeds._subagent_started,
    ev.SubagentEnded: Deeds._subagent_ended,
}


def _since(begun: float | None, ended: float | None) -> float | None:
    """Milliseconds from one moment to another; None if they are not known, or what came later is told first."""
    if begun is None or ended is None or ended < begun:
        return None
    return round((ended - begun) * 1000, 1)


def _line(input: Any) -> str | None:
    """The command that a tool is given."""
    command = (
        next((input[name] for name in ("command", "cmd") if name in input), None)
        if isinstance(input, dict)
        else None
    )
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return command if isinstance(command, str) else None


def _short(text: str | None) -> str | None:
    return text[:LONGEST] if text is not None else None
