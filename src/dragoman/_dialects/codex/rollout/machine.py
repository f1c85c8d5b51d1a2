"""The machine of Codex's session files: everything that has to be remembered from line to line."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from dragoman._dialects.codex.rollout import messages as m
from dragoman._dialects.codex.rollout import translate
from dragoman._dialects.codex.rollout.items import Items
from dragoman._dialects.codex.rollout.responses import Responses
from dragoman._dialects.codex.shared import values as v
from dragoman._dialects.codex.shared.agents import Agents
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
        self._meta: Native = {}
        self._inherited = 0
        """Lines with a smaller ordinal are the parent's history, repeated."""
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
        if line.ordinal is not None and 0 < line.ordinal < self._inherited:
            if line.type == "response_item":
                self._responses.replay(line.payload)
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
        if thread is None or self._repeats_parent(thread):
            return
        if thread != self._thread:
            self._turns.finish()
            self._growing.forget()
            self._enter(thread, meta)
        elif "history_base" in meta:  # turns were taken back: the thread goes on in another file
            self._turns.finish()
            self._turns.rebase()
        self._thread, self._meta = thread, meta
        self._inherited = fields.integer(meta, "subagent_history_start_ordinal") or 0
        if not isinstance(self._turns, Aside):
            self.ledger.put(translate.session(meta))

    def _repeats_parent(self, thread: str) -> bool:
        """Whether a session_meta is the parent's: a fork's file may have it after its own (capture
        app_subagent_v2)."""
        parents = (fields.text(self._meta, "forked_from_id"), fields.text(self._meta, "parent_thread_id"))
        return thread in parents and not self._turns.open and self.ledger.turn() == 0

    def _enter(self, thread: str, meta: Native) -> None:
        """Another thread's file begins. A subagent's belongs to the call that started it, if that was read."""
        if translate.is_subagent(meta) and self._agents.call_of(thread) is not None:
            self._core.turns = Aside(self.ledger, self._agents, thread)
            return
        based = "history_base" in meta or fields.text(meta, "forked_from_id") is not None
        self._core.turns = Turns(self.ledger, before=None if based else Usage())
        self.ledger.name_session(thread)

    def _turn_context(self, line: m.Line) -> None:
        if not isinstance(self._turns, Aside):
            self.ledger.put(translate.context(line.payload))

    # --- history -----------------------------------------------------------------------------------------

    def _event(self, line: m.Line) -> None:
        payload = line.payload
        kind = fields.text(payload, "type")
        if kind in ("item_completed", "item_started"):
            known = kind == "item_started" or self._items.receive(fields.mapping(payload, "item"))
        elif kind in _OF_SESSIONS and isinstance(self._turns, Aside):
            known = True
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
        if turn is not None:
            self._turns.count_turn(turn)
        if usage is not None:
            self._turns.late(ev.UsageUpdated(scope="call", usage=usage))

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


_OF_SESSIONS = ("thread_settings_applied", "thread_name_updated", "token_count")
"""What is said of a thread as a whole: of a subagent's it is nobody's, for it is no session here."""

MACHINE = CodexRollout
