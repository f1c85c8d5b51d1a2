"""Canonical events, told in Untether's three."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._projections.published import Profile, encode
from dragoman._projections.untether.actions import Calls, Ids, note
from dragoman._projections.untether.endings import Answer, Ending
from dragoman._projections.untether.engines import Engine, engine_of
from dragoman._projections.untether.model import (
    Action,
    ActionEvent,
    CompletedEvent,
    Phase,
    ResumeToken,
    StartedEvent,
    UntetherEvent,
)
from dragoman._projections.untether.titles import Compat
from dragoman._projections.untether.usage import usage_of

Items = Sequence[UntetherEvent]


class Projector:
    """One run, or live: one turn. The last item is its CompletedEvent; what is fed after it makes nothing."""

    def __init__(self, profile: Profile = "seed", vendor: str = "", compat: Compat | None = None) -> None:
        self._live = profile == "live"
        self._vendor = vendor
        self._compat = compat
        self._run: _Run | None = None

    def feed(self, event: Event) -> list[Struct]:
        if self._run is None:
            self._run = _Run(engine_of(event, self._vendor), self._live, self._compat)
        return list(self._run.see(event))

    def end(self) -> list[Struct]:
        if self._run is None:
            self._run = _Run(engine_of(Event(), self._vendor), self._live, self._compat)
        return list(self._run.finish())

    def encode(self, item: Struct) -> bytes:
        return encode(item)


class _Run:
    """All that has to be remembered from event to event."""

    def __init__(self, engine: Engine, live: bool, compat: Compat | None) -> None:
        self._engine = engine
        self._live = live
        self._ids = Ids()
        self._calls = Calls(engine, self._ids, live=live, compat=compat)
        self._answer = Answer()
        self._ending = Ending(engine, live)
        self._done = False
        self._started_sessions: set[str] = set()
        self._pid: int | None = None
        self._total: Usage | None = None
        self._cost: float | None = None
        self._notes: dict[str, Action] = {}
        """Notes that grow, by what they are about."""
        self._requests: dict[str, str] = {}
        """Ids of the actions of pending requests."""
        self._rules: dict[type[Event], Callable[[Any], Items]] = {
            ev.RunStarted: self._run_started,
            ev.SessionStarted: self._session_started,
            ev.TurnStarted: self._turn_started,
            ev.Message: self._message,
            ev.Delta: self._delta,
            ev.PlanUpdated: self._plan,
            ev.ToolStarted: self._tool_started,
            ev.ToolUpdated: self._calls.on_update,
            ev.ToolEnded: self._tool_ended,
            ev.FileChanged: self._file_changed,
            ev.PermissionRequested: self._permission,
            ev.PermissionResolved: self._permission_resolved,
            ev.QuestionAsked: self._question,
            ev.QuestionAnswered: self._question_answered,
            ev.UsageUpdated: self._usage,
            ev.RateLimit: self._rate_limit,
            ev.ContextCompacted: self._compacted,
            ev.Retry: self._retry,
            ev.Error: self._error,
            ev.NativeInvalid: self._invalid,
            ev.TurnEnded: self._turn_ended,
            ev.RunEnded: self._run_ended,
        }

    def see(self, event: Event) -> Items:
        rule = self._rules.get(type(event))
        if self._done or event.replay:
            return ()
        if event.session is not None and event.parent is None:
            self._ending.session = event.session
        return rule(event) if rule is not None else ()

    # --- beginning and end -------------------------------------------------------------------------------

    def _run_started(self, event: ev.RunStarted) -> Items:
        self._pid = event.pid
        self._calls.cwd = event.cwd
        self._ending.resumed = event.resume is not None
        return ()

    def _session_started(self, event: ev.SessionStarted) -> Items:
        self._calls.cwd = event.cwd or self._calls.cwd
        self._ending.resumed = self._ending.resumed or event.resumed
        known = {
            "model": event.model,
            "permissionMode": event.permission_mode,
            "cwd": event.cwd,
            "tools": event.tools,
            "output_style": event.ext.get("claude.outputStyle"),
            "apiKeySource": event.ext.get("claude.apiKeySource"),
            "mcp_servers": [
                {"name": server.name, **({"status": server.status} if server.status is not None else {})}
                for server in event.mcp_servers
            ],
            "effort": event.effort,
            "pid": self._pid,
        }
        meta = {name: value for name, value in known.items() if value not in (None, [])}
        title = event.title or (event.model if self._engine.titled else None)
        return self._start(event.session, title, meta)

    def _start(
        self, session: str | None, title: str | None = None, meta: dict[str, Any] | None = None
    ) -> Items:
        """The start of a session, the first time that it is told."""
        if session is None or session in self._started_sessions:
            return ()
        self._started_sessions.add(session)
        token = ResumeToken(self._engine.name, session)
        return (StartedEvent(engine=self._engine.name, resume=token, title=title, meta=meta or None),)

    def _turn_started(self, event: ev.TurnStarted) -> Items:
        """What the turn before it answered is not the answer of the run."""
        self._answer.clear()
        self._ending.turn = self._ending.held = None
        if not self._engine.turns or (event.synthesized and not self._live):
            return ()
        return (self._note(self._ids.numbered("turn_", 0), "turn started", "started", kind="turn"),)

    def _turn_ended(self, event: ev.TurnEnded) -> Items:
        """Held: only the end of the run, or of the feeding, tells that no other turn follows."""
        self._ending.turn = event
        if event.cost_usd is not None:
            self._cost = (self._cost or 0.0) + event.cost_usd
        return ()

    def _run_ended(self, event: ev.RunEnded) -> Items:
        self._ending.run = event
        return self.finish()

    def finish(self) -> Items:
        """The last words; nothing if they were said already."""
        if self._done:
            return ()
        self._done = True
        ending, engine = self._ending, self._engine
        result = ending.result
        answer = self._answer.text(engine.answer, result.text if result is not None else None)
        error = ending.error()
        usage = None
        if result is not None:
            counted = structs.replace(result, cost_usd=self._cost)
            usage = usage_of(engine.usage, counted, self._total, live=self._live)
        session = ending.session if ending.turn is None else ending.turn.session or ending.session
        completed = CompletedEvent(
            engine=engine.name,
            ok=ending.ok(),
            answer=answer or (error or "" if engine.says_errors else ""),
            resume=ResumeToken(engine.name, session) if session is not None else None,
            error=error,
            usage=usage,
        )
        return (*self._start(session), *self._close_notes(), *self._crash(), completed)

    def _close_notes(self) -> Items:
        notes, self._notes = self._notes, {}
        return [
            ActionEvent(engine=self._engine.name, action=action, phase="completed", ok=True)
            for action in notes.values()
        ]

    def _crash(self) -> Items:
        why = self._ending.error() if self._ending.crash is not None else None
        return [] if why is None else [self._warning(why)]

    # --- what is said ------------------------------------------------------------------------------------

    def _delta(self, event: ev.Delta) -> Items:
        self._answer.add_delta(event)
        if event.kind == "tool_output":
            return self._calls.on_delta(event)
        if event.kind == "thinking" and event.dialect == "codex_exec" and event.message_id and event.text:
            return self._grow(f"{event.session} {event.message_id}", event.message_id, event.text)
        return ()

    def _grow(self, about: str, id: str, text: str) -> Items:
        """A note that grows."""
        known = self._notes.get(about)
        id = known.id if known is not None else self._ids.unique(id)
        grown = self._note(
            id, known.title + text if known is not None else text, "updated" if known else "started"
        )
        self._notes[about] = grown.action
        return (grown,)

    def _message(self, event: ev.Message) -> Items:
        self._answer.add_message(event)
        thought = event.kind == "thinking" and self._engine.thinking
        if event.role != "assistant" or not event.text or not (thought or event.kind == "commentary"):
            return ()
        about = f"{event.session} {event.message_id}"
        known = self._notes.pop(about, None)
        if known is not None:
            id = known.id
        elif self._engine.name == "codex" and event.message_id is not None:
            id = self._ids.unique(event.message_id)
        else:
            id = self._ids.numbered(f"{self._engine.name}.{event.kind}.")
        detail = {"parent_tool_use_id": event.parent} if event.parent is not None else {}
        if self._engine.name == "codex" and event.kind == "commentary":
            detail["phase"] = "commentary"
        return (self._note(id, event.text, detail=detail),)

    def _plan(self, event: ev.PlanUpdated) -> Items:
        if not self._engine.plans:
            return ()
        done = sum(entry.status == "completed" for entry in event.entries)
        left = [entry.text for entry in event.entries if entry.status != "completed"]
        working = [entry.text for entry in event.entries if entry.status == "in_progress"]
        total = len(event.entries)
        title = f"todo {done}/{total}: {(working or left or ['done'])[0]}" if total else "todo"
        item = event.ext.get("codex.itemId")
        about = f"plan {item or ''}"
        known = self._notes.pop(about, None)
        id = known.id if known is not None else self._item_id(item) or self._ids.numbered("todo_")
        over = event.ext.get("codex.itemPhase") == "completed"
        phase: Phase = "completed" if over else "updated" if known is not None else "started"
        shown = self._note(id, title, phase, detail={"done": done, "total": total})
        if not over:
            self._notes[about] = shown.action
        return (shown,)

    # --- tools -------------------------------------------------------------------------------------------

    def _tool_started(self, event: ev.ToolStarted) -> Items:
        shown = self._calls.on_start(event)
        return (*self._announcement(event), *shown) if shown else ()

    def _tool_ended(self, event: ev.ToolEnded) -> Items:
        shown = self._calls.on_end(event)
        return (*self._announcement(event), *shown) if shown else ()

    def _announcement(self, event: Event) -> Items:
        """A turn that is projected by itself has no session.started in it."""
        return self._start(event.session) if event.parent is None else ()

    def _file_changed(self, event: ev.FileChanged) -> Items:
        self._calls.on_change(event)
        return ()

    # --- requests ----------------------------------------------------------------------------------------

    def _permission(self, event: ev.PermissionRequested) -> Items:
        title = (
            f"Permission Request [{self._engine.asks}] - tool: {event.tool_name or event.title or event.kind}"
        )
        detail = {"request_id": event.request_id, "request_type": self._engine.asks}
        return (
            *self._calls.on_request(event.session, event.call_id),
            self._ask(event.request_id, title, detail),
        )

    def _permission_resolved(self, event: ev.PermissionResolved) -> Items:
        return self._settle(event.request_id, "Permission resolved", event.outcome == "allowed")

    def _question(self, event: ev.QuestionAsked) -> Items:
        detail = {"request_id": event.request_id, "questions": event.questions}
        return (self._ask(event.request_id, event.message or "Question", detail),)

    def _question_answered(self, event: ev.QuestionAnswered) -> Items:
        return self._settle(event.request_id, "Question answered", event.action == "accepted")

    def _ask(self, request: str, title: str, detail: dict[str, Any]) -> ActionEvent:
        id = self._requests[request] = self._ids.numbered(f"{self._engine.name}.control.")
        return self._note(id, title, "started", kind="warning", detail=detail)

    def _settle(self, request: str, title: str, ok: bool) -> Items:
        id = self._requests.pop(request, None)
        if id is None:
            return ()
        return (self._note(id, title, kind="warning", ok=ok, detail={"request_id": request}),)

    # --- what it cost, and what went wrong ---------------------------------------------------------------

    def _usage(self, event: ev.UsageUpdated) -> Items:
        if event.scope == "session" and event.parent is None:
            self._total = event.usage or self._total
        return ()

    def _rate_limit(self, event: ev.RateLimit) -> Items:
        """Agents also tell that all is well."""
        told = next((window for window in event.windows if isinstance(window, dict)), {})
        detail = {name: told[name] for name in _LIMIT_DETAILS if told.get(name) is not None}
        wait = _wait(event, detail.get("retry_after_ms"))
        limited = (
            "retry_after_ms" in detail if event.status is None else not event.status.startswith("allowed")
        )
        if not limited and (self._live or not self._engine.limits):
            return ()
        left = "waiting to retry" if wait is None else f"retrying in {wait}s"
        id, title = self._ids.numbered("rate_limit_"), f"⏳ Rate limited — {left}"
        return (
            self._note(id, title, "started", detail=detail),
            self._note(id, title, level="info", detail=detail),
        )

    def _compacted(self, event: ev.ContextCompacted) -> Items:
        if not self._engine.compactions:
            return ()
        return (self._note(self._ids.numbered("compaction_"), "context compacted"),)

    def _retry(self, event: ev.Retry) -> Items:
        self._answer.discard(event)
        count = "/".join(str(part) for part in (event.attempt, event.max_attempts) if part is not None)
        if self._engine.reconnects:
            known = self._notes.get("reconnect")
            id = known.id if known is not None else self._ids.unique(f"{self._engine.name}.reconnect")
            title = f"Reconnecting... {count}".rstrip()
            shown = self._note(id, title, "updated" if known is not None else "started", level="info")
            self._notes["reconnect"] = shown.action
            return (shown,)
        title = ": ".join(part for part in (f"retry {count}".rstrip(), event.reason) if part)
        return (self._note(self._ids.numbered("retry_"), title),)

    def _error(self, event: ev.Error) -> Items:
        fatal = event.severity == "error" and not event.will_retry
        message = event.message or event.code or "unknown error"
        if self._engine.errors_end and not self._live:
            self._ending.turn = None
            self._ending.held = message
            return self.finish()
        if fatal and event.parent is None:
            self._ending.held = message
        if fatal and self._engine.errors_end:
            return ()  # the result that follows tells it
        item = self._item_id(event.ext.get("codex.itemId"))
        return (self._warning(message, id=item, detail={"message": message} if item else None),)

    def _invalid(self, event: ev.NativeInvalid) -> Items:
        detail = {"line": event.line, "frame": event.frame, "reason": event.reason}
        return (
            self._warning(
                f"invalid JSON from {self._engine.name}; ignoring line",
                detail={name: value for name, value in detail.items() if value is not None},
            ),
        )

    # ---------------------------------------------------------------------------------------------------

    def _item_id(self, item: Any) -> str | None:
        """The id of an item of Codex, as an action's."""
        return self._ids.unique(item) if isinstance(item, str) and item else None

    def _warning(
        self, message: str, *, id: str | None = None, detail: dict[str, Any] | None = None
    ) -> ActionEvent:
        id = id or self._ids.numbered(f"{self._engine.name}.note.")
        return self._note(
            id, message, kind="warning", ok=False, message=message, level="warning", detail=detail
        )

    def _note(self, *args: Any, **fields: Any) -> ActionEvent:
        return note(self._engine, *args, **fields)


_LIMIT_DETAILS: Final = ("tokens_remaining", "requests_remaining", "retry_after_ms")
_NEVER: Final = 1e12
"""No time that an agent could mean."""


def _wait(event: ev.RateLimit, retry_after_ms: Any) -> int | None:
    """Seconds until the limit is lifted; None if nothing tells."""
    if isinstance(retry_after_ms, int | float) and 0 <= retry_after_ms < _NEVER:
        return round(retry_after_ms / 1000)
    if event.resets_at is None or event.time is None or not 0 <= event.resets_at < _NEVER:
        return None
    return max(0, round(event.resets_at - event.time.timestamp()))
