"""The machine of InsightsEvent files: everything that has to be remembered from line to line.

What the model does not say and canonical streams always have (the turns around what is said, the ends of tools) is
synthesized. Each item stays on the event that says it (`messages.ITEMS`), so that the view shows it as it was.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, Literal

from msgspec import Struct, field

from dragoman._dialects.insights import messages as m
from dragoman._dialects.insights import translate
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._wire.machine import Machine


class OpenText(Struct):
    """A text of which deltas were said, but not yet the whole."""

    id: str
    kind: Literal["text", "thinking"]
    block: int | None
    parts: list[str] = field(default_factory=list)


Speaker = tuple[str | None, str | None]
"""A session, and the call whose subagent speaks in it."""
Call = tuple[str | None, str]
"""A session, and the id of a tool call in it."""


class InsightsFile(Machine):
    """One file: the sessions of one provider."""

    dialect: ClassVar[str] = m.DIALECT

    def __init__(self, agent: str = "") -> None:
        super().__init__(agent)
        self._sessions: dict[str | None, dict[str, Any]] = {}
        """What was last told of each."""
        self._calls: dict[Call, m.ToolInvocationEvent] = {}
        """Those at work, as they were last told."""
        self._done: set[Call] = set()
        """Calls that have ended. One that begins again is history, which an agent plays back under the same ids."""
        self._texts: dict[Speaker, dict[str, OpenText]] = {}
        """By kind."""
        self._count = 0
        self._handlers: dict[type[m.InsightsEvent], Callable[[Any], Event]] = {
            m.SessionInitEvent: self._session_init,
            m.SessionStatusEvent: translate.session_status,
            m.TextEvent: self._text,
            m.UserInputEvent: self._user_input,
            m.ToolInvocationEvent: self._tool_invocation,
            m.ToolCompletionEvent: self._tool_completion,
            m.SubagentSpawnEvent: translate.subagent_spawn,
            m.SubagentCompleteEvent: translate.subagent_complete,
            m.TurnCompleteEvent: translate.turn_complete,
            m.ContextCompactionEvent: translate.context_compaction,
            m.PermissionRequestEvent: self._permission_request,
            m.StreamDeltaEvent: self._stream_delta,
            m.ConfigOptionsEvent: translate.config_options,
            m.AvailableCommandsEvent: translate.available_commands,
            m.SessionModeEvent: translate.session_mode,
            m.UsageUpdateEvent: translate.usage_update,
            m.RateLimitUpdateEvent: translate.rate_limit,
        }

    def read(self, line: bytes) -> Iterable[Any]:
        return (m.ITEMS.read(line),)

    def on_message(self, item: m.InsightsEvent) -> None:
        ledger = self.ledger
        if item.session_id:
            ledger.name_session(item.session_id)
        ledger.agent_time = item.timestamp or None
        ledger.native_type = str(item.__struct_config__.tag)
        if isinstance(item, _IN_TURNS) and not ledger.busy(ledger.current):
            ledger.put(translate.turn_started(item))
        self._keep(item, self._handlers[type(item)](item))

    def _keep(self, item: m.InsightsEvent, event: Event) -> None:
        """Put `event` with the item that it says, and with its extensions. Where the ledger made something else of
        it (a session that is told again), native.known keeps the item."""
        event.ext = {**(item.extensions or {}), **event.ext}
        self.ledger.put(event)
        if not event.seq:
            event = ev.NativeKnown(native_type=self.ledger.native_type)
            self.ledger.put(event)
        m.ITEMS.keep(event, item)

    def _session_init(self, item: m.SessionInitEvent) -> Event:
        """Told again, only what has changed."""
        facts, before = translate.session(item), self._sessions.get(self.ledger.current)
        self._sessions[self.ledger.current] = facts
        if before is None:
            return ev.SessionStarted(**facts)
        changed = {name: value for name, value in facts.items() if value != before.get(name)}
        return ev.SessionUpdated(**changed) if changed else ev.NativeKnown(native_type="session_init")

    # --- what is said ------------------------------------------------------------------------------------

    def _text(self, item: m.TextEvent) -> Event:
        """The message of the deltas before it, if they amount to it; else one of its own."""
        message = translate.text(item)
        if not isinstance(message, ev.Message):
            return message
        texts = self._texts.get((self.ledger.current, item.parent_call_id), {})
        text = texts.get(item.kind)
        if text is not None and message.role == "assistant" and "".join(text.parts) == item.text:
            del texts[item.kind]
            message.message_id, message.block = text.id, text.block
        else:
            message.message_id = self._next_id()
        return message

    def _user_input(self, item: m.UserInputEvent) -> Event:
        message = translate.user_input(item)
        message.message_id = self._next_id()
        return message

    def _stream_delta(self, item: m.StreamDeltaEvent) -> Event:
        if item.kind == "toolInput":
            return translate.tool_input(item)
        if item.kind != "text" and item.kind != "thinking":
            return translate.boundary(item)
        texts = self._texts.setdefault((self.ledger.current, item.parent_call_id), {})
        text = texts.get(item.kind)
        if text is None or text.block != item.block_index:
            text = texts[item.kind] = OpenText(self._next_id(), item.kind, item.block_index)
        text.parts.append(item.text_delta or "")
        return ev.Delta(
            kind=item.kind,
            text=item.text_delta or "",
            message_id=text.id,
            block=text.block,
            call_id=item.call_id,
            parent=item.parent_call_id,
        )

    def _close_texts(self, parent: str | None) -> None:
        """Something else comes: what was said so far in deltas is a message, though none was told."""
        for text in self._texts.pop((self.ledger.current, parent), {}).values():
            self.ledger.put(
                ev.Message(
                    role="assistant",
                    kind=text.kind,
                    text="".join(text.parts),
                    message_id=text.id,
                    block=text.block,
                    parent=parent,
                    synthesized=True,
                )
            )

    def _next_id(self) -> str:
        self._count += 1
        return f"text-{self._count}"

    # --- tools and requests ------------------------------------------------------------------------------

    def _tool_invocation(self, item: m.ToolInvocationEvent) -> Event:
        """A call that is at work is told anew."""
        self._close_texts(item.parent_call_id)
        call = (self.ledger.current, item.call_id)
        before, self._calls[call] = self._calls.get(call), item
        event = translate.tool_started(item) if before is None else translate.tool_updated(item, before)
        event.replay = call in self._done
        return event

    def _tool_completion(self, item: m.ToolCompletionEvent) -> Event:
        call = (self.ledger.current, item.call_id)
        before = self._calls.pop(call, None)
        if before is not None and item.locations not in (None, before.locations):
            places = translate.locations(item)
            self.ledger.put(
                ev.ToolUpdated(call_id=item.call_id, locations=places, parent=before.parent_call_id)
            )
        ended = translate.tool_ended(item, before.parent_call_id if before is not None else None)
        ended.replay = call in self._done
        self._done.add(call)
        return ended

    def _permission_request(self, item: m.PermissionRequestEvent) -> Event:
        """One that is asked again was answered in between."""
        if item.request_id in self.ledger.requests:
            self.ledger.put(
                ev.PermissionResolved(request_id=item.request_id, outcome="allowed", synthesized=True)
            )
        return translate.permission(item)


_IN_TURNS: Final = (
    m.TextEvent,
    m.UserInputEvent,
    m.ToolInvocationEvent,
    m.ToolCompletionEvent,
    m.SubagentSpawnEvent,
    m.SubagentCompleteEvent,
    m.PermissionRequestEvent,
    m.StreamDeltaEvent,
)
"""What is said inside turns only."""

MACHINE = InsightsFile
