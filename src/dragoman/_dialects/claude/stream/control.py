"""The control protocol, both ways: what the CLI asks of its client, what we ask of the CLI, and the answers."""

from typing import Any, Final

import msgspec

from dragoman._dialects.claude.stream import gate
from dragoman._dialects.claude.stream import messages as m
from dragoman._dialects.claude.stream.calls import Calls
from dragoman._dialects.claude.stream.translate import is_initialize_answer, servers_of
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.content import ContentBlock, ImageBlock, ResourceBlock, ResourceLinkBlock, TextBlock
from dragoman._model.errors import Unsupported, UsageError
from dragoman._wire import fields, jsonrpc
from dragoman._wire.jsontext import repaired
from dragoman._wire.ledger import Ledger

INITIALIZE: Final = "initialize"
MODES: Final[dict[str, str]] = {
    **dict.fromkeys(("ask", "dangerous", "edits", "all", "never"), "default"),
    **{mode: mode for mode in ("default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto")},
}
"""Our words for permission modes, in which it asks and the policy answers, and the CLI's own. 2.1.197 takes any string,
so they are checked here."""

OPTIONS: Final = {"max_thinking_tokens": "set_max_thinking_tokens", "title": "rename_session"}
"""What SetOption can set, and by which request."""

FACTS: Final = {"mcp_servers": "mcp_status", "models": "list_models"}
"""What Refresh can ask for, and by which request; 2.1.197 has no list_models. All else it tells by itself: in its
answer to initialize, in every init, and when its commands change."""

_COMMANDS: Final = {
    "interrupt": "interrupt",
    "set_permission_mode": "set_mode",
    "set_model": "set_model",
    "set_max_thinking_tokens": "set_option",
    "rename_session": "set_option",
}
_HOST_CALLS: Final = ("hook_callback", "mcp_message", "request_user_dialog")
REQUESTS: Final = ("can_use_tool", "elicitation", *_HOST_CALLS)
"""What the CLI asks for and can be answered."""
_ACTIONS: Final[dict[Any, Any]] = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}
_WORDS: Final = {action: word for word, action in _ACTIONS.items()}
_QUESTION_TOOL: Final = "AskUserQuestion"
_BARE_ALLOW_FROM: Final = (2, 1, 198)
"""{"behavior":"allow"} without updatedInput is a denial up to 2.1.197 (capture perm_allow_bare)."""


class Controls:
    """The control requests of both directions. The CLI's open ones are in the ledger, ours in `_our_requests`."""

    def __init__(self, ledger: Ledger, calls: Calls) -> None:
        self._ledger = ledger
        self._calls = calls
        self._our_requests: dict[str, dict[str, Any]] = {}
        """Requests of ours that have no answer yet, by request_id."""
        self._theirs: set[str] = set()
        """The request_ids of the CLI's own requests."""
        self.asked_mode: str | None = None
        """The permission mode that the CLI was told to be in, until its first init says whether it is."""

    # --- the CLI asks ------------------------------------------------------------------------------------

    def on_request(self, message: m.ControlRequest) -> bytes | None:
        """A `control_request` of the CLI's. Returns the answer that is owed at once, where nobody can give one."""
        request, request_id = message.request, message.request_id
        subtype = request.get("subtype")
        self._theirs.add(request_id)
        if subtype == "can_use_tool":
            self._ledger.ask(self._permission(request_id, request), request)
        elif gate.is_ours(request):
            self._ledger.check(self._shown(request_id, request), request)
        elif subtype == "elicitation":
            self._ledger.ask(_elicitation(request_id, request), request)
        else:
            call_id = fields.text(request, "tool_use_id") or _mcp_call(request)
            call = ev.HostCalled(
                request_id=request_id,
                method=str(subtype),
                params={key: value for key, value in request.items() if key != "subtype"},
                call_id=call_id,
                parent=self._calls.parent_of(call_id),
            )
            self._ledger.ask(call, request)
            if subtype not in _HOST_CALLS:
                return _error(request_id, f"unsupported control request: {subtype}")
        return None

    def _permission(self, request_id: str, request: dict[str, Any]) -> ev.Request:
        name, given = fields.text(request, "tool_name") or "", request.get("input")
        call_id = fields.text(request, "tool_use_id")
        parent = self._calls.parent_of(call_id)
        if name == _QUESTION_TOOL:
            return ev.QuestionAsked(
                request_id=request_id,
                message=toolnames.title_of(name, given),
                questions=fields.items(given, "questions"),
                call_id=call_id,
                parent=parent,
            )
        return ev.PermissionRequested(
            request_id=request_id,
            call_id=call_id,
            tool_name=name,
            kind=toolnames.kind_of(name),
            input=given,
            title=fields.text(request, "description") or toolnames.title_of(name, given),
            reason=fields.text(request, "decision_reason") or fields.text(request, "decision_reason_type"),
            blocked_path=fields.text(request, "blocked_path"),
            suggestions=fields.items(request, "permission_suggestions"),
            parent=parent,
        )

    def _shown(self, request_id: str, request: dict[str, Any]) -> ev.PermissionRequested:
        """The call that our own hook is shown."""
        shown = fields.mapping(request, "input")
        name, given = fields.text(shown, "tool_name") or "", shown.get("tool_input")
        call_id = fields.text(request, "tool_use_id") or fields.text(shown, "tool_use_id")
        return ev.PermissionRequested(
            request_id=request_id,
            call_id=call_id,
            tool_name=name,
            kind=toolnames.kind_of(name),
            input=given,
            title=toolnames.title_of(name, given),
            cwd=fields.text(shown, "cwd"),
            parent=self._calls.parent_of(call_id),
            synthesized=True,
        )

    def on_cancel(self, message: m.ControlCancel) -> None:
        """`control_cancel_request`: the CLI no longer wants an answer (an interrupt, capture perm_interrupted)."""
        pending = self._ledger.requests.get(message.request_id)
        if pending is not None:
            self._calls.withdraw(pending.event.call_id)
            self._ledger.withdraw(message.request_id)

    def on_our_answer(self, message: m.ControlResponse) -> None:
        """Our own `control_response`, seen on its way out."""
        answer, id = message.response, message.response.request_id
        pending = self._ledger.requests.get(id)
        if pending is None:
            return
        said = fields.as_mapping(answer.response)
        error = None if answer.subtype == "success" else answer.error or "error"
        if pending.silent:
            self._on_our_check(id, said)
            return
        if isinstance(pending.event, ev.HostCalled):
            result = said.get("mcp_response", answer.response)
            info = ev.ErrorInfo(message=error) if error is not None else None
            event: ev.Event = ev.HostAnswered(request_id=id, result=result, error=info)
        elif isinstance(pending.event, ev.QuestionAsked):
            event = _question_answered(id, pending.native, said, error)
        else:
            event = self._permission_resolved(id, fields.as_mapping(pending.native), said, error)
        self._ledger.put(event)
        if said.get("interrupt") is True:
            self._ledger.interrupt()

    def _on_our_check(self, request_id: str, said: dict[str, Any]) -> None:
        if gate.denied(said):
            denial = ev.PermissionResolved(request_id=request_id, outcome="denied", message=gate.reason(said))
            self._ledger.put(denial)
        else:
            self._ledger.pass_check(request_id)

    def _permission_resolved(
        self, request_id: str, request: dict[str, Any], said: dict[str, Any], error: str | None
    ) -> ev.PermissionResolved:
        """The event for an answer to a permission request. One that the CLI cannot accept counts as a
        denial."""
        updated = said.get("updatedInput")
        acceptable = isinstance(updated, dict) or (updated is None and self._takes_bare_allow())
        if error is None and said.get("behavior") == "allow" and acceptable:
            changed = updated if updated is not None and updated != request.get("input") else None
            return ev.PermissionResolved(request_id=request_id, outcome="allowed", updated_input=changed)
        return ev.PermissionResolved(
            request_id=request_id, outcome="denied", message=error or fields.text(said, "message")
        )

    def _takes_bare_allow(self) -> bool:
        version = str(self._ledger.facts().get("cli_version", ""))
        numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
        return numbers >= _BARE_ALLOW_FROM

    # --- we ask ------------------------------------------------------------------------------------------

    def on_our_request(self, message: m.ControlRequest) -> None:
        """Our own `control_request`, seen on its way out."""
        self._our_requests[message.request_id] = message.request
        if message.request.get("subtype") == "interrupt":
            self._ledger.interrupt()

    def on_answer(self, message: m.ControlResponse) -> dict[str, Any] | None:
        """The CLI's `control_response`. That to initialize is returned: it belongs to the session. With
        --replay-user-messages the CLI repeats our answers to its own requests: they end no command of ours."""
        answer = message.response
        if answer.request_id in self._theirs:
            self.on_our_answer(message)
            return None
        request = self._our_requests.pop(answer.request_id, None)
        subtype = fields.text(request, "subtype")
        initial = subtype == INITIALIZE or (request is None and is_initialize_answer(answer.response))
        if initial and isinstance(answer.response, dict):
            return answer.response
        ok = answer.subtype == "success"
        self._ledger.put(
            ev.CommandEnded(
                command=_COMMANDS.get(subtype, subtype) if subtype is not None else None,
                request_id=answer.request_id,
                ok=ok,
                error=None if ok else ev.ErrorInfo(message=answer.error or "error", code=answer.error_code),
                result=answer.response,
            )
        )
        if ok and subtype == "set_model" and self._ledger.facts() and request is not None:
            model = fields.text(answer.response, "model") or fields.text(request, "model")
            self._ledger.put(ev.SessionStarted(model=model))
        elif ok and subtype == "set_permission_mode" and self.asked_mode is not None:
            self.asked_mode = fields.text(request, "mode")
        elif ok and subtype == "mcp_status":
            self._ledger.learn(mcp_servers=servers_of(fields.items(answer.response, "mcpServers")))
        elif ok and subtype == "list_models":
            self._ledger.learn(models=fields.items(answer.response, "models"))
        return None

    # --- lines -------------------------------------------------------------------------------------------

    def answer_line(self, command: c.Answer) -> bytes:
        request = fields.as_mapping(self._ledger.pending(command.request).native)
        if command.option is not None:
            raise UsageError("a permission request of claude has no options: answer with allow or deny")
        if gate.is_ours(request):
            allowed = command.decision == "allow"
            return _success(
                command.request, gate.no_objection() if allowed else gate.denial(command.message or "Denied.")
            )
        if command.decision == "allow":
            updated = command.updated_input if command.updated_input is not None else request.get("input", {})
            response: dict[str, Any] = {"behavior": "allow", "updatedInput": updated}
            if updates := [item for item in command.remember if isinstance(item, dict)]:
                response["updatedPermissions"] = updates  # any other word is one of our own policy
        else:
            response = {"behavior": "deny", "message": command.message or "Denied."}
            if command.interrupt:
                response["interrupt"] = True
        return _success(command.request, response)

    def question_line(self, command: c.AnswerQuestion) -> bytes:
        request = fields.as_mapping(self._ledger.pending(command.request).native)
        if request.get("subtype") == "elicitation":
            response: dict[str, Any] = {"action": _WORDS[command.action]}
            if command.action == "accepted":
                response["content"] = command.answers
        elif command.action == "accepted":
            asked = {**fields.mapping(request, "input"), "answers": command.answers}
            response = {"behavior": "allow", "updatedInput": asked}
        else:
            response = {"behavior": "deny", "message": f"The user {command.action} the question."}
        return _success(command.request, response)

    def reply_line(self, command: c.Reply) -> bytes:
        request = fields.as_mapping(self._ledger.pending(command.request).native)
        if request.get("subtype") == "mcp_message":
            return _success(command.request, {"mcp_response": _mcp_reply(request, command)})
        if command.error is not None:
            if gate.guards(request):  # an error would let the tool run
                return _success(command.request, gate.denial(command.error))
            return _error(command.request, command.error)
        if gate.is_ours(request):
            return _success(command.request, gate.no_objection())
        if command.result is None and request.get("subtype") == "request_user_dialog":
            return _success(command.request, {"behavior": "cancelled"})
        return _success(command.request, command.result if command.result is not None else {})


def request(subtype: str, request_id: str, params: dict[str, Any]) -> bytes:
    """The line of a control request."""
    return _line(
        {"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **params}}
    )


def set_mode(command: c.SetMode, request_id: str) -> bytes:
    mode = MODES.get(command.mode)
    if mode is None:
        raise UsageError(f"claude has no mode {command.mode!r}; it has: {', '.join(MODES)}")
    return request("set_permission_mode", request_id, {"mode": mode})


def set_option(command: c.SetOption, request_id: str) -> bytes:
    subtype = OPTIONS.get(command.option)
    if subtype is None:
        raise UsageError(f"claude has no option {command.option!r}; it has: {', '.join(OPTIONS)}")
    if command.option == "max_thinking_tokens" and not _is_count(command.value):
        said = f"max_thinking_tokens must be a whole number from 0 on, or None; not {command.value!r:.60}"
        raise UsageError(said)
    return request(subtype, request_id, {command.option: command.value})


def _is_count(value: Any) -> bool:
    """Whether it is None or a number from 0 on: 2.1.197 takes anything."""
    return value is None or (type(value) is int and value >= 0)


def refresh(command: c.Refresh, request_id: str) -> bytes:
    subtype = FACTS.get(command.fact)
    if subtype is None:
        raise Unsupported("claude", f"asking for {command.fact}", f"It can be asked for: {', '.join(FACTS)}")
    return request(subtype, request_id, {})


def rewind_files(command: c.RewindFiles, request_id: str) -> bytes:
    params = {"user_message_id": command.message_id, "dry_run": command.dry_run}
    return request("rewind_files", request_id, params)


def user(text: str, blocks: list[ContentBlock], message_id: str) -> bytes:
    """A `user` line. By its uuid the CLI says which turn takes it: in the echo, and in `result.user_message_uuids`."""
    content: Any = text
    if blocks:
        content = [{"type": "text", "text": text}] if text else []
        content += [_native_block(block) for block in blocks]
    return _line({"type": "user", "message": {"role": "user", "content": content}, "uuid": message_id})


def _native_block(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageBlock) and block.data is not None:
        mime = block.mime_type or "image/png"
        return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": block.data}}
    if isinstance(block, ImageBlock) and block.uri is not None:
        return {"type": "image", "source": {"type": "url", "url": block.uri}}
    if isinstance(block, ResourceBlock) and block.blob is not None:
        source = {"type": "base64", "media_type": block.mime_type or "application/pdf", "data": block.blob}
        return {"type": "document", "source": source}
    if isinstance(block, ResourceBlock) and block.text is not None:
        return {"type": "text", "text": block.text}
    if isinstance(block, ResourceLinkBlock):
        return {"type": "text", "text": f"@{block.uri.removeprefix('file://')}"}
    raise UsageError(f"claude takes no content block of type {block.__struct_config__.tag} in a prompt")


def _elicitation(request_id: str, request: dict[str, Any]) -> ev.QuestionAsked:
    return ev.QuestionAsked(
        request_id=request_id,
        message=fields.text(request, "message"),
        mode="url" if request.get("mode") == "url" else "form",
        url=fields.text(request, "url"),
        elicitation_id=fields.text(request, "elicitation_id"),
        schema=request.get("requested_schema"),
        ext={"claude.mcpServer": request["mcp_server_name"]} if "mcp_server_name" in request else {},
    )


def _question_answered(
    request_id: str, request: dict[str, Any], said: dict[str, Any], error: str | None
) -> ev.QuestionAnswered:
    if request.get("subtype") == "elicitation":
        action: Any = _ACTIONS.get(said.get("action"), "cancelled") if error is None else "cancelled"
        return ev.QuestionAnswered(request_id=request_id, action=action, answers=said.get("content"))
    updated = said.get("updatedInput")
    if error is None and said.get("behavior") == "allow" and isinstance(updated, dict):
        return ev.QuestionAnswered(request_id=request_id, action="accepted", answers=updated.get("answers"))
    return ev.QuestionAnswered(request_id=request_id, action="declined")


def _mcp_call(request: dict[str, Any]) -> str | None:
    """The id of the tool call that an MCP message is made for, in its `params._meta`."""
    params = fields.mapping(request.get("message"), "params")
    return fields.text(params.get("_meta"), "claudecode/toolUseId")


def _mcp_reply(request: dict[str, Any], command: c.Reply) -> dict[str, Any]:
    """The answer of an MCP server in the client. A notification gets one too; without a result it is an
    error."""
    id = fields.value(request.get("message"), "id")
    if id is None:
        return {"jsonrpc": "2.0", "result": {}}
    if command.result is not None:
        return {"jsonrpc": "2.0", "id": id, "result": command.result}
    said = command.error or "no such method"
    code = jsonrpc.INTERNAL_ERROR if command.error is not None else jsonrpc.METHOD_NOT_FOUND
    code = command.code if command.code is not None else code
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": said}}


def _success(request_id: str, response: Any) -> bytes:
    return _line(
        {
            "type": "control_response",
            "response": {"subtype": "success", "request_id": request_id, "response": response},
        }
    )


def _error(request_id: str, error: str) -> bytes:
    return _line(
        {
            "type": "control_response",
            "response": {"subtype": "error", "request_id": request_id, "error": error},
        }
    )


def _line(value: dict[str, Any]) -> bytes:
    """A line that is always JSON: one that is not would end the CLI."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(repaired(msgspec.to_builtins(value)))
