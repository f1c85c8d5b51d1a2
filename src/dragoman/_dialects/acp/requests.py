"""What the agent asks of its client: permissions, questions, files, terminals; and the answers to them."""

from typing import Any, Final

from msgspec import Struct

from dragoman._dialects.acp import messages as m
from dragoman._dialects.acp import translate as t
from dragoman._dialects.acp.sessions import Session
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.errors import UsageError
from dragoman._wire import fields, jsonrpc
from dragoman._wire.ledger import Ledger

PERMISSION: Final = "session/request_permission"
QUESTION: Final = "elicitation/create"
HOST: Final[dict[str, str]] = {
    "fs/read_text_file": "fs",
    "fs/write_text_file": "fs",
    "terminal/create": "terminal",
    "terminal/output": "terminal",
    "terminal/wait_for_exit": "terminal",
    "terminal/kill": "terminal",
    "terminal/release": "terminal",
}
"""What a client may offer to do, and which of its offers that is."""

_WORDS: Final = {"accepted": "accept", "declined": "decline", "cancelled": "cancel"}
_ACTIONS: Final[dict[str | None, Any]] = {word: action for action, word in _WORDS.items()}


class Asked(Struct):
    """What is to be known of an open request to answer it."""

    id: jsonrpc.Id
    method: str
    params: Any
    session: Session | None
    options: list[ev.PermissionOption]


class Requests:
    """The agent's requests that have no answer yet."""

    def __init__(self, ledger: Ledger, peer: jsonrpc.Peer) -> None:
        self._ledger = ledger
        self._peer = peer

    # --- the agent asks ----------------------------------------------------------------------------------

    def on_request(
        self, request: jsonrpc.Request, session: Session | None, offers: frozenset[str]
    ) -> bytes | None:
        """A request of the agent's. Returns the answer, where it can be given at once; `offers` is what the client
        really serves of files and terminals."""
        params, id = request.params, str(request.id)
        asked = Asked(
            request.id, request.method, params, session, t.options_of(fields.items(params, "options"))
        )
        if request.method == PERMISSION:
            self._ledger.ask(_permission(id, asked), asked)
        elif request.method == QUESTION:
            self._ledger.ask(_question(id, params), asked)
        elif request.method in HOST:
            call_id = _call_of(params, session) if session is not None else None
            call = ev.HostCalled(request_id=id, method=request.method, params=params, call_id=call_id)
            self._ledger.ask(call, asked)
            return None if HOST[request.method] in offers else self._unserved(request)
        else:
            self._ledger.put(ev.NativeUnknown(native_type=request.method))
            return self._peer.refuse(request.id, f"Method not found: {request.method}")
        return None

    def _unserved(self, request: jsonrpc.Request) -> bytes:
        """A refusal of a host call that was not offered: opencode writes files through its client all the
        same (capture write_nofs)."""
        return self._peer.refuse(request.id, f"This client does not offer {request.method}")

    def on_cancel(self, id: Any) -> bytes | None:
        """`$/cancel_request`: the agent no longer wants the answer, and wants to hear that."""
        asked = self._find(str(id))
        if asked is None:
            return None
        self._ledger.withdraw(str(id))
        return self._peer.refuse(asked.id, "Request cancelled", code=t.CANCELLED)

    def on_complete(self, elicitation_id: str | None) -> bytes | None:
        """`elicitation/complete`: what was to be done behind a url is done."""
        for asked in self._all():
            if asked.method == QUESTION and fields.text(asked.params, "elicitationId") == elicitation_id:
                return self._peer.answer(asked.id, {"action": "accept"})
        return None

    # --- the client answers ------------------------------------------------------------------------------

    def on_our_answer(self, answer: jsonrpc.Response) -> None:
        """Our own answer, seen on its way out."""
        id = str(answer.id)
        asked = self._find(id)
        if asked is None:
            return
        if asked.session is not None:
            self._ledger.current = asked.session.id
        error = (
            ev.ErrorInfo(message=answer.error.message, code=str(answer.error.code)) if answer.error else None
        )
        if asked.method == PERMISSION:
            self._ledger.put(_permission_resolved(id, asked, answer.result, error))
        elif asked.method == QUESTION:
            action = _ACTIONS.get(fields.text(answer.result, "action"), "cancelled")
            answers = fields.value(answer.result, "content")
            self._ledger.put(ev.QuestionAnswered(request_id=id, action=action, answers=answers))
        else:
            self._ledger.put(ev.HostAnswered(request_id=id, result=answer.result, error=error))
            _learn(asked, answer.result)
            if asked.session is not None:
                tools = asked.session.tools
                tools.host_did(asked.method, asked.params, answer.result, failed=error is not None)

    def permission_line(self, command: c.Answer) -> bytes:
        asked = self._open(command.request, PERMISSION)
        option = _choice(command, asked.options)
        outcome = {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
        return self._peer.answer(asked.id, {"outcome": outcome})

    def question_line(self, command: c.AnswerQuestion) -> bytes:
        asked = self._open(command.request, QUESTION)
        result: dict[str, Any] = {"action": _WORDS[command.action]}
        if command.action == "accepted" and fields.text(asked.params, "mode") != "url":
            result["content"] = command.answers
        return self._peer.answer(asked.id, result)

    def reply_line(self, command: c.Reply) -> bytes:
        """No opinion is a refusal: the agent then does without its client."""
        asked = self._open(command.request, *HOST)
        if command.error is not None:
            code = jsonrpc.INTERNAL_ERROR if command.code is None else command.code
            return self._peer.refuse(asked.id, command.error, code=code)
        if command.result is None:
            return self._peer.refuse(asked.id, f"This client does not offer {asked.method}")
        plain = isinstance(command.result, str) and asked.method == "fs/read_text_file"
        return self._peer.answer(asked.id, {"content": command.result} if plain else command.result)

    def cancel_lines(self, session: Session) -> list[bytes]:
        """The answers `cancelled` to all open requests of a session: after session/cancel the agent waits for
        them."""
        answers: dict[str, Any] = {
            PERMISSION: {"outcome": {"outcome": "cancelled"}},
            QUESTION: {"action": "cancel"},
        }
        return [
            self._peer.answer(asked.id, answers[asked.method])
            for asked in self._all()
            if asked.session is session and asked.method in answers
        ]

    def session_of(self, request: str) -> Session | None:
        """The session that asks."""
        asked = self._find(request)
        return asked.session if asked is not None else None

    def _all(self) -> list[Asked]:
        return [pending.native for pending in self._ledger.requests.values()]

    def _find(self, id: str) -> Asked | None:
        pending = self._ledger.requests.get(id)
        return pending.native if pending is not None else None

    def _open(self, id: str, *methods: str) -> Asked:
        """The open request with this id. Raises UsageError if there is none of these methods."""
        asked: Asked = self._ledger.pending(id).native
        if asked.method not in methods:
            raise UsageError(f"request {id!r} is no {methods[0]}: it is {asked.method}")
        return asked


def _call_of(params: Any, session: Session) -> str | None:
    """The id of the open tool call for which the client is asked: by the `path` of a file, or by `command`
    and `args` of a terminal."""
    command = fields.text(params, "command")
    if command is None:
        return session.tools.at(fields.text(params, "path"))
    args = [arg for arg in fields.items(params, "args") if isinstance(arg, str)]
    return session.tools.running(" ".join((command, *args)))


def _choice(command: c.Answer, options: list[ev.PermissionOption]) -> str | None:
    """The id of the option that an answer chooses; None for a denial without an option. An answer that is to
    last is kept by our own policy, because an agent may take it for more than was meant (to Gemini CLI one
    edit is every edit): an agent's lasting options are chosen by id alone."""
    if command.updated_input is not None:
        raise UsageError("a permission of an ACP agent cannot be granted with another input")
    if command.option is not None:
        if all(option.id != command.option for option in options):
            known = ", ".join(option.id for option in options)
            raise UsageError(f"the request has no option {command.option!r}; it has: {known}")
        return command.option
    word = "allow" if command.decision == "allow" else "reject"
    kinds = (f"{word}_once", f"{word}_always")
    found = next((option.id for kind in kinds for option in options if option.kind == kind), None)
    if found is None and word == "allow":
        raise UsageError("the request has no option that allows it: answer with one of its own")
    return found


def _permission(id: str, asked: Asked) -> ev.PermissionRequested:
    """Protocol 1 asks about a tool call; protocol 2 has a title, and maybe a tool call or a command to show."""
    params, session = asked.params, asked.session
    subject = fields.mapping(params, "subject")
    tool = m.tool_of(fields.mapping(params, "toolCall") or fields.mapping(subject, "toolCall"))
    named = fields.text(subject, "toolCallId") if subject else None
    call = None
    if session is not None:
        call = session.ask(tool) if tool is not None else session.tools.find(named)
    given = tool.rawInput if tool is not None and tool.rawInput else None
    command = fields.text(subject, "command") if subject else None
    shown = {key: subject[key] for key in ("command", "cwd") if key in subject} if subject else {}
    native = fields.items(params, "options")
    return ev.PermissionRequested(
        request_id=id,
        call_id=call.id if call is not None else named,
        tool_name=call.name if call is not None else None,
        kind=call.kind if call is not None else "execute" if command is not None else "other",
        input=given if given is not None else shown or (call.input if call is not None else None),
        title=fields.text(params, "title") or (tool.title if tool is not None else None) or command,
        reason=fields.text(params, "description"),
        options=asked.options,
        ext={"acp.options": native} if native else {},
    )


def _permission_resolved(
    id: str, asked: Asked, result: Any, error: ev.ErrorInfo | None
) -> ev.PermissionResolved:
    """An option that the request does not have is no answer that the agent can accept."""
    outcome = fields.mapping(result, "outcome")
    if error is None and outcome.get("outcome") == "cancelled":
        return ev.PermissionResolved(request_id=id, outcome="cancelled")
    chosen = fields.text(outcome, "optionId")
    option = next((option for option in asked.options if option.id == chosen), None)
    allowed = option is not None and (option.kind or option.id).startswith("allow")
    return ev.PermissionResolved(
        request_id=id,
        outcome="allowed" if allowed else "denied",
        option_id=chosen,
        message=error.message if error is not None else None,
    )


def _question(id: str, params: Any) -> ev.QuestionAsked:
    schema = fields.mapping(params, "requestedSchema")
    return ev.QuestionAsked(
        request_id=id,
        message=fields.text(params, "message"),
        mode="url" if fields.text(params, "mode") == "url" else "form",
        url=fields.text(params, "url"),
        elicitation_id=fields.text(params, "elicitationId"),
        schema=schema or None,
        call_id=fields.text(params, "toolCallId"),
    )


def _learn(asked: Asked, result: Any) -> None:
    """What the client's own terminals showed is the output of the tool that embeds them."""
    terminal_id = fields.text(asked.params, "terminalId")
    if asked.session is None or terminal_id is None or not isinstance(result, dict):
        return
    terminals = asked.session.tools.terminals
    if asked.method == "terminal/output":
        terminals.replace_output(terminal_id, output=fields.text(result, "output"))
        if isinstance(result.get("exitStatus"), dict):
            terminals.keep_exit(terminal_id, result["exitStatus"])
    elif asked.method == "terminal/wait_for_exit":
        terminals.keep_exit(terminal_id, result)
