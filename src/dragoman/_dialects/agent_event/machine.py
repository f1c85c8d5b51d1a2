"""The machine of AgentEvent files: everything that has to be remembered from line to line.

What the model does not say and canonical streams always have (the turns around what is said, the ends of tools) is
synthesized. Each item stays on the event that says it (`messages.ITEMS`), so that the view shows it as it was.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, Literal

import msgspec
from msgspec import Struct, field

from dragoman._dialects.agent_event import messages as m
from dragoman._dialects.agent_event import translate
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.frames import Exit
from dragoman._model.usage import Usage, added, since
from dragoman._wire.machine import Machine, Output

TextKind = Literal["text", "thinking"]


class OpenText(Struct):
    """A text of which pieces were said, but not yet the whole."""

    id: str
    kind: TextKind
    repeats: bool
    """Each piece so far began with all that was said before, as `codex exec` does it."""
    last: str = ""
    """The last piece, as it was said."""
    parts: list[str] = field(default_factory=list)
    """What was new in each piece."""

    def grow(self, piece: str) -> str:
        """What is new in `piece`."""
        self.repeats = self.repeats and piece.startswith(self.last)
        new = piece[len(self.last) :] if self.repeats else piece
        self.last = piece
        self.parts.append(new)
        return new

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def amounts_to(self, whole: str) -> bool:
        """Whether `whole` is this text. Thoughts are summed up in other words than they were said in (capture
        codex_app/0.166.0/basic)."""
        if self.kind == "thinking":
            return True
        return whole.startswith(self.text) if self.repeats else whole == self.text


class AgentEventFile(Machine):
    """One file: the sessions of one agent."""

    dialect: ClassVar[str] = m.DIALECT

    def __init__(self, agent: str = "") -> None:
        super().__init__(agent)
        self._agent_type = ""
        self._texts: dict[str | None, OpenText] = {}
        """By session: one at a time."""
        self._count = 0
        self._usage_by_session: dict[str | None, Usage] = {}
        """By session: what its turns took."""
        self._timed_out = False
        self._handlers: dict[type[m.AgentEvent], Callable[[Any], Event]] = {
            m.SessionStartedEvent: self._session_started,
            m.TextChunkEvent: self._text_chunk,
            m.RawDeltaEvent: self._raw_delta,
            m.ReasoningEvent: self._reasoning,
            m.ToolStartedEvent: translate.tool_started,
            m.ToolProgressEvent: translate.tool_progress,
            m.ToolCompletedEvent: translate.tool_completed,
            m.FileChangedEvent: translate.file_changed,
            m.TodoListEvent: translate.todo_list,
            m.TurnStartedEvent: self._turn_started,
            m.TurnCompletedEvent: self._turn_completed,
            m.SessionEndedEvent: self._session_ended,
            m.ErrorEvent: translate.error,
            m.RetryEvent: translate.retry,
            m.SystemEvent: translate.system,
        }

    def read(self, line: bytes) -> Iterable[Any]:
        return (m.ITEMS.read(line),)

    def on_message(self, item: m.AgentEvent) -> None:
        ledger = self.ledger
        if item.session_id:
            ledger.name_session(item.session_id)
        ledger.agent_time = item.timestamp or None
        ledger.native_type = str(item.__struct_config__.tag)
        if isinstance(item, _IN_TURNS) and not ledger.busy(ledger.current):
            ledger.put(ev.TurnStarted(synthesized=True))
        if isinstance(item, _AFTER_TEXTS):
            self._close_text()
        self._keep(item, self._handlers[type(item)](item))

    def _keep(self, item: m.AgentEvent, event: Event) -> None:
        """Put `event` with the item that it says. Where the ledger made something else of it (a session that starts
        twice), native.known keeps the item."""
        self.ledger.put(event)
        if not event.seq:
            event = ev.NativeKnown(native_type=self.ledger.native_type)
            self.ledger.put(event)
        m.ITEMS.keep(event, item)

    def end(self, exit: Exit) -> Output:
        """A sessionEnded that says `timeout` is why the run ended, where nothing else is known."""
        if self._timed_out and exit.reason is None:
            exit = msgspec.structs.replace(exit, reason="timeout")
        return super().end(exit)

    # --- texts -------------------------------------------------------------------------------------------

    def _text_chunk(self, item: m.TextChunkEvent) -> Event:
        if item.role == "user":
            self._close_text()
            return ev.Message(role="user", text=item.content, message_id=self._next_id())
        return (self._piece if item.is_partial else self._whole)("text", item.content)

    def _reasoning(self, item: m.ReasoningEvent) -> Event:
        return (self._piece if item.is_partial else self._whole)("thinking", item.content)

    def _raw_delta(self, item: m.RawDeltaEvent) -> Event:
        if item.kind == "text" or item.kind == "thinking":
            return self._piece(item.kind, item.content)
        return translate.raw_delta(item)

    def _piece(self, kind: TextKind, piece: str) -> Event:
        text = self._texts.get(self.ledger.current)
        if text is None or text.kind != kind:
            self._close_text()
            text = OpenText(self._next_id(), kind, repeats=self._agent_type == "codex")
            self._texts[self.ledger.current] = text
        return ev.Delta(kind=kind, text=text.grow(piece), message_id=text.id)

    def _whole(self, kind: TextKind, whole: str) -> Event:
        """The message of the pieces before it, if they amount to it; else one of its own."""
        text, id = self._texts.get(self.ledger.current), self._next_id()
        if text is not None and text.kind == kind and text.amounts_to(whole):
            del self._texts[self.ledger.current]
            id = text.id
            if text.repeats and whole.startswith(text.text) and whole != text.text:
                rest = whole[len(text.text) :]
                self.ledger.put(ev.Delta(kind=kind, text=rest, message_id=id, synthesized=True))
        self._close_text()
        return ev.Message(role="assistant", kind=kind, text=whole, message_id=id)

    def _close_text(self) -> None:
        """Something else comes: what was said so far is a message."""
        text = self._texts.pop(self.ledger.current, None)
        if text is not None:
            self.ledger.put(
                ev.Message(
                    role="assistant", kind=text.kind, text=text.text, message_id=text.id, synthesized=True
                )
            )

    def _next_id(self) -> str:
        self._count += 1
        return f"text-{self._count}"

    # --- the session and its turns -----------------------------------------------------------------------

    def _session_started(self, item: m.SessionStartedEvent) -> Event:
        self._agent_type = item.agent_type
        return translate.session_started(item)

    def _turn_started(self, item: m.TurnStartedEvent) -> Event:
        """A turn that was only inferred, because something was said before, ends where a real one starts."""
        if self.ledger.busy(self.ledger.current):
            self.ledger.put(ev.TurnEnded(outcome="truncated", synthesized=True))
        return ev.TurnStarted(prompt=item.prompt)

    def _turn_completed(self, item: m.TurnCompletedEvent) -> Event:
        ended, session = translate.turn_completed(item), self.ledger.current
        if ended.usage is not None:
            before = self._usage_by_session.get(session)
            self._usage_by_session[session] = (
                added(before, ended.usage) if before is not None else ended.usage
            )
        return ended

    def _session_ended(self, item: m.SessionEndedEvent) -> Event:
        """The turn that was open ends too. A failure is one of a turn even if nothing was said in it, and so is what
        was used beyond the turns that were told."""
        total, before = (
            translate.usage_of(item.final_usage),
            self._usage_by_session.get(self.ledger.current) or Usage(),
        )
        unseen = ((total or Usage()).total_tokens or 0) > (before.total_tokens or 0)
        if unseen or item.reason != "completed" or self.ledger.busy(self.ledger.current):
            self.ledger.put(translate.last_turn(item, since(total, before) if total is not None else None))
        self._timed_out = item.reason == "timeout"
        return translate.session_ended(item)


_AFTER_TEXTS: Final = (
    m.ToolStartedEvent,
    m.FileChangedEvent,
    m.TodoListEvent,
    m.TurnStartedEvent,
    m.TurnCompletedEvent,
    m.SessionEndedEvent,
)
"""What comes after a text, never between its pieces."""

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

MACHINE = AgentEventFile
