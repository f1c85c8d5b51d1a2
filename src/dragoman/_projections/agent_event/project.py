"""Canonical events as AgentEvents, by the translation tables of specification 004 §7.5.

Lost on the way: thinking, what users say, deltas of thinking and of tool inputs, plans (all but the users' words come
back with `extended`); permissions, questions and host calls; subagents and who their parent is; cost, counts per
model and of cache writes, steps; limits, compaction, modes and commands; exit codes; how bad an error is; kind,
title and places of a tool; content that is not text; elapsed time; what a history that is played back says; the
agent's own lines; that a file moved (it is deleted and created); agents of other vendors than the three.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from dragoman._dialects.agent_event import messages as m
from dragoman._model import events as ev
from dragoman._model.content import text_of
from dragoman._model.events import Event
from dragoman._projections import published
from dragoman._projections.agent_event import items
from dragoman._projections.agent_event.session_state import SessionState, says_better, why
from dragoman._projections.published import Profile
from dragoman._projections.stamps import Stamps

_REASONS: Final[dict[str, m.SessionEndReason]] = {
    "completed": "completed",
    "cancelled": "cancelled",
    "timeout": "timeout",
}
"""By outcome; every other one is a failure."""

_TURNS_SHOWN: Final = ("codex", "gemini")
"""Vendors whose table has turnCompleted. For the others a turn's end is the session's end, unless another turn
follows."""

_ENDING: Final = ("claude_stream", "codex_exec", "gemini_stream")
"""Streams whose `error` ends the session, by the tables. Session files and servers go on after one."""

Items = list[Struct]


class AgentEventProjector:
    """One run as AgentEvents."""

    def __init__(
        self,
        *,
        profile: Profile = "seed",
        extended: bool = False,
        vendor: str = "",
        include_user: bool = False,
        derived_changes: bool = False,
    ) -> None:
        """`include_user` shows what users say (as §7.4 does), `derived_changes` the files that a tool changed
        where the agent itself only reports the tool."""
        self._live = profile == "live"
        self._extended = extended
        self._vendor_given = vendor
        self._include_user = include_user
        self._derived_changes = derived_changes
        self._stamps = Stamps()
        self._run: ev.RunStarted | None = None
        self._run_over = False
        self._sessions: dict[str, SessionState] = {}
        self._started_sessions: set[str] = set()
        self._ended_sessions: set[str] = set()
        self._waiting: tuple[Event, Items] | None = None
        """What the next event may say better."""
        self._handlers: dict[type[Event], Callable[[Any], Items]] = {
            ev.RunStarted: self._run_started,
            ev.SessionStarted: self._session_started,
            ev.TurnStarted: self._turn_started,
            ev.Message: self._message,
            ev.Delta: self._delta,
            ev.PlanUpdated: self._plan,
            ev.ToolStarted: self._tool_started,
            ev.ToolUpdated: self._tool_updated,
            ev.ToolEnded: self._tool_ended,
            ev.PermissionRequested: self._permission,
            ev.FileChanged: self._file_changed,
            ev.UsageUpdated: self._usage,
            ev.Error: self._error,
            ev.Retry: self._retry,
            ev.TurnEnded: self._turn_ended,
            ev.RunEnded: self._run_ended,
        }

    def feed(self, event: Event) -> list[Struct]:
        ready = self._release(event)
        self._stamps.enter(event)
        if event.dialect == m.DIALECT:
            return ready + self._kept_items(event)
        if event.replay:
            return ready
        handler = self._handlers.get(type(event))
        if handler is not None:
            return ready + self._stamp(handler(event))
        if self._extended and type(event) in m.SUBTYPES:
            return ready + self._stamp([items.system(event)])
        return ready

    def end(self) -> list[Struct]:
        rest = self._waiting[1] if self._waiting is not None else []
        self._waiting = None
        if not self._run_over:
            ended = {session: state for session, state in self._sessions.items() if state.turn is not None}
            rest += self._stamp([self._ending(session, state, None) for session, state in ended.items()])
        return rest

    def encode(self, item: Struct) -> bytes:
        return published.encode(item)

    def _kept_items(self, event: Event) -> Items:
        """What was read from this very model is shown as it was."""
        return [item for item in m.ITEMS.kept(event) if self._extended or not isinstance(item, m.EXTENDED)]

    # --- what is let through -----------------------------------------------------------------------------

    def _stamp(self, made: Items) -> Items:
        """Stamped; nothing of a session that has ended."""
        shown: Items = []
        for item in made:
            assert isinstance(item, m.AgentEvent)
            if not item.id:
                session = item.session_id or self._stamps.session
                item.session_id = session
                item.id, item.timestamp = self._stamps.next(session)
            if item.session_id not in self._ended_sessions:
                shown.append(item)
            if isinstance(item, m.SessionEndedEvent):
                self._ended_sessions.add(item.session_id)
        return shown

    def _wait(self, event: Event, made: Items) -> Items:
        """Shown with the next event, unless that one says it better."""
        for item in made:
            assert isinstance(item, m.AgentEvent)
            item.session_id = self._stamps.session
            item.id, item.timestamp = self._stamps.next(item.session_id)
        self._waiting = (event, made)
        return []

    def _release(self, event: Event) -> Items:
        if self._waiting is None:
            return []
        (earlier, held), self._waiting = self._waiting, None
        return [] if says_better(event, earlier) else self._stamp(held)

    def _vendor(self, event: Event) -> str:
        return self._vendor_given or published.vendor_of(event)

    @property
    def _state(self) -> SessionState:
        """Of the session at hand. One that had no name so far is that one."""
        session = self._stamps.session
        if session and "" in self._sessions:
            self._sessions.setdefault(session, self._sessions.pop(""))
        return self._sessions.setdefault(session, SessionState())

    # --- the run and its sessions ------------------------------------------------------------------------

    def _run_started(self, event: ev.RunStarted) -> Items:
        self._run = event
        return []

    def _session_started(self, event: ev.SessionStarted) -> Items:
        session, vendor = self._stamps.session, self._vendor(event)
        if session in self._started_sessions:
            return []
        self._started_sessions.add(session)
        self._state.error = None
        return [m.SessionStartedEvent(agent_type=vendor, config=items.config_of(vendor, self._run, event))]

    def _run_ended(self, event: ev.RunEnded) -> Items:
        self._run_over = True
        last = self._state
        known = {
            session: state
            for session, state in self._sessions.items()
            if session in self._started_sessions or state.turn is not None
        }
        return [
            self._ending(session, state, event)
            for session, state in (known or {self._stamps.session: last}).items()
        ]

    def _ending(self, session: str, state: SessionState, run: ev.RunEnded | None) -> m.SessionEndedEvent:
        turn = state.turn
        outcome = turn.outcome if turn is not None else run.outcome if run is not None else "truncated"
        if run is not None and (run.outcome == "timeout" or self._exited_well(run, turn)):
            outcome = "timeout" if run.outcome == "timeout" else "completed"
        reason = _REASONS.get(outcome, "failed")
        alone = len(self._sessions) == 1
        usage = run.usage if run is not None and alone else turn.usage if turn is not None else None
        return m.SessionEndedEvent(
            session_id=session,
            reason=reason,
            error=why(turn, state.error, run, outcome) if reason in ("failed", "timeout") else None,
            final_usage=items.token_usage(usage),
        )

    def _exited_well(self, run: ev.RunEnded, turn: ev.TurnEnded | None) -> bool:
        """Codex says nothing at the end: exit 0 is its success, and the end of a bare file counts as that."""
        cut = turn is None or (turn.synthesized and turn.outcome == "truncated")
        clean = (
            run.exit_code in (0, None) and run.signal is None and run.outcome in ("completed", "truncated")
        )
        return cut and clean and self._vendor(run) == "codex" and not self._live

    # --- turns -------------------------------------------------------------------------------------------

    def _turn_started(self, event: ev.TurnStarted) -> Items:
        state = self._state
        held, state.held, state.error = state.held, None, None
        shown: Items = [held] if held is not None else []
        if self._extended and not event.synthesized:
            shown.append(m.TurnStartedEvent(prompt=event.prompt))
        return shown

    def _turn_ended(self, event: ev.TurnEnded) -> Items:
        state, vendor = self._state, self._vendor(event)
        usage = event.usage
        if usage is None and not self._live and state.usage is not None:
            usage = state.usage.usage if state.usage.frame == event.frame else None
        took = event.duration_ms
        completed = m.TurnCompletedEvent(
            usage=items.token_usage(usage),
            duration_ms=round(took) if took is not None and abs(took) < 1e15 else None,
        )
        starts = self._all_starts(state)
        state.texts.clear()
        state.turn = event
        if event.outcome == "completed" and (self._live or vendor in _TURNS_SHOWN):
            return [*starts, completed]
        completed.session_id = self._stamps.session
        completed.id, completed.timestamp = self._stamps.next(completed.session_id)
        state.held = completed
        return starts

    def _usage(self, event: ev.UsageUpdated) -> Items:
        if event.scope == "session":
            self._state.usage = event
        return []

    # --- what is said ------------------------------------------------------------------------------------

    def _message(self, event: ev.Message) -> Items:
        """Synthesized ones repeat deltas that were shown."""
        self._state.texts.pop((event.kind, event.message_id), None)
        text = event.text if event.text is not None else text_of(event.blocks)
        if event.synthesized or (event.text is None and not text):
            return []
        if event.role == "user":
            shown = self._include_user
            return [m.TextChunkEvent(content=text, is_partial=False, role="user")] if shown else []
        if event.role != "assistant" or event.kind == "plan":
            return []
        if event.kind == "thinking":
            return [m.ReasoningEvent(content=text, is_partial=False)] if self._extended else []
        return [m.TextChunkEvent(content=text, is_partial=False, role="assistant")]

    def _delta(self, event: ev.Delta) -> Items:
        if event.kind == "tool_output":
            return self._output(event)
        # The deltas of a stream_event are for verbose use: what they amount to follows whole.
        raw = self._vendor(event) == "claude" and not self._live and event.block is not None
        if event.kind == "text" and event.role == "assistant" and not raw:
            chunk = m.TextChunkEvent(
                content=self._grown(event, event.message_id), is_partial=True, role="assistant"
            )
            return self._wait(event, [chunk]) if self._vendor(event) == "codex" else [chunk]
        if not self._extended or event.role != "assistant":
            return []
        if event.kind == "thinking" and not raw:
            thought = m.ReasoningEvent(content=self._grown(event, event.message_id), is_partial=True)
            return self._wait(event, [thought]) if self._vendor(event) == "codex" else [thought]
        kind: Any = "toolInput" if event.kind == "tool_input" else event.kind
        return [m.RawDeltaEvent(kind=kind, content=event.text, tool_id=event.call_id)]

    def _grown(self, event: ev.Delta, id: str | None) -> str:
        """`codex exec` repeats a text whole each time it grows, and so does its table; the others say what is new."""
        if event.dialect != "codex_exec" or self._live:
            return event.text
        key, texts = (event.kind, id), self._state.texts
        texts[key] = texts.get(key, "") + event.text
        return texts[key]

    def _plan(self, event: ev.PlanUpdated) -> Items:
        return [items.todo_list(event)] if self._extended else []

    # --- tools -------------------------------------------------------------------------------------------

    def _tool_started(self, event: ev.ToolStarted) -> Items:
        state = self._state
        if event.name == "apply_patch" and self._vendor(event) == "codex":
            state.patches.add(event.call_id)
            return []
        if event.synthesized and not self._live:
            return []
        start = items.tool_started(event)
        announced = event.dialect == "acp" and event.ext.get("acp.status") != "in_progress"
        if announced and not event.input:
            state.starts[event.call_id] = start
            return []
        return [start]

    def _start(self, call_id: str | None) -> Items:
        """The start that was waiting for a reason to be shown."""
        start = self._state.starts.pop(call_id, None) if call_id is not None else None
        return [start] if start is not None else []

    def _all_starts(self, state: SessionState) -> Items:
        starts: Items = list(state.starts.values())
        state.starts.clear()
        return starts

    def _permission(self, event: ev.PermissionRequested) -> Items:
        return self._start(event.call_id)

    def _tool_updated(self, event: ev.ToolUpdated) -> Items:
        state = self._state
        if event.call_id in state.patches or event.late:
            return []
        waiting = state.starts.get(event.call_id)
        if waiting is not None and event.input:
            waiting.arguments = items.arguments(event.input)
        at_work = bool(event.input) or event.ext.get("acp.status") == "in_progress"
        progress = event.progress if event.progress is not None and 0 <= event.progress <= 1 else None
        says = event.output is not None or progress is not None or event.elapsed is not None
        shown = self._vendor(event) == "codex" or (self._live and says)
        start = self._start(event.call_id) if at_work or shown else []
        if not shown:
            return start
        update = m.ToolProgressEvent(tool_id=event.call_id, output=event.output, progress=progress)
        return [*start, *self._wait(event, [update])] if self._vendor(event) == "codex" else [*start, update]

    def _output(self, event: ev.Delta) -> Items:
        call_id = event.call_id
        shown = self._live or self._vendor(event) == "codex"
        if call_id is None or call_id in self._state.patches or not shown:
            return []
        output = self._grown(event, call_id)
        return [*self._start(call_id), m.ToolProgressEvent(tool_id=call_id, output=output)]

    def _tool_ended(self, event: ev.ToolEnded) -> Items:
        state, call_id = self._state, event.call_id
        state.texts.pop(("tool_output", call_id), None)
        if call_id in state.patches:
            state.patches.discard(call_id)
            return []
        start = self._start(call_id)
        if event.synthesized and not self._live:
            return start
        return [*start, items.tool_completed(event)]

    def _file_changed(self, event: ev.FileChanged) -> Items:
        """Codex reports them; of the others' they follow from a tool, which is shown."""
        native = self._vendor(event) == "codex" or event.call_id is None
        wanted = native or (self._derived_changes and event.phase == "applied")
        return list(items.file_changes(event)) if wanted else []

    # --- what went wrong ---------------------------------------------------------------------------------

    def _error(self, event: ev.Error) -> Items:
        if not self._live and event.dialect in _ENDING and self._ends(event):
            ending = m.SessionEndedEvent(reason="failed", error=event.message)
            return self._wait(event, [ending]) if event.dialect == "claude_stream" else [ending]
        if event.severity == "error" and not event.will_retry:
            self._state.error = event.message
        if not self._extended:
            return []
        return [m.ErrorEvent(message=event.message, severity=event.severity, code=event.code)]

    def _ends(self, event: ev.Error) -> bool:
        """Whether the table says that the session ends here. Gemini's does not look at how bad it is."""
        return event.dialect == "gemini_stream" or (event.severity == "error" and not event.will_retry)

    def _retry(self, event: ev.Retry) -> Items:
        return [items.retry(event)] if self._extended and not event.synthesized else []
