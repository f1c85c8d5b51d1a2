"""The ledger: keeps the books of a run, so that what always holds, holds, whatever an agent says.

A dialect puts in the events that a line means; the ledger stamps them (seq, session, turn, frame, time) and
applies the rules that are the same for every agent: at most one open turn per session, one end for every
tool, one answer for every request, one message for every block, one run.ended. What the agent left out is
added as `synthesized`; what it said twice becomes an update.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from msgspec import Struct

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._model.usage import Usage, added
from dragoman._wire import note_frames
from dragoman._wire.nativeline import attach
from dragoman._wire.textblocks import BlockKey, TextBlocks

_ORIGIN: Final[dict[str, ev.Origin]] = {"out": "agent", "in": "client"}
_STOPPED: Final[dict[str, ev.TurnOutcome]] = {
    "cancelled": "cancelled",
    "closed": "cancelled",
    "timeout": "cancelled",
    "limited": "limited",
}
"""What a turn came to that was open when we stopped it, by our reason."""


class Book(Struct):
    """What is known of one session."""

    turn: int = 0
    """The last turn's number."""
    open: bool = False
    """That turn is still going on."""
    facts: dict[str, Any] | None = None
    """The fields of session.started as they stand, once it was said."""


class Tool(Struct):
    parent: str | None = None
    ended: bool = False
    denied: bool = False


RequestKind = Literal["permission", "question", "host"]


class Request(Struct):
    kind: RequestKind
    session: str | None
    call_id: str | None
    parent: str | None


class Ledger:
    """One run. `tools_end_with_turns` is the rule of dialects whose agents leave tools open (ACP, gemini_stream)."""

    def __init__(self, *, native: bool = False, tools_end_with_turns: bool = False) -> None:
        self.current: str | None = None
        """The session of events that name none."""
        self.native_type: str | None = None
        """What the frame at hand is called in its dialect, if it turns out to say nothing."""
        self.agent_time: str | None = None
        """What the frame at hand says the time is."""
        self.outcome: ev.TurnOutcome | None = None
        """How the last turn ended."""
        self.heard_client = False
        """Some frame was the client's: the answers to requests are in the stream."""
        self.keeps_lines = native
        """The first event of each frame that the agent wrote carries its exact text."""
        self._tools_end_with_turns = tools_end_with_turns
        self._out: list[Event] = []
        self._launch = Launch(agent="", dialect="")
        self._frame: Frame | None = None
        self.frame_named = False
        """Some event has named the frame at hand."""
        self._at: float | None = None
        self._time: datetime | None = None
        self._seq = 0
        self._turns = 0
        self._books: dict[str | None, Book] = {}
        self._tools: dict[tuple[str | None, str, bool], Tool] = {}
        self._requests: dict[str, Request] = {}
        self._decided: dict[str, note_frames.Decided] = {}
        self._stopping: note_frames.Stopping | None = None
        self._subagents: dict[str, ev.SubagentStarted | None] = {}
        """Those at work, by call or agent id; None for one that has ended."""
        self._blocks = TextBlocks()
        self._usage: Usage | None = None
        self._cost: float | None = None
        self._rules: dict[type[Event], Callable[[Any], None]] = {
            ev.SessionStarted: self._session_started,
            ev.TurnStarted: self._turn_started,
            ev.TurnEnded: self._turn_ended,
            ev.Message: self._message,
            ev.Delta: self._delta,
            ev.ToolStarted: self._tool_started,
            ev.ToolUpdated: self._tool_updated,
            ev.ToolEnded: self._tool_ended,
            ev.SubagentStarted: self._subagent_started,
            ev.SubagentEnded: self._subagent_ended,
            ev.PermissionRequested: self._requested("permission"),
            ev.QuestionAsked: self._requested("question"),
            ev.HostCalled: self._requested("host"),
            ev.PermissionResolved: self._answered("permission"),
            ev.QuestionAnswered: self._answered("question"),
            ev.HostAnswered: self._answered("host"),
        }

    # --- the run -----------------------------------------------------------------------------------------

    def begin(self, launch: Launch) -> None:
        self._launch = launch
        if launch.started is not None:
            self._at, self._time = 0.0, launch.started
        self._emit(
            ev.RunStarted(
                argv=launch.argv,
                cwd=launch.cwd,
                pid=launch.pid,
                cli_version=launch.cli_version,
                resume=launch.resume,
                config=launch.config,
                sources=launch.sources,
            )
        )

    def enter(self, frame: Frame) -> None:
        """What is put from now on is said by `frame`."""
        self._clock(frame.t)
        self._frame = frame if frame.dir in _ORIGIN else None
        self.frame_named = False
        self.native_type = self.agent_time = None
        if frame.dir == "in":
            self.heard_client = True

    def leave(self, t: float | None) -> None:
        """What is put from now on is said by no frame."""
        self._clock(t)
        self._frame = None
        self.agent_time = None

    def _clock(self, t: float | None) -> None:
        if t is not None and t != self._at:
            self._at = t
            started = self._launch.started
            self._time = started + timedelta(seconds=t) if started is not None else None

    def name_frame(self) -> None:
        """Every frame the agent wrote is named by some event; one that says nothing, by `native.known`."""
        if self._frame is not None and not self.frame_named:
            self._emit(ev.NativeKnown(native_type=self.native_type))

    def note(self, note: note_frames.Note) -> None:
        if isinstance(note, note_frames.Decided):
            self._decided[note.request] = note
        else:
            self._stopping = note

    def take(self) -> list[Event]:
        """The events since the last call."""
        taken, self._out = self._out, []
        return taken

    def finish(self, exit: Exit) -> None:
        """Close whatever is open, then end the run."""
        reason = exit.reason or (self._stopping.reason if self._stopping else None)
        for session, book in list(self._books.items()):
            if book.open:
                outcome = _STOPPED[reason] if reason else "truncated"
                why = self._stopping.detail if self._stopping else None
                self.put(
                    ev.TurnEnded(outcome=outcome, reason=why or reason, session=session, synthesized=True)
                )
            self._close_requests(session, None)
            self._close_blocks(session)
        self._close_tools(None, "cancelled" if reason in ("cancelled", "closed") else None)
        for begun in [begun for begun in self._subagents.values() if begun is not None]:
            self.put(
                ev.SubagentEnded(
                    call_id=begun.call_id,
                    agent_id=begun.agent_id,
                    status="abandoned",
                    session=begun.session,
                    parent=begun.parent,
                    replay=begun.replay,
                    synthesized=True,
                )
            )
        self._emit(
            ev.RunEnded(
                outcome=self._run_outcome(exit, reason),
                exit_code=exit.code,
                signal=exit.signal,
                stderr_tail=exit.stderr_tail,
                usage=self._usage,
                cost_usd=self._cost,
            )
        )

    def _run_outcome(self, exit: Exit, reason: str | None) -> ev.RunOutcome:
        if reason == "timeout":
            return "timeout"
        if reason == "limited":
            return "limited"
        if self.outcome is not None:
            return "failed" if self.outcome == "refused" else self.outcome
        if reason is not None or exit.code == 0:
            return "completed"
        if exit.signal is not None:
            return "crashed"
        return "truncated" if exit.code is None else "failed"

    # --- what dialects ask -------------------------------------------------------------------------------

    def put(self, event: Event) -> None:
        """An event that the frame at hand means."""
        if event.session is None:
            event.session = self.current
        rule = self._rules.get(type(event))
        if rule is None:
            self._emit(event)
        else:
            rule(event)

    def busy(self, session: str | None = None) -> bool:
        """Whether a session has an open turn; any, if none is named."""
        if session is None:
            return any(book.open for book in self._books.values())
        return self._book(session).open

    def open_session(self) -> str | None:
        """The session whose turn is open, for dialects of one conversation; else the current one."""
        return next((session for session, book in self._books.items() if book.open), self.current)

    def turn(self, session: str | None = None) -> int:
        """The number of the session's open or last turn."""
        return self._book(self.current if session is None else session).turn

    def name_session(self, session: str) -> None:
        """The agent says which session this is. What happened before it had a name was in it too."""
        if self.current == session:
            return
        if self.current is None and None in self._books and session not in self._books:
            self._books[session] = self._books.pop(None)
            self._tools = {
                (owner or session, id, old): tool for (owner, id, old), tool in self._tools.items()
            }
            for request in self._requests.values():
                request.session = request.session or session
            self._blocks.rename(None, session)
            if self._books[session].facts is not None:  # it was told of before it had a name
                self._emit(ev.SessionUpdated(session=session, session_id=session))
        self.current = session

    def facts(self, session: str | None = None) -> dict[str, Any]:
        """What session.started and session.updated have said so far."""
        return self._book(self.current if session is None else session).facts or {}

    def tool_open(self, call_id: str, session: str | None = None, *, replay: bool = False) -> bool:
        tool = self._tools.get((self.current if session is None else session, call_id, replay))
        return tool is not None and not tool.ended

    def tool_known(self, call_id: str, session: str | None = None) -> bool:
        """Whether it has begun, ended or not."""
        return (self.current if session is None else session, call_id, False) in self._tools

    def tool_denied(self, call_id: str) -> bool:
        """Whether a permission that this call needs was denied."""
        tool = self._tools.get((self.current, call_id, False))
        return tool is not None and tool.denied

    def tool_asked(self, call_id: str) -> bool:
        """Whether a permission for this call is being asked."""
        return any(request.call_id == call_id for request in self._requests.values())

    def discard(self, doomed: Callable[[BlockKey], bool]) -> list[str]:
        """A retry replaces these open blocks: they get no message. Returns the ids of their messages."""
        return self._blocks.discard(self.current, doomed)

    def close_text(self) -> None:
        """Something else comes: what was said so far is a message. For agents that send deltas and no more."""
        self._close_blocks(self.current)

    # --- stamping ----------------------------------------------------------------------------------------

    def _book(self, session: str | None) -> Book:
        book = self._books.get(session)
        if book is None:
            book = self._books[session] = Book()
        return book

    def _emit(self, event: Event) -> None:
        self._seq += 1
        event.seq = self._seq
        event.agent = self._launch.agent
        event.dialect = self._launch.dialect
        if event.session is None:
            event.session = self.current
        if not event.turn:
            event.turn = self._book(event.session).turn
        event.at = self._at
        event.time = self._time
        frame = self._frame
        if frame is not None:
            event.frame = frame.n
            event.origin = _ORIGIN[frame.dir]
            if event.agent_time is None:
                event.agent_time = self.agent_time
            if not self.frame_named:
                self.frame_named = True
                if self.keeps_lines and frame.dir == "out":
                    attach(event, frame)
        self._out.append(event)

    # --- sessions and turns ------------------------------------------------------------------------------

    def _session_started(self, event: ev.SessionStarted) -> None:
        """Said again with changes it is session.updated with those; without any, nothing."""
        book = self._book(event.session)
        facts = dict(_facts_of(event))
        if book.facts is None:
            book.facts = facts
            self._emit(event)
            return
        changed = {name: value for name, value in facts.items() if book.facts.get(name) != value}
        if changed:
            book.facts.update(changed)
            self._emit(ev.SessionUpdated(session=event.session, agent_time=event.agent_time, **changed))

    def _turn_started(self, event: ev.TurnStarted) -> None:
        book = self._book(event.session)
        if not book.open:
            self._turns += 1
            book.turn, book.open = self._turns, True
            self._emit(event)

    def _turn_ended(self, event: ev.TurnEnded) -> None:
        book = self._book(event.session)
        if not book.open:
            self._turn_started(ev.TurnStarted(session=event.session, synthesized=True))
        stopping = self._stopping
        if stopping is not None and event.outcome in ("cancelled", "failed", "truncated"):
            event.outcome = _STOPPED[stopping.reason]
            event.reason = stopping.detail or event.reason
        self._close_requests(event.session, event)
        self._close_blocks(event.session)
        if self._tools_end_with_turns:
            self._close_tools(event.session, "cancelled" if event.outcome == "cancelled" else None)
        self._emit(event)
        book.open = False
        self.outcome = event.outcome
        if event.usage is not None:
            self._usage = added(self._usage, event.usage) if self._usage is not None else event.usage
        if event.cost_usd is not None:
            self._cost = (self._cost or 0.0) + event.cost_usd

    # --- text --------------------------------------------------------------------------------------------

    def _message(self, event: ev.Message) -> None:
        for before in self._blocks.close(event):
            self._emit(before)
        self._emit(event)

    def _delta(self, event: ev.Delta) -> None:
        self._blocks.grow(event)
        self._emit(event)

    def _close_blocks(self, session: str | None) -> None:
        for event in self._blocks.finish(session):
            self._emit(event)

    # --- tools -------------------------------------------------------------------------------------------

    def _tool(self, event: ev.ToolStarted | ev.ToolUpdated | ev.ToolEnded) -> Tool | None:
        return self._tools.get((event.session, event.call_id, event.replay))

    def _tool_started(self, event: ev.ToolStarted) -> None:
        tool = self._tool(event)
        if tool is None:
            self._tools[event.session, event.call_id, event.replay] = Tool(event.parent)
            self._emit(event)
        else:
            self._tool_updated(
                ev.ToolUpdated(
                    call_id=event.call_id,
                    title=event.title,
                    input=event.input,
                    locations=event.locations,
                    session=event.session,
                    parent=event.parent,
                    replay=event.replay,
                    agent_time=event.agent_time,
                    ext=event.ext,
                )
            )

    def _begun(self, event: ev.ToolUpdated | ev.ToolEnded) -> Tool:
        """The tool of `event`; a tool nobody announced is begun now."""
        tool = self._tool(event)
        if tool is None:
            self._tool_started(
                ev.ToolStarted(
                    call_id=event.call_id,
                    name="unknown",
                    session=event.session,
                    parent=event.parent,
                    replay=event.replay,
                    synthesized=True,
                )
            )
            tool = self._tools[event.session, event.call_id, event.replay]
        return tool

    def _tool_updated(self, event: ev.ToolUpdated) -> None:
        event.late = self._begun(event).ended
        self._emit(event)

    def _tool_ended(self, event: ev.ToolEnded) -> None:
        tool = self._begun(event)
        if tool.ended:
            self._tool_updated(
                ev.ToolUpdated(
                    call_id=event.call_id,
                    output=event.output,
                    content=event.content,
                    structured=event.structured,
                    session=event.session,
                    parent=event.parent,
                    replay=event.replay,
                    agent_time=event.agent_time,
                )
            )
            return
        tool.ended = True
        self._emit(event)

    def _close_tools(self, session: str | None, status: ev.ToolStatus | None) -> None:
        """End the tools that the agent left open: all, or those of one session."""
        for (owner, call_id, replay), tool in list(self._tools.items()):
            if not tool.ended and (session is None or owner == session):
                tool.ended = True
                self._emit(
                    ev.ToolEnded(
                        call_id=call_id,
                        status="declined" if tool.denied else status or "abandoned",
                        session=owner,
                        parent=tool.parent,
                        replay=replay,
                        synthesized=True,
                    )
                )

    def _subagent_started(self, event: ev.SubagentStarted) -> None:
        key = event.call_id or event.agent_id or ""
        if key not in self._subagents:
            self._subagents[key] = event
            self._emit(event)

    def _subagent_ended(self, event: ev.SubagentEnded) -> None:
        key = event.call_id or event.agent_id or ""
        if key not in self._subagents:
            self._subagent_started(
                ev.SubagentStarted(
                    call_id=event.call_id,
                    agent_id=event.agent_id,
                    session=event.session,
                    parent=event.parent,
                    replay=event.replay,
                    synthesized=True,
                )
            )
        if self._subagents[key] is not None:
            self._subagents[key] = None
            self._emit(event)

    # --- requests ----------------------------------------------------------------------------------------

    def _requested(self, kind: RequestKind) -> Callable[[Any], None]:
        def rule(event: ev.PermissionRequested | ev.QuestionAsked | ev.HostCalled) -> None:
            if event.request_id not in self._requests:
                self._requests[event.request_id] = Request(kind, event.session, event.call_id, event.parent)
                self._emit(event)

        return rule

    def _answered(self, kind: RequestKind) -> Callable[[Any], None]:
        """An answer to what is no longer asked makes no event."""

        def rule(event: ev.PermissionResolved | ev.QuestionAnswered | ev.HostAnswered) -> None:
            request = self._requests.get(event.request_id)
            if request is None or request.kind != kind:
                return
            del self._requests[event.request_id]
            decided = self._decided.pop(event.request_id, None)
            if isinstance(event, ev.PermissionResolved):
                if decided is not None and event.by == "client":
                    event.by, event.rule = decided.by, decided.rule
                if event.outcome == "denied" and request.call_id is not None:
                    tool = self._tools.get((request.session, request.call_id, False))
                    if tool is not None:
                        tool.denied = True
            event.session, event.parent = request.session, request.parent
            self._emit(event)

        return rule

    def request(self, request_id: str) -> Request | None:
        """The pending request with this id."""
        return self._requests.get(request_id)

    def _close_requests(self, session: str | None, ended: ev.TurnEnded | None) -> None:
        """Nothing stays pending after its turn. Where the client's answers are not in the stream and the agent
        said how the turn ended, it went on, so it was answered: denied if the agent lists it, else allowed."""
        denied = {denial.call_id for denial in ended.denials} if ended is not None else set()
        unheard = ended is not None and not ended.synthesized and not self.heard_client
        for request_id, request in list(self._requests.items()):
            if request.session == session:
                refused = request.call_id is not None and request.call_id in denied
                self.put(_closing(request_id, request.kind, unheard, refused))


def _closing(request_id: str, kind: RequestKind, answered: bool, refused: bool) -> Event:
    if kind == "host":
        error = None if answered else ev.ErrorInfo(message="the turn ended before an answer")
        return ev.HostAnswered(request_id=request_id, error=error, synthesized=True)
    if kind == "question":
        action: Literal["accepted", "declined", "cancelled"] = "cancelled"
        if answered:
            action = "declined" if refused else "accepted"
        return ev.QuestionAnswered(request_id=request_id, action=action, synthesized=True)
    if answered:
        return ev.PermissionResolved(
            request_id=request_id, outcome="denied" if refused else "allowed", synthesized=True
        )
    return ev.PermissionResolved(request_id=request_id, outcome="cancelled", by="agent", synthesized=True)


_SESSION_FACTS = tuple(
    name for name in ev.SessionFields.__struct_fields__ if name not in Event.__struct_fields__
)


def _facts_of(event: ev.SessionFields) -> Iterator[tuple[str, Any]]:
    for name in _SESSION_FACTS:
        value = getattr(event, name)
        if value is not None and value != [] and value != {}:
            yield name, value
