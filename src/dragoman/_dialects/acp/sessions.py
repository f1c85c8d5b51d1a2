"""One session of a connection: its turns, its history, and what its updates mean."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct, field

from dragoman._dialects.acp import messages as m
from dragoman._dialects.acp import translate as t
from dragoman._dialects.acp.counting import Counting, UsageRule
from dragoman._dialects.acp.texts import Texts, chunk_text
from dragoman._dialects.acp.tools import Call, Tools
from dragoman._model import events as ev
from dragoman._model.errors import ErrorKind
from dragoman._wire import fields
from dragoman._wire.content import text_and_blocks, text_of_content
from dragoman._wire.jsonrpc import RpcError
from dragoman._wire.ledger import Ledger

_MODE_CHUNK: Final = "[MODE_UPDATE] "
_CONTEXT: Final = "<session_context>"
EMPTY: Final = "the agent ended the turn without a message, a tool call or a token"


class Agreement(Struct):
    """The outcome of initialize, for all sessions of the connection."""

    settled: bool = False
    version: int = 1
    usage_rule: UsageRule = "turn"
    late_history: bool = False
    """It goes on playing back a session after it said that the session is loaded; its commands mark the end."""
    capabilities: dict[str, Any] = field(default_factory=dict)
    auth_methods: list[Any] = field(default_factory=list)

    def offers(self, *path: str) -> bool:
        """Whether the agent's capabilities have this path: `{}` and true are yes, null and false are no."""
        value: Any = self.capabilities
        for key in path:
            value = fields.value(value, key)
        return value is not None and value is not False


class Session:
    """The state of one session. It is the ledger's current session whenever it is called."""

    def __init__(self, id: str, ledger: Ledger, agreement: Agreement, *, fresh: bool = False) -> None:
        self.id = id
        self.cwd = ""
        self.choices = t.Choices()
        self.commands: list[ev.SlashCommand] = []
        self.started = False
        """session.started was said."""
        self.settled = False
        """It has started and nothing of its history is still to come: an update of it is that, and no more."""
        self.lost_reason: str | None = None
        """Why it cannot be worked in."""
        self.lost_kind: ErrorKind | None = None
        self.prompts: dict[str, str] = {}
        """What was asked and not answered, by request id."""
        self._ledger = ledger
        self._agreement = agreement
        self._counting = Counting(fresh=fresh)
        self._texts = Texts(ledger)
        self._servers: list[str] = []
        """MCP servers that it was given."""
        self.tools = Tools(ledger, self._servers)
        self._replaying = False
        self.catching_up = False
        """The history is not complete: who spoke now would be answered in the middle of it."""
        self.is_blank = False
        """It was to be gone on with, and came back without its history (Gemini CLI 0.45.2, whatever the id)."""
        self._prompt: str | None = None
        """Of the open turn."""
        self._acted = False
        """The agent has said or done something in the open turn."""
        self._cut = False
        """The client cancelled the turn while a call was open or before anything was done, and nothing was said since."""
        self._recalled = False
        """Something of the history was played back, other than the context that Gemini CLI writes into every session."""
        self._underway = False
        """The agent took the prompt up (protocol 2): an idle now ends the turn, one before it is an old one."""
        self._summaries: dict[str | None, str] = {}

    def update(self, update: m.Update) -> None:
        RULES[type(update)](self, update)

    @property
    def busy(self) -> bool:
        return self._ledger.busy(self.id)

    # --- what is known of it -----------------------------------------------------------------------------

    def open(self, params: Any, result: Any, *, resumed: bool) -> None:
        """Take in the agent's answer to session/new, load, resume or fork."""
        self.choices = t.choices_of(result)
        self.commands = t.commands_of(fields.items(result, "availableCommands")) or self.commands
        self.cwd = fields.text(params, "cwd") or self.cwd
        self.started = True
        names = (fields.text(server, "name") for server in fields.items(params, "mcpServers"))
        self._servers[:] = [name for name in names if name is not None]
        self._ledger.put(
            ev.SessionStarted(
                model=self.choices.model,
                effort=self.choices.effort,
                cwd=self.cwd or None,
                mcp_servers=[ev.McpServer(name=name) for name in self._servers],
                commands=self.commands,
                models=self.choices.models,
                modes=self.choices.modes,
                mode=self.choices.mode,
                options=self.choices.options,
                capabilities=self._agreement.capabilities,
                resumed=resumed,
            )
        )

    def ensure_started(self) -> None:
        """Start a session that the agent names and whose opening is not in the stream."""
        if not self.started:
            self.started = True
            self._ledger.put(ev.SessionStarted(synthesized=True))

    def _put_facts(self, **fields: Any) -> None:
        """Put facts about the session; the ledger leaves out those that did not change."""
        if self.started:
            self._ledger.put(ev.SessionStarted(**fields))

    def _commands(self, update: m.Commands) -> None:
        if self.catching_up and not self._recalled:
            self.is_blank = True
        self.catching_up = False
        self.offer(t.commands_of(update.availableCommands))

    def offer(self, commands: list[ev.SlashCommand]) -> None:
        if commands != self.commands:
            self.commands = commands
            self._ledger.put(ev.SessionCommands(commands=commands))

    def enter_mode(self, mode: str | None) -> None:
        if mode is not None and mode != self.choices.mode:
            self.choices.mode = mode
            self._ledger.put(ev.SessionMode(mode=mode, modes=self.choices.modes))

    def use_model(self, model: str | None) -> None:
        if model is not None:
            self.choices.model = model
            self._put_facts(model=model)

    def set_options(self, options: list[Any]) -> None:
        """Take in `configOptions`: all options; some of them are the mode, the model or the effort."""
        if options == self.choices.options:
            return
        self.choices.options = options
        self._ledger.put(ev.SessionOptions(options=options))
        self.enter_mode(fields.text(t.option_in(options, "mode"), "currentValue"))
        model = fields.text(t.option_in(options, "model"), "currentValue")
        self._put_facts(
            model=model, effort=fields.text(t.option_in(options, "thought_level"), "currentValue")
        )
        self.choices.model = model or self.choices.model

    # --- turns -------------------------------------------------------------------------------------------

    def on_prompt(self, request_id: str, native: Any) -> None:
        """The client sent session/prompt: it begins a turn, or is one more message in the open one."""
        words, blocks = text_and_blocks(native)
        self.end_replay()
        self.prompts[request_id] = words
        if not self.busy:
            self._begin(words)
            self._ledger.put(ev.TurnStarted(prompt=words or None))
        self._ledger.put(ev.Message(role="user", text=words or None, blocks=blocks))

    def _begin(self, prompt: str | None) -> None:
        self._texts.forget()
        self._counting.begin()
        self._prompt, self._underway = prompt, False
        self._acted = self._cut = False

    def on_cancel(self) -> None:
        """The client sent session/cancel."""
        self._cut = self.busy and (not self._acted or bool(self.tools.open()))
        self._ledger.interrupt()

    def on_prompt_answer(self, request_id: str, result: Any, error: RpcError | None) -> None:
        """Take in the answer to session/prompt: in protocol 1 the end of the turn, in protocol 2 a
        receipt."""
        self.prompts.pop(request_id, None)
        stop = fields.text(result, "stopReason")
        receipt = error is None and stop is None and self._agreement.version >= 2
        if receipt or (error is None and stop is None and fields.text(result, "messageId") is not None):
            self._underway = True
            return
        self._end(stop, result, error)
        if self.prompts:  # sent during the turn that ended; its answer is still to come
            waiting = next(iter(self.prompts.values()))
            self._begin(waiting)
            self._ledger.put(ev.TurnStarted(prompt=waiting or None, synthesized=True))

    def _end(self, stop: str | None, native: Any, error: RpcError | None) -> None:
        self._texts.close()
        info = t.error_info(error) if error is not None else None
        outcome = t.outcome_of(stop)
        if error is not None and info is not None:
            outcome = "cancelled" if error.code == t.CANCELLED else "failed"
            self._ledger.put(ev.Error(message=info.message, code=info.code))
        if outcome == "completed" and self._cut:  # opencode 1.17.11: end_turn, and its call is completed
            outcome = "cancelled"
        ended = ev.TurnEnded(outcome=outcome, reason=stop, text=self._texts.answer, error=info)
        aside = self._counting.settle(ended, self._agreement.usage_rule, native)
        if aside is not None:
            aside.model = self.choices.model
            self._ledger.put(aside)
        self.tools.flush()
        if outcome == "completed" and self._is_empty(ended):
            self._ledger.put(
                ev.Notice(severity="warning", message=EMPTY, code="empty_turn", synthesized=True)
            )
        self._ledger.put(ended)
        self._prompt, self._underway = None, False

    def _is_empty(self, ended: ev.TurnEnded) -> bool:
        """Whether a turn ended without anything; a command of the agent's own may."""
        used = ended.usage.output_tokens if ended.usage is not None else None
        return not self._acted and not used and not (self._prompt or "").startswith("/")

    def _state(self, update: m.StateChanged) -> None:
        """A state_update of protocol 2: `idle` ends the turn, `running` begins one that no prompt began."""
        if update.state == "running" and not self._replaying:
            if not self.busy:
                self._begin(None)
                self._ledger.put(ev.TurnStarted(synthesized=True))
            self._underway = True
        if update.state == "idle" and self.busy and (self._underway or update.stopReason is not None):
            error = t.rpc_error(update.error) if update.stopReason == "error" else None
            native = {"usage": update.usage, "_meta": update.meta}
            self._end(update.stopReason, native, error)
            return
        if update.state == "idle" and not self.busy:
            self.end_replay()
        self._ledger.put(ev.SessionStatus(status=update.state or "unknown"))

    def _sign_of_life(self) -> None:
        """Begin a turn for what the agent says, where the stream has no lines of the client."""
        ledger = self._ledger
        if not ledger.heard_client and not self._replaying and self.id not in ledger.open_turns:
            self._begin(None)
            ledger.put(ev.TurnStarted(synthesized=True))
        self._acted = self._recalled = True

    # --- history -----------------------------------------------------------------------------------------

    def begin_replay(self, method: str) -> None:
        """The client asked for an old session: what the agent says until the next prompt is history."""
        self.catching_up = self._agreement.late_history and method == "session/load"
        self.settled = False
        self._texts.forget()
        self.tools = Tools(self._ledger, self._servers, replay=True)
        self._replaying = True

    def end_replay(self) -> None:
        self._texts.close()
        if self._replaying:
            self.tools.abandon()
            self.tools = Tools(self._ledger, self._servers)
            self._texts.forget()
            self._replaying = False

    # --- what is said and done ---------------------------------------------------------------------------

    def _agent_chunk(self, update: m.AgentChunk | m.ThoughtChunk) -> None:
        content, texts, ledger = update.content, self._texts, self._ledger
        words = content.text if type(content) is m.TextContent else chunk_text(content)
        if words and self.choices.modes and words.startswith(_MODE_CHUNK):
            mode = words.removeprefix(_MODE_CHUNK)
            if any(known.id == mode for known in self.choices.modes):
                self.enter_mode(mode)
                return
        if (
            words
            and texts.run == (type(update), update.messageId, None)
            and not update.meta
            and not self._replaying
            and self.id in ledger.open_turns
        ):  # most go on with the block that is open, and are no more than their delta
            self._cut = False
            texts.parts.append(ledger.delta(texts.kind, words, texts.id, texts.block, None, None))
            return
        self._sign_of_life()
        self._cut = False
        texts.agent(update, words, self._replaying)
        if update.meta:
            counted = self._counting.call_usage(update.meta.get("usage"))
            if counted is not None and not self._replaying:
                counted.model = self.choices.model
                self._ledger.put(counted)

    def _agent_message(self, update: m.AgentMessage | m.AgentThought) -> None:
        if update.content:
            self._sign_of_life()
            self._cut = False
        self._texts.whole(update, replay=self._replaying)

    def _user(self, update: m.UserChunk | m.UserMessage) -> None:
        words = (chunk_text(update.content) if isinstance(update, m.UserChunk) else None) or ""
        self._recalled = self._recalled or not words.startswith(_CONTEXT)
        self._texts.user(update, prompt=self._prompt if self.busy else None, replay=self._replaying)

    def _plan(self, entries: list[Any] | None) -> None:
        self._sign_of_life()
        self._texts.close()
        plan = t.plan_of(entries)
        plan.replay = self._replaying
        self._ledger.put(plan)

    def _tool(self, update: m.ToolUpdate) -> None:
        tool = m.tool_of(update.toolCall) if update.toolCall is not None else update
        if tool is None or not tool.toolCallId:
            self._ledger.put(ev.NativeUnknown(native_type="session/update/tool_call without an id"))
            return
        ledger = self._ledger
        known = ledger.tool_known(tool.toolCallId, replay=self._replaying)
        if not known:
            if not self._acted or self.id not in ledger.open_turns:
                self._sign_of_life()
            if self._texts.run is not None:
                self._texts.close()
        self.tools.see(tool, known, self._agreement.version >= 2)

    def ask(self, tool: m.ToolUpdate) -> Call:
        """The call of a permission request, which may be the first line about it."""
        self._sign_of_life()
        self._texts.close()
        return self.tools.ask(tool)

    def _tool_content(self, update: m.ToolContentChunk) -> None:
        self._texts.close()
        self.tools.grow(update)

    def _terminal(self, update: m.TerminalUpdate) -> None:
        terminals = self.tools.terminals
        if update.output is not None:
            terminals.replace_output(update.terminalId, data=fields.text(update.output, "data") or "")
        if update.exitStatus is not None:
            terminals.keep_exit(update.terminalId, update.exitStatus)

    def _terminal_chunk(self, update: m.TerminalChunk) -> None:
        self.tools.terminals.add_output(update.terminalId, update.data)

    def _notice(self, update: m.NoticeGiven) -> None:
        self._ledger.put(t.notice(update))

    def _usage(self, update: m.UsageChanged) -> None:
        model = fields.text(update.meta, "_claude/model")
        self._ledger.put(self._counting.standing(update.used, update.size, update.cost, model))

    def _compaction(self, update: m.Compaction) -> None:
        manual = (self._prompt or "").startswith("/compact")
        summary = self._summaries.pop(update.compactionId, None) if update.status != "in_progress" else None
        self._ledger.put(t.compaction_event(update, summary, manual=manual))

    def _compaction_chunk(self, update: m.CompactionChunk) -> None:
        words = text_of_content(update.content)
        self._summaries[update.compactionId] = self._summaries.get(update.compactionId, "") + words


RULES: Final[dict[type[m.Update], Callable[[Session, Any], None]]] = {
    m.AgentChunk: Session._agent_chunk,
    m.ThoughtChunk: Session._agent_chunk,
    m.AgentMessage: Session._agent_message,
    m.AgentThought: Session._agent_message,
    m.UserChunk: Session._user,
    m.UserMessage: Session._user,
    m.Plan: lambda session, update: session._plan(update.entries),
    m.PlanUpdate: lambda session, update: session._plan(fields.items(update.plan, "entries")),
    m.ToolCall: Session._tool,
    m.ToolUpdate: Session._tool,
    m.ToolContentChunk: Session._tool_content,
    m.TerminalUpdate: Session._terminal,
    m.TerminalChunk: Session._terminal_chunk,
    m.Commands: Session._commands,
    m.ModeChanged: lambda session, update: session.enter_mode(update.currentModeId),
    m.OldModeChanged: lambda session, update: session.enter_mode(update.currentModeId or update.modeId),
    m.OptionsChanged: lambda session, update: session.set_options(update.configOptions or []),
    m.InfoChanged: lambda session, update: session._put_facts(title=update.title),
    m.UsageChanged: Session._usage,
    m.NoticeGiven: Session._notice,
    m.Compaction: Session._compaction,
    m.CompactionChunk: Session._compaction_chunk,
    m.StateChanged: Session._state,
}
"""What each update means; one table for all sessions."""
