"""The machine of `codex exec --json`: everything that has to be remembered from line to line."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import msgspec

from dragoman._dialects.codex.exec import messages as m
from dragoman._dialects.codex.exec import translate
from dragoman._dialects.codex.shared import values as v
from dragoman._dialects.codex.shared.agents import Agents
from dragoman._dialects.codex.shared.events import CoreEvents
from dragoman._dialects.codex.shared.turns import Turns
from dragoman._model import events as ev
from dragoman._model.capabilities import Capability
from dragoman._model.frames import Exit, Launch
from dragoman._model.usage import Usage
from dragoman._wire import fields
from dragoman._wire.jsontext import REFUSED, repaired_text
from dragoman._wire.machine import Machine
from dragoman._wire.textblocks import Growing


class CodexExec(Machine):
    """One process of `codex exec --json`: one thread, one turn. Recordings put together may have more."""

    dialect: ClassVar[str] = "codex_exec"
    capabilities: ClassVar[frozenset[Capability]] = frozenset((Capability.MCP, Capability.HOOKS))

    def __init__(self, agent: str = "codex") -> None:
        super().__init__(agent)
        self._wanted_thread: str | None = None
        """The thread to go on with, by whatever name it was asked for."""
        self._forks = False
        """It goes on in a copy of that one, which has an id of its own."""
        self._prompt: str | None = None
        self._has_schema = False
        """The answer was asked for in JSON."""
        self._agents = Agents(self.ledger)
        self._growing = Growing(self.ledger.put)
        self._outputs: dict[str, str] = {}
        self._warned: dict[str, str] = {}
        self._core = CoreEvents(self.ledger, Turns(self.ledger, before=Usage()), self._growing)

    # --- lines -------------------------------------------------------------------------------------------

    def on_start(self, launch: Launch) -> None:
        argv = launch.argv[: launch.argv.index("--")] if "--" in launch.argv else launch.argv
        words = [word for word in ("resume", "fork") if word in argv]
        self._wanted_thread = launch.resume or next((_after(argv, word) for word in words), None)
        self._forks = "fork" in words
        if self._wanted_thread is not None:  # what the thread had used before is not said
            self._core.turns = Turns(self.ledger)
        self._core.turns.calls.model = fields.text(launch.config, "model")
        self._prompt = fields.text(launch.config, "prompt")
        self._has_schema = fields.value(launch.config, "output_schema") is not None

    def read(self, line: bytes) -> Iterable[Any]:
        return (m.read(line),)

    def on_out(self, line: bytes) -> None:
        """A line of a known type is decoded at once and goes to its handler; what is blank, strange or no JSON, the general
        way."""
        try:
            message = m.decode(line)
        except REFUSED:
            super().on_out(line)
            return
        if message.method:
            super().on_out(line)
        else:
            self._HANDLERS[type(message)](self, message)

    def name_of(self, line: bytes) -> str | None:
        return m.name_of(m.read(line))

    def on_message(self, message: m.Message) -> None:
        self._HANDLERS[type(message)](self, message)

    def on_in(self, line: bytes) -> None:
        message = m.CLIENT.read(line)
        if isinstance(message, m.ClientLine) and message.method == "respondToApproval":
            resolved = translate.decision(message.params)
            if resolved is not None:
                self.ledger.put(resolved)

    # --- threads and turns -------------------------------------------------------------------------------

    def _thread_started(self, message: m.ThreadStarted) -> None:
        self._enter_thread(message.thread_id)
        # A name that no thread has starts a new one without a word; only an id can be compared.
        asked = self._wanted_thread
        resumed = asked is not None and (asked == message.thread_id or asked.startswith("-"))
        self.ledger.put(ev.SessionStarted(resumed=resumed))
        if asked is not None and not resumed and not self._forks:
            said = f"asked for thread {asked}, Codex began {message.thread_id}: it is not used"
            self._refuse(said)

    def on_end(self, exit: Exit) -> None:
        said = (exit.stderr_tail or "").strip()
        if self._wanted_thread is not None and self.ledger.current is None and v.knows_no_session(said):
            self._refuse(said)

    def _refuse(self, message: str) -> None:
        self.ledger.put(ev.Error(message=message, scope="session", kind="sessionNotFound", synthesized=True))

    def _enter_thread(self, thread_id: str | None) -> None:
        ledger = self.ledger
        if thread_id is None or thread_id == ledger.current:
            return
        if ledger.current is not None:  # another recording follows, of a thread of its own
            self._core.turns.finish()
            self._growing.forget()
            self._core.turns = Turns(ledger, before=Usage())
        ledger.name_session(thread_id)

    def _turn_started(self, message: m.TurnStarted) -> None:
        prompt, self._prompt = self._prompt, None
        self._core.turns.begin(message.turn_id, prompt)
        if prompt is not None:
            self.ledger.put(ev.Message(role="user", text=prompt, synthesized=True))

    def _turn_completed(self, message: m.TurnCompleted) -> None:
        turns, total = self._core.turns, v.usage_of(message.usage)
        if total is not None:
            turns.go_on()
            turns.count(total)
            self.ledger.put(ev.UsageUpdated(scope="session", usage=total))
        answer = v.json_in(turns.text) if self._has_schema else None
        self._end(ev.TurnEnded(outcome="completed", structured_output=answer))

    def _turn_failed(self, message: m.TurnFailed) -> None:
        error = v.error_of(message.error) or ev.ErrorInfo(message="unknown error")
        self._end(ev.TurnEnded(outcome="failed", error=error))

    def _end(self, ended: ev.TurnEnded) -> None:
        self._core.turns.end(ended)
        self._growing.forget()

    def _error(self, message: m.Error) -> None:
        """Not the end of anything: the turn may yet succeed (capture exec_err_disconnect_then_ok)."""
        said = message.message or ""
        event: ev.Retry | ev.Error | None = v.retry_of(said)
        if event is None:
            event = ev.Error(message=said, scope="turn" if self.ledger.open_turns else "session")
        self.ledger.put(event)

    def _session_meta(self, message: m.SessionMeta) -> None:
        meta = message.payload
        self._enter_thread(fields.text(meta, "id"))
        git = fields.mapping(meta, "git")
        self.ledger.put(
            ev.SessionStarted(
                cwd=fields.text(meta, "cwd"),
                cli_version=fields.text(meta, "cli_version"),
                ext={"codex.git": git} if git else {},
            )
        )

    def _event(self, payload: dict[str, Any]) -> None:
        kind = fields.text(payload, "type")
        self.ledger.native_type = f"event_msg/{kind}"
        if not self._core.receive(payload):
            self.ledger.put(ev.NativeUnknown(native_type=f"event_msg/{kind}"))
        self._core.thoughts.clear()  # no other line repeats them here

    # --- items -------------------------------------------------------------------------------------------

    def _item(self, message: m.ItemMessage) -> None:
        item = message.item
        handler = self._ITEMS.get(item.type)
        if handler is not None:
            handler(self, item, message.phase)
        else:
            self.ledger.put(ev.NativeUnknown(native_type=m.name_of(message)))

    def _text(self, item: m.Item, phase: m.Phase) -> None:
        turns = self._core.turns
        turns.go_on()
        if phase != "completed":
            self._growing.whole(translate.delta(item))
            return
        message = translate.message(item)
        self._growing.finish(message)
        if message.kind == "text":
            turns.text = message.text or ""

    def _tool(self, item: m.Item, phase: m.Phase) -> None:
        """Begin a tool in a turn; it may end after it, like a command that ran on (capture exec_sigint_in_command)."""
        turns, known = self._core.turns, False
        if phase == "started":
            turns.put(translate.tool_started(item))
        else:
            known = self.ledger.tool_known(item.id)
            if not known:
                self._core.begin_tool(translate.tool_started(item))
        if phase == "updated":
            self._progress(item)
        elif phase == "completed":
            if known and item.type == "web_search":
                started = translate.tool_started(item)
                self.ledger.put(ev.ToolUpdated(call_id=item.id, title=started.title, input=started.input))
            self.ledger.put(translate.tool_ended(item))
            self._outputs.pop(item.id, None)
        if item.type == "collab_tool_call":
            self._agents.on_call(item.id, item.tool or "", msgspec.to_builtins(item))

    def _progress(self, item: m.Item) -> None:
        """Put the new part of `aggregated_output`, which a command repeats whole as it grows; other tools
        have none."""
        output = item.aggregated_output
        if output is None:
            started = translate.tool_started(item)
            result = item.result if item.type == "mcp_tool_call" else None
            self.ledger.put(
                ev.ToolUpdated(call_id=item.id, title=started.title, input=started.input, structured=result)
            )
            return
        said = self._outputs.get(item.id, "")
        self._outputs[item.id] = output
        if output.startswith(said):
            self.ledger.put(ev.Delta(kind="tool_output", text=output[len(said) :], call_id=item.id))
        else:
            self.ledger.put(ev.ToolUpdated(call_id=item.id, output=repaired_text(output)))

    def _change(self, item: m.Item, phase: m.Phase) -> None:
        turns = self._core.turns
        changes = translate.changes(item, over=phase == "completed")
        if phase == "started":
            turns.put(translate.patch_started(item, changes))
        elif not self.ledger.tool_known(item.id):
            self._core.begin_tool(translate.patch_started(item, changes))
        for change in changes:
            self.ledger.put(change)
        if phase == "completed":
            self.ledger.put(translate.tool_ended(item))

    def _plan(self, item: m.Item, phase: m.Phase) -> None:
        self._core.turns.put(translate.plan(item, phase))

    def _question(self, item: m.Item, phase: m.Phase) -> None:
        if item.id not in self.ledger.requests:
            self._core.turns.put(translate.question(item))
        if phase == "completed":
            self.ledger.put(translate.answer(item))

    def _warning(self, item: m.Item, phase: m.Phase) -> None:
        """Warnings and deprecations; some come before the turn (capture exec_unknown_model)."""
        said = item.message or item.text or ""
        if self._warned.get(item.id) != said:
            self._warned[item.id] = said
            scope: Any = "turn" if self.ledger.busy() else "session"
            ext = {"codex.itemId": item.id}
            self.ledger.put(ev.Error(severity="warning", message=said, scope=scope, ext=ext))

    # --- tables ------------------------------------------------------------------------------------------

    _HANDLERS: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        m.ThreadStarted: _thread_started,
        m.TurnStarted: _turn_started,
        m.TurnCompleted: _turn_completed,
        m.TurnFailed: _turn_failed,
        m.ItemStarted: _item,
        m.ItemUpdated: _item,
        m.ItemCompleted: _item,
        m.Error: _error,
        m.ApprovalRequired: lambda self, message: self._core.turns.put(translate.permission(message)),
        m.SessionMeta: _session_meta,
        m.EventMessage: lambda self, message: self._event(message.payload),
        m.OldEvent: lambda self, message: self._event(message.params.msg or message.msg),
    }
    """Of the class, not of each machine: a run of Codex has six lines, and a table took as long as one."""

    _ITEMS: ClassVar[dict[str, Callable[[Any, m.Item, m.Phase], None]]] = {
        **dict.fromkeys(translate.TEXTS, _text),
        **dict.fromkeys(translate.COMMANDS, _tool),
        **dict.fromkeys(("mcp_tool_call", "web_search", "collab_tool_call"), _tool),
        **dict.fromkeys(translate.CHANGES, _change),
        "todo_list": _plan,
        "error": _warning,
        "input_request": _question,
    }


def _after(argv: list[str], word: str) -> str | None:
    index = argv.index(word) + 1
    return argv[index] if index < len(argv) else "--last"


MACHINE = CodexExec
