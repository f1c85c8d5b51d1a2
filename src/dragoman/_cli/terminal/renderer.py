"""Events as a person reads them, while they happen or when they are played again."""

from collections.abc import Callable
from typing import Any

from rich.console import Console

from dragoman._cli.terminal.console import MARGIN, MORE, Pen
from dragoman._cli.terminal.formatting import (
    answer_text,
    duration,
    plural,
    question_text,
    seconds_of,
    short_path,
    spent,
)
from dragoman._cli.terminal.tool_preview import TAB, Line, Proposal, diff_lines, files_beside, proposal
from dragoman._model import events as ev
from dragoman._model.toolnames import one_line, title_of
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import LOOKING
from dragoman._prices.spending import Spending
from dragoman._settings import own_prices

OUTPUT_LINES = 6
"""How much of a tool's output is shown: its end, where results and errors are."""
DETAIL_LINES = 40
"""How much of a diff is shown, or of a permission that nobody is asked for: its beginning."""
MENU_ROWS = 8
"""Of a screen, below what is asked for."""

_MESSAGE_STYLES: dict[str, str] = {
    "text": "",
    "thinking": "dim italic",
    "plan": "cyan",
    "commentary": "dim",
    "error": "red",
}
_OUTCOMES: dict[str, tuple[str, str]] = {"completed": ("✓", "green"), "cancelled": ("■", "yellow")}
_PLAN: dict[str, tuple[str, str]] = {
    "completed": ("☑", "green"),
    "in_progress": ("▶", "bold"),
    "pending": ("☐", "dim"),
}
_COUNTED = frozenset(("read", "search", "execute", "fetch", "browse", "mcp", "other"))
"""Kinds of tools whose output is worth counting; that of the others only says that it went well."""


class Renderer:
    """Shows one run. What a table has no entry for says nothing to a person. With `settled` it is over: messages are shown
    when they are whole, their Markdown as it is meant, and nothing is waited for. `model`: which is used, until the agent
    says another."""

    def __init__(self, console: Console, *, settled: bool = False, model: str | None = None) -> None:
        self.pen = Pen(console)
        self._settled = settled
        self._speaking: tuple[object, ...] | None = None
        """The block whose deltas are on the screen and whose message has not come."""
        self._cwd: str | None = None
        self._tools: dict[str, ev.ToolStarted] = {}
        self._requests: dict[str, ev.PermissionRequested] = {}
        self._passing: dict[str, ev.PermissionRequested] = {}
        """Requests that are not shown unless their answer is worth it."""
        self._last: str | None = None
        """The call whose lines are the last ones, so that what comes of it needs no name."""
        self._depths: dict[str, int] = {}
        self._proposed: dict[str, list[ev.FileChanged]] = {}
        """The changes that the last line about them proposed for calls: shown with the permission for them."""
        self._previewed: set[str] = set()
        """Calls whose change was shown before it was made."""
        self._plan: list[ev.PlanEntry] = []
        self._shown_texts: set[str] = set()
        """Errors that are on the screen; a turn's end repeats them."""
        self._spending = Spending(own_prices.load().prices, model)
        self._history = False
        self._odd = 0
        self._turns = 0
        self._handlers: dict[type[ev.Event], Callable[[Any], None]] = {
            ev.RunStarted: self._run_started,
            ev.SessionStarted: self._session_started,
            ev.SessionUpdated: self._session_updated,
            ev.SessionMode: self._session_mode,
            ev.SessionStatus: self._session_status,
            ev.Auth: self._auth,
            ev.TurnStarted: self._turn_started,
            ev.Delta: self._delta,
            ev.Message: self._message,
            ev.PlanUpdated: self._plan_updated,
            ev.ToolStarted: self._tool_started,
            ev.ToolUpdated: self._tool_updated,
            ev.ToolEnded: self._tool_ended,
            ev.FileChanged: self._file_changed,
            ev.SubagentStarted: self._subagent_started,
            ev.SubagentEnded: self._subagent_ended,
            ev.PermissionRequested: self._permission_requested,
            ev.PermissionResolved: self._permission_resolved,
            ev.QuestionAsked: self._question_asked,
            ev.QuestionAnswered: self._question_answered,
            ev.HostAnswered: self._host_answered,
            ev.CommandEnded: self._command_ended,
            ev.RateLimit: self._rate_limit,
            ev.ContextCompacted: self._context_compacted,
            ev.Retry: self._retry,
            ev.Hook: self._hook,
            ev.Notice: self._notice,
            ev.Error: self._error,
            ev.TurnEnded: self._turn_ended,
            ev.RunEnded: self._run_ended,
            ev.NativeUnknown: self._native_odd,
            ev.NativeInvalid: self._native_odd,
        }

    def show(self, event: ev.Event) -> None:
        if event.replay:
            if not self._history:
                self.pen.line(("… what was said before, played back by the agent", "dim"))
            self._history = True
            return
        self._spending.feed(event)
        show = self._handlers.get(type(event))
        if show is not None:
            show(event)

    def remark(self, text: str) -> None:
        """Something that is not of the agent's."""
        self.pen.line((f"■ {text}", "yellow"))

    def close(self) -> None:
        """Leave the terminal as it was, wherever the run stopped."""
        self.pen.end_line()

    # --- the run and its session -------------------------------------------------------------------------

    def _run_started(self, event: ev.RunStarted) -> None:
        if not self._settled:
            self.pen.wait(f"Starting {event.agent}")

    def _session_started(self, event: ev.SessionStarted) -> None:
        self._cwd = event.cwd
        name = " ".join(filter(None, (event.agent, event.cli_version)))
        facts = [name, event.model, event.cwd and short_path(event.cwd), event.permission_mode]
        session = event.session and f"session {event.session[:8]}"
        self.pen.line((" · ".join(filter(None, [*facts, session])), "dim"))
        self._wait(event)

    def _session_updated(self, event: ev.SessionUpdated) -> None:
        changes = {"model": event.model, "mode": event.permission_mode, "session": event.session_id}
        for name, value in changes.items():
            if value:
                self._remark("·", f"{name} is now {value}", event)

    def _session_mode(self, event: ev.SessionMode) -> None:
        if event.mode:
            self._remark("·", f"mode is now {event.mode}", event)

    def _session_status(self, event: ev.SessionStatus) -> None:
        if event.status not in ("idle", "ended") and not self._settled:
            self.pen.wait(event.message or event.status.capitalize())

    def _auth(self, event: ev.Auth) -> None:
        if event.message or event.status:
            self._remark("·", f"login: {event.message or event.status}", event)

    # --- what is said ------------------------------------------------------------------------------------

    def _turn_started(self, event: ev.TurnStarted) -> None:
        self._turns += 1
        self._wait(event)

    def _delta(self, event: ev.Delta) -> None:
        if event.kind in ("tool_input", "tool_output") or event.role != "assistant" or event.parent:
            return
        if self._settled:
            return
        key = _block(event)
        if self._speaking != key:
            self.pen.gap()
            self._speaking, self._last = key, None
        self.pen.stream(event.text, _MESSAGE_STYLES.get(event.kind, ""))

    def _message(self, event: ev.Message) -> None:
        if self._speaking == _block(event):
            self._speaking = None
            self.pen.end_line()
            self._wait(event)
        elif event.role == "user":
            self._user_message(event)
        elif event.text:
            if event.kind == "thinking" and event.parent:
                return
            self.pen.gap()
            self._last = None
            text = event.text.strip("\n")
            self._shown_texts = {event.text}
            if self._settled and event.kind == "text" and not event.parent:
                self.pen.markdown(text)
            else:
                self.pen.block(text, _MESSAGE_STYLES[event.kind], depth=self._depth(event))
            self._wait(event)

    def _user_message(self, event: ev.Message) -> None:
        if event.echo or event.synthetic or event.parent or not event.text:
            return
        self.pen.gap()
        self._speaking = self._last = None
        self.pen.block(event.text.strip("\n"), "bold", margin="> ")
        self._wait(event)

    def _plan_updated(self, event: ev.PlanUpdated) -> None:
        if event.entries == self._plan:
            return
        self._plan = event.entries
        if self._last is None:
            self.pen.gap()
        for entry in event.entries:
            mark, style = _PLAN[entry.status]
            text = f"  {mark} {one_line(entry.text)}"
            self.pen.line((text, style), depth=self._depth(event))
        self._wait(event)

    # --- tools -------------------------------------------------------------------------------------------

    def _tool_started(self, event: ev.ToolStarted) -> None:
        self._tools[event.call_id] = event
        self._depths[event.call_id] = self._depth(event) + 1
        self._tool_line(event)

    def _tool_line(self, event: ev.ToolStarted) -> None:
        self.pen.gap() if self._last is None else self.pen.end_line()
        name = f"{event.server}: {event.name}" if event.server else event.name
        title = f" {self._about(event.title)}" if event.title and event.title != event.name else ""
        self.pen.line(("● ", "cyan"), (name, "bold"), title, depth=self._depth(event))
        self._last = event.call_id
        if not self._settled:
            self.pen.wait(f"{name}{title}")

    def _tool_updated(self, event: ev.ToolUpdated) -> None:
        tool = self._tools.get(event.call_id)
        if tool is not None and event.title and not tool.title:
            tool.title = event.title
            self._tool_line(tool)

    def _tool_ended(self, event: ev.ToolEnded) -> None:
        tool = self._tools.pop(event.call_id, None)
        self._proposed.pop(event.call_id, None)
        depth = self._depth(tool) if tool else 0
        named = "" if tool is None or self._last == event.call_id else f"{self._call(tool)}: "
        done = event.status == "completed"
        facts: list[str] = [] if done else [event.status]
        if event.exit_code:
            facts.append(f"exit {event.exit_code}")
        output = (event.output or "").replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        lines = output.split("\n") if output else []
        if done and lines and tool is not None and tool.kind in _COUNTED:
            facts.append(plural(len(lines), "line"))
        if (seconds := seconds_of(tool, event)) is not None:
            facts.append(duration(seconds))
        self.pen.end_line()
        if event.error is not None and not output:
            lines = event.error.message.split("\n")
        if event.status == "declined":  # the denial was shown, with its reason
            lines = []
        if lines and (not done or (tool is not None and tool.kind == "execute")):
            self._output(lines, depth)
        style = "dim" if done else "red"
        self.pen.line(("  └ ", "dim"), (named + (" · ".join(facts) or "done"), style), depth=depth)
        self._last = event.call_id
        self._wait(event)

    def _output(self, lines: list[str], depth: int) -> None:
        left_out = len(lines) - OUTPUT_LINES
        if left_out > 0:
            self.pen.line((f"{MARGIN}… {plural(left_out, 'line')} before this", "dim"), depth=depth)
        for line in lines[-OUTPUT_LINES:]:
            self.pen.line((f"{MARGIN}{line.expandtabs(TAB)}", "dim"), depth=depth)

    def _file_changed(self, event: ev.FileChanged) -> None:
        depth = self._depth(event)
        where = " → ".join(self._about(path) for path in (event.path, event.move_to) if path)
        what = {"proposed": "proposed: ", "failed": "not applied: "}.get(event.phase, "")
        self.pen.line((MARGIN, "dim"), (f"{what}{event.change} {where}", "bold"), depth=depth)
        if event.phase == "proposed" and event.call_id is not None:
            known = self._proposed.setdefault(event.call_id, [])
            if known and known[-1].frame != event.frame:
                known.clear()
            known.append(event)
        elif event.diff and event.phase != "failed" and event.call_id not in self._previewed:
            self._rows(diff_lines(event.diff), depth, DETAIL_LINES)

    def _rows(self, lines: list[Line], depth: int, most: int | None = None) -> int:
        rows = sum(self.pen.whole(line, depth=depth) for line in lines[:most])
        if most is not None and (left_out := len(lines) - most) > 0:
            self.pen.line((f"{MARGIN}… {plural(left_out, 'more line')}", "bold yellow"), depth=depth)
        return rows

    def _subagent_started(self, event: ev.SubagentStarted) -> None:
        who = event.agent_type or "subagent"
        known = self._tools.get(event.call_id or "")
        about = f": {event.description}" if event.description and known is None else ""
        depth = self._depths.get(event.call_id or "", self._depth(event))
        self.pen.line((f"↳ {who}{about}", "dim"), depth=depth)
        self._wait(event)

    def _subagent_ended(self, event: ev.SubagentEnded) -> None:
        if event.call_id not in self._tools:
            self._remark("↲", f"subagent {event.status or 'ended'}", event)

    # --- what the agent asks -----------------------------------------------------------------------------

    def ask(self, request: PermissionRequest) -> None:
        """What a person is asked for: all of it, however long it is and whatever was shown before."""
        files = files_beside(request.event, request.paths, request.cwd)
        rows = self._permission(
            request.event, proposal(request.event, files, self._changes(request.event)), None
        )
        if rows > self.pen.console.height - MENU_ROWS and self.pen.console.is_terminal:
            self.pen.line((f"  ▲ {plural(rows, 'row')} in all: scroll up", "bold yellow"))

    def _permission_requested(self, event: ev.PermissionRequested) -> None:
        """A request that nobody is asked for here: a rule has settled it, or it is played again. One that only looks is
        worth a line only if it does not simply pass."""
        if event.unasked or event.kind in LOOKING:
            self._passing[event.request_id] = event
        else:
            self._permission(event, proposal(event, (), self._changes(event)), DETAIL_LINES)

    def _permission(self, event: ev.PermissionRequested, wish: Proposal, most: int | None) -> int:
        """How many rows it took."""
        self._requests[event.request_id] = event
        depth = self._depth(event)
        if self._last is None or event.call_id != self._last:
            self.pen.gap()
        rows = self.pen.whole(
            (f"May it: {wish.head}", "bold"), margin=("? ", "yellow"), more=MORE, depth=depth
        )
        rows += self._rows(wish.lines, depth, most)
        if event.call_id is not None:
            self._previewed.add(event.call_id)
        self._last = event.call_id or event.request_id
        return rows

    def _changes(self, event: ev.PermissionRequested) -> list[ev.FileChanged]:
        return self._proposed.get(event.call_id or "", [])

    def _permission_resolved(self, event: ev.PermissionResolved) -> None:
        passing = self._passing.pop(event.request_id, None)
        if passing is not None:
            if event.outcome == "allowed" and event.by == "policy":
                return
            self._permission(passing, proposal(passing, (), self._changes(passing)), DETAIL_LINES)
        style = "green" if event.outcome == "allowed" else "red"
        request = self._requests.pop(event.request_id, None)
        if request is not None and request.call_id and event.updated_input not in (None, request.input):
            self._previewed.discard(request.call_id)  # what was shown is not what will be done
        at_hand = request is None or self._last == (request.call_id or request.request_id)
        named = "" if request is None or at_hand else f"{self._wish(request)}: "
        by = event.who or (event.by if event.by != "client" else None)
        said = event.outcome if by is None else f"{event.outcome} by {by}"
        why = f" ({event.rule})" if event.rule else ""
        message = f": {one_line(event.message)}" if event.message else ""
        self.pen.line(("  └ ", "dim"), named, (said + why, style), message, depth=self._depth(event))
        self._wait(event)

    def _question_asked(self, event: ev.QuestionAsked) -> None:
        self.pen.gap()
        self._last = None
        texts = [question_text(item) for item in event.questions]
        if event.message and not any(text.startswith(event.message) for text in texts):
            texts.insert(0, event.message)
        for text in filter(None, [*texts, event.url]):
            self.pen.block(text, "bold", margin="? ", depth=self._depth(event))

    def _question_answered(self, event: ev.QuestionAnswered) -> None:
        who = f" (by {event.who})" if event.who else ""
        self.pen.line(("  └ ", "dim"), answer_text(event) + who, depth=self._depth(event))
        self._wait(event)

    def _host_answered(self, event: ev.HostAnswered) -> None:
        if event.who:  # else it was answered here, or nobody was asked
            why = f": {one_line(event.error.message)}" if event.error is not None else ""
            self.pen.line(("  └ ", "dim"), f"answered by {event.who}", why, depth=self._depth(event))

    def _command_ended(self, event: ev.CommandEnded) -> None:
        if not event.ok:
            why = event.error.message if event.error else "no reason given"
            self._remark("!", f"{event.command or 'command'} failed: {why}", event, "yellow")

    # --- what happens beside it --------------------------------------------------------------------------

    def _rate_limit(self, event: ev.RateLimit) -> None:
        if event.status and not event.status.startswith("allowed"):
            self._remark("!", f"rate limit: {event.status}", event, "yellow")

    def _context_compacted(self, event: ev.ContextCompacted) -> None:
        sizes = [f"{size:,}" for size in (event.before_tokens, event.after_tokens) if size is not None]
        self._remark("·", f"context compacted ({event.trigger}) {' → '.join(sizes)}".rstrip(), event)

    def _retry(self, event: ev.Retry) -> None:
        count = f" {event.attempt}" if event.attempt else ""
        of = f" of {event.max_attempts}" if event.attempt and event.max_attempts else ""
        pause = f" in {duration(event.delay_ms / 1000)}" if event.delay_ms else ""
        why = " ".join(str(part) for part in (event.status_code, event.reason) if part)
        self._remark("↻", f"retry{count}{of}{pause}{': ' + why if why else ''}", event, "yellow")

    def _hook(self, event: ev.Hook) -> None:
        if event.exit_code or event.outcome not in (None, "success"):
            self._remark("!", f"hook {event.name}: {event.outcome or event.exit_code}", event, "yellow")

    def _notice(self, event: ev.Notice) -> None:
        self._remark("!", event.message, event, "yellow" if event.severity == "warning" else "dim")

    def _error(self, event: ev.Error) -> None:
        if event.message in self._shown_texts:
            return
        self._shown_texts.add(event.message)
        self._remark("✗", event.message, event, "yellow" if event.severity == "warning" else "red")

    def _native_odd(self, event: ev.NativeUnknown | ev.NativeInvalid) -> None:
        self._odd += 1

    # --- the end -----------------------------------------------------------------------------------------

    def _turn_ended(self, event: ev.TurnEnded) -> None:
        self.pen.gap()
        self._speaking = self._last = None
        errors = dict.fromkeys([*([event.error.message] if event.error else []), *event.errors])
        for text in errors:
            if text not in self._shown_texts:
                self.pen.block(text, "red")
        mark, style = _OUTCOMES.get(event.outcome, ("✗", "red"))
        why = (
            f" ({event.reason})"
            if event.outcome != "completed" and event.reason not in (None, event.outcome, "completed")
            else ""
        )
        facts = [f"{event.outcome}{why}", *spent(event, self._spending.turn)]
        if event.denials:
            facts.append(f"{len(event.denials)} denied")
        self.pen.line((f"{mark} {' · '.join(facts)}", style))

    def _run_ended(self, event: ev.RunEnded) -> None:
        self.pen.end_line()
        if self._odd:
            self.pen.line((f"· {plural(self._odd, 'line')} of a kind this version does not know", "dim"))
        told = self._turns and event.outcome in ("cancelled", "limited", "failed") and not event.stderr_tail
        if event.outcome == "completed" or told:
            return
        how = event.signal or (f"exit {event.exit_code}" if event.exit_code is not None else "exit unknown")
        self.pen.line((f"✗ the run ended: {event.outcome}, {how}", "red"))
        if event.stderr_tail:
            self.pen.block(event.stderr_tail.strip("\n"), "dim", margin="  stderr │ ")

    # ---------------------------------------------------------------------------------------------------

    def _remark(self, mark: str, text: str, event: ev.Event, style: str = "dim") -> None:
        self._last = None
        self.pen.line((f"{mark} {one_line(text)}", style), depth=self._depth(event))
        self._wait(event)

    def _wait(self, event: ev.Event) -> None:
        if self._settled:
            return
        tool = next(reversed(self._tools.values()), None)
        self.pen.wait(self._call(tool) if tool else f"{event.agent or 'the agent'} is working")

    def _call(self, tool: ev.ToolStarted) -> str:
        return f"{tool.name} {self._about(tool.title)}" if tool.title else tool.name

    def _wish(self, request: ev.PermissionRequested) -> str:
        name = request.tool_name or request.kind
        return f"{name} {self._about(title_of(name, request.input) or request.title or '')}".rstrip()

    def _about(self, title: str) -> str:
        return short_path(one_line(title), self._cwd)

    def _depth(self, event: ev.Event) -> int:
        return self._depths.get(event.parent, 1) if event.parent else 0


def _block(event: ev.Delta | ev.Message) -> tuple[object, ...]:
    return (event.session, event.parent, event.message_id, event.block)
