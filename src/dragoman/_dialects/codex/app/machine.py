"""Codex app-server: the connection, its opening, and whose turn it is to speak."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from msgspec import Struct

from dragoman._dialects.codex.app import messages as m
from dragoman._dialects.codex.app import speech, translate
from dragoman._dialects.codex.app.commands import Commands
from dragoman._dialects.codex.app.conversation import Conversation
from dragoman._dialects.codex.app.facts import Facts
from dragoman._dialects.codex.app.requests import Requests
from dragoman._dialects.codex.app.rewinding import Rewinding, error_info, is_rewinding
from dragoman._dialects.codex.app.threads import Thread, Threads
from dragoman._dialects.codex.shared import values as v
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.capabilities import Capability
from dragoman._model.frames import Launch
from dragoman._model.sessions import SessionInfo
from dragoman._version import __version__
from dragoman._wire import fields, jsonrpc
from dragoman._wire.jsontext import REFUSED
from dragoman._wire.machine import Machine

INITIALIZE: Final = "initialize"
OPEN: Final = "open"
"""Ids of the first two requests. Codex takes any text as an id."""
NOWHERE: Final = "00000000-0000-0000-0000-000000000000"
"""A thread that does not exist, for prompts to a session that could not be opened: Codex itself refuses them."""


_OPENINGS: Final = ("thread/start", "thread/resume", "thread/fork")
_COMMANDS: Final = {
    "turn/interrupt": "interrupt",
    "turn/steer": "steer",
    "thread/compact/start": "compact",
    "thread/name/set": "set_option",
    "thread/fork": "fork",
    "thread/start": "open_session",
    "thread/resume": "open_session",
    "thread/unsubscribe": "close",
    "thread/list": "list_sessions",
    "thread/archive": "archive_session",
    "thread/unarchive": "archive_session",
    "thread/delete": "delete_session",
}
"""What requests are called as commands; others go by their method."""
_MODES: Final = frozenset(("approvalPolicy", "sandboxPolicy", "collaborationMode"))


class Sent(Struct):
    """What is to be known of a request of ours when its answer comes."""

    thread: Thread | None
    command: str
    turn: int | None = None
    """The number of the turn that it opened."""


class CodexApp(Machine):
    """One process of `codex app-server`."""

    dialect: ClassVar[str] = "codex_app"
    handshakes: ClassVar[bool] = True
    session_first: ClassVar[bool] = True
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability) - {
        Capability.UPDATED_INPUT,
        Capability.REWIND_FILES,
        Capability.BACKGROUND,
        Capability.COST,
        Capability.MAX_TURNS,
        Capability.MAX_COST,
    }
    awaited: ClassVar[tuple[type[c.Command], ...]] = (
        c.Steer,
        c.Interrupt,
        c.SetMode,
        c.SetModel,
        c.SetOption,
        c.Refresh,
        c.Compact,
        c.Fork,
        c.OpenSession,
        c.ListSessions,
        c.ArchiveSession,
        c.DeleteSession,
        c.RenameSession,
    )

    def __init__(self, agent: str = "codex") -> None:
        super().__init__(agent)
        self._peer = jsonrpc.Peer(version=None, types=m.NOTIFICATIONS)
        self._threads = Threads(self.ledger)
        self._requests = Requests(self.ledger, self._threads, self._peer)
        self._facts = Facts(self.ledger, self._threads)
        self._talk = Conversation(self.ledger, self._threads, self._requests)
        self._commands = Commands(self.ledger, self._threads, self._peer)
        self._ours = False
        """The client is one of us: what it opens under another id than OPEN it opens by command."""
        self._failure: ev.ErrorInfo | None = None
        """Why it could not be opened."""
        self._rewinding = Rewinding(self._peer)
        self._rewinds = False
        """The thread is on its way back to an earlier turn."""
        self._refused_threads: set[str] = set()
        """Threads that Codex opened in place of another one."""
        self._handlers: dict[str, Callable[[Thread, Any], None]] = {
            **self._talk.handlers,
            **self._facts.handlers,
            "thread/started": self._thread_started,
            "turn/completed": self._turn_completed,
        }

    # --- lines in ----------------------------------------------------------------------------------------

    def on_start(self, launch: Launch) -> None:
        self._commands.opening = self.options.opening or {}
        client = {"name": "dragoman", "title": "Dragoman", "version": __version__}
        params = {"clientInfo": client, "capabilities": {"experimentalApi": True}}
        self.owe(self._peer.request(INITIALIZE, params, id=INITIALIZE))

    def read(self, line: bytes) -> Iterable[Any]:
        return self._peer.receive(line)

    def on_out(self, line: bytes) -> None:
        """Notifications and requests have a road of their own: they are nearly all there is."""
        if self._threads.main is not None:
            self.ledger.current = self._threads.main
        try:
            note = m.NOTES.decode(line) if line.startswith(m.NOTE_BEGINS) else None
        except REFUSED:
            note = None
        if note is not None and note.id is None:
            self._hear(note.method, note.params, note.emittedAtMs)
        elif note is not None and not jsonrpc.may_be_deep(line):
            self._on_request(jsonrpc.Request(note.id, note.method, note.params))
        elif line.startswith(b"{"):
            for message in self._peer.receive(line):
                if type(message) is jsonrpc.Response:
                    self._on_answer(message)
                else:
                    self.take(message)
        else:
            super().on_out(line)
        commands = self._commands
        if commands.until_turn or commands.until_open:
            for owed in commands.due():
                self.owe(owed)

    def on_message(self, message: jsonrpc.Incoming) -> None:
        _READERS[type(message)](self, message)

    def on_in(self, line: bytes) -> None:
        for message in self._peer.on_sent(line):
            if isinstance(message, jsonrpc.Request):
                self._on_our_request(message)
            elif isinstance(message, jsonrpc.Response):
                self._requests.on_our_answer(message)

    # --- notifications -----------------------------------------------------------------------------------

    def _on_notification(self, note: jsonrpc.Notification) -> None:
        method = note.method
        params: Any = note.params if isinstance(note.params, m.Params) else m.fitted(method, note.params)
        if params is not None:
            self._hear(method, params, note.time)
        elif method.startswith(m.OLDER):
            self._heard_older(note)
        else:
            self.ledger.put(ev.NativeUnknown(native_type=method))

    def _hear(self, method: str, params: Any, time: int | None) -> None:
        """A notification of a known type, emitted at `time`."""
        ledger = self.ledger
        ledger.native_type = method
        if time is not None:
            ledger.agent_time = str(time)
        if method == "serverRequest/resolved":
            self._requests.on_resolved(str(params.requestId))
            return
        thread = self._threads.known.get(params.threadId)
        if thread is None:
            if method == "thread/status/changed" and not self._threads.is_expected(params.threadId):
                return  # a subagent comes to life before anyone says that there is one (capture subagent_v2)
            thread = self._thread(params)
        elif ledger.current != thread.session:
            ledger.name_session(thread.session)
        handler = self._handlers.get(method)
        if handler is not None:
            if thread is not None:
                handler(thread, params)
        elif (read := translate.SIMPLE.get(method)) is not None:
            for event in read(params):
                (thread if thread is not None else ledger).put(event)

    def _heard_older(self, message: jsonrpc.Notification) -> None:
        """A notification of the first version of the protocol, which its last CLIs sent beside the second's.
        Only its token counts are not in those (specification 004 §4.2)."""
        self.ledger.native_type = message.method
        said = fields.mapping(message.params, "msg")
        id, info = (
            fields.text(message.params, "conversationId") or self._threads.main,
            fields.mapping(said, "info"),
        )
        if said.get("type") == "token_count" and id is not None:
            thread = self._enter(id)
            last, total = v.usage_of(info.get("last_token_usage")), v.usage_of(info.get("total_token_usage"))
            window = fields.integer(info, "model_context_window")
            thread.meter.calls.enter(thread.turn_id)
            for event in thread.meter.count(
                total, last, window, thread.model, in_turn=thread.turn_id is not None
            ):
                self._threads.put(thread, event)

    def _thread(self, params: m.Params) -> Thread | None:
        """The thread of a notification: by `threadId`, else the main one; None before there is one."""
        id = fields.text(params.thread, "id") if type(params) is m.ThreadNews else params.threadId
        if id is None:
            return self._threads.known.get(self._threads.main)
        return self._enter(id)

    def _enter(self, id: str) -> Thread:
        """The thread with this id; its session is the ledger's current one from now on."""
        thread = self._threads.get(id)
        if self.ledger.current != thread.session:
            self.ledger.name_session(thread.session)
        return thread

    def _thread_started(self, thread: Thread, params: m.ThreadNews) -> None:
        native = params.thread or {}
        if native.get("parentThreadId") is None and thread.id not in self._refused_threads:
            self._threads.main = self._threads.main or thread.id
            self._facts.begin_session(thread, {"thread": native})

    def _turn_completed(self, thread: Thread, params: m.TurnNews) -> None:
        outcome = translate.outcome_of(params.turn)
        if self.ledger.requests:
            for line in self._requests.turn_over(thread, outcome):
                self.owe(line)
        self._talk.end_turn(thread, params.turn, outcome)
        # An interrupt that found nothing to interrupt gets no answer (capture interrupt_steer).
        for id, call in list(self._peer.in_flight.items()):
            sent: Sent | None = call.context
            if call.method == "turn/interrupt" and sent is not None and sent.thread is thread:
                call.context = None  # should an answer come all the same, it says nothing new
                self._threads.put(
                    thread,
                    ev.CommandEnded(command="interrupt", request_id=str(id), ok=True, synthesized=True),
                )

    # --- requests and answers ----------------------------------------------------------------------------

    def _on_request(self, request: jsonrpc.Request) -> None:
        """A request of Codex'."""
        self.ledger.native_type = request.method
        params = request.params
        id = fields.text(params, "threadId") or fields.text(params, "conversationId")
        owed = self._requests.on_request(request, self._enter(id) if id is not None else None)
        if owed is not None:
            self.owe(owed)

    def _on_our_request(self, request: jsonrpc.Request) -> None:
        """Our own request, seen on its way out."""
        params = fields.as_mapping(request.params)
        id = fields.text(params, "threadId")
        speaks = request.method.startswith(("turn/", "review/"))
        thread = self._enter(id) if id is not None and speaks else None
        if thread is None and id is not None:
            thread = self._threads.find(id)
        sent = Sent(thread, _command_of(request.method, params))
        self._peer.in_flight[request.id].context = sent
        if thread is not None and request.method in ("turn/start", "review/start"):
            opened = self._talk.on_prompt(thread, params)
            sent.turn = self.ledger.turn(thread.session) if opened else None
        elif thread is not None and request.method == "turn/steer":
            self._talk.put_input(thread, params)
        elif thread is not None and request.method == "turn/interrupt":
            self.ledger.interrupt(thread.session)
        elif thread is not None and request.method == "thread/compact/start":
            thread.manual_compaction = True

    def _on_answer(self, response: jsonrpc.Response) -> None:
        """Codex's answer to something we asked; what it is the answer to, if that was not heard, it shows."""
        sent: Sent | None = response.context
        method = response.method
        result: dict[str, Any] = response.result if isinstance(response.result, dict) else {}
        thread = sent.thread if sent is not None else None
        if thread is not None:
            self.ledger.name_session(thread.session)
        self.ledger.native_type = method or "response"
        if is_rewinding(response):
            self._on_rewinding(response)
        elif method == INITIALIZE or (method is None and "userAgent" in result and "codexHome" in result):
            self._on_initialized(response, result)
        elif method in _OPENINGS or (method is None and "thread" in result and "approvalPolicy" in result):
            self._on_opened(response, method or "thread/start", result)
        elif method == "turn/start" or method == "review/start":
            self._on_turn_answer(sent, response, result)
        elif method is None and response.error is None and isinstance(result.get("turn"), dict):
            pass  # the answer to a turn/start that was not heard; turn/started says the same
        elif sent is not None or response.method is None:
            self._end_command(response, sent)

    def _on_initialized(self, response: jsonrpc.Response, result: dict[str, Any]) -> None:
        if response.error is not None and response.id != INITIALIZE:
            self._end_command(response, None)
        elif response.error is not None:
            message, code = f"initialize: {response.error.message}", str(response.error.code)
            self._failure = ev.ErrorInfo(message=message, code=code, kind="protocolError")
            self._threads.main = NOWHERE
            self._enter(NOWHERE)
            self.ledger.put(ev.Error(message=message, code=code, scope="protocol", kind="protocolError"))
            return
        else:
            agent = fields.text(result, "userAgent") or ""
            version = agent.partition("/")[2].partition(" ")[0] or None
            self.ledger.put(ev.AgentReady(name="codex", cli_version=version, capabilities=result))
        if response.id == INITIALIZE:
            self._ours = True
            self.owe(self._peer.notify("initialized"))
            if self.options.opens_session:
                opening = self._commands.opening
                method, params = opening.get("method", "thread/start"), opening.get("params", {})
                self.owe(self._peer.request(method, params, id=OPEN))

    def _on_opened(self, response: jsonrpc.Response, method: str, result: dict[str, Any]) -> None:
        native, wanted = fields.mapping(result, "thread"), fields.text(response.params, "threadId")
        id = fields.text(native, "id")
        error = None
        if response.error is not None:
            error = error_info(response.error)
        elif id is None:
            error = ev.ErrorInfo(message=f"{method} named no thread", kind="protocolError")
        elif method == "thread/resume" and wanted is not None and wanted != id:
            self._refused_threads.add(id)
            error = ev.ErrorInfo(
                message=f"asked for thread {wanted}, Codex opened {id}: it is not used",
                kind="sessionNotFound",
            )
        if error is not None or id is None:
            self._on_not_opened(response, method, wanted, error)
            return
        self._rewinding.on_opened(native)
        turn = self._commands.opening.get("rewind")
        if turn is not None and response.id == OPEN:
            self._rewinds = True
            self.owe(self._rewinding.turns_after(turn))
        thread = self._enter(id)
        commanded = self._ours and response.id != OPEN
        further, self._threads.main = self._threads.main is not None, self._threads.main or id
        thread.as_configured = response.id == OPEN or (commanded and method != "thread/fork")
        self._facts.begin_session(thread, result, resumed=method == "thread/resume")
        if native.get("turns"):
            for event in speech.history(m.turns(native["turns"])):
                self._threads.put(thread, event)
        if (further or commanded) and response.method is not None:
            command = _command_of(method, {})
            self.ledger.put(
                ev.CommandEnded(
                    command=command, request_id=str(response.id), ok=True, result={"sessionId": id}
                )
            )

    def _on_rewinding(self, response: jsonrpc.Response) -> None:
        """The thread goes on at an earlier turn, and then takes prompts; or it is none that anybody asked for."""
        following = self._rewinding.on_answer(response)
        if isinstance(following, bytes):
            self.owe(following)
            return
        self._rewinds = False
        if following is not None:
            self._threads.main, self._failure = NOWHERE, following
            self._enter(NOWHERE)
            message = f"the session does not go on at that turn: {following.message}"
            self.ledger.put(
                ev.Error(message=message, code=following.code, scope="session", kind=following.kind)
            )

    def _on_not_opened(
        self, response: jsonrpc.Response, method: str, wanted: str | None, error: ev.ErrorInfo | None
    ) -> None:
        """Prompts still go out, to the thread that was asked for or to none: Codex refuses them, and so each has
        its turn, which fails with this reason."""
        if response.id == OPEN and error is not None:
            self._threads.main, self._failure = wanted or NOWHERE, error
            self._enter(self._threads.main)
            message = f"the session could not be opened ({method}): {error.message}"
            self.ledger.put(ev.Error(message=message, code=error.code, scope="session", kind=error.kind))
            return
        command = _command_of(method, {})
        self.ledger.put(ev.CommandEnded(command=command, request_id=str(response.id), ok=False, error=error))

    def _on_turn_answer(self, sent: Sent | None, response: jsonrpc.Response, result: dict[str, Any]) -> None:
        turn = result.get("turn")
        thread = sent.thread if sent is not None else None
        if response.error is not None:
            error = ev.ErrorInfo(message=response.error.message, code=str(response.error.code))
            if sent is not None and sent.turn is not None and thread is not None:
                self._talk.fail_turn(thread, self._failure or error)
            else:
                self._end_command(response, sent)
        elif isinstance(turn, dict) and thread is not None and response.method == "review/start":
            self._talk.begin(thread, turn_id=fields.text(turn, "id"))
        # Any other turn is named by turn/started: until then Codex has none that could be interrupted or steered.

    def _end_command(self, response: jsonrpc.Response, sent: Sent | None) -> None:
        error, result = response.error, response.result
        event = ev.CommandEnded(
            command=sent.command if sent is not None else None,
            request_id=str(response.id),
            ok=error is None,
            error=None if error is None else ev.ErrorInfo(message=error.message, code=str(error.code)),
            result=result,
        )
        self.ledger.put(event)
        if response.method is not None and isinstance(result, dict):
            self._facts.on_answer(response.method, fields.as_mapping(response.params), result)

    def sessions_in(self, result: Any) -> tuple[list[SessionInfo], str | None]:
        return translate.sessions_in(self.agent, result)

    # --- commands ----------------------------------------------------------------------------------------

    def takes_prompts(self, session: str | None) -> bool:
        opened = session is not None or self._threads.main is not None
        return opened and not self._rewinds and super().takes_prompts(session)

    def lines_for(self, command: c.Command) -> list[bytes]:
        if isinstance(command, c.Answer):
            return [self._requests.answer_line(command, self.agent)]
        if isinstance(command, c.AnswerQuestion):
            return [self._requests.question_line(command)]
        if isinstance(command, c.Reply):
            return [self._requests.reply_line(command)]
        return self._commands.lines(command)


def _command_of(method: str, params: dict[str, Any]) -> str:
    """The name of the command that a request stands for; thread/settings/update stands for several, by its
    params."""
    if method != "thread/settings/update":
        return _COMMANDS.get(method, method)
    changed = params.keys() - {"threadId"}
    if changed == {"model"}:
        return "set_model"
    return "set_mode" if changed and changed <= _MODES else "set_option"


_READERS: Final[dict[type, Callable[[CodexApp, Any], None]]] = {
    jsonrpc.Notification: CodexApp._on_notification,
    jsonrpc.Response: CodexApp._on_answer,
    jsonrpc.Request: CodexApp._on_request,
}

MACHINE = CodexApp
