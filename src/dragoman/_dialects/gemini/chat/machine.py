"""The machine of Gemini CLI's session files: everything that has to be remembered from line to line."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from msgspec import Struct

from dragoman._dialects.gemini.chat import messages as m
from dragoman._dialects.gemini.chat import translate
from dragoman._dialects.gemini.shared.content import blocks_of, parts_of, text_of
from dragoman._dialects.gemini.shared.tools import PLAN_TOOLS, SUBAGENT_TOOL, plan_entries, subagent_started
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.events import Event
from dragoman._model.frames import Exit
from dragoman._model.usage import Usage, summed
from dragoman._wire.jsontext import Invalid
from dragoman._wire.machine import Machine
from dragoman._wire.turns import Turn


class Known(Struct):
    """The state of a message so far; later lines may add to it, up to the end of the file."""

    text: int | None = None
    """The hash of its text: a session's texts are not kept."""
    thoughts: int = 0
    tokens: m.Tokens | None = None
    ended: set[str] | None = None
    """Its calls that have ended."""


class GeminiChat(Machine):
    """The files of one session, or of several, in reading order."""

    dialect: ClassVar[str] = "gemini_chat"

    def __init__(self, agent: str = "gemini") -> None:
        super().__init__(agent)
        self._known: dict[str, Known] = {}
        self._turn: Turn | None = None
        self._subagent: str | None = None
        """Whose file this is, if it is a subagent's."""
        self._spent: dict[str, tuple[str | None, Usage]] = {}
        """Model and tokens of each message of that subagent."""
        self._parent: str | None = None
        self._callers: dict[str, str] = {}
        """Calls by the subagent that they started."""
        self._history: set[str] = set()
        """Calls of the history that is played back, without an answer so far."""
        self._title: str | None = None
        self._document: list[bytes] | None = None
        """The lines so far of a file that is one JSON object over many lines."""

    # --- lines -------------------------------------------------------------------------------------------

    def read(self, line: bytes) -> Iterable[Any]:
        """Older files are one JSON object over many lines: its last line brings the message."""
        if self._document is None and line.strip() != b"{":
            return (m.READER.read(line),)
        if self._document is None:
            self._document = []
        self._document.append(line)
        self.ledger.native_type = "document"
        if line.rstrip() != b"}":
            return ()
        message = m.READER.read(b"\n".join(self._document))
        if isinstance(message, Invalid):
            return ()
        self._document = None
        return (message,)

    def on_message(self, line: m.Line) -> None:
        self.ledger.native_type = m.native_type(line)
        self._HANDLERS[type(line)](self, line)

    def on_end(self, exit: Exit) -> None:
        if self._document is not None:
            self.take(m.READER.read(b"\n".join(self._document)))
        if self._subagent is not None:
            self._end_subagent(synthesized=True)
        self._parent = None
        self._end_turn()

    def _put(self, event: Event) -> None:
        event.parent = self._parent
        self.ledger.put(event)

    # --- sessions and turns ------------------------------------------------------------------------------

    def _head(self, head: m.Head) -> None:
        """Take in a header line. A file may have several: every process that goes on with it writes one."""
        self.ledger.agent_time = head.startTime
        subagent = head.sessionId if head.kind == "subagent" else None
        if subagent != self._subagent:
            self._subagent, self._spent = subagent, {}
        self._parent = self._callers.get(self._subagent) if self._subagent is not None else None
        if self._subagent is None:
            self._name_session(head.sessionId)
            cwd = head.directories[0] if head.directories else None
            self.ledger.put(ev.SessionStarted(cwd=cwd))
        else:
            if self.ledger.current is None:
                self.ledger.name_session(self._subagent)
            self._put(ev.SubagentStarted(call_id=self._parent, agent_id=self._subagent))
        for entry in head.messages:
            self._entry(entry, replay=False)
        self._summed_up(head.summary)

    def _name_session(self, session: str | None) -> None:
        if session is not None and session != self.ledger.current:
            self._end_turn()
            self.ledger.name_session(session)

    def _update(self, facts: m.Facts) -> None:
        if self._subagent is None:
            self._name_session(facts.sessionId)
        for entry in facts.messages or ():
            if entry.id not in self._known:
                self._entry(entry, replay=not translate.is_written(entry))
        self._summed_up(facts.summary)

    def _summed_up(self, summary: str | None) -> None:
        if summary is None:
            return
        if self._subagent is not None:
            self._end_subagent(status="completed", summary=summary)
        elif summary != self._title:
            self._title = summary
            self.ledger.put(ev.SessionUpdated(title=summary))

    def _end_subagent(self, **said: Any) -> None:
        """Put the end of the subagent whose file this is, with the sum of its calls."""
        usage, _ = summed(self._spent.values())
        self._put(ev.SubagentEnded(call_id=self._parent, agent_id=self._subagent, usage=usage, **said))

    def _rewind(self, rewind: m.Rewind) -> None:
        """Take in that the user took back a message and all behind it."""
        self._end_turn()
        self.ledger.put(ev.SessionStatus(status="rewound", message=rewind.to))

    def _end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            self.ledger.put(turn.turn_ended())

    # --- entries -----------------------------------------------------------------------------------------

    def _entry(self, entry: m.Entry, *, replay: bool) -> None:
        kind = self._KINDS.get(entry.type)
        if kind is None:
            self.ledger.put(ev.NativeUnknown(native_type=entry.type or None))
            return
        self.ledger.agent_time = entry.timestamp
        kind(self, entry, replay)
        if self._turn is not None and self._subagent is None and not replay:
            self._turn.time = entry.timestamp or self._turn.time

    def _user(self, entry: m.Entry, replay: bool) -> None:
        known, text = self._knowledge(entry), text_of(entry.content)
        answers = [part.value for part in parts_of(entry.content) if part.kind == "answer"]
        for answer in answers:
            self._end_from_answer(translate.tool_ended_by_answer(answer, replay=replay))
        blocks = blocks_of(entry.content)
        if answers or hash(text) == known.text or not (text or blocks):
            return  # what stands beside an answer (an image) is a part of it
        known.text = hash(text)
        message = ev.Message(
            role="user", text=text or None, blocks=blocks, message_id=entry.id, replay=replay
        )
        if translate.is_written(entry):
            self._written(text)
            message.synthetic = True
        elif self._subagent is None and not replay:
            self._end_turn()
            self._turn = Turn()
            shown = text_of(entry.displayContent) or text
            self.ledger.put(ev.TurnStarted(prompt=shown, native_turn_id=entry.id or None))
        self._put(message)

    def _written(self, text: str) -> None:
        """Take in a text that the CLI wrote in the user's name: the session's context, a summary, or a
        warning to the model."""
        cwd = translate.directory_in(text)
        if cwd is not None and self._subagent is None:
            self.ledger.put(ev.SessionStarted(cwd=cwd))
        if text.startswith(translate.SNAPSHOT):
            self._put(ev.ContextCompacted(summary=text))
        if text.startswith(translate.LOOP) and self._turn is not None:
            self._turn.came_to("limited", error=ev.ErrorInfo(message=text))

    def _gemini(self, entry: m.Entry, replay: bool) -> None:
        known = self._knowledge(entry)
        parts = list(parts_of(entry.content))
        thoughts = [translate.thought_text(thought) for thought in entry.thoughts or ()]
        thoughts += [part.value for part in parts if part.kind == "thought"]
        for index, thought in enumerate(thoughts[known.thoughts :], known.thoughts + 1):
            self._say("thinking", thought, index, entry, replay)
        known.thoughts = max(known.thoughts, len(thoughts))
        text = text_of(entry.content)
        if text and hash(text) != known.text:
            known.text = hash(text)
            self._say("text", text, 0, entry, replay)
        if (
            entry.model is not None
            and self._subagent is None
            and entry.model != self.ledger.facts().get("model")
        ):
            self.ledger.put(ev.SessionStarted(model=entry.model))
        if entry.tokens is not None and entry.tokens != known.tokens:
            known.tokens = entry.tokens
            self._count_tokens(entry, entry.tokens, replay)
        for part in parts:
            if part.kind == "call":
                self._on_tool_call(translate.call_of(part.value), known, entry, replay)
        for call in entry.toolCalls or ():
            self._on_tool_call(call, known, entry, replay)
        if self._turn is not None and self._subagent is None and not replay:
            self._judge(self._turn, entry, text)

    def _say(self, kind: ev.MessageKind, text: str, block: int, entry: m.Entry, replay: bool) -> None:
        self._put(
            ev.Message(
                role="assistant",
                kind=kind,
                text=text,
                message_id=entry.id,
                block=block,
                model=entry.model,
                replay=replay,
            )
        )

    def _judge(self, turn: Turn, entry: m.Entry, text: str) -> None:
        """Set the outcome of a turn by an answer: without calls it is the last one; after calls something
        should have followed."""
        calls = entry.toolCalls or ()
        if any(call.status == "cancelled" for call in calls):
            turn.came_to("cancelled")
        elif text and not calls:
            turn.came_to("completed", text)
        else:
            turn.came_to("truncated")

    def _count_tokens(self, entry: m.Entry, tokens: m.Tokens, replay: bool) -> None:
        usage = translate.usage_of(tokens)
        self._put(
            ev.UsageUpdated(
                scope="call",
                usage=usage,
                model=entry.model,
                message_id=entry.id,
                call=entry.id or None,
                agent_id=self._subagent,
                replay=replay,
            )
        )
        if self._subagent is not None:
            self._spent[entry.id] = (entry.model, usage)
        elif self._turn is not None and not replay:
            self._turn.usage[entry.id] = (entry.model, usage)

    def _notice(self, entry: m.Entry, severity: Any) -> None:
        self._put(ev.Notice(severity=severity, message=text_of(entry.content)))

    def _on_error(self, entry: m.Entry) -> None:
        text = text_of(entry.content)
        self._put(ev.Error(message=text))
        if self._turn is not None:
            self._turn.came_to("failed", error=ev.ErrorInfo(message=text))

    def _knowledge(self, entry: m.Entry) -> Known:
        return self._known.setdefault(entry.id, Known())

    # --- tools -------------------------------------------------------------------------------------------

    def _on_tool_call(self, call: m.ToolCall, known: Known, entry: m.Entry, replay: bool) -> None:
        if known.ended is not None and call.id in known.ended:
            return
        started = toolnames.tool_started(call.id, call.name, call.args)
        started.model, started.replay = entry.model, replay
        self._put(started)
        if replay:
            self._history.add(call.id)
        elif call.name == SUBAGENT_TOOL:
            self._put(subagent_started(call.id, call.args, call.agentId))
            if call.agentId is not None:
                self._callers[call.agentId] = call.id
        ended = translate.tool_ended(call)
        if ended is None:
            return
        known.ended = known.ended or set()
        known.ended.add(call.id)
        ended.agent_time, ended.replay = call.timestamp, replay
        if not replay:
            self._consequences(call, ended)
        self._put(ended)

    def _consequences(self, call: m.ToolCall, ended: ev.ToolEnded) -> None:
        """Put the file change, plan or subagent's end that a call led to."""
        change = translate.change_of(call)
        if change is not None:
            self._put(change)
        if call.name in PLAN_TOOLS and ended.status == "completed":
            self._put(ev.PlanUpdated(entries=plan_entries(call.args)))
        if call.name == SUBAGENT_TOOL:
            self._put(
                ev.SubagentEnded(
                    call_id=call.id, agent_id=call.agentId, status=ended.status, summary=ended.output
                )
            )

    def _end_from_answer(self, ended: ev.ToolEnded) -> None:
        """Put the end of a call from the model's answer, if the call itself had none."""
        if ended.replay:
            answers = ended.call_id in self._history
            self._history.discard(ended.call_id)
        else:
            answers = self.ledger.tool_open(ended.call_id)
        if answers:
            self._put(ended)

    # --- tables ------------------------------------------------------------------------------------------

    _HANDLERS: ClassVar[dict[type[m.Line], Callable[[Any, Any], None]]] = {
        m.Head: _head,
        m.Entry: lambda self, entry: self._entry(entry, replay=False),
        m.Update: lambda self, update: self._update(update.set),
        m.Rewind: _rewind,
    }

    _KINDS: ClassVar[dict[str, Callable[[Any, m.Entry, bool], None]]] = {
        "user": _user,
        "gemini": _gemini,
        "info": lambda self, entry, replay: self._notice(entry, "info"),
        "warning": lambda self, entry, replay: self._notice(entry, "warning"),
        "error": lambda self, entry, replay: self._on_error(entry),
    }


MACHINE = GeminiChat
