"""The machine of Qwen Code's session files: everything that has to be remembered from line to line."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from msgspec import Struct, field

from dragoman._dialects.gemini.qwen import messages as m
from dragoman._dialects.gemini.qwen import translate
from dragoman._dialects.gemini.shared.content import blocks_of, parts_of, shown_change, text_of
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.events import Event
from dragoman._model.frames import Exit
from dragoman._model.usage import Usage, summed
from dragoman._wire import fields
from dragoman._wire.machine import Machine
from dragoman._wire.turns import Turn

QUIET: Final = frozenset(
    (
        "attribution_snapshot", "file_history_snapshot", "branch_checkpoint", "background_task_completed",
        "session_artifact_event", "session_artifact_snapshot", "session_source", "session_sources_snapshot",
        "parent_session", "slash_command", "turn_result", "goal_state", "goal_runtime", "goal_turn_end",
        "user_text_elements", "omni_recall",
    )
)  # fmt: skip
"""Subtypes of the CLI's own bookkeeping."""

WRITTEN: Final = frozenset(("notification", "goal_runtime", "cron"))
"""Subtypes of what the CLI says in the user's name."""

STEERED: Final = "mid_turn_user_message"


class Subagent(Struct):
    call_id: str | None = None
    usage: dict[str, tuple[str | None, Usage]] = field(default_factory=dict)
    """Model and tokens of its calls."""
    told: bool = False
    """The main file has told of its calls."""
    text: str | None = None


class QwenChat(Machine):
    """The files of one session, or of several, in reading order."""

    dialect: ClassVar[str] = "qwen_chat"

    def __init__(self, agent: str = "qwen-code") -> None:
        super().__init__(agent)
        self._line = m.Record()
        self._seen: set[str] = set()
        self._turn: Turn | None = None
        self._typed: str | None = None
        """What the user typed, where the CLI put the files into it that it names."""
        self._counted = False
        """The call that the next answer came of has been counted."""
        self._open: dict[str, ev.ToolStarted] = {}
        """Calls that have not ended."""
        self._times: dict[str, float] = {}
        """How long calls took, in milliseconds."""
        self._subagents: dict[str, Subagent] = {}

    # --- lines -------------------------------------------------------------------------------------------

    def read(self, line: bytes) -> Iterable[Any]:
        return (m.READER.read(line),)

    def on_message(self, record: m.Record) -> None:
        self._line = record
        self.ledger.native_type, self.ledger.agent_time = m.native_type(record), record.timestamp
        if record.uuid is not None:
            if record.uuid in self._seen:
                return  # a fork has copies of what it was made from
            self._seen.add(record.uuid)
        if record.sessionId is not None and record.sessionId != self.ledger.current:
            self._end_turn()
            self.ledger.name_session(record.sessionId)
        if not record.isSidechain or not self.ledger.facts():
            self._facts(cwd=record.cwd, cli_version=record.version)
        self._KINDS[record.type](self, record)
        if self._turn is not None and not record.isSidechain:
            self._turn.time = record.timestamp or self._turn.time

    def on_end(self, exit: Exit) -> None:
        self._line = m.Record()
        for agent in list(self._subagents):
            self._end_subagent(agent, synthesized=True)
        self._end_turn()

    def _put(self, event: Event) -> None:
        """Put an event of the current line: a subagent's has the call that started it as its parent."""
        if event.parent is None and (worker := self._worker) is not None:
            event.parent = worker.call_id
        self.ledger.put(event)

    @property
    def _worker(self) -> Subagent | None:
        """The subagent whose line it is."""
        agent = self._line.agentId if self._line.isSidechain else None
        if agent is None:
            return None
        if agent not in self._subagents:
            self._subagents[agent] = Subagent()
            self.ledger.put(
                ev.SubagentStarted(agent_id=agent, agent_type=self._line.agentName, synthesized=True)
            )
        return self._subagents[agent]

    def _facts(self, **facts: str | None) -> None:
        """Put what is new of the session."""
        known = self.ledger.facts()
        new: dict[str, Any] = {
            name: value for name, value in facts.items() if value is not None and known.get(name) != value
        }
        if new:
            self.ledger.put(ev.SessionStarted(**new))

    # --- turns -------------------------------------------------------------------------------------------

    def _user(self, record: m.Record) -> None:
        text = text_of(record.message.parts)
        written = record.subtype in WRITTEN or record.provenance not in (None, "real_user")
        steers = self._turn is not None and (written or record.subtype == STEERED)
        shown = fields.text(record.systemPayload, "displayText") if not written else None
        typed, self._typed = shown or self._typed or text, None
        if not record.isSidechain and not steers:
            self._end_turn()
            self._turn = Turn()
            prompt = None if written else typed
            self.ledger.put(ev.TurnStarted(prompt=prompt, native_turn_id=record.uuid))
        self._put(
            ev.Message(
                role="user",
                text=text,
                blocks=blocks_of(record.message.parts),
                message_id=record.uuid,
                synthetic=written and not record.isSidechain,
            )
        )
        noted = translate.notification_of(text)
        if (agent := noted.get("task-id", "")) in self._subagents:
            self._end_subagent(agent, status=noted.get("status"), summary=noted.get("result"))

    def _end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            self.ledger.put(turn.turn_ended())

    def _came_to(
        self, outcome: ev.TurnOutcome, text: str | None = None, error: ev.ErrorInfo | None = None
    ) -> None:
        if self._turn is not None and not self._line.isSidechain:
            self._turn.came_to(outcome, text, error)

    # --- answers -----------------------------------------------------------------------------------------

    def _assistant(self, record: m.Record) -> None:
        worker, texts, calls = self._worker, [], 0
        if worker is None:
            self._facts(model=record.model)
        for block, part in enumerate(parts_of(record.message.parts)):
            if part.kind in ("text", "thought") and part.value:
                kind: ev.MessageKind = "text" if part.kind == "text" else "thinking"
                self._put(
                    ev.Message(
                        role="assistant",
                        kind=kind,
                        text=part.value,
                        message_id=record.uuid,
                        block=block,
                        model=record.model,
                    )
                )
                texts += [part.value] if part.kind == "text" else []
            elif part.kind == "call":
                calls += 1
                self._begin(part.value, record.model)
        if worker is not None:
            worker.text = "".join(texts) or worker.text
        if calls or not texts:
            self._came_to("truncated")
        else:
            self._came_to("completed", "".join(texts))
        self._count_answer(record, worker)

    def _count_answer(self, record: m.Record, worker: Subagent | None) -> None:
        """Count the call that an answer came of, where no telemetry did."""
        told = self._counted if worker is None else worker.told
        if worker is None:
            self._counted = False
        if record.usageMetadata is not None and not told:
            self._count(record.model, translate.usage_of(record.usageMetadata), record.agentId, in_turn=True)

    # --- tools -------------------------------------------------------------------------------------------

    def _begin(self, native: dict[str, Any], model: str | None) -> None:
        id, name = fields.text(native, "id") or "", fields.text(native, "name") or ""
        started = toolnames.tool_started(id, name, native.get("args"))
        started.model = model
        self._open[id] = started
        self._put(started)
        if name in translate.SUBAGENT_TOOLS:
            agent = translate.agent_of(id, started.input)
            self._subagents.setdefault(agent, Subagent(id))
            self._put(
                ev.SubagentStarted(
                    call_id=id,
                    agent_id=agent,
                    agent_type=fields.text(started.input, "subagent_type"),
                    description=fields.text(started.input, "description"),
                )
            )

    def _result(self, record: m.Record) -> None:
        ended = translate.tool_ended(record)
        started, time = self._open.pop(ended.call_id, None), self._times.pop(ended.call_id, None)
        ended.duration_ms = ended.duration_ms if ended.duration_ms is not None else time
        display = record.toolCallResult.resultDisplay if record.toolCallResult is not None else None
        new = (ended.output or "").startswith(translate.CREATED)
        change = shown_change(display, ended.call_id, applied=ended.status == "completed", new=new)
        if change is not None:
            self._put(change)
        if started is not None and started.name == translate.PLAN_TOOL and ended.status == "completed":
            self._put(ev.PlanUpdated(entries=translate.plan_entries(started.input)))
        self._put(ended)
        if started is not None and started.name in translate.SUBAGENT_TOOLS:
            self._ended_by(translate.agent_of(ended.call_id, started.input), ended, display)
        if ended.status == "declined" and self._turn is not None and not record.isSidechain:
            name, given = (started.name, started.input) if started is not None else (None, None)
            self._turn.denials.append(ev.Denial(tool_name=name, call_id=ended.call_id, input=given))
        if record.toolCallResult is not None and record.toolCallResult.status == "cancelled":
            self._came_to("cancelled")

    def _ended_by(self, agent: str, ended: ev.ToolEnded, display: Any) -> None:
        """Put the end of a subagent with that of its call, unless it works on in the background."""
        status = fields.text(display, "status")
        if fields.text(display, "executionMode") != "background" and status != "background":
            self._end_subagent(agent, status=status or ended.status, summary=ended.output)

    def _end_subagent(self, agent: str, *, summary: str | None = None, **said: Any) -> None:
        """Put the end of a subagent, with the sum of its calls."""
        worker = self._subagents[agent]
        usage, _ = summed(worker.usage.values())
        self.ledger.put(
            ev.SubagentEnded(
                call_id=worker.call_id, agent_id=agent, summary=summary or worker.text, usage=usage, **said
            )
        )

    # --- what the CLI notes ------------------------------------------------------------------------------

    def _system(self, record: m.Record) -> None:
        payload = record.systemPayload
        note = self._NOTES.get(record.subtype or "")
        if note is not None:
            note(self, payload)
        elif record.subtype not in QUIET:
            self.ledger.put(ev.NativeUnknown(native_type=m.native_type(record)))

    def _telemetry(self, payload: Any) -> None:
        event = fields.mapping(payload, "uiEvent")
        kind = fields.text(event, "event.name")
        if kind == "qwen-code.api_response":
            self._response(event)
        elif kind == "qwen-code.api_error":
            self._error(event)
        elif kind == "qwen-code.tool_call":
            time = fields.number(event, "duration_ms")
            if time is not None:
                self._times[fields.text(event, "call_id") or ""] = time

    def _response(self, event: dict[str, Any]) -> None:
        """A call to the model: of the session, of a subagent, or of the CLI's own for a summary or its memory."""
        agent = fields.text(event, "subagent_id")
        in_turn = agent is None and "########" in (fields.text(event, "prompt_id") or "")
        self._counted = self._counted or in_turn
        if agent in self._subagents:
            self._subagents[agent].told = True
        usage = translate.usage_of(translate.counted(event))
        self._count(fields.text(event, "model"), usage, agent, in_turn=in_turn)

    def _count(self, model: str | None, usage: Usage, agent: str | None, *, in_turn: bool) -> None:
        """Put the usage of a call. Its key is the line's id, which a fork keeps."""
        if not usage:
            return
        record, key = self._line, self._line.uuid or ""
        copied = record.forkedFrom is not None
        worker = self._subagents.get(agent) if agent is not None else None
        said = ev.UsageUpdated(
            scope="call", usage=usage, model=model, call=key or None, agent_id=agent, replay=copied
        )
        said.parent = worker.call_id if worker is not None else None
        self.ledger.put(said)
        if worker is not None:
            worker.usage[key] = model, usage
        elif in_turn and self._turn is not None and not copied:
            self._turn.usage[key] = model, usage

    def _error(self, event: dict[str, Any]) -> None:
        """A call that failed. One that was tried again has an answer behind it."""
        message, code = fields.text(event, "error_message") or "", fields.integer(event, "status_code")
        error = ev.ErrorInfo(message=message, code=str(code) if code is not None else None)
        self._put(ev.Error(message=message, code=error.code))
        if fields.text(event, "subagent_id") is None:
            self._came_to("failed", error=error)

    def _title(self, payload: Any) -> None:
        title = fields.text(payload, "customTitle")
        if title is not None and title != self.ledger.facts().get("title"):
            self.ledger.put(ev.SessionUpdated(title=title))

    def _rewound(self, payload: Any) -> None:
        self._end_turn()
        self.ledger.put(ev.SessionStatus(status="rewound"))

    def _named(self, payload: Any) -> None:
        """What the user typed, before the files in it were read."""
        self._typed = fields.text(payload, "userText")

    # --- tables ------------------------------------------------------------------------------------------

    _KINDS: ClassVar[dict[str, Callable[[Any, m.Record], None]]] = {
        "user": _user,
        "assistant": _assistant,
        "tool_result": _result,
        "system": _system,
    }

    _NOTES: ClassVar[dict[str, Callable[[Any, Any], None]]] = {
        "ui_telemetry": _telemetry,
        "chat_compression": lambda self, payload: self._put(translate.compacted(payload)),
        "custom_title": _title,
        "session_model": lambda self, payload: self._facts(model=fields.text(payload, "modelId", "model")),
        "rewind": _rewound,
        "at_command": _named,
    }


MACHINE = QwenChat
