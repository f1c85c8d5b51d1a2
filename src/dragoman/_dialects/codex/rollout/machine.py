"""The machine of Codex's session files: everything that has to be remembered from line to line."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from dragoman._dialects.codex.rollout import messages as m
from dragoman._dialects.codex.rollout import translate
from dragoman._dialects.codex.rollout.items import Items
from dragoman._dialects.codex.rollout.responses import Responses
from dragoman._dialects.codex.shared import values as v
from dragoman._dialects.codex.shared.agents import Agents
from dragoman._dialects.codex.shared.calls import Calls
from dragoman._dialects.codex.shared.events import CoreEvents
from dragoman._dialects.codex.shared.turns import Aside, Turns
from dragoman._model import events as ev
from dragoman._model.frames import Exit
from dragoman._model.usage import Usage
from dragoman._wire import fields
from dragoman._wire.machine import Machine
from dragoman._wire.textblocks import Growing

Native = dict[str, Any]


class CodexRollout(Machine):
    """The files of one thread, or of several that belong together, in reading order."""

    dialect: ClassVar[str] = "codex_rollout"

    def __init__(self, agent: str = "codex") -> None:
        super().__init__(agent)
        ledger, said = self.ledger, set[str]()
        self._thread: str | None = None
        """The thread whose file is being read; a subagent's is no session of its own."""
        self._ancestors: set[str] = set()
        """The threads that this one comes of: its file may begin with a copy of their history."""
        self._own_from = 0
        """Lines with a smaller ordinal are such a copy; 0 if the file does not say."""
        self._began = False
        """A turn of the thread's own has begun."""
        self._agents = Agents(ledger)
        self._growing = Growing(ledger.put)
        self._core = CoreEvents(ledger, Turns(ledger), self._growing)
        self._items = Items(self._core, self._agents, said)
        self._responses = Responses(ledger, self._core, said)

    @property
    def _turns(self) -> Turns:
        return self._core.turns

    def read(self, line: bytes) -> Iterable[Any]:
        return (m.READER.read(line),)

    def on_message(self, line: m.Line) -> None:
        self.ledger.agent_time = line.timestamp
        self.ledger.native_type = translate.native_type(line)
        if self._is_copied(line):
            play_back = self._COPIED.get(line.type)
            if play_back is not None:
                play_back(self, line)
            return
        handler = self._HANDLERS.get(line.type)
        if handler is not None:
            handler(self, line)

    def on_end(self, exit: Exit) -> None:
        self._turns.finish()

    # --- threads -----------------------------------------------------------------------------------------

    def _session_meta(self, line: m.Line) -> None:
        meta = line.payload
        thread = fields.text(meta, "id", "session_id")
        if thread is None:
            return
        if thread in self._ancestors and not self._began:
            self._ancestors |= translate.ancestors(meta)  # a fork of a fork has them all
            return
        if thread != self._thread:
            self._turns.finish()
            self._growing.forget()
            self._enter(thread, meta)
        elif "history_base" in meta:  # turns were taken back: the thread goes on in another file
            self._turns.finish()
            self._turns.rebase()
        self._own_from = fields.integer(meta, "subagent_history_start_ordinal") or 0
        self._turns.of_session(translate.session(meta))

    def _enter(self, thread: str, meta: Native) -> None:
        """Another thread's file begins. A subagent's belongs to the call that started it, if that was read."""
        self._thread, self._ancestors, self._began = thread, translate.ancestors(meta), False
        subagent = translate.is_subagent(meta)
        if subagent and self._agents.call_of(thread) is not None:
            self._core.turns = Aside(self.ledger, self._agents, thread)
            return
        based = "history_base" in meta or fields.text(meta, "forked_from_id") is not None
        calls = Calls(thread, agent_id=thread if subagent else None)
        self._core.turns = Turns(self.ledger, before=None if based else Usage(), calls=calls)
        self.ledger.name_session(thread)

    def _turn_context(self, line: m.Line) -> None:
        context, calls = translate.context(line.payload), self._turns.calls
        calls.model = context.model or calls.model
        calls.enter(fields.text(line.payload, "turn_id"))
        if not calls.copied:
            self._turns.of_session(context)

    # --- the history of another thread -------------------------------------------------------------------

    def _is_copied(self, line: m.Line) -> bool:
        """Whether a line is one of another thread's, which this thread's file repeats: the newer form says where its own
        begin, of the older one the turns tell."""
        calls = self._turns.calls
        if self._own_from:
            calls.copied = line.ordinal is not None and 0 < line.ordinal < self._own_from
        elif translate.begins_turn(line):
            turn_id = fields.text(line.payload, "turn_id")
            calls.copied = bool(self._ancestors) and translate.is_older(turn_id, self._thread)
        if not calls.copied and not self._began:
            self._began = translate.begins_turn(line)
        return calls.copied and line.type != "session_meta"

    def _copied_event(self, line: m.Line) -> None:
        """Of what happened there, only the calls of the model are told: what it had used by then is where this thread's
        totals begin."""
        own = fields.text(line.payload, "thread_id") == self._thread  # settings, before its first turn
        if own or fields.text(line.payload, "type") == "token_count":
            self._core.receive(line.payload)
        elif translate.begins_turn(line):
            self._turns.calls.enter(fields.text(line.payload, "turn_id"))

    # --- history -----------------------------------------------------------------------------------------

    def _event(self, line: m.Line) -> None:
        payload = line.payload
        kind = fields.text(payload, "type")
        if kind in ("item_completed", "item_started"):
            known = kind == "item_started" or self._items.receive(fields.mapping(payload, "item"))
        else:
            known = self._core.receive(payload)
        if not known:
            self.ledger.put(ev.NativeUnknown(native_type=self.ledger.native_type))

    def _response(self, line: m.Line) -> None:
        if fields.flag(line.metadata, "compaction_output"):
            return  # the summary, which the compacted line repeats
        if not self._responses.receive(line.payload):
            self.ledger.put(ev.NativeUnknown(native_type=self.ledger.native_type))

    def _usage_record(self, line: m.Line) -> None:
        """One call to the model, and what its turn has used so far."""
        usage, turn = (v.usage_of(line.payload.get(key)) for key in ("usage", "turn_token_usage"))
        calls = self._turns.calls
        if turn is not None and not calls.copied:
            self._turns.count_turn(turn)
        if usage is not None:
            self._turns.call(calls.record(usage, fields.text(line.payload, "turn_id")))

    def _compacted(self, line: m.Line) -> None:
        self._core.compact(fields.text(line.payload, "message") or "")

    _HANDLERS: ClassVar[dict[str, Callable[[Any, m.Line], None]]] = {
        "session_meta": _session_meta,
        "event_msg": _event,
        "response_item": _response,
        "turn_context": _turn_context,
        "token_usage_record": _usage_record,
        "compacted": _compacted,
    }

    _COPIED: ClassVar[dict[str, Callable[[Any, m.Line], None]]] = {
        "event_msg": _copied_event,
        "response_item": lambda self, line: self._responses.replay(line.payload),
        "turn_context": _turn_context,
        "token_usage_record": _usage_record,
    }


MACHINE = CodexRollout
