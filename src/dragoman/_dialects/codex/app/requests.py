"""What Codex asks of its client: permissions, questions, tools of the client's own. All of it gets an answer."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._dialects.codex.app import approvals, tools
from dragoman._dialects.codex.app.changes import paths
from dragoman._dialects.codex.app.threads import Thread, Threads
from dragoman._dialects.codex.app.translate import ext
from dragoman._dialects.codex.shared import values as v
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.capabilities import Capability
from dragoman._model.errors import Unsupported, UsageError
from dragoman._wire import fields, jsonrpc
from dragoman._wire.ledger import Ledger

ELICITATION: Final = "mcpServer/elicitation/request"
QUESTIONS: Final = "item/tool/requestUserInput"
TOOL: Final = "item/tool/call"
_HOST_CALLS: Final = (TOOL, "currentTime/read")
"""What a client may be able to answer; anything else that is no permission and no question is refused at once."""

_ACTIONS: Final[dict[Any, Any]] = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}
_WORDS: Final = {action: word for word, action in _ACTIONS.items()}


class Asked(Struct):
    """What is to be known of an open request to answer it."""

    id: jsonrpc.Id
    method: str
    params: dict[str, Any]
    thread: Thread | None
    call_id: str | None = None
    choices: list[approvals.Choice] | None = None
    """Of a permission."""


class Requests:
    """The requests that are open."""

    def __init__(self, ledger: Ledger, threads: Threads, peer: jsonrpc.Peer) -> None:
        self._ledger = ledger
        self._threads = threads
        self._peer = peer

    # --- Codex asks --------------------------------------------------------------------------------------

    def on_request(self, request: jsonrpc.Request, thread: Thread | None) -> bytes | None:
        """A request of Codex'. Returns the answer that is owed at once, where nobody could give one."""
        params = fields.as_mapping(request.params)
        asked = Asked(request.id, request.method, params, thread)
        choices = approvals.CHOICES.get(request.method)
        if choices is not None and (request.method != ELICITATION or _approval_kind(params)):
            asked.choices = choices(params)
            event: ev.Request = self._permission(asked)
        elif request.method in (ELICITATION, QUESTIONS):
            event = _question(asked)
        else:
            asked.call_id = fields.text(params, "callId")
            event = ev.HostCalled(
                request_id=str(request.id), method=request.method, params=params, call_id=asked.call_id
            )
        if thread is not None:
            self._threads.stamp(thread, event)
        self._ledger.ask(event, asked)
        if isinstance(event, ev.HostCalled) and request.method not in _HOST_CALLS:
            return self._peer.refuse(request.id, f"this client cannot answer {request.method}")
        return None

    def _permission(self, asked: Asked) -> ev.PermissionRequested:
        params, choices = asked.params, asked.choices or []
        event = ev.PermissionRequested(
            request_id=str(asked.id),
            call_id=fields.text(params, "itemId") or fields.text(params, "callId"),
            reason=fields.text(params, "reason"),
            options=approvals.options(choices),
            suggestions=[approvals.SESSION],
        )
        if asked.method in ("item/commandExecution/requestApproval", "execCommandApproval"):
            _describe_command(event, params)
        elif asked.method in ("item/fileChange/requestApproval", "applyPatchApproval"):
            changes = asked.thread.changes.get(event.call_id or "") if asked.thread is not None else None
            _describe_change(event, params, changes)
        elif asked.method == ELICITATION:
            _describe_mcp_tool(event, params, asked.thread)
        else:
            event.tool_name, event.input = "request_permissions", params.get("permissions")
            event.title = event.reason or "more permissions"
        asked.call_id = event.call_id
        return event

    def on_resolved(self, request_id: str) -> None:
        """`serverRequest/resolved`: by our answer, or because Codex no longer wants one. Where the client is not heard,
        the item tells later which answer it was."""
        if self._ledger.heard_client:
            self._ledger.withdraw(request_id)

    def item_over(self, thread: Thread, call_id: str, status: ev.ToolStatus) -> None:
        """Resolve the permission of a completed item, where the stream has no lines of the client."""
        if self._ledger.heard_client:
            return
        for request_id, asked in self._open():
            if asked.call_id == call_id and asked.thread is thread and asked.choices is not None:
                outcome: Any = "denied" if status == "declined" else "allowed"
                self._ledger.put(
                    ev.PermissionResolved(request_id=request_id, outcome=outcome, synthesized=True)
                )

    def turn_over(self, thread: Thread, outcome: ev.TurnOutcome) -> list[bytes]:
        """A turn has ended: nothing of it is asked any more, but Codex goes on waiting for its answers
        (capture approval_bad_replies). They are errors, which it takes as no."""
        lines = []
        for request_id, asked in self._open():
            if asked.thread is not None and asked.thread.session == thread.session:
                lines.append(self._peer.refuse(asked.id, "the turn has ended", jsonrpc.INTERNAL_ERROR))
                if outcome == "cancelled" or self._ledger.heard_client:
                    self._ledger.withdraw(request_id, synthesized=True)
        return lines

    # --- the client answers ------------------------------------------------------------------------------

    def on_our_answer(self, response: jsonrpc.Response) -> None:
        """Our own answer, seen on its way out."""
        request_id = str(response.id)
        pending = self._ledger.requests.get(request_id)
        asked = pending.native if pending is not None else None
        if not isinstance(asked, Asked):
            return
        error = (
            ev.ErrorInfo(message=response.error.message or "error") if response.error is not None else None
        )
        event: ev.Event
        if asked.choices is not None:
            event = _permission_resolved(request_id, asked.choices, response.result, error)
        elif asked.method in (ELICITATION, QUESTIONS):
            event = _question_answered(request_id, asked.method, response.result, error)
        else:
            event = ev.HostAnswered(request_id=request_id, result=response.result, error=error)
        if asked.thread is not None:
            event.parent = asked.thread.parent
        self._ledger.put(event)

    # --- lines -------------------------------------------------------------------------------------------

    def answer_line(self, command: c.Answer, agent: str) -> bytes:
        asked = self._pending(command.request)
        if asked.choices is None:
            raise UsageError(f"request {command.request} is no permission: it is {asked.method}")
        if command.updated_input is not None:
            raise Unsupported(agent, Capability.UPDATED_INPUT)
        return self._peer.answer(asked.id, approvals.choice_of_command(asked.choices, command).result)

    def question_line(self, command: c.AnswerQuestion) -> bytes:
        asked = self._pending(command.request)
        if asked.method == QUESTIONS:
            answers = _answers(asked.params, command.answers) if command.action == "accepted" else {}
            return self._peer.answer(asked.id, {"answers": answers})
        if asked.method != ELICITATION or asked.choices is not None:
            raise UsageError(f"request {command.request} is no question: it is {asked.method}")
        result: dict[str, Any] = {"action": _WORDS[command.action]}
        if command.action == "accepted":
            result["content"] = command.answers
        return self._peer.answer(asked.id, result)

    def reply_line(self, command: c.Reply) -> bytes:
        asked = self._pending(command.request)
        if asked.method == TOOL:
            return self._peer.answer(asked.id, _tool_result(command))
        if command.error is None and command.result is not None:
            return self._peer.answer(asked.id, command.result)
        return self._peer.refuse(asked.id, command.error or f"nobody answers {asked.method}")

    def _open(self) -> list[tuple[str, Asked]]:
        """The open requests, by id."""
        asked = [(id, pending.native) for id, pending in self._ledger.requests.items()]
        return [(id, native) for id, native in asked if isinstance(native, Asked)]

    def _pending(self, request_id: str) -> Asked:
        asked = self._ledger.pending(request_id).native
        if not isinstance(asked, Asked):
            raise UsageError(f"request {request_id!r} is not ours to answer: Codex reviews it itself")
        return asked


# --- what is asked -----------------------------------------------------------------------------------------


def _describe_command(event: ev.PermissionRequested, params: dict[str, Any]) -> None:
    command, actions = params.get("command"), params.get("commandActions") or params.get("parsedCmd")
    if isinstance(command, list):  # the older request gives the arguments
        command = " ".join(map(str, command))
    said = command if isinstance(command, str) else None
    event.tool_name, event.kind = "shell", "execute"
    event.input = tools.command_input(said, fields.text(params, "cwd"))
    event.title = toolnames.one_line(v.command_text(said)) or None
    event.ext = ext(
        commandActions=actions,
        additionalPermissions=params.get("additionalPermissions"),
        networkApprovalContext=params.get("networkApprovalContext"),
    )


def _describe_change(event: ev.PermissionRequested, params: dict[str, Any], changes: Any) -> None:
    """Put a patch on the event: its changes are in the item (`changes`), the request itself has them only in
    its older form."""
    older = params.get("fileChanges")
    root = fields.text(params, "grantRoot")
    event.tool_name, event.kind, event.blocked_path = "apply_patch", "edit", root
    event.input = {"changes": changes if changes is not None else older if older is not None else []}
    named = paths(changes) or list(fields.as_mapping(older))
    event.title = toolnames.one_line(", ".join(map(str, named))) if named else root
    event.ext = ext(grantRoot=root)


def _describe_mcp_tool(event: ev.PermissionRequested, params: dict[str, Any], thread: Thread | None) -> None:
    """Put an MCP tool on the event. The request does not name the call: it is the open one of this server
    with these arguments."""
    meta, server = params.get("_meta") or {}, fields.text(params, "serverName") or ""
    waiting = [
        call for call in (thread.mcp_calls if thread is not None else {}).values() if call.server == server
    ]
    fitting = [call for call in waiting if call.arguments == meta.get("tool_params")] or waiting
    event.kind, event.input = "mcp", meta.get("tool_params")
    event.title, event.reason = fields.text(params, "message"), fields.text(meta, "tool_description")
    event.tool_name = f"mcp__{server}"
    if fitting:
        event.call_id = fitting[-1].id
        event.tool_name = tools.mcp_name(server, fitting[-1].tool)


def _approval_kind(params: dict[str, Any]) -> str | None:
    return fields.text(params.get("_meta"), "codex_approval_kind")


def _question(asked: Asked) -> ev.QuestionAsked:
    params, request_id = asked.params, str(asked.id)
    if asked.method == QUESTIONS:
        given = fields.mappings(params, "questions")
        return ev.QuestionAsked(
            request_id=request_id,
            message=fields.text(given[0], "question") if given else None,
            questions=given,
            call_id=fields.text(params, "itemId"),
        )
    return ev.QuestionAsked(
        request_id=request_id,
        message=fields.text(params, "message") or fields.text(params, "title"),
        mode="url" if params.get("mode") == "url" else "form",
        url=fields.text(params, "url"),
        elicitation_id=fields.text(params, "elicitationId"),
        schema=params.get("requestedSchema"),
        ext=ext(mcpServer=params.get("serverName")),
    )


# --- answers -----------------------------------------------------------------------------------------------


def _permission_resolved(
    request_id: str, choices: list[approvals.Choice], result: Any, error: ev.ErrorInfo | None
) -> ev.PermissionResolved:
    """The event for an answer to a permission request. One that Codex cannot accept counts as a denial: the
    item fails."""
    choice = approvals.choice_of_result(choices, result) if error is None else None
    return ev.PermissionResolved(
        request_id=request_id,
        outcome="allowed" if choice is not None and choice.allows else "denied",
        option_id=choice.id if choice is not None else None,
        message=error.message if error is not None else None,
    )


def _question_answered(
    request_id: str, method: str, result: Any, error: ev.ErrorInfo | None
) -> ev.QuestionAnswered:
    said = fields.as_mapping(result) if error is None else {}
    if method == QUESTIONS:
        answers = said.get("answers")
        return ev.QuestionAnswered(
            request_id=request_id, action="accepted" if answers else "cancelled", answers=answers or None
        )
    action: Any = _ACTIONS.get(str(said.get("action")), "cancelled")
    return ev.QuestionAnswered(request_id=request_id, action=action, answers=said.get("content"))


def _answers(params: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The answers by question id; they may be given by a question's id, header or words."""
    ids: dict[str, str] = {}
    for item in fields.mappings(params, "questions"):
        if (id := fields.text(item, "id")) is not None:
            ids |= {str(item.get(key)): id for key in ("header", "question", "id") if item.get(key)}
    return {ids.get(key, key): {"answers": _texts(value)} for key, value in given.items()}


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict) and isinstance(value.get("answers"), list):
        value = value["answers"]
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _tool_result(command: c.Reply) -> Any:
    """The result of a client's own tool in Codex's form, from a text, from JSON, or from that form."""
    if command.error is not None or command.result is None:
        said = command.error or "No such tool is offered by this client."
        return {"contentItems": [{"type": "inputText", "text": said}], "success": False}
    result = command.result
    if isinstance(result, dict) and isinstance(result.get("contentItems"), list):
        return {"success": True, **result}
    text = result if isinstance(result, str) else msgspec.json.encode(result).decode()
    return {"contentItems": [{"type": "inputText", "text": text}], "success": True}
