"""The machine of Claude Code's session files: everything that has to be remembered from line to line."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from msgspec import Struct, field

from dragoman._dialects.claude.shared import results
from dragoman._dialects.claude.shared.usage import counts_of
from dragoman._dialects.claude.transcript import messages as m
from dragoman._dialects.claude.transcript import translate
from dragoman._dialects.claude.transcript.calls import Calls
from dragoman._dialects.claude.transcript.sidechains import Sidechains
from dragoman._dialects.claude.transcript.turns import SYNTHETIC, Turn
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.frames import Exit
from dragoman._model.usage import Usage, since
from dragoman._wire import fields
from dragoman._wire.content import parts_of, text_of_content
from dragoman._wire.machine import Machine


class Subagent(Struct):
    call_id: str | None
    """The call that started it, if that was known when it began."""
    work: Turn = field(default_factory=Turn)


class ClaudeTranscript(Machine):
    """The files of one session, or of several, in reading order."""

    dialect: ClassVar[str] = "claude_transcript"

    def __init__(self, agent: str = "claude") -> None:
        super().__init__(agent)
        self._parent: str | None = None
        self._aside = False
        """The line at hand is a subagent's."""
        self._seen: set[str] = set()
        self._counted: dict[str, Usage] = {}
        """The calls so far, with the greatest counts of each."""
        self._turns: dict[str | None, Turn] = {}
        self._subagents: dict[str, Subagent] = {}
        self._sidechains = Sidechains()
        self._calls = Calls(self._put, self._sidechains, self._spent_by)
        self._blocks: dict[str, int] = {}
        self._titles: dict[str | None, str] = {}
        self._summaries: dict[str, str] = {}
        self._modes: dict[str | None, str] = {}
        self._costs: dict[str | None, tuple[float, Usage, int]] = {}
        """Of each session: the totals as last said, and how many turns began since."""
        self._handlers: dict[type[m.Line], Callable[[Any], None]] = {
            m.User: self._user,
            m.Assistant: self._assistant,
            m.Attachment: self._attachment,
            m.Progress: self._sidechains.on_progress,
            m.LocalCommand: self._local_command,
            m.SystemText: self._system_text,
            m.TurnDuration: self._turn_duration,
            m.Title: self._title,
            m.Summary: self._summary,
            m.ModeLine: self._mode,
            m.CostState: self._cost,
            m.AgentMeta: self._sidechains.on_meta,
        }

    def read(self, line: bytes) -> Iterable[Any]:
        self._parent, self._aside = None, False
        return (m.READER.read(line),)

    def on_message(self, line: m.Line) -> None:
        self.ledger.agent_time = line.timestamp
        self.ledger.native_type = translate.native_type(line)
        if line.sessionId is not None:
            self._name_session(line.sessionId)
        if isinstance(line, m.Entry) and not self._place(line):
            return
        handler = self._handlers.get(type(line))
        if handler is not None:
            handler(line)
        else:
            self._put_all(translate.SIMPLE[type(line)](line))
        if (turn := self._turn) is not None and line.timestamp is not None:
            turn.time = line.timestamp

    def on_end(self, exit: Exit) -> None:
        self._parent = None
        for agent, subagent in self._subagents.items():
            ended = subagent.work.turn_ended()
            self._put(
                ev.SubagentEnded(
                    call_id=subagent.call_id,
                    agent_id=agent,
                    status=ended.outcome,
                    summary=ended.text,
                    usage=ended.usage,
                    synthesized=True,
                )
            )
        for session in list(self._turns):
            self._end_turn(session)

    # --- every entry -------------------------------------------------------------------------------------

    def _put(self, event: Event) -> None:
        if event.parent is None:
            event.parent = self._parent
        self.ledger.put(event)

    def _put_all(self, events: list[Event]) -> None:
        for event in events:
            self._put(event)

    @property
    def _turn(self) -> Turn | None:
        """The open turn of the current line; a subagent's lines have none."""
        return None if self._aside else self._turns.get(self.ledger.current)

    def _name_session(self, session: str) -> None:
        if self.ledger.current is None and None in self._turns:
            self._turns[session] = self._turns.pop(None)
        self.ledger.name_session(session)

    def _place(self, entry: m.Entry) -> bool:
        """Take in the session and subagent of an entry. Returns False for one that was read before: forks and
        compactions copy entries (captures resume_4_fork, compact)."""
        if entry.uuid is not None:
            if entry.uuid in self._seen:
                return False
            self._seen.add(entry.uuid)
        if not entry.isSidechain or not self.ledger.facts():
            mode = entry.permissionMode if isinstance(entry, m.User) else None
            self._facts(cwd=entry.cwd, cli_version=entry.version, permission_mode=mode)
        if entry.isSidechain:
            self._step_aside(entry)
        if self._summaries and entry.uuid in self._summaries:
            self._entitle(self._summaries.pop(entry.uuid), "summary")
        return True

    def _facts(self, **given: str | None) -> None:
        """Put the facts of the session that are new. It starts with the line that has its directory; facts
        before that (titles and modes are written first) are updates."""
        known = self.ledger.facts()
        new: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None and known.get(name) != value
        }
        if new:
            said = ev.SessionStarted if known or "cwd" in new else ev.SessionUpdated
            self.ledger.put(said(**new))

    def _step_aside(self, entry: m.Entry) -> None:
        """Take in that the current line is a subagent's."""
        self._aside = True
        agent = self._sidechains.agent(entry)
        said = text_of_content(entry.message.content) if isinstance(entry, m.User) else ""
        self._parent = self._sidechains.call(agent, said)
        if agent not in self._subagents:
            self._subagents[agent] = Subagent(self._parent)
            self.ledger.put(ev.SubagentStarted(call_id=self._parent, agent_id=agent, synthesized=True))

    # --- turns -------------------------------------------------------------------------------------------

    def _begin_turn(self, prompt: str | None, prompt_id: str | None) -> None:
        session = self.ledger.current
        self._end_turn(session)
        self._turns[session] = Turn(prompt_id=prompt_id)
        cost, usage, turns = self._costs.get(session, (0.0, Usage(), 0))
        self._costs[session] = cost, usage, turns + 1
        self._put(ev.TurnStarted(prompt=prompt, native_turn_id=prompt_id))

    def _end_turn(self, session: str | None) -> None:
        turn = self._turns.pop(session, None)
        if turn is not None:
            ended = turn.turn_ended()
            ended.session = session
            self.ledger.put(ended)

    def _came_to(self, outcome: ev.TurnOutcome, reason: str | None = None) -> None:
        if (turn := self._turn) is not None:
            turn.came_to(outcome, reason)

    # --- users -------------------------------------------------------------------------------------------

    def _user(self, entry: m.User) -> None:
        parts = parts_of(entry.message.content)
        results = [part for part in parts if fields.value(part, "type") == "tool_result"]
        for result in results:
            # One line may have several results but has one toolUseResult: it is nobody's then.
            denial = self._calls.on_result(result, entry, entry.toolUseResult if len(results) == 1 else None)
            if denial is not None and (turn := self._turn) is not None:
                turn.denials.append(denial)
        if entry.toolEndsTurn:
            self._came_to("completed", "tool")
        words: Any = [part for part in parts if part not in results] if results else entry.message.content
        if words:
            self._on_user_text(entry, words, beside_result=bool(results))

    def _on_user_text(self, entry: m.User, content: Any, *, beside_result: bool) -> None:
        text = text_of_content(content)
        if text.startswith(translate.INTERRUPTED):
            self._put(translate.user_message(content, synthetic=True))
            self._came_to("cancelled", "interrupted")
        elif entry.isMeta or entry.isCompactSummary or entry.isVisibleInTranscriptOnly or beside_result:
            self._put(translate.user_message(content, synthetic=True))
        elif entry.isSidechain:
            self._put(translate.user_message(content))
        elif (notification := results.notification_of(text)) is not None:
            self._begin_turn(None, entry.promptId)
            self._put(translate.user_message(content, synthetic=True))
            self._calls.on_notification(notification)
        elif (output := translate.output_of(text)) is not None:
            self._put_output(output)
        elif self._continues(entry, text):
            self._put(translate.user_message(content))
        else:
            self._on_prompt(content, entry.promptId)

    def _continues(self, entry: m.User, text: str) -> bool:
        """Whether an entry belongs to the prompt of the open turn. Its id alone does not tell: in a fork all
        copied prompts have the id of the new one (capture resume_4_fork of 2.1.325)."""
        turn = self._turn
        is_prompt = entry.permissionMode is not None or translate.typed_text(text) != text
        if turn is None or is_prompt or entry.promptId is None:
            return False
        return entry.promptId == turn.prompt_id

    def _on_prompt(self, content: Any, prompt_id: str | None = None) -> None:
        message = translate.user_message(content)
        message.text = translate.typed_text(message.text or "")
        self._begin_turn(message.text, prompt_id)
        self._put(message)

    def _put_output(self, output: str) -> None:
        """Put the output of the CLI's own command, which no model answers."""
        if output:
            self._put(ev.Message(role="system", text=output))
        self._came_to("completed")

    def _local_command(self, line: m.LocalCommand) -> None:
        """Take in a command's output; 2.1.197 writes unknown commands themselves like this
        (slash_various)."""
        output = translate.output_of(line.content or "")
        if output is not None:
            self._put_output(output)
        else:
            self._on_prompt(line.content or "")

    # --- answers -----------------------------------------------------------------------------------------

    def _assistant(self, entry: m.Assistant) -> None:
        message = entry.message
        model = message.model if message.model != SYNTHETIC else None
        failed = entry.isApiErrorMessage is True
        if not entry.isSidechain:
            self._facts(model=model, effort=entry.effort)
        texts = []
        for part in parts_of(message.content):
            block = self._block(entry)
            if self._calls.on_block(part, model):
                continue
            said = translate.assistant_block(part, failed=failed)
            said.message_id, said.block, said.model = message.id, block, model
            self._put(said)
            if said.kind in ("text", "error") and said.text:
                texts.append(said.text)
        text = "\n".join(texts)
        if failed:
            self._put(ev.Error(message=text, code=entry.error))
        turn = self._subagents[self._sidechains.agent(entry)].work if self._aside else self._turn
        if turn is not None:
            turn.on_answer(entry, text)
        self._usage(entry, model, turn)

    def _block(self, entry: m.Assistant) -> int | None:
        """The block's index in its message: `apiBlockIndex` since 2.1.325, counted before."""
        message_id = entry.message.id
        if message_id is None:
            return None
        place = self._blocks.get(message_id, 0)
        if entry.apiBlockIndex is not None and entry.apiBlockIndex > place:
            place = entry.apiBlockIndex
        self._blocks[message_id] = place + 1
        return place

    def _usage(self, entry: m.Assistant, model: str | None, turn: Turn | None) -> None:
        """Put the usage of a call once, and again where it has grown: every line of the message repeats it, and before
        2.1.325 the first ones had the count of the first token. Copies of a message, in a fork or in a subagent's file,
        have its id."""
        message = entry.message
        counts, call = counts_of(message.usage), message.id or entry.requestId or entry.uuid
        usage = counts.usage()
        if usage is None or model is None or call is None:
            return
        known = self._counted.get(call)
        if known is None or _grew(known, usage):
            self._counted[call] = usage
            said = counts.call(call, usage, model, entry.requestId)
            said.agent_id, said.replay = entry.agentId, entry.forkedFrom is not None
            self._put(said)
        if turn is not None and entry.forkedFrom is None and (known is None or call in turn.usage):
            turn.usage[call] = model, self._counted[call]

    def _spent_by(self, call_id: str) -> Usage | None:
        """What the subagent has used that this call started, if its lines were read."""
        agents = self._subagents.values()
        return next((agent.work.spent() for agent in agents if agent.call_id == call_id), None)

    # --- what is attached, and what the CLI says ---------------------------------------------------------

    def _attachment(self, entry: m.Attachment) -> None:
        native = entry.attachment
        kind = native.get("type")
        self._put_all(translate.attachment(native))
        if kind == "max_turns_reached":
            self._came_to("limited", "max_turns")
        elif kind == "hook_deferred_tool":
            self._came_to("completed", "tool_deferred")
        elif kind == "structured_output" and (turn := self._turn) is not None:
            turn.structured_output = native.get("data")
        elif kind == "queued_command":
            note = results.notification_of(text_of_content(native.get("prompt")))
            if note is not None:
                self._calls.on_notification(note)
        elif kind == "model" and not entry.isSidechain:
            self._facts(model=fields.text(native.get("identity"), "modelId"))

    def _system_text(self, line: m.SystemText) -> None:
        """A hook that blocks a prompt leaves no user entry, only this (capture hook_blocks_prompt)."""
        if line.preventContinuation and self._turn is None and not self._aside:
            self._begin_turn(None, None)
        self._put_all(translate.system_text(line))
        if line.preventContinuation:
            self._came_to("refused", "hook")

    def _turn_duration(self, line: m.TurnDuration) -> None:
        if (turn := self._turn) is not None:
            turn.duration_ms = line.durationMs

    # --- the session -------------------------------------------------------------------------------------

    def _title(self, line: m.Title) -> None:
        if (given := line.customTitle or line.agentName) is not None:
            self._entitle(given, "given")
        elif line.aiTitle is not None:
            self._entitle(line.aiTitle, "made up")

    def _summary(self, line: m.Summary) -> None:
        """Files also hold summaries of other conversations, so one counts when its leaf is here."""
        if line.summary is not None and line.leafUuid is not None:
            if line.leafUuid in self._seen:
                self._entitle(line.summary, "summary")
            else:
                self._summaries[line.leafUuid] = line.summary

    def _entitle(self, title: str, source: str) -> None:
        """Put a title, unless the session has one that somebody gave."""
        session = self.ledger.current
        if source != "given" and self._titles.get(session) == "given":
            return
        self._titles[session] = source
        self._facts(title=title)

    def _mode(self, line: m.ModeLine) -> None:
        session = self.ledger.current
        if line.mode is not None and self._modes.get(session) != line.mode:
            self._modes[session] = line.mode
            self._put(ev.SessionMode(mode=line.mode))
        self._facts(permission_mode=line.permissionMode)

    def _cost(self, line: m.CostState) -> None:
        """The totals are written when a process ends. Where it saw one turn, the rise is what was spent in it."""
        told, session = translate.session_cost(line), self.ledger.current
        self._put(told)
        cost, usage, turns = self._costs.get(session, (0.0, Usage(), 0))
        if line.totalCostUSD is None:
            return
        spent = told.usage or Usage()
        self._costs[session] = line.totalCostUSD, spent, 0
        turn = self._turn
        if turn is not None and turns <= 1 and line.totalCostUSD >= cost:
            turn.pay(line.totalCostUSD - cost, since(spent, usage))


def _grew(before: Usage, now: Usage) -> bool:
    return now != before and (now.output_tokens or 0) >= (before.output_tokens or 0)


MACHINE = ClaudeTranscript
