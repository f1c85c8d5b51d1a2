"""AgentEvents back into canonical events, as far as they carry.

Each line is a frame. What the model does not say is left out or, where canonical streams always have it (turns, the
ends of tools), synthesized. The dialect of the result is `agent-event`; ids and times stay those of the lines.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final, TypeGuard

import msgspec

from dragoman._dialects.agent_event import messages as m
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.events import Event
from dragoman._model.frames import Exit, Frame, Launch
from dragoman._model.usage import Usage, added, since
from dragoman._projections.agent_event.config import usage_of
from dragoman._projections.agent_event.project import CONFIG, CONTENT, ENDED, NAME
from dragoman._projections.agent_event.system import event_of
from dragoman._projections.stamps import STAMPS
from dragoman._wire.ledger import Ledger

_decoder: "msgspec.json.Decoder[m.AnyAgentEvent]" = msgspec.json.Decoder(m.AnyAgentEvent)
_STATUS: Final[tuple[ev.ToolStatus, ...]] = ("declined", "cancelled", "skipped", "abandoned")
LINES_TO_TELL_BY: Final = 100
_OUTCOMES: Final[dict[str, ev.TurnOutcome]] = {"completed": "completed", "cancelled": "cancelled"}


Chunk = m.TextChunkEvent | m.RawDeltaEvent


def read(lines: Iterable[bytes]) -> Iterator[Event]:
    """The canonical events that lines of AgentEvents tell of. A line that is none is told as such."""
    frames = (Frame(number, "out", line.rstrip(b"\r\n")) for number, line in enumerate(lines, 1))
    agent, seen = _speaker(frames)
    reading = Reading(agent)
    for frame in chain(seen, frames):
        yield from reading.line(frame)
    yield from reading.end()


def _speaker(frames: Iterator[Frame]) -> tuple[str, list[Frame]]:
    """The agent that speaks, and the lines read to find out: it is said where the session starts."""
    seen = []
    for frame in islice(frames, LINES_TO_TELL_BY):
        seen.append(frame)
        item = _item(frame.line)
        if isinstance(item, m.SessionStartedEvent):
            return item.agent_type, seen
    return "", seen


class Reading:
    """One file being read."""

    def __init__(self, agent: str) -> None:
        self._ledger = Ledger()
        self._family = agent
        self._chunks: list[tuple[Frame, Chunk]] = []
        """Pieces of a text that is being said: how they add up shows at its end."""
        self._texts = 0
        self._used: Usage | None = None
        self._exit = Exit()
        self._rules: dict[type[m.AgentEvent], Callable[[Any], list[Event]]] = {
            m.SessionStartedEvent: self._session_started,
            m.TextChunkEvent: self._text,
            m.RawDeltaEvent: self._raw_delta,
            m.ReasoningEvent: self._reasoning,
            m.ToolStartedEvent: lambda item: [
                toolnames.started(item.tool_id, item.tool_name, item.arguments)
            ],
            m.ToolProgressEvent: lambda item: [
                ev.ToolUpdated(call_id=item.tool_id, output=item.output, progress=item.progress)
            ],
            m.ToolCompletedEvent: self._tool_completed,
            m.FileChangedEvent: self._file_changed,
            m.TodoListEvent: self._todo_list,
            m.TurnStartedEvent: self._turn_started,
            m.TurnCompletedEvent: self._turn_completed,
            m.SessionEndedEvent: self._session_ended,
            m.ErrorEvent: lambda item: [
                ev.Error(message=item.message, severity=item.severity, code=item.code)
            ],
            m.RetryEvent: lambda item: [
                ev.Retry(
                    attempt=item.attempt,
                    max_attempts=item.max_attempts,
                    delay_ms=item.delay_ms,
                    reason=item.message,
                )
            ],
            m.SystemEvent: self._system,
        }
        self._ledger.begin(Launch(agent=agent, dialect=NAME))

    def line(self, frame: Frame) -> list[Event]:
        item = _item(frame.line)
        if _is_chunk(item):
            if self._chunks and type(self._chunks[-1][1]) is not type(item):
                self._say_chunks(None)
            self._chunks.append((frame, item))
            return self._ledger.take()
        final = item if isinstance(item, m.TextChunkEvent) and item.role != "user" else None
        place = self._say_chunks(final.content if final is not None else None)
        self._ledger.enter(frame)
        if isinstance(item, m.AgentEvent):
            self._take(item, place)
        else:
            self._ledger.put(ev.NativeInvalid(reason=item))
        self._ledger.name_frame()
        return self._ledger.take()

    def end(self) -> list[Event]:
        self._say_chunks(None)
        self._ledger.leave(None)
        self._ledger.finish(self._exit)
        events = self._ledger.take()
        over = events[-1]
        if isinstance(over, ev.RunEnded) and self._used is not None:
            over.usage = self._used
        return events

    def _take(self, item: m.AgentEvent, place: tuple[str, int | None] | None) -> None:
        """What an item says. The event that carries it keeps its id and time."""
        ledger = self._ledger
        if item.session_id:
            ledger.name_session(item.session_id)
        ledger.agent_time = item.timestamp
        events = self._rules[type(item)](item)
        if isinstance(item, _IN_TURNS) and not ledger.busy(ledger.current):
            ledger.put(ev.TurnStarted(synthesized=True))
        for event in events:
            if isinstance(event, ev.Message) and place is not None and event.kind == "text":
                event.message_id, event.block = place
            if not isinstance(item, m.SessionEndedEvent):
                event.ext = {**event.ext, STAMPS: [[item.id, item.timestamp]]}
            ledger.put(event)
        if not events:
            ledger.put(ev.NativeUnknown(native_type=str(item.__struct_config__.tag)))

    # --- texts -------------------------------------------------------------------------------------------

    def _say_chunks(self, final: str | None) -> tuple[str, int | None] | None:
        """The pieces so far, as deltas. Their message's id and block, if `final` is what they amount to.

        `codex exec` repeats a text whole each time it grows: such pieces are cut to what is new."""
        chunks, self._chunks = self._chunks, []
        if not chunks:
            return None
        texts = [chunk.content for _, chunk in chunks]
        whole = "".join(texts) == final
        repeating = (
            not whole
            and self._family == "codex"
            and all(b.startswith(a) for a, b in zip(texts, [*texts[1:], final or texts[-1]], strict=True))
        )
        id, said = self._next_id(), ""
        block = 0 if isinstance(chunks[0][1], m.RawDeltaEvent) else None
        for frame, chunk in chunks:
            new = chunk.content[len(said) :] if repeating else chunk.content
            self._piece(frame, chunk, new, (id, block))
            said = chunk.content
        if repeating and final is not None and final != said:
            self._ledger.put(ev.Delta(text=final[len(said) :], message_id=id, block=block, synthesized=True))
        if whole or (repeating and final is not None):
            return id, block
        self._ledger.close_text()
        return None

    def _piece(self, frame: Frame, chunk: Chunk, new: str, place: tuple[str, int | None]) -> None:
        ledger = self._ledger
        ledger.enter(frame)
        if chunk.session_id:
            ledger.name_session(chunk.session_id)
        ledger.agent_time = chunk.timestamp
        if not ledger.busy(ledger.current):
            ledger.put(ev.TurnStarted(synthesized=True))
        ext: dict[str, Any] = {STAMPS: [[chunk.id, chunk.timestamp]]}
        if new != chunk.content:
            ext[CONTENT] = chunk.content
        ledger.put(ev.Delta(text=new, message_id=place[0], block=place[1], ext=ext))

    def _next_id(self) -> str:
        self._texts += 1
        return f"text-{self._texts}"

    def _text(self, item: m.TextChunkEvent) -> list[Event]:
        role: ev.Role = "user" if item.role == "user" else "assistant"
        return [ev.Message(role=role, text=item.content, message_id=self._next_id())]

    def _raw_delta(self, item: m.RawDeltaEvent) -> list[Event]:
        kinds: dict[str, ev.DeltaKind] = {"toolInput": "tool_input", "toolOutput": "tool_output"}
        kind: Any = kinds.get(item.kind, item.kind)
        delta = ev.Delta(kind=kind, text=item.content, call_id=item.tool_id, message_id="raw", block=0)
        return [delta]

    def _reasoning(self, item: m.ReasoningEvent) -> list[Event]:
        if item.is_partial:
            delta = ev.Delta(kind="thinking", text=item.content, message_id="reasoning")
            return [delta]
        thought = ev.Message(role="assistant", kind="thinking", text=item.content, message_id="reasoning")
        return [thought]

    # --- tools -------------------------------------------------------------------------------------------

    def _tool_completed(self, item: m.ToolCompletedEvent) -> list[Event]:
        status: ev.ToolStatus = "completed"
        if not item.success:
            status = next((word for word in _STATUS if word == item.error), "failed")
        text = item.result if isinstance(item.result, str) else None
        error = None if item.success or item.error is None else ev.ErrorInfo(message=item.error)
        return [
            ev.ToolEnded(
                call_id=item.tool_id,
                status=status,
                output=text,
                structured=None if text is not None else item.result,
                error=error,
            )
        ]

    def _file_changed(self, item: m.FileChangedEvent) -> list[Event]:
        return [
            ev.FileChanged(
                path=item.file_path,
                change=item.change_type,
                diff=item.diff,
                before=item.before,
                after=item.after,
            )
        ]

    def _todo_list(self, item: m.TodoListEvent) -> list[Event]:
        entries = []
        for todo in item.items:
            status: Any = todo.status
            if status not in ("pending", "in_progress", "completed"):
                status = "completed" if todo.completed else "pending"
            entries.append(ev.PlanEntry(text=todo.text, status=status))
        return [ev.PlanUpdated(entries=entries)]

    # --- the session and its turns -----------------------------------------------------------------------

    def _session_started(self, item: m.SessionStartedEvent) -> list[Event]:
        config = item.config
        return [
            ev.SessionStarted(
                model=config.model if config is not None else None,
                cwd=config.working_directory if config is not None else None,
                ext={CONFIG: msgspec.to_builtins(config)} if config is not None else {},
            )
        ]

    def _turn_started(self, item: m.TurnStartedEvent) -> list[Event]:
        """A turn that was only inferred, because something was said before, ends where a real one starts."""
        started: Event = ev.TurnStarted(prompt=item.prompt)
        if self._ledger.busy(self._ledger.current):
            return [ev.TurnEnded(outcome="truncated", synthesized=True), started]
        return [started]

    def _turn_completed(self, item: m.TurnCompletedEvent) -> list[Event]:
        usage = usage_of(item.usage)
        if usage is not None:
            self._used = added(self._used, usage) if self._used is not None else usage
        return [ev.TurnEnded(outcome="completed", usage=usage, duration_ms=item.duration_ms)]

    def _session_ended(self, item: m.SessionEndedEvent) -> list[Event]:
        """The turn that was open ends too; a failure is one of a turn even if nothing was said in it."""
        total, before = usage_of(item.final_usage), self._used
        events: list[Event] = []
        if self._ledger.busy(self._ledger.current) or item.reason != "completed":
            rest = since(total, before) if total is not None and before is not None else total
            outcome = _OUTCOMES.get(item.reason, "failed")
            error = ev.ErrorInfo(message=item.error) if item.error is not None else None
            events.append(ev.TurnEnded(outcome=outcome, error=error, usage=rest, synthesized=True))
        if item.reason == "timeout":
            self._exit = Exit(reason="timeout")
        self._used = total or before
        ended = ev.SessionStatus(status="ended", message=item.error, ext={ENDED: msgspec.to_builtins(item)})
        return [*events, ended]

    def _system(self, item: m.SystemEvent) -> list[Event]:
        event = event_of(item.subtype, item.data)
        return [event] if event is not None else []


_IN_TURNS: Final = (
    m.TextChunkEvent,
    m.RawDeltaEvent,
    m.ReasoningEvent,
    m.ToolStartedEvent,
    m.ToolProgressEvent,
    m.ToolCompletedEvent,
    m.FileChangedEvent,
    m.TodoListEvent,
    m.TurnCompletedEvent,
)
"""What is said inside turns only."""


def _is_chunk(item: m.AgentEvent | str) -> TypeGuard[Chunk]:
    """A piece of what the agent says."""
    if isinstance(item, m.TextChunkEvent):
        return item.is_partial and item.role != "user"
    return isinstance(item, m.RawDeltaEvent) and item.kind == "text"


def _item(line: bytes) -> m.AgentEvent | str:
    """The item on a line, or why it is none."""
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return str(error)
