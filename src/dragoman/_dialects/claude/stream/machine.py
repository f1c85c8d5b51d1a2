"""The machine of Claude Code's stream-json: everything that has to be remembered from line to line."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

from dragoman._dialects.claude.stream import control, gate, translate
from dragoman._dialects.claude.stream import messages as m
from dragoman._dialects.claude.stream.calls import Calls
from dragoman._dialects.claude.stream.costs import Costs
from dragoman._dialects.claude.stream.streaming import Streaming
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.capabilities import Capability
from dragoman._model.frames import Launch
from dragoman._wire import fields
from dragoman._wire.content import parts_of, text_of_content
from dragoman._wire.jsontext import REFUSED
from dragoman._wire.machine import Machine

_LOCAL_OUTPUT = "<local-command-stdout>"
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class ClaudeStream(Machine):
    """One process of `claude --output-format stream-json`."""

    dialect: ClassVar[str] = "claude_stream"
    handshakes: ClassVar[bool] = True
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability) - {
        Capability.LIVE_FORK,
        Capability.REVIEW,
        Capability.MANY_SESSIONS,
        Capability.LIST_SESSIONS,
        Capability.ARCHIVE,
        Capability.DELETE,
        Capability.RENAME,
    }
    awaited: ClassVar[tuple[type[c.Command], ...]] = (
        c.Interrupt,
        c.SetMode,
        c.SetModel,
        c.SetOption,
        c.Refresh,
        c.RewindFiles,
    )

    def __init__(self, agent: str = "claude") -> None:
        super().__init__(agent)
        self._streaming = Streaming(self.ledger, self._begin)
        self._calls = Calls(self.ledger)
        self._last_said: str | None = None
        """The uuid of the turn's last `assistant` line: `--resume-session-at` takes it."""
        self._controls = control.Controls(self.ledger, self._calls)
        self._costs = Costs()
        self._requests = 0
        self._turn_message: str | None = None
        """The message that opened the turn."""
        self._taken_ids: list[str] = []
        """The client's messages that the turn has taken so far."""
        self._echoes = False
        """The CLI was told to echo what the client says when a turn takes it."""
        self._partial: set[str | None] = set()
        """Flat messages of which only pieces have come."""
        self._blocked = False
        self._error_code: str | None = None
        self._readers: dict[type[m.Native], Callable[[Any], None]] = {
            m.StreamEvent: self._streaming.receive,
            m.Assistant: self._assistant,
            m.User: self._user,
            m.Init: self._init,
            m.Result: self._result,
            m.ApiRetry: self._streaming.on_retry,
            m.CommandLifecycle: self._lifecycle,
            m.Informational: self._informational,
            m.CompactBoundary: self._compacted,
            m.ConversationReset: self._reset,
            m.PermissionDenied: self._calls.on_permission_denied,
            m.Task: self._calls.task,
            m.ToolProgress: self._calls.progress,
            m.ControlRequest: self._control_request,
            m.ControlResponse: self._control_response,
            m.ControlCancel: self._controls.on_cancel,
            m.FlatMessage: self._flat_message,
            m.FlatToolUse: self._flat_tool_use,
            m.FlatToolResult: self._flat_tool_result,
        }
        """Who takes the messages of which something is remembered; translate.SIMPLE has the others."""

    # --- lines in ----------------------------------------------------------------------------------------

    def on_start(self, launch: Launch) -> None:
        self._echoes = "--replay-user-messages" in launch.argv
        self._costs.resumed = launch.resume is not None or bool({"--resume", "--continue"} & set(launch.argv))
        self._controls.asked_mode = _flag(launch.argv, "--permission-mode")
        session = _flag(launch.argv, "--session-id")
        if session is None and "--fork-session" not in launch.argv:
            session = _flag(launch.argv, "--resume")
        if session is not None:
            self.ledger.name_session(session)
        # `opening`: what to say with initialize: hooks, sdkMcpServers, agents, jsonSchema …
        opening = self.options.opening or {}
        opening = {**opening, "hooks": gate.hooks(opening.get("hooks"))}
        self.owe(control.request("initialize", control.INITIALIZE, opening))

    read = staticmethod(m.read)

    def on_out(self, line: bytes) -> None:
        """Most lines are read by one decoder, and what they mean is looked up by their type; whatever it refuses, and the
        rarer types, go the general road."""
        try:
            message = m.decode_common(line)
            if type(message) is m.Init and message.subtype != "init":
                message = m.decode_system(message.subtype, line)
        except REFUSED:
            super().on_out(line)
        else:
            self.on_message(message)

    def name_of(self, line: bytes) -> str | None:
        return m.native_type(line)

    def on_message(self, message: m.Native) -> None:
        ledger, session = self.ledger, message.session_id
        ledger.agent_time = message.timestamp
        if session is not None and session != ledger.current:
            self._session_changed(session)
        reader = self._readers.get(type(message))
        if reader is not None:
            reader(message)
        else:
            for event in translate.SIMPLE[type(message)](message):
                ledger.put(event)

    def on_in(self, line: bytes) -> None:
        message = m.READER.read(line)
        if isinstance(message, m.User):
            self._on_prompt(message.message.content, message.uuid)
        elif isinstance(message, m.FlatMessage):
            self._on_prompt(message.content, message.uuid)
        elif isinstance(message, m.ControlRequest):
            self._controls.on_our_request(message)
        elif isinstance(message, m.ControlResponse):
            self._controls.on_our_answer(message)

    # --- sessions and turns ------------------------------------------------------------------------------

    def _session_changed(self, session: str) -> None:
        """Go on under another session id, after /clear; 2.1.197 has no other sign of it (capture
        slash_various)."""
        if self.ledger.facts():
            self.ledger.put(ev.SessionUpdated(session_id=session))
        self.ledger.name_session(session)

    def _init(self, message: m.Init) -> None:
        """Take in an init. One comes with every turn, and not always first."""
        ledger, mode = self.ledger, message.permissionMode
        before = ledger.facts()
        left = before.get("mode", mode)
        facts = translate.session_facts(message, ledger.known())
        facts.resumed = self.resumed and not before
        ledger.put(facts)
        if mode is not None and mode != left:  # a mode that it left without a word
            ledger.put(ev.SessionMode(mode=mode))
        if self._controls.asked_mode is not None:
            self._check_mode(mode)
        if not ledger.open_turns:
            self._begin(next(iter(message.user_message_uuids or ()), None))

    def _check_mode(self, mode: str | None) -> None:
        """Warn if the first mode that is reported is not the one that was asked for. Where settings forbid
        bypassPermissions, it is default, and in 2.1.300 auto, in which a model judges."""
        asked, self._controls.asked_mode = self._controls.asked_mode, None
        if mode is not None and asked != mode:
            message = f"{self.agent} was told to be in permission mode {asked}, and says that it is in {mode}"
            self.ledger.put(
                ev.Notice(severity="warning", message=message, code="permission_mode", synthesized=True)
            )

    def _begin(self, message_id: str | None = None) -> None:
        """A sign that a turn is going on; `message_id` is the message that it is for, where that is said."""
        if self.ledger.open_turns:
            return
        text = self._untaken.get(message_id) if message_id is not None else None
        self._turn_message, self._taken_ids = message_id, []
        self.ledger.put(ev.TurnStarted(prompt=text, synthesized=True))

    def _on_prompt(self, content: Any, uuid: str | None) -> None:
        """A `user` line of the client's. Its message is untaken until the CLI says which turn takes it."""
        message = translate.user_message(content)
        message.message_id = uuid
        if uuid is not None:
            self._untaken[uuid] = message.text
        if not self.ledger.busy():
            self._turn_message, self._taken_ids = uuid, []
            self.ledger.put(ev.TurnStarted(prompt=message.text))
        self.ledger.put(message)

    def _take(self, message_id: str | None) -> None:
        """A turn has taken this message of the client's."""
        if message_id is not None and message_id in self._untaken:
            del self._untaken[message_id]
            self._taken_ids.append(message_id)

    def _ends_turn(self, message: m.Result) -> bool:
        """Whether the result is that of the open turn. From 2.1.300 on it names the messages that its turn took, before
        that their echoes do; `origin` says that the CLI began it by itself. One that did not take the prompt belongs
        to a turn that had begun before the CLI saw it, and the prompt's own is still to come."""
        for id in message.user_message_uuids or ():
            self._take(id)
        if not self._untaken:
            return True
        if not self._taken_ids and message.user_message_uuids is None and message.origin is None:
            # 2.1.197 echoes no slash command (capture slash_various): the one that waits longest was it. A CLI that
            # was not told to echo says nothing of what it took: then it is all of it.
            longest = next(iter(self._untaken), "")
            for id in (longest, self._turn_message or "") if self._echoes else list(self._untaken):
                self._untaken.pop(id, None)
        return self._turn_message not in self._untaken

    def _result(self, message: m.Result) -> None:
        ledger, costs = self.ledger, self._costs
        costs.enter(message)
        usage = message.usage.usage() if message.usage is not None else None
        ends_turn = not self._untaken or self._ends_turn(message)
        cost, models = costs.cost(message), costs.models(message)
        if not ends_turn:
            ledger.put(ev.UsageUpdated(scope="turn", usage=usage, cost_usd=cost))
            return
        outcome = translate.outcome_of(message, blocked=self._blocked, error=self._error_code)
        if message.deferred_tool_use is not None:
            deferred = fields.text(message.deferred_tool_use, "id")
            if deferred is not None:
                self._calls.skip(deferred)
        ended = ev.TurnEnded(  # no more than fifteen fields, and what is rare afterwards: CPython makes a dict of more
            session=ledger.open_session(),
            outcome=outcome,
            reason=message.terminal_reason or message.subtype or message.status,
            text=message.result,
            error=None if outcome == "completed" or outcome == "cancelled" else self._error(message),
            usage=usage,
            model_usage=models,
            cost_usd=cost,
            duration_ms=message.duration_ms,
            api_duration_ms=costs.api_ms(message, cost),
            steps=message.num_turns,
            structured_output=message.structured_output,
            resume_at=self._last_said,
        )
        if message.errors:
            ended.errors = message.errors
        if message.permission_denials:
            ended.denials = translate.denials_of(message.permission_denials)
        if self._taken_ids or message.user_message_uuids:
            ended.message_ids = list(dict.fromkeys((*self._taken_ids, *(message.user_message_uuids or ()))))
        if message.origin:
            ended.ext = {"claude.origin": message.origin}
        ledger.put(ended)
        self._blocked, self._error_code, self._last_said = False, None, None

    def _lifecycle(self, message: m.CommandLifecycle) -> None:
        """2.1.325 follows each message that has a uuid: queued, started, completed, cancelled."""
        if message.state in ("completed", "cancelled"):
            self._take(message.command_uuid)
        for event in translate.lifecycle(message):
            self.ledger.put(event)

    def _error(self, message: m.Result) -> ev.ErrorInfo:
        said = translate.error_info(message.error)
        if said is not None:
            return said
        text = message.result or "; ".join(message.errors or []) or message.subtype or "unknown error"
        status = message.api_error_status
        code = self._error_code or (str(status) if status else message.subtype)
        kind = "sessionNotFound" if translate.UNKNOWN_SESSION.search(text) else translate.KINDS.get(code)
        return ev.ErrorInfo(message=text, code=code, kind=kind)

    def _informational(self, message: m.Informational) -> None:
        self._blocked = self._blocked or bool(message.prevent_continuation)
        for event in translate.informational(message):
            self.ledger.put(event)

    def _compacted(self, message: m.CompactBoundary) -> None:
        data = message.compact_metadata
        self.ledger.put(
            ev.ContextCompacted(
                trigger="manual" if data.trigger == "manual" else "auto",
                before_tokens=data.pre_tokens,
                after_tokens=data.post_tokens,
            )
        )

    def _reset(self, message: m.ConversationReset) -> None:
        self._costs.reset()
        self.ledger.put(ev.ContextCompacted(trigger="cleared"))

    # --- what is said ------------------------------------------------------------------------------------

    def _assistant(self, message: m.Assistant) -> None:
        parent, said = message.parent_tool_use_id, message.message
        if parent is not None:
            self._calls.ensure_subagent(parent, message)
        else:
            if not self.ledger.open_turns:
                self._begin()
            streamed = self._streaming.id
            if streamed is not None and streamed != said.id:
                self._streaming.replaced_by(said.id)
            self._last_said = message.uuid
        if message.error is not None:
            self._error_code = message.error
            text = text_of_content(said.content)
            self.ledger.put(ev.Error(message=text, code=message.error, parent=parent))
        self._say(said, said.id or message.uuid, parent, "error" if message.error is not None else "text")
        if said.usage is not None:
            self._streaming.count(said, said.usage, message.request_id, parent)

    def _say(
        self, said: m.ApiMessage, message_id: str | None, parent: str | None, kind: ev.MessageKind = "text"
    ) -> None:
        """Put the blocks of an assistant's message: text, thinking, tool calls, results of the API's own
        tools."""
        model, content = said.model, said.content
        for block in content if type(content) is list else parts_of(content):
            if type(block) is str:
                block = {"type": "text", "text": block}
            elif type(block) is not dict:
                continue
            index = self._streaming.next_block(message_id) if message_id is not None else None
            if block.get("type") in _CALLS and type(call_id := block.get("id")) is str:
                self._calls.begin(call_id, str(block.get("name", "")), block.get("input"), parent, model)
            elif type(block.get("tool_use_id")) is str:
                self._calls.end(block, block.get("content"), {}, parent)
            else:
                said_so = translate.assistant_message(block, kind, message_id, index, parent, model)
                self.ledger.put(said_so)

    def _user(self, message: m.User) -> None:
        results: list[dict[str, Any]] = []
        rest: list[Any] = []
        content = message.message.content
        for block in content if type(content) is list else parts_of(content):
            if type(block) is dict and block.get("type") == "tool_result":
                results.append(block)
            elif block is not None:
                rest.append(block)
        parent = message.parent_tool_use_id
        if parent is not None:
            # Older tools wrote a result's own id as the parent: that is no subagent (specification 004 §3.6).
            if any(result.get("tool_use_id") == parent for result in results):
                parent = None
            else:
                self._calls.ensure_subagent(parent, message)
        for result in results:
            structured = message.tool_use_result if len(results) == 1 else None
            meta = message.meta_of(result.get("tool_use_id")) if message.tool_result_meta else {}
            self._calls.end(result, structured, meta, parent)
        if rest:
            said = translate.user_message(rest)
            local = (said.text or "").startswith(_LOCAL_OUTPUT)
            said.echo = bool(message.isReplay) and not local
            if said.echo and message.uuid in self._untaken:
                self._begin(message.uuid)
                self._take(message.uuid)
            said.synthetic = bool(message.isSynthetic) or local
            said.message_id, said.parent = message.uuid, parent
            self.ledger.put(said)

    def _flat_message(self, message: m.FlatMessage) -> None:
        if message.role == "assistant":
            self._begin()
            self._flat_answer(message)
        else:
            user = m.ApiMessage(content=message.content)
            self._user(m.User(message=user, uuid=message.uuid))

    def _flat_answer(self, message: m.FlatMessage) -> None:
        """Take in a flat message of the assistant: partial ones first (specification 004 §7.5), then the
        whole under the same id."""
        text = text_of_content(message.content)
        if message.partial:
            self._partial.add(message.id)
            self.ledger.put(ev.Delta(text=text, message_id=message.id))
        elif message.id in self._partial:
            self._partial.discard(message.id)
            self.ledger.put(
                ev.Message(role="assistant", text=text, message_id=message.id, model=message.model)
            )
        else:
            said = m.ApiMessage(id=message.id, model=message.model, content=message.content)
            self._say(said, message.id or message.uuid, None)

    def _flat_tool_use(self, message: m.FlatToolUse) -> None:
        self._begin()
        self._calls.begin(message.id, message.name, message.input, None, None)

    def _flat_tool_result(self, message: m.FlatToolResult) -> None:
        block = {
            "tool_use_id": message.tool_use_id,
            "content": message.content,
            "is_error": message.is_error,
        }
        self._calls.end(block, None, {}, None)

    # --- control -----------------------------------------------------------------------------------------

    def _control_request(self, message: m.ControlRequest) -> None:
        owed = self._controls.on_request(message)
        if owed is not None:
            self.owe(owed)

    def _control_response(self, message: m.ControlResponse) -> None:
        ready = self._controls.on_answer(message)
        if ready is not None:
            told = translate.agent_ready(ready)
            self.ledger.put(told)
            if facts := self.ledger.facts():  # a client may ask again (capture bidi_controls)
                self.ledger.learn(
                    commands=translate.together(told.commands, facts.get("commands", [])),
                    agents=translate.together(told.agents, facts.get("agents", [])),
                    models=told.models,
                    account=told.account,
                )

    # --- commands ----------------------------------------------------------------------------------------

    def lines_for(self, command: c.Command) -> list[bytes]:
        if isinstance(command, (c.Prompt, c.Steer)):
            return [control.user(command.text, command.blocks, self.new_message_id())]
        if isinstance(command, c.Answer):
            return [self._controls.answer_line(command)]
        if isinstance(command, c.AnswerQuestion):
            return [self._controls.question_line(command)]
        if isinstance(command, c.Reply):
            return [self._controls.reply_line(command)]
        if isinstance(command, c.Compact):
            text = f"/compact {command.instructions or ''}".rstrip()
            return [control.user(text, [], self.new_message_id())]
        request_id = command.id or self._request_id()
        if isinstance(command, c.Interrupt):
            return [control.request("interrupt", request_id, {})]
        if isinstance(command, c.SetMode):
            return [control.set_mode(command, request_id)]
        if isinstance(command, c.SetModel):
            return [control.request("set_model", request_id, {"model": command.model})]
        if isinstance(command, c.SetOption):
            return [control.set_option(command, request_id)]
        if isinstance(command, c.Refresh):
            return [control.refresh(command, request_id)]
        if isinstance(command, c.RewindFiles):
            return [control.rewind_files(command, request_id)]
        return []

    def _request_id(self) -> str:
        self._requests += 1
        return f"request-{self._requests}"


def _flag(argv: list[str], name: str) -> str | None:
    """The value of a flag of the command line that started the agent; the last one counts."""
    return next((value for value, flag in pairwise(reversed(argv)) if flag == name), None)


MACHINE = ClaudeStream
