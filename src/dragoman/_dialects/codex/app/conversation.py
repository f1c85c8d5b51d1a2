"""What goes on in threads: turns, what is said in them, what is done, and who does it."""

from collections.abc import Callable
from typing import Any, Final, Literal

from dragoman._dialects.codex.app import items as i
from dragoman._dialects.codex.app import messages as m
from dragoman._dialects.codex.app import speech, tools, translate
from dragoman._dialects.codex.app.changes import file_changes, paths
from dragoman._dialects.codex.app.requests import Requests
from dragoman._dialects.codex.app.threads import Thread, Threads
from dragoman._dialects.codex.shared import values as v
from dragoman._dialects.codex.shared.content import user_message
from dragoman._model import events as ev
from dragoman._model.toolnames import one_line
from dragoman._model.usage import ModelUsage, Usage
from dragoman._wire import fields
from dragoman._wire.jsontext import Unknown
from dragoman._wire.ledger import Ledger

_SPAWNS: Final = ("spawnAgent", "resumeAgent")
_AGENT_OVER: Final = frozenset(("completed", "errored", "interrupted", "shutdown", "notFound"))


class Conversation:
    """Reads the notifications about turns and items."""

    def __init__(self, ledger: Ledger, threads: Threads, requests: Requests) -> None:
        self._ledger = ledger
        self._threads = threads
        self._requests = requests
        self.handlers: dict[str, Callable[[Thread, Any], None]] = {
            "turn/started": self._turn_started,
            "turn/diff/updated": self._turn_diff,
            "item/started": self._item_started,
            "item/completed": self._item_completed,
            "item/agentMessage/delta": self._text_delta,
            "item/plan/delta": self._plan_delta,
            "item/reasoning/summaryTextDelta": self._thinking_delta,
            "item/reasoning/textDelta": self._thinking_delta,
            "item/commandExecution/outputDelta": self._output_delta,
            "item/fileChange/outputDelta": self._output_delta,
            "item/commandExecution/terminalInteraction": self._terminal,
            "item/fileChange/patchUpdated": self._patch_updated,
            "item/mcpToolCall/progress": self._progress,
            "error": self._error,
        }

    # --- turns -------------------------------------------------------------------------------------------

    def on_prompt(self, thread: Thread, native: dict[str, Any]) -> bool:
        """Take in a turn/start or review/start of the client. Returns whether it opened a turn, and is not one more message
        in the open one."""
        opens = not thread.is_subagent and not self._ledger.busy(thread.session)
        target = fields.mapping(native, "target")
        if opens and "target" in native:
            self.begin(thread, fields.text(target, "instructions"))
        elif opens:
            self.begin(thread, user_message(native.get("input")).text)
            thread.schema = native.get("outputSchema") is not None
        if "target" not in native:  # Codex says itself what is reviewed
            self.put_input(thread, native)
        return opens

    def put_input(self, thread: Thread, native: dict[str, Any]) -> None:
        message = user_message(native.get("input"))
        message.message_id = fields.text(native, "clientUserMessageId")
        thread.unechoed.append((message.message_id, message.text))
        thread.put(message)

    def begin(self, thread: Thread, prompt: str | None = None, turn_id: str | None = None) -> None:
        """Begin a turn, unless one is open. The turns of subagents are none of the session's."""
        if not thread.is_subagent and not self._ledger.busy(thread.session):
            thread.begin_turn()
            thread.put(ev.TurnStarted(prompt=prompt, native_turn_id=turn_id))
        thread.in_turn(turn_id)

    def _turn_started(self, thread: Thread, params: m.TurnNews) -> None:
        self.begin(thread, turn_id=params.turn.id)

    def _turn_diff(self, thread: Thread, params: m.DiffNews) -> None:
        """Put what the turn has changed, unless it was said before: it is repeated with every item (capture basic)."""
        if params.diff is not None and params.diff != thread.diff:
            thread.diff = params.diff
            thread.put(ev.TurnDiff(diff=params.diff))

    def end_turn(self, thread: Thread, turn: i.Turn, outcome: ev.TurnOutcome) -> None:
        text = thread.answer if thread.answer is not None else _last_answer(turn)
        if thread.is_subagent and thread.session != thread.id:
            self._threads.end_agent(thread, turn.status, text)
            thread.meter.turn_over()
            thread.end_turn()
            return
        usage = thread.meter.turn_over()
        failed = outcome not in ("completed", "cancelled")
        thread.put(
            ev.TurnEnded(
                outcome=outcome,
                reason=turn.status,
                text=text,
                error=translate.error_info(turn.error) if failed else None,
                usage=usage,
                model_usage=_by_model(thread, usage),
                duration_ms=turn.durationMs,
                structured_output=v.json_in(text) if thread.schema else None,
                resume_at=turn.id,
                ext={"codex.turnId": turn.id} if turn.id else {},
            ),
        )
        thread.end_turn()

    def fail_turn(self, thread: Thread, error: ev.ErrorInfo) -> None:
        """End a turn whose turn/start was refused."""
        if self._ledger.busy(thread.session):
            thread.put(ev.TurnEnded(outcome="failed", reason="refused", error=error))
            thread.end_turn()

    def _error(self, thread: Thread, params: m.ErrorNews) -> None:
        for event in translate.error(params):
            if isinstance(event, ev.Retry):
                event.discards = self._ledger.discard(lambda key: key.parent == thread.parent)
            thread.put(event)

    # --- what is said ------------------------------------------------------------------------------------

    def _text_delta(self, thread: Thread, params: m.DeltaNews) -> None:
        self._grow(thread, "text", params, None)

    def _plan_delta(self, thread: Thread, params: m.DeltaNews) -> None:
        thread.put(ev.Delta(kind="plan", text=params.delta, message_id=params.itemId))

    def _thinking_delta(self, thread: Thread, params: m.DeltaNews) -> None:
        if params.summaryIndex is not None:
            block = thread.block(params.itemId, "summary", params.summaryIndex)
        else:
            block = thread.block(params.itemId, "content", params.contentIndex or 0)
        self._grow(thread, "thinking", params, block)

    def _grow(
        self, thread: Thread, kind: Literal["text", "thinking"], params: m.DeltaNews, block: int | None
    ) -> None:
        """Put a piece of text; the short way, unless it is a subagent's, whose events say which thread they are of."""
        if thread.session == thread.id:
            self._ledger.delta(kind, params.delta, params.itemId, block, None, thread.parent)
        else:
            event = ev.Delta(kind=kind, text=params.delta, message_id=params.itemId, block=block)
            thread.put(event)

    def _say(self, thread: Thread, item: Any) -> None:
        for message in speech.messages(item):
            thread.put(message)

    def _answer(self, thread: Thread, item: i.AgentMessage) -> None:
        thread.keep_answer(item.text, item.phase)
        thread.put(speech.answer(item))

    def _input(self, thread: Thread, item: i.UserMessage) -> None:
        """Put a user's item, marked as an echo of the client's input, or as synthetic: Codex repeats all input, and
        writes some of its own (a review's task, a subagent's orders)."""
        message = user_message(item.content, item.id)
        if thread.unechoed and (sent := _echoed(thread, item.clientId, message.text)) is not None:
            thread.unechoed.remove(sent)
            message.echo = True
        else:
            message.synthetic = thread.is_subagent or self._ledger.heard_client
        thread.put(message)

    def _reason(self, thread: Thread, item: i.Reasoning) -> None:
        for part, texts in (("summary", item.summary), ("content", item.content)):
            for index, text in enumerate(texts or []):
                thread.put(
                    ev.Message(
                        role="assistant",
                        kind="thinking",
                        text=text,
                        message_id=item.id,
                        block=thread.block(item.id, part, index),
                    ),
                )

    # --- what is done ------------------------------------------------------------------------------------

    def _item_started(self, thread: Thread, params: m.ItemNews) -> None:
        begin = _BEGINNINGS.get(type(params.item))
        if begin is not None:
            begin(self, thread, params.item)

    def _unknown_started(self, thread: Thread, item: Unknown) -> None:
        thread.put(ev.NativeUnknown(native_type=f"item/started/{item.native_type}"))

    def _compaction_started(self, thread: Thread, item: i.ContextCompaction) -> None:
        thread.compacting = thread.meter.context
        thread.put(ev.SessionStatus(status="compacting"))

    def _review_started(self, thread: Thread, item: i.EnteredReviewMode) -> None:
        thread.put(ev.SessionStatus(status="review_started", message=item.review))

    def _begin_tool(self, thread: Thread, item: Any) -> None:
        thread.calls.add(item.id)
        thread.put(tools.started(item))
        if isinstance(item, i.FileChange):
            self._propose(thread, item.id, item.changes)
        elif isinstance(item, i.McpToolCall):
            thread.mcp_calls[item.id] = item
        elif isinstance(item, i.CollabAgentToolCall) and item.tool in _SPAWNS:
            self._threads.begin_spawn(thread, item.id, item.prompt)

    def _item_completed(self, thread: Thread, params: m.ItemNews) -> None:
        _ENDS.get(type(params.item), Conversation._say)(self, thread, params.item)

    def _unknown_completed(self, thread: Thread, item: Unknown) -> None:
        thread.put(ev.NativeUnknown(native_type=f"item/completed/{item.native_type}"))

    def _compaction_completed(self, thread: Thread, item: i.ContextCompaction) -> None:
        thread.put(thread.compaction())

    def _review_completed(self, thread: Thread, item: i.ExitedReviewMode) -> None:
        thread.put(ev.SessionStatus(status="review_ended", message=item.review))

    def _end_tool(self, thread: Thread, item: Any) -> None:
        if item.id not in thread.calls:
            self._begin_tool(thread, item)
        ended = tools.ENDS[type(item)](item)
        if self._ledger.requests:
            self._requests.item_over(thread, item.id, ended.status)
        if isinstance(item, i.FileChange):
            for change in file_changes(
                item.changes, item.id, "applied" if ended.status == "completed" else "failed"
            ):
                thread.put(change)
        elif isinstance(item, i.WebSearch):  # what it looked for is known only now
            started = tools.STARTS[i.WebSearch](item)
            thread.put(ev.ToolUpdated(call_id=item.id, title=started.title, input=started.input))
        elif isinstance(item, i.CollabAgentToolCall):
            self._read_agent_states(item)
        thread.mcp_calls.pop(item.id, None)
        thread.changes.pop(item.id, None)
        thread.put(ended)

    def _propose(self, thread: Thread, call_id: str, changes: list[dict[str, Any]] | None) -> None:
        thread.changes[call_id] = changes or []
        for change in file_changes(changes, call_id, "proposed"):
            thread.put(change)

    def _patch_updated(self, thread: Thread, params: m.PatchNews) -> None:
        thread.put(
            ev.ToolUpdated(
                call_id=params.itemId,
                title=one_line(", ".join(paths(params.changes))) or None,
                input={"changes": params.changes or []},
            ),
        )
        self._propose(thread, params.itemId, params.changes)

    def _output_delta(self, thread: Thread, params: m.DeltaNews) -> None:
        """Put a piece of output. Some may be missing: a command's whole output is in its completion."""
        thread.put(ev.Delta(kind="tool_output", text=params.delta, call_id=params.itemId))

    def _terminal(self, thread: Thread, params: m.TerminalNews) -> None:
        """Put the input typed into a running command; it is empty if the model only looks at its output
        again."""
        typed = {"codex.stdin": params.stdin} if params.stdin else {}
        thread.put(ev.ToolUpdated(call_id=params.itemId, terminal_id=params.processId, ext=typed))

    def _progress(self, thread: Thread, params: m.ProgressNews) -> None:
        thread.put(ev.ToolUpdated(call_id=params.itemId, output=params.message))

    # --- subagents ---------------------------------------------------------------------------------------

    def _read_agent_states(self, item: i.CollabAgentToolCall) -> None:
        """Take in the subagents of a call: those it started, and the states of those it waited for."""
        if item.tool in _SPAWNS:
            for id in item.receiverThreadIds or []:
                child = self._threads.get(id)
                child.model = child.model or item.model
                self._threads.begin_agent(child, item.id)
            self._threads.end_spawn(item.id)
        for id, state in (item.agentsStates or {}).items():
            told, status = self._threads.find(id), fields.text(state, "status")
            if told is not None and status in _AGENT_OVER:
                self._threads.end_agent(told, status, fields.text(state, "message"))

    def _agent_activity(self, thread: Thread, item: i.SubAgentActivity) -> None:
        """Take in subagents of the second kind: no call is shown, only items that one started, was spoken to,
        or is done (capture subagent_v2). The id of the first such item is that of the call."""
        if item.agentThreadId is None:
            return
        kind = (item.agentPath or "").rsplit("/", 1)[-1] or None
        if item.kind == "started":
            if item.id in thread.calls:
                thread.put(ev.ToolEnded(call_id=item.id, status="completed"))
                return
            thread.calls.add(item.id)
            call = i.CollabAgentToolCall(id=item.id, tool="spawnAgent", model=item.model)
            started = tools.STARTS[i.CollabAgentToolCall](call)
            started.title, started.ext = kind, translate.ext(itemType=item.__struct_config__.tag)
            thread.put(started)
            self._threads.begin_spawn(thread, item.id, None)
            child = self._threads.get(item.agentThreadId)
            child.model = child.model or item.model
            self._threads.begin_agent(child, item.id, kind)
            self._threads.end_spawn(item.id)
        elif item.kind in _AGENT_OVER and (told := self._threads.find(item.agentThreadId)) is not None:
            self._threads.end_agent(told, item.kind, None)


_BEGINNINGS: Final[dict[type, Callable[[Conversation, Thread, Any], None]]] = {
    **dict.fromkeys(tools.STARTS, Conversation._begin_tool),
    Unknown: Conversation._unknown_started,
    i.SubAgentActivity: Conversation._agent_activity,
    i.ContextCompaction: Conversation._compaction_started,
    i.EnteredReviewMode: Conversation._review_started,
}
"""What the start of an item means; of all others only the end says something."""

_ENDS: Final[dict[type, Callable[[Conversation, Thread, Any], None]]] = {
    **dict.fromkeys(tools.ENDS, Conversation._end_tool),
    Unknown: Conversation._unknown_completed,
    i.UserMessage: Conversation._input,
    i.AgentMessage: Conversation._answer,
    i.Reasoning: Conversation._reason,
    i.SubAgentActivity: Conversation._agent_activity,
    i.ContextCompaction: Conversation._compaction_completed,
    i.ExitedReviewMode: Conversation._review_completed,
}
"""What the end of an item means; any other one is a message, or nothing."""


def _echoed(thread: Thread, client_id: str | None, text: str | None) -> tuple[str | None, str | None] | None:
    """The input that Codex repeats: the one with this id, else the first with this text; None if there is none."""
    sent = thread.unechoed
    same_id = next((key for key in sent if client_id is not None and key[0] == client_id), None)
    return same_id or next((key for key in sent if key[1] == text), None)


def _last_answer(turn: i.Turn) -> str | None:
    said = [item.text for item in turn.items if isinstance(item, i.AgentMessage)]
    return said[-1] if said else None


def _by_model(thread: Thread, usage: Usage | None) -> dict[str, ModelUsage]:
    if thread.model is None or usage is None:
        return {}
    used = ModelUsage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        total_tokens=usage.total_tokens,
        context_window=thread.meter.window,
    )
    return {thread.model: used}
