"""The machine of Gemini CLI's stream-json: everything that has to be remembered from line to line."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, Literal

from msgspec import Struct

from dragoman._dialects.gemini.shared.tools import PLAN_TOOLS, SUBAGENT_TOOL, plan_entries, subagent_started
from dragoman._dialects.gemini.stream import messages as m
from dragoman._dialects.gemini.stream import translate
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.capabilities import Capability
from dragoman._model.frames import Exit, Launch
from dragoman._wire import fields
from dragoman._wire.jsontext import REFUSED, repaired_text
from dragoman._wire.machine import Machine


class Call(Struct):
    """A tool call that has not ended."""

    name: str
    kind: ev.ToolKind
    input: Any


_TELLING: Final = frozenset(("edit", "memory", "think"))
"""The kinds of the tools that change files, keep the plan and start subagents."""

_ENDED: Final = Call("", "other", None)
"""What is known of a call that has ended: the ledger makes an update of whatever is said of it."""


class Answer(Struct):
    """A message that grows: the CLI sends pieces, and no mark that it is complete."""

    kind: Literal["text", "thinking"]
    message_id: str
    parts: list[str]

    @property
    def text(self) -> str:
        return "".join(self.parts)


class GeminiStream(Machine):
    """One process of `gemini --output-format stream-json`."""

    dialect: ClassVar[str] = "gemini_stream"
    tools_end_with_turns: ClassVar[bool] = True
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        (Capability.PARTIALS, Capability.RESUME, Capability.SUBAGENTS, Capability.MCP, Capability.HOOKS)
    )

    def __init__(self, agent: str = "gemini") -> None:
        super().__init__(agent)
        self._calls: dict[str, Call] = {}
        """The open ones, by id. The ledger knows which have ended, and that is all that a second result needs."""
        self._calls_begun = 0
        self._messages = 0
        self._answer: Answer | None = None
        """The message that grows."""
        self._last_text: str | None = None
        self._failures: list[m.Failure] = []
        self._result: m.Result | None = None
        """What was said at the end. How the process exits tells the rest."""
        self._goes_on = False
        """It was told to go on with a session."""

    def on_start(self, launch: Launch) -> None:
        self._goes_on = launch.resume is not None or "--resume" in launch.argv

    def on_out(self, line: bytes) -> None:
        """A line the agent wrote. Nearly all are decoded in one call and go straight to their handler: 0.7 µs less than
        by `read`, which has the others."""
        try:
            message = m.DECODER.decode(line)
        except REFUSED:
            super().on_out(line)
            return
        self.ledger.agent_time = message.timestamp
        self._HANDLERS[type(message)](self, message)

    def read(self, line: bytes) -> Iterable[Any]:
        return (m.read(line),)

    def on_message(self, message: m.Native) -> None:
        self.ledger.agent_time = message.timestamp
        self._HANDLERS[type(message)](self, message)

    def on_end(self, exit: Exit) -> None:
        if self._result is not None:
            self._end_turn(exit.code)
        elif self.ledger.current is not None and not self.ledger.open_turns:
            self._begin()  # it took the prompt up and died: the turn is cut off, not absent
        elif exit.code in translate.NOT_BEGUN:
            kind, otherwise = translate.NOT_BEGUN[exit.code]
            if kind == "sessionNotFound" and not self._goes_on:
                return
            message = (exit.stderr_tail or "").strip() or otherwise
            self.ledger.put(
                ev.Error(message=message, code=str(exit.code), scope="session", kind=kind, synthesized=True)
            )

    # --- turns -------------------------------------------------------------------------------------------

    def _init(self, message: m.Init) -> None:
        if self._result is not None:  # the streams of several processes, one after the other
            self._end_turn(None)
        self.ledger.native_type = "init"
        if message.session_id is not None:
            self.ledger.name_session(message.session_id)
        resumed = self.resumed and not self.ledger.facts()
        self.ledger.put(ev.SessionStarted(model=message.model, resumed=resumed))

    def _begin(self, prompt: str | None = None) -> None:
        """Begin a turn, unless one is open."""
        if not self.ledger.open_turns:
            self.ledger.put(ev.TurnStarted(prompt=prompt, synthesized=prompt is None))

    def _break_off(self) -> None:
        """Something else than text comes: the turn goes on or begins, and the message that grew is whole."""
        if not self.ledger.open_turns:
            self._begin()
        if self._answer is not None:
            self._hush()

    def _on_result(self, message: m.Result) -> None:
        """Keep the result until the process ends, and with it the turn: after an API error only the exit code
        has its kind (capture err_429_daily), and a result may be `success` before a failing exit."""
        self._break_off()
        self.ledger.native_type = "result"
        self._result = message
        self.finished = True

    def _end_turn(self, exit_code: int | None) -> None:
        assert self._result is not None
        result, failures = self._result, self._failures
        outcome = translate.outcome_of(result, failures, exit_code)
        error = translate.failure_of(result, failures, exit_code)
        self.ledger.put(
            ev.TurnEnded(
                agent_time=result.timestamp,
                outcome=outcome,
                reason=translate.reason_of(result),
                text=self._last_text,
                error=None if outcome in ("completed", "cancelled") else error,
                errors=[translate.words_of(failure) for failure in failures if translate.is_error(failure)],
                usage=translate.usage_of(result.stats),
                model_usage=translate.models_of(result.stats),
                cost_usd=fields.number(result.stats, "total_cost_usd"),
                duration_ms=fields.number(result.stats, "duration_ms"),
                ext={"gemini.stats": result.stats} if result.stats else {},
            )
        )
        self._result, self._failures, self._last_text = None, [], None
        self._calls.clear()  # what was open has ended with the turn

    def _on_failure(self, message: m.Failure) -> None:
        self._break_off()
        self._failures.append(message)
        self.ledger.put(translate.error_event(message))

    # --- what is said ------------------------------------------------------------------------------------

    def _on_said(self, message: m.Said) -> None:
        answer, ledger = self._answer, self.ledger
        if message.delta and message.role != "user":
            if (
                answer is not None and answer.kind == "text" and ledger.open_turns
            ):  # as `_grow` does, a call less
                id = answer.message_id
                answer.parts.append(ledger.delta("text", message.content, id, None, None, None))
            else:
                self._grow("text", message.content)
        elif message.role == "user":
            self._on_prompt(repaired_text(message.content))
        else:
            self._say(repaired_text(message.content))

    def _on_prompt(self, text: str) -> None:
        """Take in the prompt, from the command line and stdin together."""
        if self._result is not None:
            self._end_turn(None)
        if self._answer is not None:
            self._hush()
        echo = not self.ledger.open_turns
        self._begin(text)
        self.ledger.put(ev.Message(role="user", text=text, echo=echo, message_id=self._next_id()))

    def _grow(self, kind: Literal["text", "thinking"], text: str) -> None:
        ledger, answer = self.ledger, self._answer
        if not ledger.open_turns:
            self._begin()
        if answer is None or answer.kind != kind:
            self._hush()
            answer = self._answer = Answer(kind, self._next_id(), [])
        answer.parts.append(ledger.delta(kind, text, answer.message_id, None, None, None))

    def _say(self, text: str) -> None:
        """Put a whole message of older versions; it ends the one that grew, if their texts are equal."""
        self._begin()
        answer = self._answer
        if answer is not None and answer.kind == "text" and answer.text == text:
            self.ledger.put(ev.Message(role="assistant", text=text, message_id=answer.message_id))
            self._answer = None
        else:
            self._hush()
            self.ledger.put(ev.Message(role="assistant", text=text, message_id=self._next_id()))
        self._last_text = text

    def _hush(self) -> None:
        """End the message that grew, because something else follows."""
        if self._answer is not None:
            self.ledger.close_text()
            if self._answer.kind == "text":
                self._last_text = self._answer.text
            self._answer = None

    def _next_id(self) -> str:
        self._messages += 1
        return f"message-{self._messages}"

    def _on_retry(self, message: m.Retry) -> None:
        """Take in a retry of older versions. Today's send none (capture err_nofinish)."""
        self._begin()
        self._answer = None
        self.ledger.put(
            ev.Retry(
                attempt=message.attempt,
                max_attempts=message.max_attempts,
                delay_ms=message.delay_ms,
                reason=message.reason or message.message,
                status_code=message.status_code,
                discards=self.ledger.discard(lambda key: True),
            )
        )

    # --- tools -------------------------------------------------------------------------------------------

    def _tool_use(self, message: m.ToolUse) -> None:
        self._break_off()
        call_id = message.tool_id or self._new_call_id()
        self._calls[call_id] = self._start(call_id, message.tool_name, message.parameters)

    def _tool_result(self, message: m.ToolResult) -> None:
        self._break_off()
        call_id = message.tool_id
        call = self._calls.pop(call_id, None)
        if call is None:
            late = self.ledger.tool_known(call_id)
            call = _ENDED if late else self._start(call_id, None, None, synthesized=True)
        self._end(call_id, call, message, message.output)

    def _tool_call(self, message: m.ToolCall) -> None:
        """Take in a call with its result in one event, of older versions."""
        self._break_off()
        named, name, input = translate.call_of(message)
        call_id = named or self._new_call_id()
        call = self._start(call_id, name, input)
        self._end(call_id, call, message, message.output if message.output is not None else message.result)

    def _new_call_id(self) -> str:
        return f"call-{self._calls_begun + 1}"

    def _start(self, call_id: str, name: str | None, input: Any, *, synthesized: bool = False) -> Call:
        if not name:
            name = translate.name_of(call_id)
        started = toolnames.tool_started(call_id, name, input)
        if synthesized:
            started.synthesized = True
        self._calls_begun += 1
        self.ledger.put(started)
        if name == SUBAGENT_TOOL:
            self.ledger.put(subagent_started(call_id, input))
        return Call(name, started.kind, input)

    def _end(self, call_id: str, call: Call, result: m.ToolResult | m.ToolCall, output: Any) -> None:
        self._last_text = None  # what was said before a tool is no final answer
        ended = translate.tool_ended(call_id, call.kind, result, output)
        if call.kind in _TELLING:
            self._tell(call_id, call, ended)
        self.ledger.put(ended)

    def _tell(self, call_id: str, call: Call, ended: ev.ToolEnded) -> None:
        """Put what came of an open call beside its output."""
        if not self.ledger.tool_open(call_id):
            return
        done = ended.status == "completed"
        if call.kind == "edit":
            change = translate.change_of(call_id, call.input, failed=not done)
            if change is not None:
                self.ledger.put(change)
        elif done and call.name in PLAN_TOOLS:
            self.ledger.put(ev.PlanUpdated(entries=plan_entries(call.input)))
        elif call.name == SUBAGENT_TOOL:
            said = ended.output or (ended.error.message if ended.error is not None else None)
            self.ledger.put(ev.SubagentEnded(call_id=call_id, status=ended.status, summary=said))

    _HANDLERS: ClassVar[dict[type[m.Native], Callable[[Any, Any], None]]] = {
        m.Init: _init,
        m.Said: _on_said,
        m.ToolUse: _tool_use,
        m.ToolResult: _tool_result,
        m.Failure: _on_failure,
        m.Result: _on_result,
        m.Content: lambda self, message: self._grow("text", message.value),
        m.Thought: lambda self, message: self._grow("thinking", translate.thought_text(message)),
        m.ToolCall: _tool_call,
        m.Retry: _on_retry,
    }


MACHINE = GeminiStream
