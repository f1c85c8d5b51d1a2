"""The ledger: keeps the books of a run, so that what always holds, holds, whatever an agent says.

A dialect puts in the events that a line means; the ledger stamps them (seq, session, turn, frame, time) and
applies the rules that are the same for every agent: at most one open turn per session, one end for every
tool, one answer for every request, one message for every block, one run.ended. What the agent left out is
added as `synthesized`; what it said twice becomes an update.

It is the one place that knows what is open: turns, tools, text, requests, subagents. The runtime asks it.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, Literal, get_args

from msgspec import Struct, field, structs

from dragoman._model import events as ev
from dragoman._model.errors import UsageError
from dragoman._model.events import Answered, Event, Request
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._model.usage import Bill
from dragoman._model.versions import IN_WORDS, standing
from dragoman._wire import note_frames
from dragoman._wire.event_json import attach
from dragoman._wire.textblocks import BlockKey, TextBlocks

_STOPPED: Final[dict[str, ev.TurnOutcome]] = {
    "cancelled": "cancelled",
    "closed": "cancelled",
    "timeout": "cancelled",
    "limited": "limited",
}
"""The outcome of a turn that was open when we stopped it, by our reason."""

_AS_OUTCOME: Final[dict[str, ev.TurnOutcome]] = {outcome: outcome for outcome in get_args(ev.TurnOutcome)}
"""How a subagent's work ended, where that is a way in which turns end."""

_KILLED: Final = 128
"""What a shell adds to the number of the signal that ended a command."""

OUTPUT_KEPT: Final = 1 << 20
"""Characters that are kept of the output of an open tool."""


class Tool(Struct):
    """A tool call that has not ended."""

    parent: str | None = None
    locations: tuple[str, ...] = ()
    changes: list[ev.FileChanged] | tuple[ev.FileChanged, ...] = ()
    """The changes that it proposes: those of the last line that told any. A tuple once it was asked for: what comes then
    takes its place."""
    output: list[str] = field(default_factory=list)
    """What it has written so far: all that is known of it, if its end never comes."""
    heard: int = 0
    cut: bool = False
    """Its turn was cancelled."""

    def hear(self, text: str) -> None:
        """Keep a piece of output, up to OUTPUT_KEPT characters."""
        if self.heard < OUTPUT_KEPT:
            self.output.append(text[: OUTPUT_KEPT - self.heard])
            self.heard += len(text)


class Book:
    """One session: its turn, and what is open in it. `tools` are keyed by call id and whether they are replayed."""

    __slots__ = (
        "_facts",
        "blocks",
        "checked",
        "denied",
        "ended_tools",
        "interrupted",
        "told",
        "tools",
        "turn",
    )

    def __init__(self) -> None:
        self.turn = 0
        """The number of the open or last turn."""
        self.told: ev.SessionStarted | None = None
        """The session.started that was said."""
        self._facts: dict[str, Any] | None = None
        self.tools: dict[tuple[str, bool], Tool] = {}
        self.ended_tools: set[int] = set()
        """Tools that have ended, the hash of each key: a third of what the key itself takes, for as long as the run
        lasts."""
        self.checked: dict[str, str | None] = {}
        """Open calls that the agent has shown us, and where it stood: if they are asked for now, that is because all of
        them are."""
        self.denied: set[str] = set()
        """Calls that have not ended and of which a permission was denied. The call itself may be told of later: of a
        subagent's call 2.1.197 of Claude Code shows us the call first."""
        self.interrupted: set[tuple[str, bool]] = set()
        """Tools that were open when the client interrupted the turn that is open."""
        self.blocks = TextBlocks()

    @property
    def facts(self) -> dict[str, Any]:
        """The fields of session.started as they stand; none before it was said. They are gathered when they are first
        asked for, since most sessions are told of once (2.4 µs of a line of 9)."""
        if self._facts is None:
            if self.told is None:
                return {}
            self._facts = _SESSION_FACTS.of(self.told)
        return self._facts

    def has_ended(self, key: tuple[str, bool]) -> bool:
        """Whether this tool has ended: what is said of it now is late."""
        return hash(key) in self.ended_tools

    def end(self, key: tuple[str, bool]) -> None:
        """The tool has ended."""
        self.tools.pop(key, None)
        self.ended_tools.add(hash(key))

    def cut_off(self) -> None:
        """The turn is cancelled, and with it what it had begun."""
        for tool in self.tools.values():
            tool.cut = True


class Pending(Struct):
    """A request that wants an answer."""

    event: Request
    session: str | None
    """Its session, as that is called now."""
    native: Any = None
    """What the dialect must know to answer it."""
    silent: bool = False
    """It is a check, and no event unless it is denied: a call that the agent shows us before it asks."""
    locations: tuple[str, ...] = ()
    """Those of its call."""
    changes: tuple[ev.FileChanged, ...] = ()
    """Those that its call proposed when it was asked: whatever comes after that was not asked for."""

    @property
    def files(self) -> list[str]:
        """Those that its call was known to be about then."""
        changed = (path for change in self.changes for path in (change.path, change.move_to))
        return [*self.locations, *(path for path in changed if path is not None)]


class Ledger:
    """One run. `tools_end_with_turns` is the rule of dialects whose agents leave tools open (ACP, gemini_stream)."""

    __slots__ = (
        "_agent",
        "_agent_facts",
        "_aside",
        "_bill",
        "_books",
        "_decided",
        "_dialect",
        "_gone",
        "_launch",
        "_outcome",
        "_seq",
        "_stopping",
        "_time",
        "_tools_end_with_turns",
        "_turns",
        "_version",
        "agent_time",
        "at",
        "current",
        "frame",
        "frame_named",
        "fresh",
        "heard_client",
        "keeps_lines",
        "native_type",
        "open_turns",
        "origin",
        "ready",
        "refusal",
        "requests",
        "returned",
        "session",
        "subagents",
        "unseen_requests",
    )
    # Slots: with more than thirty names an instance's own dict is slower to read and to write, in every event.

    def __init__(self, *, tools_end_with_turns: bool = False) -> None:
        self.current: str | None = None
        """The session of events that name none."""
        self.open_turns: dict[str | None, None] = {}
        """The sessions whose turns are open, in the order in which these began: a replay finds the same one first."""
        self.native_type: str | None = None
        """What the frame at hand is called in its dialect, if it turns out to say nothing."""
        self.agent_time: str | None = None
        """What the frame at hand says the time is."""
        self._outcome: ev.TurnOutcome | None = None
        """How the last turn ended."""
        self.heard_client: bool = False
        """Some frame was the client's: the answers to requests are in the stream."""
        self.keeps_lines: bool = False
        """The first event of each frame that the agent wrote carries its exact text."""
        self.frame_named: bool = False
        """Some event has named the frame at hand."""
        self.session: str | None = None
        """The id of the first session, as it is called now."""
        self.ready: bool = False
        """agent.ready was said, or a session was told of."""
        self.refusal: ev.Error | None = None
        """The error that says that it will never be, or that the first session will not."""
        self.requests: dict[str, Pending] = {}
        """What the agent asked and nobody answered, by request id."""
        self.unseen_requests: list[Request] = []
        """Those among them that nobody has looked at."""
        self.subagents: dict[str, ev.SubagentStarted] = {}
        """Those at work, by call id or agent id."""
        self.returned: bool = False
        """One came back while no turn was open: an agent that lets them work on begins a turn for what it found."""
        self._agent_facts: dict[str, Any] = {}
        """What the agent told of itself and not of a session: the fields of agent.ready, what it answered before there
        was a session, and its last rate_limit."""
        self._tools_end_with_turns = tools_end_with_turns
        self._books: defaultdict[str | None, Book] = defaultdict(Book)
        """One for every session, begun when it is first looked at. In a dict of our own that does the same each look takes
        twice as long."""
        self.fresh: list[Event] = []
        """The events since they were last taken."""
        self._launch = Launch(agent="", dialect="")
        self._agent = self._dialect = ""
        self._version: str | None = None
        """The CLI's, as it was first told."""
        self.frame: Frame | None = None
        """The frame at hand, if the agent or the client wrote it."""
        self.origin: ev.Origin = "dragoman"
        """Who wrote it."""
        self.at: float | None = None
        self._time: datetime | None = None
        self._seq = 0
        self._turns = 0
        self._decided: dict[str, note_frames.Decided] = {}
        self._stopping: note_frames.Stopping | None = None
        self._gone: set[str] = set()
        """Subagents that have ended."""
        self._aside: list[ev.SubagentEnded] = []
        """The ends of subagents before any turn: all there is of a run that is a subagent's own file."""
        self._bill = Bill()

    # --- the run -----------------------------------------------------------------------------------------

    def begin(self, launch: Launch) -> None:
        self._launch = launch
        self._agent, self._dialect = launch.agent, launch.dialect
        if launch.started is not None:
            self.at, self._time = 0.0, launch.started
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
        self._learn_version(launch.cli_version)

    def enter(self, frame: Frame) -> None:
        """What is put from now on is said by `frame`."""
        if frame.t != self.at:
            self.clock(frame.t)
        self.frame_named = False
        self.native_type = self.agent_time = None
        if frame.dir == "out":
            self.frame, self.origin = frame, "agent"
        elif frame.dir == "in":
            self.frame, self.origin = frame, "client"
            self.heard_client = True
        else:
            self.frame = None

    def leave(self, t: float | None) -> None:
        """What is put from now on is said by no frame."""
        self.clock(t)
        self.frame = None
        self.agent_time = None

    def clock(self, t: float | None) -> None:
        if t is not None:
            self.at = t
            started = self._launch.started
            self._time = started + timedelta(seconds=t) if started is not None else None

    def name_frame(self) -> None:
        """Every frame the agent wrote is named by some event; one that says nothing, by `native.known`."""
        frame = self.frame
        if frame is None or self.frame_named:
            return
        if self.keeps_lines:
            self._emit(ev.NativeKnown(native_type=self.native_type))
            return
        # A third of what Codex app-server says: made with its stamp (see `delta`).
        self.frame_named = True
        self._seq = seq = self._seq + 1
        session = self.current
        self.fresh.append(
            ev.NativeKnown(
                seq=seq,
                agent=self._agent,
                dialect=self._dialect,
                session=session,
                turn=self._books[session].turn,
                frame=frame.n,
                origin=self.origin,
                at=self.at,
                time=self._time,
                agent_time=self.agent_time,
                native_type=self.native_type,
            )
        )

    def note(self, note: note_frames.Note) -> None:
        if isinstance(note, note_frames.Decided):
            self._decided[note.request] = note
        else:
            self._stopping = note

    def take(self) -> list[Event]:
        """The events since the last call."""
        taken, self.fresh = self.fresh, []
        return taken

    def take_requests(self) -> list[Request]:
        """The requests since the last call that still want an answer."""
        asked, self.unseen_requests = self.unseen_requests, []
        return [request for request in asked if self.wants(request)]

    def finish(self, exit: Exit) -> None:
        """Close whatever is open, then end the run."""
        reason = exit.reason or (self._stopping.reason if self._stopping else None)
        if self._stopping is not None and self._stopping.reason == "timeout" and not self.had_turn:
            late = self._stopping.detail or "it took too long"
            self.put(ev.Error(message=late, scope="session", kind="timeout", synthesized=True))
        for session, book in list(self._books.items()):
            if session in self.open_turns:
                if reason in ("cancelled", "closed"):
                    book.cut_off()
                outcome = _STOPPED[reason] if reason else "truncated"
                why = self._stopping.detail if self._stopping else None
                self.put(
                    ev.TurnEnded(outcome=outcome, reason=why or reason, session=session, synthesized=True)
                )
            self._close_requests(session, None)
            self._close_blocks(session, book)
        for session, book in self._books.items():
            self._close_tools(session, book)
        for begun in list(self.subagents.values()):
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
        if not self._turns:
            for ended in self._aside:
                self._bill.add(ended.usage, {}, None)
                if exit.code is None and exit.signal is None:  # a process says itself how it ended
                    self._outcome = _AS_OUTCOME.get(ended.status or "", self._outcome)
        self._emit(
            ev.RunEnded(
                outcome=self._run_outcome(exit, reason),
                exit_code=exit.code,
                signal=exit.signal,
                stderr_tail=exit.stderr_tail,
                usage=self._bill.usage,
                cost_usd=self._bill.cost_usd,
            )
        )

    def _run_outcome(self, exit: Exit, reason: str | None) -> ev.RunOutcome:
        if reason == "timeout":
            return "timeout"
        if reason == "limited":
            return "limited"
        if self._outcome is not None:
            return "failed" if self._outcome == "refused" else self._outcome
        if reason is not None or exit.code == 0:
            return "completed"
        if exit.signal is not None:
            return "crashed"
        return "truncated" if exit.code is None else "failed"

    # --- what dialects and the runtime ask ---------------------------------------------------------------

    def put(self, event: Event) -> None:
        """An event that the frame at hand means."""
        if event.session is None:
            event.session = self.current
        _RULES[type(event)](self, event)

    def delta(
        self,
        kind: Literal["text", "thinking", "tool_input"],
        text: str,
        message_id: str | None,
        block: int | None,
        call_id: str | None,
        parent: str | None,
    ) -> str:
        """Put a delta of the assistant's in the current session. Most of what an agent streams are these, so they are
        made, booked and stamped in one call (0.6 µs instead of 2.2 by `put`). Returns its text, made whole.

        A field that is set after an event was made takes 0.07 µs, one that it is made with nothing; up to fifteen, since
        CPython makes a dict of more."""
        session = self.current
        book = self._books[session]
        blocks = book.blocks
        if kind == "tool_input":
            text = blocks.whole(call_id, kind, text)
        else:
            key = (parent, message_id, block, kind)
            begun = blocks.open.get(key)
            if begun is None or blocks.halves.waiting or not text.isascii():
                text = blocks.grow(key, text)
            else:
                begun.parts.append(text)
        frame = self.frame
        if frame is None or self.keeps_lines:
            self._emit(
                ev.Delta(
                    kind=kind, text=text, message_id=message_id, block=block, call_id=call_id, parent=parent
                )
            )
            return text
        self.frame_named = True
        self._seq = seq = self._seq + 1
        event = ev.Delta(
            seq=seq,
            agent=self._agent,
            dialect=self._dialect,
            session=session,
            turn=book.turn,
            frame=frame.n,
            origin=self.origin,
            at=self.at,
            time=self._time,
            parent=parent,
            kind=kind,
            text=text,
            message_id=message_id,
            block=block,
            agent_time=self.agent_time,
        )
        if call_id is not None:
            event.call_id = call_id
        self.fresh.append(event)
        return text

    def busy(self, session: str | None = None) -> bool:
        """Whether a session has an open turn; any, if none is named."""
        return bool(self.open_turns) if session is None else session in self.open_turns

    def open_session(self) -> str | None:
        """The session whose turn is open, for dialects of one conversation; else the current one."""
        return next(iter(self.open_turns), self.current)

    @property
    def had_turn(self) -> bool:
        """There was a turn."""
        return self._turns > 0

    def turn(self, session: str | None = None) -> int:
        """The number of the session's open or last turn."""
        return self._of(session).turn

    def name_session(self, session: str) -> None:
        """The agent says which session this is. What happened before it had a name was in it too."""
        if self.current == session:
            return
        if self.current is None and None in self._books and session not in self._books:
            book = self._books[session] = self._books.pop(None)
            if None in self.open_turns:
                self.open_turns = {session if name is None else name: None for name in self.open_turns}
            for pending in self.requests.values():
                pending.session = pending.session or session
            if book.told is not None:  # it was told of before it had a name
                self.session = session
                self._emit(ev.SessionUpdated(session=session, session_id=session))
        self.current = session

    def facts(self, session: str | None = None) -> dict[str, Any]:
        """The fields that session.started and what came after it have said so far."""
        return self._books[self.current if session is None else session].facts

    def known(self, session: str | None = None) -> dict[str, Any]:
        """All that is known of the session: its own facts, over what the agent told of itself."""
        book = self._books.get(self.session or self.current if session is None else session)
        return {**self._agent_facts, **(book.facts if book is not None else {})}

    def learn(self, session: str | None = None, **facts: Any) -> None:
        """Keep what the agent answered when it was asked of itself: session.updated if the session has been told of,
        else for when it is."""
        if self._of(session).told is None:
            self._agent_facts.update(facts)
        else:
            self.put(ev.SessionStarted(session=session, **facts))

    def tool_open(self, call_id: str, session: str | None = None, *, replay: bool = False) -> bool:
        """Whether the call has begun and not ended."""
        return (call_id, replay) in self._books[self.current if session is None else session].tools

    def tool_known(self, call_id: str, session: str | None = None, *, replay: bool = False) -> bool:
        """Whether the call has begun, ended or not."""
        book, key = self._books[self.current if session is None else session], (call_id, replay)
        return key in book.tools or hash(key) in book.ended_tools

    def tool_denied(self, call_id: str) -> bool:
        """Whether a permission that this open call needs was denied."""
        return call_id in self._books[self.current].denied

    def tool_asked(self, call_id: str) -> bool:
        """Whether a permission for this call, or the question that it is, is being asked."""
        return any(
            p.event.call_id == call_id and not p.silent and not isinstance(p.event, ev.HostCalled)
            for p in self.requests.values()
        )

    def interrupt(self, session: str | None = None) -> None:
        """The client has interrupted the turn, and with it the tools that are open."""
        book = self._of(session)
        book.interrupted = set(book.tools)

    def discard(self, doomed: Callable[[BlockKey], bool]) -> list[str]:
        """A retry replaces these open blocks: they get no message. Returns the ids of their messages."""
        return self._books[self.current].blocks.discard(doomed)

    def growing(self) -> list[tuple[BlockKey, str]]:
        """The texts that are being written, as far as they have come."""
        return [
            (BlockKey(*key), "".join(block.parts))
            for book in self._books.values()
            for key, block in book.blocks.open.items()
        ]

    def close_text(self) -> None:
        """Something else comes: what was said so far is a message. For agents that send deltas and no more."""
        self._close_blocks(self.current, self._books[self.current])

    # --- stamping ----------------------------------------------------------------------------------------

    def _of(self, session: str | None) -> Book:
        """The book of a session; of the current one, if none is named."""
        return self._books[self.current if session is None else session]

    def _emit(self, event: Event) -> None:
        self._seq = event.seq = self._seq + 1
        event.agent = self._agent
        event.dialect = self._dialect
        session = event.session
        if session is None:
            session = event.session = self.current
        if not event.turn:
            event.turn = self._books[session].turn
        if self.at is not None:
            event.at = self.at
            if self._time is not None:
                event.time = self._time
        frame = self.frame
        if frame is not None:
            event.frame = frame.n
            event.origin = self.origin
            if self.agent_time is not None and event.agent_time is None:
                event.agent_time = self.agent_time
            if not self.frame_named:
                self.frame_named = True
                if self.keeps_lines and frame.dir == "out":
                    attach(event, frame)
        self.fresh.append(event)

    # --- the agent, its sessions and turns ---------------------------------------------------------------

    def _agent_ready(self, event: ev.AgentReady) -> None:
        self.ready = True
        self._agent_facts.update(_AGENT_FACTS.of(event))
        self._emit(event)
        self._learn_version(event.cli_version)

    def _error(self, event: ev.Error) -> None:
        open_yet = self.ready and self.session is not None
        if not open_yet and not event.will_retry and event.scope in ("session", "protocol"):
            self.refusal = self.refusal or event
        self._emit(event)

    def _session_started(self, event: ev.SessionStarted) -> None:
        """Said again with changes it is session.updated with those; without any, nothing."""
        book = self._books[event.session]
        if book.told is None:
            book.told = event
            self.ready = True
            self.session = self.session or event.session
            self._emit(event)
            self._learn_version(event.cli_version)
            return
        changed = _SESSION_FACTS.changed(event, book.facts)
        if changed:
            book.facts.update(changed)
            self._emit(ev.SessionUpdated(session=event.session, agent_time=event.agent_time, **changed))
            self._learn_version(event.cli_version)

    def _learn_version(self, version: str | None) -> None:
        """Say so if the CLI is none of the versions that were tested, once it is known which one it is. Which ones were
        is told by the launch, so that a recording keeps it."""
        if version is None or self._version is not None:
            return
        self._version = version
        where, tested = standing(version, self._launch.tested_versions), self._launch.tested_versions
        if where is not None and where != "tested":
            message = f"{self._launch.agent} {version} is {IN_WORDS[where]} ({', '.join(tested)})"
            self._emit(ev.Notice(message=message, code="untested_version", synthesized=True))

    def _session_updated(self, event: ev.SessionUpdated) -> None:
        self.session = event.session_id or self.session
        self._keep(event.session, _SESSION_FACTS.of(event))
        self._emit(event)

    def _session_mode(self, event: ev.SessionMode) -> None:
        self._keep(event.session, _MODE_FACTS.of(event))
        self._emit(event)

    def _session_options(self, event: ev.SessionOptions) -> None:
        self._keep(event.session, {"options": event.options})
        self._emit(event)

    def _session_commands(self, event: ev.SessionCommands) -> None:
        self._keep(event.session, {"commands": event.commands})
        self._emit(event)

    def _keep(self, session: str | None, facts: dict[str, Any]) -> None:
        """Facts of a session; one that was not told of yet has them from its agent."""
        book = self._books[session]
        (self._agent_facts if book.told is None else book.facts).update(facts)

    def _rate_limit(self, event: ev.RateLimit) -> None:
        self._agent_facts["rate_limit"] = event
        self._emit(event)

    def _turn_started(self, event: ev.TurnStarted) -> None:
        book = self._books[event.session]
        if event.session not in self.open_turns:
            self._turns += 1
            book.turn = self._turns
            self.open_turns[event.session] = None
            self.returned = False
            self._emit(event)

    def _turn_ended(self, event: ev.TurnEnded) -> None:
        book = self._books[event.session]
        if event.session not in self.open_turns:
            self._turn_started(ev.TurnStarted(session=event.session, synthesized=True))
        stopping = self._stopping
        if stopping is not None and event.outcome in ("cancelled", "failed", "truncated"):
            event.outcome = _STOPPED[stopping.reason]
            event.reason = stopping.detail or event.reason
        if self.requests:
            self._close_requests(event.session, event)
        if book.blocks.open:
            self._close_blocks(event.session, book)
        if event.outcome == "cancelled":
            book.cut_off()
        if self._tools_end_with_turns:
            self._close_tools(event.session, book)
        self._emit(event)
        book.interrupted = set()
        self.open_turns.pop(event.session, None)
        self._outcome = event.outcome
        self._bill.add(event.usage, event.model_usage, event.cost_usd)

    # --- text --------------------------------------------------------------------------------------------

    def _message(self, event: ev.Message) -> None:
        blocks = self._books[event.session].blocks
        if blocks.open:
            for before in blocks.close(event):
                self._emit(before)
        self._emit(event)

    def _delta(self, event: ev.Delta) -> None:
        book, kind = self._books[event.session], event.kind
        if kind == "tool_input" or kind == "tool_output":
            event.text = book.blocks.whole(event.call_id, kind, event.text)
            if kind == "tool_output" and (tool := book.tools.get((event.call_id or "", event.replay))):
                tool.hear(event.text)
        else:
            key = (event.parent, event.message_id, event.block, kind)
            event.text = book.blocks.grow(key, event.text, event.role, event.replay)
        self._emit(event)

    def _close_blocks(self, session: str | None, book: Book) -> None:
        for event in book.blocks.finish(session):
            self._emit(event)

    # --- tools -------------------------------------------------------------------------------------------

    def _tool_started(self, event: ev.ToolStarted) -> None:
        book, key = self._books[event.session], (event.call_id, event.replay)
        if key in book.tools or hash(key) in book.ended_tools:
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
            return
        tool = book.tools[key] = Tool(event.parent)
        if event.locations:
            tool.locations = tuple(location.path for location in event.locations)
        self._emit(event)

    def _begin_unannounced(self, event: ev.ToolUpdated | ev.ToolEnded) -> None:
        """A tool nobody announced is begun now."""
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

    def _tool_updated(self, event: ev.ToolUpdated) -> None:
        book, key = self._books[event.session], (event.call_id, event.replay)
        if key not in book.tools:
            if book.has_ended(key):
                event.late = True
            else:
                self._begin_unannounced(event)
        self._emit(event)

    def _tool_ended(self, event: ev.ToolEnded) -> None:
        book, key = self._books[event.session], (event.call_id, event.replay)
        if key not in book.tools and not book.has_ended(key):
            self._begin_unannounced(event)
        elif key not in book.tools:
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
        if event.status == "failed":
            if event.call_id in book.denied:
                # Agents that have no word for it say that it failed, and claude-agent-acp 0.75.0 with an exit code.
                event.status, event.exit_code = "declined", None
            elif key in book.interrupted and _is_cut(event.exit_code):
                event.status = "cancelled"
        del book.tools[key]
        book.ended_tools.add(hash(key))
        if book.checked:
            book.checked.pop(event.call_id, None)
        if book.denied:
            book.denied.discard(event.call_id)
        self._emit(event)

    def _close_tools(self, session: str | None, book: Book) -> None:
        """End the tools that the agent left open."""
        denied, book.denied = book.denied, set()
        for (call_id, replay), tool in list(book.tools.items()):
            book.end((call_id, replay))
            self._emit(
                ev.ToolEnded(
                    call_id=call_id,
                    status="declined" if call_id in denied else "cancelled" if tool.cut else "abandoned",
                    output="".join(tool.output) or None,
                    session=session,
                    parent=tool.parent,
                    replay=replay,
                    synthesized=True,
                )
            )

    def _file_changed(self, event: ev.FileChanged) -> None:
        self._emit(event)
        if event.phase == "proposed":
            tool = self._books[event.session].tools.get((event.call_id or "", event.replay))
            if tool is not None:
                if isinstance(tool.changes, tuple) or tool.changes[-1].frame != event.frame:
                    tool.changes = []
                tool.changes.append(event)

    def _subagent_started(self, event: ev.SubagentStarted) -> None:
        key = event.call_id or event.agent_id or ""
        if key not in self.subagents and key not in self._gone:
            self.subagents[key] = event
            self._emit(event)

    def _subagent_ended(self, event: ev.SubagentEnded) -> None:
        key = event.call_id or event.agent_id or ""
        if key in self._gone:
            return
        if key not in self.subagents:
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
        del self.subagents[key]
        self._gone.add(key)
        if not self._turns:
            self._aside.append(event)
        if event.parent is None and event.status != "stopped" and not self.open_turns:
            self.returned = True
        self._emit(event)

    # --- requests ----------------------------------------------------------------------------------------

    def ask(self, event: Request, native: Any = None) -> None:
        """A request of the agent's; `native` is kept with it until it is answered."""
        if event.session is None:
            event.session = self.current
        if event.request_id not in self.requests:
            if isinstance(event, ev.PermissionRequested):
                checked = self._books[event.session].checked
                event.unasked = event.call_id in checked
                event.cwd = event.cwd or checked.get(event.call_id or "")
            self.requests[event.request_id] = self._pending(event, native)
            if not event.replay:
                self.unseen_requests.append(event)
            self._emit(event)

    def _pending(self, event: Request, native: Any) -> Pending:
        tool = self._books[event.session].tools.get((event.call_id or "", False))
        if tool is None or not isinstance(event, ev.PermissionRequested):
            return Pending(event, event.session, native)
        tool.changes = tuple(tool.changes)
        return Pending(event, event.session, native, locations=tool.locations, changes=tool.changes)

    def check(self, event: ev.PermissionRequested, native: Any = None) -> None:
        """A call that the agent shows before it asks. It becomes an event if it is denied."""
        if event.session is None:
            event.session = self.current
        if event.request_id not in self.requests:
            event.unasked = True
            self.requests[event.request_id] = structs.replace(self._pending(event, native), silent=True)
            self.unseen_requests.append(event)

    def is_check(self, request: Request) -> bool:
        """Whether this very request is a check."""
        return self.wants(request) and self.requests[request.request_id].silent

    def pass_check(self, request_id: str) -> None:
        """Nothing was said against the call; whether it runs is still to be asked."""
        pending = self.requests.pop(request_id, None)
        event = pending.event if pending is not None else None
        if pending is not None and isinstance(event, ev.PermissionRequested) and event.call_id is not None:
            self._books[pending.session].checked[event.call_id] = event.cwd

    def pending(self, request_id: str) -> Pending:
        """The request with this id. Raises UsageError if it is not asked, or not any more."""
        pending = self.requests.get(request_id)
        if pending is None:
            raise UsageError(f"no open request is called {request_id!r}: it was answered or withdrawn")
        return pending

    def withdraw(self, request_id: str, *, synthesized: bool = False) -> None:
        """The agent no longer wants an answer."""
        pending = self.requests.get(request_id)
        if pending is None:
            return
        if pending.silent:
            del self.requests[request_id]
            return
        closing = _closing(pending.event, answered=False, refused=False)
        if isinstance(closing, ev.HostAnswered):
            closing.error = ev.ErrorInfo(message="withdrawn by the agent")
        closing.synthesized = synthesized
        self.put(closing)

    def wants(self, request: Request) -> bool:
        """Whether this very request still wants an answer."""
        return self._asked(request) is not None

    def asked_files(self, request: Request) -> Sequence[str]:
        """The files that the call of a permission was known to be about when it was asked for; none once it is answered."""
        pending = self._asked(request)
        return pending.files if pending is not None else ()

    def asked_changes(self, request: Request) -> Sequence[ev.FileChanged]:
        """The changes to files that the call proposed then."""
        pending = self._asked(request)
        return pending.changes if pending is not None else ()

    def _asked(self, request: Request) -> Pending | None:
        pending = self.requests.get(request.request_id)
        return pending if pending is not None and pending.event is request else None

    def _permission_resolved(self, event: ev.PermissionResolved) -> None:
        pending = self._take_request(event, ev.PermissionRequested)
        if pending is None:
            return
        if pending.silent:
            self._emit(pending.event)
        decided = self._decided.pop(event.request_id, None)
        if decided is not None and event.by == "client":
            event.by, event.rule, event.who = decided.by, decided.rule, decided.who
        call_id = pending.event.call_id
        if call_id is not None:
            book = self._books[pending.session]
            if event.outcome == "denied" and not book.has_ended((call_id, False)):
                book.denied.add(call_id)
            elif event.outcome == "allowed":
                book.denied.discard(call_id)
        self._emit(event)

    def _question_answered(self, event: ev.QuestionAnswered) -> None:
        if self._take_request(event, ev.QuestionAsked) is not None:
            self._say_who(event)

    def _host_answered(self, event: ev.HostAnswered) -> None:
        if self._take_request(event, ev.HostCalled) is not None:
            self._say_who(event)

    def _say_who(self, event: ev.QuestionAnswered | ev.HostAnswered) -> None:
        decided = self._decided.pop(event.request_id, None)
        if decided is not None:
            event.who = decided.who
        self._emit(event)

    def _take_request(self, event: Answered, kind: type[Request]) -> Pending | None:
        """The request that `event` answers, taken from the book; None if it is no longer asked."""
        pending = self.requests.get(event.request_id)
        if pending is None or type(pending.event) is not kind:
            return None
        del self.requests[event.request_id]
        event.session, event.parent = pending.session, pending.event.parent
        return pending

    def _close_requests(self, session: str | None, ended: ev.TurnEnded | None) -> None:
        """Nothing stays pending after its turn. Where the client's answers are not in the stream and the agent
        said how the turn ended, it went on, so it was answered: denied if the agent lists it, else allowed."""
        denied = {denial.call_id for denial in ended.denials} if ended is not None else set()
        unheard = ended is not None and not ended.synthesized and not self.heard_client
        for id, pending in list(self.requests.items()):
            if pending.silent and pending.session == session:
                del self.requests[id]
            elif pending.session == session:
                refused = pending.event.call_id is not None and pending.event.call_id in denied
                self.put(_closing(pending.event, unheard, refused))


def _is_cut(exit_code: int | None) -> bool:
    """Whether a tool that failed when it was interrupted did so for that: a command that ended by itself has an exit code
    of its own. That of one that was killed is beyond 128 (claude 2.1.150: 137)."""
    return exit_code is None or exit_code > _KILLED


def _closing(request: Request, answered: bool, refused: bool) -> Event:
    """The answer to a request whose turn is over: `answered` if one was given that the stream does not show."""
    id = request.request_id
    if isinstance(request, ev.HostCalled):
        error = None if answered else ev.ErrorInfo(message="the turn ended before an answer")
        return ev.HostAnswered(request_id=id, error=error, synthesized=True)
    if isinstance(request, ev.QuestionAsked):
        action: Literal["accepted", "declined", "cancelled"] = "cancelled"
        if answered:
            action = "declined" if refused else "accepted"
        return ev.QuestionAnswered(request_id=id, action=action, synthesized=True)
    if answered:
        return ev.PermissionResolved(
            request_id=id, outcome="denied" if refused else "allowed", synthesized=True
        )
    return ev.PermissionResolved(request_id=id, outcome="cancelled", by="agent", synthesized=True)


_RULES: Final[dict[type[Event], Callable[[Ledger, Any], None]]] = {
    **dict.fromkeys(get_args(ev.AnyEvent), Ledger._emit),
    ev.AgentReady: Ledger._agent_ready,
    ev.Error: Ledger._error,
    ev.SessionStarted: Ledger._session_started,
    ev.SessionUpdated: Ledger._session_updated,
    ev.SessionMode: Ledger._session_mode,
    ev.SessionOptions: Ledger._session_options,
    ev.SessionCommands: Ledger._session_commands,
    ev.RateLimit: Ledger._rate_limit,
    ev.TurnStarted: Ledger._turn_started,
    ev.TurnEnded: Ledger._turn_ended,
    ev.Message: Ledger._message,
    ev.Delta: Ledger._delta,
    ev.ToolStarted: Ledger._tool_started,
    ev.ToolUpdated: Ledger._tool_updated,
    ev.ToolEnded: Ledger._tool_ended,
    ev.FileChanged: Ledger._file_changed,
    ev.SubagentStarted: Ledger._subagent_started,
    ev.SubagentEnded: Ledger._subagent_ended,
    ev.PermissionRequested: Ledger.ask,
    ev.QuestionAsked: Ledger.ask,
    ev.HostCalled: Ledger.ask,
    ev.PermissionResolved: Ledger._permission_resolved,
    ev.QuestionAnswered: Ledger._question_answered,
    ev.HostAnswered: Ledger._host_answered,
}
"""What is done about an event; about most nothing but its stamp."""


class _Facts:
    """Fields of events that are kept: texts, lists and objects. All are read in one go, since there are two dozen."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self._values = attrgetter(*names)

    def of(self, event: Event) -> dict[str, Any]:
        """Those of the event's fields that say something: all but None, [] and {}."""
        return {
            name: value
            for name, value in zip(self.names, self._values(event), strict=True)
            if value or value == ""
        }

    def changed(self, event: Event, before: dict[str, Any]) -> dict[str, Any]:
        """Those of them that say something else than `before`."""
        return {
            name: value
            for name, value in zip(self.names, self._values(event), strict=True)
            if (value or value == "") and before.get(name) != value
        }


_SESSION_FACTS = _Facts(
    *(name for name in ev.SessionFields.__struct_fields__ if name not in Event.__struct_fields__)
)
_AGENT_FACTS = _Facts(
    *(
        name
        for name in _SESSION_FACTS.names
        if name in ev.AgentReady.__struct_fields__ and name != "capabilities"
    )
)
_MODE_FACTS = _Facts("mode", "modes")
