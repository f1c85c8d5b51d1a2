"""The machine of Copilot CLI's session files: everything that has to be remembered from line to line."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from msgspec import Struct, field

from dragoman._dialects.copilot import messages as m
from dragoman._dialects.copilot import translate
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.frames import Exit
from dragoman._model.usage import ModelUsage, Usage, since, summed
from dragoman._wire import fields
from dragoman._wire.machine import Machine
from dragoman._wire.turns import Turn

VERSION: Final = 1
"""Of the format, as session.start says it."""


class Subagent(Struct):
    call_id: str | None
    usage: dict[str, tuple[str | None, Usage]] = field(default_factory=dict)
    """Model and tokens of its calls."""
    text: str | None = None
    """What it said last."""


class CopilotEvents(Machine):
    """The file of one session, or those of several, in reading order."""

    dialect: ClassVar[str] = "copilot_events"

    def __init__(self, agent: str = "github-copilot-cli") -> None:
        super().__init__(agent)
        self._line = m.Line()
        self._turn: Turn | None = None
        self._subagents: dict[str, Subagent] = {}
        self._open: dict[str, ev.ToolStarted] = {}
        """Calls that have not ended."""
        self._thoughts: dict[str | None, str] = {}
        """The reasoning that stood on a line of its own, by whose it was: the message may repeat it."""
        self._tells_calls = False
        self._totals: dict[str, ModelUsage] = {}
        """What each model had used at the last shutdown."""

    # --- lines -------------------------------------------------------------------------------------------

    def read(self, line: bytes) -> Iterable[Any]:
        return (m.READER.read(line),)

    def on_message(self, line: m.Line) -> None:
        self._line = line
        self.ledger.native_type, self.ledger.agent_time = line.type, line.timestamp
        handler = self._HANDLERS.get(line.type)
        if handler is not None:
            handler(self, line.data)
        if self._turn is not None and line.agentId is None:
            self._turn.time = line.timestamp or self._turn.time

    def on_end(self, exit: Exit) -> None:
        self._line = m.Line()
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
        agent = self._line.agentId
        if agent is None:
            return None
        if agent not in self._subagents:
            self._subagents[agent] = Subagent(fields.text(self._line.data, "parentToolCallId", "toolCallId"))
        return self._subagents[agent]

    # --- sessions ----------------------------------------------------------------------------------------

    def _start(self, data: dict[str, Any]) -> None:
        """A process begins the session, or goes on with it."""
        self._end_turn()
        session = fields.text(data, "sessionId")
        if session is not None:
            self.ledger.name_session(session)
        self.ledger.put(
            ev.SessionStarted(
                cwd=fields.text(fields.mapping(data, "context"), "cwd"),
                model=fields.text(data, "selectedModel"),
                effort=fields.text(data, "reasoningEffort"),
                cli_version=fields.text(data, "copilotVersion"),
            )
        )
        version = fields.integer(data, "version")
        if version not in (None, VERSION):
            self.ledger.put(
                ev.Notice(
                    severity="warning",
                    code="unknown_format",
                    message=f"the file is of version {version}; {VERSION} is known",
                )
            )

    def _facts(self, **facts: str | None) -> None:
        """Put what is new of the session; a subagent's facts are not its."""
        known = self.ledger.facts()
        new: dict[str, Any] = {
            name: value for name, value in facts.items() if value is not None and known.get(name) != value
        }
        if new and self._line.agentId is None:
            self.ledger.put(ev.SessionUpdated(**new))

    def _shutdown(self, data: dict[str, Any]) -> None:
        """The process ends. Versions that write no call down tell here what each model has used, over all processes."""
        totals = translate.totals_of(data)
        usage, _ = summed(totals.items())
        if usage is not None:
            self.ledger.put(ev.UsageUpdated(scope="session", usage=usage))
        for model, used in totals.items() if not self._tells_calls else ():
            self._count(f"{self._line.id}/{model}", model, since(used, self._totals.get(model, ModelUsage())))
            self._totals[model] = used
        self._end_turn()

    def _mode(self, data: dict[str, Any]) -> None:
        mode = fields.text(data, "newMode")
        if mode is not None:
            self._put(ev.SessionMode(mode=mode))

    def _error(self, data: dict[str, Any]) -> None:
        message = fields.text(data, "message") or ""
        status = fields.integer(data, "statusCode")
        code = fields.text(data, "errorCode") or (str(status) if status is not None else None)
        self._put(ev.Error(message=message, code=code or fields.text(data, "errorType")))
        self._came_to("failed", error=ev.ErrorInfo(message=message, code=code))

    def _hook(self, data: dict[str, Any], phase: str) -> None:
        error = fields.text(fields.mapping(data, "error"), "message")
        outcome = "success" if fields.flag(data, "success") else "error"
        name = fields.text(data, "hookType")
        self._put(
            ev.Hook(
                name=name,
                event=name,
                phase=phase,
                output=error,
                outcome=outcome if phase == "ended" else None,
            )
        )

    # --- turns -------------------------------------------------------------------------------------------

    def _user(self, data: dict[str, Any]) -> None:
        text, written = fields.text(data, "content") or "", translate.is_written(data)
        message = ev.Message(
            role="user",
            text=text,
            blocks=translate.attachments(data),
            message_id=fields.text(data, "messageId"),
            synthetic=written and self._line.agentId is None,
        )
        steers = self._turn is not None and (written or data.get("delivery") == "steering")
        if self._line.agentId is None and not steers:
            self._end_turn()
            self._turn = Turn()
            prompt = None if written else text
            self.ledger.put(ev.TurnStarted(prompt=prompt, native_turn_id=message.message_id or self._line.id))
        self._put(message)

    def _notified(self, data: dict[str, Any]) -> None:
        """What the CLI told the model: that a subagent or a command in the background has ended."""
        self._put(ev.Message(role="user", text=fields.text(data, "content"), synthetic=True))

    def _end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            self.ledger.put(turn.turn_ended())

    def _came_to(
        self, outcome: ev.TurnOutcome, text: str | None = None, error: ev.ErrorInfo | None = None
    ) -> None:
        if self._turn is not None and self._line.agentId is None:
            self._turn.came_to(outcome, text, error)

    def _task_complete(self, data: dict[str, Any]) -> None:
        if self._turn is not None and self._turn.outcome == "truncated":
            self._came_to("completed", fields.text(data, "summary"))

    # --- answers -----------------------------------------------------------------------------------------

    def _reasoning(self, data: dict[str, Any]) -> None:
        text = fields.text(data, "content")
        if text:
            self._thoughts[self._line.agentId] = text
            self._put(
                ev.Message(
                    role="assistant",
                    kind="thinking",
                    text=text,
                    message_id=fields.text(data, "reasoningId"),
                    block=0,
                )
            )

    def _assistant(self, data: dict[str, Any]) -> None:
        model, text = fields.text(data, "model"), fields.text(data, "content")
        self._facts(model=model)
        thought = fields.text(data, "reasoningText")
        if thought and thought != self._thoughts.pop(self._line.agentId, None):
            self._say("thinking", thought, data)
        if text:
            self._say("commentary" if data.get("phase") == "commentary" else "text", text, data)
        requests = fields.mappings(data, "toolRequests")
        for request in requests:
            self._begin(translate.tool_started(request, fields.text(request, "name")), model)
        if (worker := self._worker) is not None:
            worker.text = text or worker.text
        if requests or not text:
            self._came_to("truncated")
        else:
            self._came_to("completed", text)

    def _say(self, kind: ev.MessageKind, text: str, data: dict[str, Any]) -> None:
        """Long messages come in chunks under one id: each has a block for its thoughts and one for its text."""
        block = 2 * (fields.integer(data, "chunkIndex") or 0) + (kind != "thinking")
        self._put(
            ev.Message(
                role="assistant",
                kind=kind,
                text=text,
                message_id=fields.text(data, "messageId"),
                block=block,
                model=fields.text(data, "model"),
            )
        )

    # --- tools -------------------------------------------------------------------------------------------

    def _begin(self, started: ev.ToolStarted, model: str | None) -> None:
        """Put the beginning of a call; the model's message tells of it, and again the line with which it is run."""
        if not self.ledger.tool_known(started.call_id):
            self._open[started.call_id] = started
            started.model = model
            self._put(started)

    def _tool_started(self, data: dict[str, Any]) -> None:
        name, model = fields.text(data, "toolName"), fields.text(data, "model")
        self._begin(translate.tool_started(data, name), model)

    def _tool_ended(self, data: dict[str, Any]) -> None:
        ended = translate.tool_ended(data)
        started = self._open.pop(ended.call_id, None)
        for change in translate.changes_of(data, started.input if started is not None else None):
            self._put(change)
        self._put(ended)
        spent = fields.mapping(data, "toolUsage")
        if spent:
            self._count(translate.key_of(spent), fields.text(spent, "model"), translate.usage_of(spent))
        if ended.status == "declined" and self._turn is not None and self._line.agentId is None:
            name, given = (started.name, started.input) if started is not None else (None, None)
            self._turn.denials.append(ev.Denial(tool_name=name, call_id=ended.call_id, input=given))

    # --- subagents ---------------------------------------------------------------------------------------

    def _subagent_started(self, data: dict[str, Any]) -> None:
        call, agent = fields.text(data, "toolCallId"), self._line.agentId
        if agent is not None:
            self._subagents.setdefault(agent, Subagent(call))
        self.ledger.put(
            ev.SubagentStarted(
                call_id=call,
                agent_id=agent,
                agent_type=fields.text(data, "agentName"),
                description=fields.text(data, "agentDescription"),
            )
        )

    def _subagent_ended(self, data: dict[str, Any], status: str) -> None:
        if self._line.agentId is not None and self._line.agentId in self._subagents:
            said = fields.text(data, "error")
            self._end_subagent(
                self._line.agentId,
                status="cancelled" if fields.flag(data, "cancelled") else status,
                summary=said,
            )

    def _end_subagent(self, agent: str, *, summary: str | None = None, **said: Any) -> None:
        """Put the end of a subagent, with the sum of its calls. It may be sent on to work again."""
        worker = self._subagents[agent]
        usage, _ = summed(worker.usage.values())
        self.ledger.put(
            ev.SubagentEnded(
                call_id=worker.call_id, agent_id=agent, summary=summary or worker.text, usage=usage, **said
            )
        )

    # --- usage -------------------------------------------------------------------------------------------

    def _usage(self, data: dict[str, Any]) -> None:
        native = fields.mapping(data, "usage")
        self._tells_calls = True
        self._count(
            translate.key_of(native),
            fields.text(native, "model"),
            translate.usage_of(native),
            request_id=fields.text(native, "serviceRequestId", "providerCallId"),
        )

    def _count(
        self, call: str | None, model: str | None, usage: Usage, request_id: str | None = None
    ) -> None:
        """Put the usage of a call."""
        if not usage:
            return
        key = call or self._line.id or ""
        self._put(
            ev.UsageUpdated(
                scope="call",
                usage=usage,
                model=model,
                call=key or None,
                request_id=request_id,
                agent_id=self._line.agentId,
            )
        )
        if (worker := self._worker) is not None:
            worker.usage[key] = model, usage
        elif self._turn is not None:
            self._turn.usage[key] = model, usage

    def _compacted(self, data: dict[str, Any]) -> None:
        """The call that made the summary is told of here, and nowhere else."""
        spent = fields.mapping(data, "compactionTokensUsed")
        self._count(
            fields.text(data, "compactionAttemptId"), fields.text(spent, "model"), translate.usage_of(spent)
        )
        if fields.flag(data, "success"):
            self._put(translate.compacted(data))

    # --- tables ------------------------------------------------------------------------------------------

    _HANDLERS: ClassVar[dict[str, Callable[[Any, dict[str, Any]], None]]] = {
        "session.start": _start,
        "session.resume": _start,
        "session.shutdown": _shutdown,
        "session.error": _error,
        "session.info": lambda self, data: self._put(translate.notice(data, "info")),
        "session.warning": lambda self, data: self._put(translate.notice(data, "warning")),
        "session.model_change": lambda self, data: self._facts(
            model=fields.text(data, "newModel"), effort=fields.text(data, "reasoningEffort")
        ),
        "session.mode_changed": _mode,
        "session.context_changed": lambda self, data: self._facts(cwd=fields.text(data, "cwd")),
        "session.context_cleared": lambda self, data: self._put(ev.ContextCompacted(trigger="cleared")),
        "session.truncation": lambda self, data: self._put(translate.truncated(data)),
        "session.compaction_complete": _compacted,
        "session.usage_record": _usage,
        "session.task_complete": _task_complete,
        "user.message": _user,
        "system.notification": _notified,
        "abort": lambda self, data: self._came_to("cancelled"),
        "assistant.message": _assistant,
        "assistant.reasoning": _reasoning,
        "tool.user_requested": _tool_started,
        "tool.execution_start": _tool_started,
        "tool.execution_complete": _tool_ended,
        "permission.requested": lambda self, data: self._put(translate.permission_requested(data)),
        "permission.completed": lambda self, data: self._put(translate.permission_resolved(data)),
        "subagent.started": _subagent_started,
        "subagent.completed": lambda self, data: self._subagent_ended(data, "completed"),
        "subagent.failed": lambda self, data: self._subagent_ended(data, "failed"),
        "hook.start": lambda self, data: self._hook(data, "started"),
        "hook.end": lambda self, data: self._hook(data, "ended"),
    }


MACHINE = CopilotEvents
