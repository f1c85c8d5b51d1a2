"""The machine of ACP: who says what to whom, and which part of it is answered by which other part."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from msgspec import structs

from dragoman._dialects.acp import messages as m
from dragoman._dialects.acp import opening
from dragoman._dialects.acp import translate as t
from dragoman._dialects.acp.commands import Commands
from dragoman._dialects.acp.connection import NAMELESS, OPENINGS, Connection
from dragoman._dialects.acp.handshake import Handshake
from dragoman._dialects.acp.opening import Opening
from dragoman._dialects.acp.requests import Requests
from dragoman._dialects.acp.sessions import RULES
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.capabilities import Capability
from dragoman._model.errors import UsageError
from dragoman._model.frames import Exit, Launch
from dragoman._model.result import error_class
from dragoman._model.sessions import SessionInfo
from dragoman._wire import fields
from dragoman._wire.jsonrpc import Incoming, Notification, Request, Response, RpcError
from dragoman._wire.jsontext import REFUSED
from dragoman._wire.machine import Machine

_COMMANDS: Final = {
    **dict.fromkeys(OPENINGS, "open_session"),
    "session/fork": "fork",
    "session/set_mode": "set_mode",
    "session/set_model": "set_model",
    "session/set_config_option": "set_option",
    "session/close": "close",
    "session/list": "list_sessions",
    "session/delete": "delete_session",
    "auth/login": "authenticate",
    "auth/logout": "logout",
}
"""What `command.ended` calls a request."""

_NO_UPDATE: Final = m.UpdateParams()
_ABOUT_A_SESSION: Final = (c.SetMode, c.SetModel, c.SetOption, c.Fork)


class Acp(Machine):
    """One process of an agent that speaks the Agent Client Protocol, version 1 or 2."""

    dialect: ClassVar[str] = "acp"
    handshakes: ClassVar[bool] = True
    session_first: ClassVar[bool] = True
    tools_end_with_turns: ClassVar[bool] = True
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability) - {
        Capability.STEER,
        Capability.UPDATED_INPUT,
        Capability.REFRESH,
        Capability.REWIND_FILES,
        Capability.BACKGROUND,
        Capability.SUBAGENTS,
        Capability.HOOKS,
        Capability.RESUME_AT,
        Capability.REVIEW,
        Capability.OUTPUT_SCHEMA,
        Capability.MAX_TURNS,
        Capability.MAX_COST,
        Capability.ARCHIVE,
        Capability.RENAME,
    }
    awaited: ClassVar[tuple[type[c.Command], ...]] = (
        c.SetMode,
        c.SetModel,
        c.SetOption,
        c.OpenSession,
        c.Fork,
        c.ListSessions,
        c.DeleteSession,
    )

    def __init__(self, agent: str = "") -> None:
        super().__init__(agent)
        self._connection = Connection(self.ledger)
        self._requests = Requests(self.ledger, self._connection.peer)
        self._commands = Commands(self._connection, self._requests, agent)
        self._handshake = Handshake(self.ledger, self._connection, self.owe, self._fail_held)
        self._later: list[c.Command] = []
        """Sessions to open once initialize is answered, and settings of the first one once it is there."""
        self._readers: dict[type, Callable[[Any], None]] = {
            m.UpdateParams: self._update,
            Notification: self._on_notification,
            Response: self._on_answer,
            Request: self._on_request,
        }
        self._half_open: dict[str, tuple[Response, str]] = {}
        """Answers that opened sessions whose history is not complete, by session: it may turn out that they have none."""
        self._answers_to: dict[str, Callable[[Response, str], None]] = {
            "initialize": self._on_initialized,
            **dict.fromkeys(OPENINGS, self._on_opened),
            "session/prompt": self._on_prompt_answer,
            "session/set_mode": self._set,
            "session/set_model": self._set,
            "session/set_config_option": self._set,
            "session/close": self._on_closed,
            "authenticate": self._on_authenticated,
            "auth/login": self._on_authenticated,
        }

    # --- lines in ----------------------------------------------------------------------------------------

    def on_start(self, launch: Launch) -> None:
        wanted = self.options.opening or Opening()
        wanted = structs.replace(wanted, cwd=wanted.cwd or launch.cwd or "/")
        self._commands.opening = wanted
        self._handshake.begin(wanted, self.options)

    @property
    def takes_add_dirs(self) -> bool | None:
        agreement = self._connection.agreement
        if not self._commands.opening.directories:
            return True
        return opening.can_add_directories(agreement) if agreement.settled else None

    def read(self, line: bytes) -> Iterable[Any]:
        return self._connection.peer.receive(line)

    def on_out(self, line: bytes) -> None:
        """Updates have a road of their own, as short as it can be: they are nearly all there is, and what a chunk costs
        beyond its decoding and its event are the calls between the two. Whatever else there is the peer reads."""
        try:
            params = m.decode_update(line).params if line.startswith(m.BEGINNING) else _NO_UPDATE
        except REFUSED:
            params = _NO_UPDATE
        update, connection = params.update, self._connection
        if update is None:
            connection.leave()
            super().on_out(line)
            return
        session = connection.sessions.get(params.sessionId or "")
        if session is None or not session.settled:
            connection.leave()
            self._update(params)
            return
        ledger = self.ledger
        ledger.current = session.id
        RULES[type(update)](session, update)
        if not ledger.frame_named:
            ledger.native_type = m.NAMES[type(update)]

    def on_message(self, message: m.UpdateParams | Incoming) -> None:
        self._readers[type(message)](message)

    def on_in(self, line: bytes) -> None:
        self._connection.leave()
        for item in self._connection.peer.on_sent(line):
            if isinstance(item, Request):
                self._on_client_request(item)
            elif isinstance(item, Response):
                self._requests.on_our_answer(item)
            elif isinstance(item, Notification) and item.method == "session/cancel":
                id = fields.text(item.params, "sessionId")
                if id is not None and id in self._connection.sessions:
                    self._connection.enter(id).on_cancel()

    def on_end(self, exit: Exit) -> None:
        self._connection.deliver()
        self._connection.leave()

    # --- what either side says ---------------------------------------------------------------------------

    def _update(self, params: m.UpdateParams) -> None:
        """Take in an update of any session: it may be the first of one, or the last of its history."""
        update = params.update
        assert update is not None  # see on_out and update_of
        self.ledger.native_type = m.NAMES[type(update)]
        session = self._connection.update(params.sessionId, update)
        if session is None or session.catching_up:
            return
        session.settled = session.started
        if session.id in self._half_open:
            answer, id = self._half_open.pop(session.id)
            if session.is_blank:
                answer = structs.replace(answer, error=self._handshake.lose(session))
            self._end_command(answer, id, {"sessionId": session.id})
        elif session.is_blank and session.lost_reason is None:
            self._handshake.on_blank(session)

    def _on_request(self, request: Request) -> None:
        if request.method == m.UPDATE:  # it wants no answer, whatever its id says
            self.take(m.update_of(request.params))
            return
        id = fields.text(request.params, "sessionId") or self._connection.first
        session = self._connection.enter(id) if id is not None else None
        self._owe(self._requests.on_request(request, session, self.options.offers))

    def _on_notification(self, item: Notification) -> None:
        self.ledger.native_type = item.method
        if item.method == m.UPDATE:
            self.take(m.update_of(item.params))
        elif item.method == "$/cancel_request":
            self._owe(self._requests.on_cancel(fields.value(item.params, "requestId")))
        elif item.method == "elicitation/complete":
            self._owe(self._requests.on_complete(fields.text(item.params, "elicitationId")))
        else:
            self.ledger.put(ev.NativeUnknown(native_type=item.method))

    def _owe(self, line: bytes | None) -> None:
        if line is not None:
            self.owe(line)

    def _on_client_request(self, request: Request) -> None:
        """Take in a request of the client."""
        id, params = str(request.id), request.params
        session_id = fields.text(params, "sessionId")
        if session_id is None:
            return
        if request.method in ("session/load", "session/resume"):
            self._connection.enter(session_id).begin_replay(request.method)
        elif request.method == "session/prompt":
            prompt = params.get("prompt", params.get("content"))
            self._connection.enter(session_id).on_prompt(id, prompt)

    # --- answers to the client ---------------------------------------------------------------------------

    def _on_answer(self, answer: Response) -> None:
        id = str(answer.id)
        method = answer.method or self._likely_method(answer)
        self.ledger.native_type = f"answer to {method}" if method is not None else "answer"
        session_id = fields.text(answer.params, "sessionId")
        if session_id is not None and method not in NAMELESS:
            self._connection.enter(session_id)
        if method is not None:
            self._answers_to.get(method, self._end_command)(answer, id)
        elif answer.error is not None:
            info = t.error_info(answer.error)
            self.ledger.put(ev.Error(message=info.message, code=info.code, scope="protocol"))

    def _likely_method(self, answer: Response) -> str | None:
        """The method that an answer is to, by the fields of its result, where the stream has no lines of the
        client."""
        if fields.integer(answer.result, "protocolVersion") is not None:
            return "initialize"
        if fields.text(answer.result, "sessionId") is not None:
            return "session/new"
        if fields.text(answer.result, "stopReason") is not None:
            return "session/prompt"
        unheard = answer.error is not None and answer.id is not None and not self.ledger.heard_client
        return "session/prompt" if unheard and self.ledger.busy() else None

    def _end_command(self, answer: Response, id: str, result: Any = None) -> None:
        """Put the end of a command, from its answer."""
        command = _COMMANDS.get(answer.method or "", answer.method)
        self.ledger.put(
            ev.CommandEnded(
                command=command,
                request_id=id,
                ok=answer.error is None,
                error=t.error_info(answer.error) if answer.error is not None else None,
                result=answer.result if result is None else result,
            )
        )
        self._handshake.on_setting_answer(command or "", id, answer)

    def _on_initialized(self, answer: Response, id: str) -> None:
        self._handshake.on_initialized(answer, id)
        self._catch_up()

    def _on_opened(self, answer: Response, id: str) -> None:
        """Take in the answer to session/new, load, resume or fork."""
        connection, params = self._connection, answer.params
        wanted, named = fields.text(params, "sessionId"), fields.text(answer.result, "sessionId")
        error = answer.error
        if (
            error is None
            and answer.method not in NAMELESS
            and named not in (wanted, None)
            and wanted is not None
        ):
            error = RpcError(message=f"asked for session {wanted}, it opened {named}: it is not used")
            answer = structs.replace(answer, error=error)
        if error is not None:
            connection.deliver()
            self._handshake.on_not_opened(error, id, answer.method)
            if id != opening.OPEN:
                self._end_command(answer, id)
            return
        session_id = (
            fields.text(answer.result, "sessionId") or fields.text(params, "sessionId") or connection.first
        )
        if session_id is None:
            return
        resumed = answer.method in OPENINGS and answer.method != "session/new"
        session = connection.enter(session_id, fresh=not resumed)
        if answer.method == "session/fork":
            session.begin_replay(answer.method)
        session.open(params, answer.result, resumed=resumed)
        if id != opening.OPEN and answer.method is not None:
            if session.catching_up:
                self._half_open[session_id] = answer, id
            else:
                self._end_command(answer, id, {"sessionId": session_id})
        self._handshake.set_up(session)
        self._catch_up()
        connection.deliver(session_id)

    def _on_authenticated(self, answer: Response, id: str) -> None:
        self._handshake.on_authenticated(answer, id)
        if id != opening.AUTHENTICATE:
            self._end_command(answer, id)

    def _on_prompt_answer(self, answer: Response, id: str) -> None:
        session_id = fields.text(answer.params, "sessionId") or self.ledger.open_session()
        if session_id is not None:
            self._connection.enter(session_id).on_prompt_answer(id, answer.result, answer.error)

    def _set(self, answer: Response, id: str) -> None:
        """Take in the answer to a request that sets a mode, a model or an option."""
        session = self._connection.sessions.get(fields.text(answer.params, "sessionId") or "")
        if answer.error is None and session is not None:
            session.enter_mode(fields.text(answer.params, "modeId"))
            session.use_model(fields.text(answer.params, "modelId"))
            if isinstance(answer.result, dict) and "configOptions" in answer.result:
                session.set_options(fields.items(answer.result, "configOptions"))
        self._end_command(answer, id)

    def _on_closed(self, answer: Response, id: str) -> None:
        if answer.error is None:
            self.ledger.put(ev.SessionStatus(status="ended"))
        self._end_command(answer, id)

    # --- commands ----------------------------------------------------------------------------------------

    def takes_prompts(self, session: str | None) -> bool:
        """Whether a session takes a prompt now: it is open, its history is complete, it is set up and has no
        turn."""
        connection = self._connection
        id = session or connection.first
        if id is None or id not in connection.sessions or connection.loading(id):
            return False
        waiting = connection.sessions[id].catching_up or self._handshake.settings
        return not waiting and not self.ledger.busy(id)

    def send(self, command: c.Command) -> list[bytes]:
        self._commands.check(command)
        if isinstance(command, (c.Prompt, c.Compact, *_ABOUT_A_SESSION)):
            known = command.session is not None or self._connection.first is not None
            session = self._connection.session(command.session) if known else None
            lost = self._handshake.lost_reason or (session.lost_reason if session is not None else None)
            if lost is not None:
                kind = self._handshake.lost_kind or (session.lost_kind if session is not None else None)
                raise (error_class(kind) if kind is not None else UsageError)(lost, agent=self.agent)
            if session is not None and isinstance(command, (c.Prompt, c.Compact)):
                command = structs.replace(command, session=session.id)
        return super().send(command)

    def sessions_in(self, result: Any) -> tuple[list[SessionInfo], str | None]:
        return t.sessions_in(self.agent, result)

    def lines_for(self, command: c.Command) -> list[bytes]:
        if self._too_early(command):
            self._later.append(command)
            return []
        return self._commands.lines(command)

    def _too_early(self, command: c.Command) -> bool:
        if isinstance(command, (c.OpenSession, c.ListSessions, c.DeleteSession)):
            return not self._connection.agreement.settled
        nobody = command.session is None and self._connection.first is None
        return nobody and isinstance(command, _ABOUT_A_SESSION) and self._handshake.lost_reason is None

    def _catch_up(self) -> None:
        """Send the commands that waited, as far as they need not wait longer."""
        waiting, self._later = self._later, []
        for command in waiting:
            if self._too_early(command):
                self._later.append(command)
                continue
            for line in self._commands.late_lines(command):
                self.owe(line)

    def _fail_held(self, session: str | None) -> None:
        """Drop the prompts held for a session, or all: the turn that has just failed stands for theirs."""
        self._catch_up()
        first = self._connection.first
        doomed = [held for held in self._held if session is None or (held.session or first) == session]
        for held in doomed:
            self._held.remove(held)
            self._turn_of[held.id or ""] = self.ledger.turn()


MACHINE = Acp
