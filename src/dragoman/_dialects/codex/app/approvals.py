"""Permissions: what can be answered to each kind of request, as one list of choices that serves the options we
show, the answers we send and the answers we see."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from dragoman._model import events as ev
from dragoman._model.commands import Answer
from dragoman._model.errors import UsageError
from dragoman._wire import fields

SESSION: Final = "session"
"""In Answer.remember: not to be asked again in this session."""
ALWAYS: Final = "always"
"""Nor ever: which our own policy sees to, so to Codex it is said for this session. What Codex itself would write down
(for MCP tools: `persist`) is only ever chosen by its own id."""


class Choice(Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    result: Any
    """What says it, as the whole result of the request."""
    name: str | None = None
    offered: bool = True

    @property
    def allows(self) -> bool:
        return self.kind.startswith("allow")


ALLOW, ALLOW_SESSION, DENY, STOP = "accept", "acceptForSession", "decline", "cancel"

_DECISIONS: Final = {
    ALLOW: ("allow_once", "Allow"),
    ALLOW_SESSION: ("allow_always", "Allow for this session"),
    DENY: ("reject_once", "Deny"),
    STOP: ("reject_once", "Deny and stop the turn"),
}
_NETWORK: Final = "applyNetworkPolicyAmendment"


def _command(params: dict[str, Any]) -> list[Choice]:
    """The choices for a command. Codex accepts more than it offers: acceptForSession and decline always work
    (capture approval_command)."""
    available = params.get("availableDecisions")
    offered = available if isinstance(available, list) else list(_DECISIONS)
    choices = [_decision(decision, offered=True) for decision in offered]
    known = {choice.id for choice in choices}
    return choices + [_decision(word, offered=False) for word in _DECISIONS if word not in known]


def _decision(decision: Any, *, offered: bool) -> Choice:
    """The choice that a native decision is. An amendment is a permanent grant, written to disk: it is chosen
    by its own id alone."""
    if isinstance(decision, str):
        return _word(decision, offered)
    result = {"decision": decision}
    key = next(iter(fields.as_mapping(decision)), "")
    amendment = fields.mapping(decision, key)
    if key == _NETWORK:
        rule = fields.mapping(amendment, "network_policy_amendment")
        verb, host = fields.text(rule, "action") or "allow", fields.text(rule, "host") or "it"
        kind = "allow_always" if verb == "allow" else "reject_always"
        name = f"Always {verb} network access to {host}"
        return Choice(id=f"{key}:{verb}", kind=kind, name=name, result=result, offered=offered)
    prefix = " ".join(map(str, fields.items(amendment, "execpolicy_amendment")))
    return Choice(
        id=key, kind="allow_always", name=f"Always allow commands that start with: {prefix}", result=result
    )


@lru_cache(maxsize=64)
def _word(decision: str, offered: bool) -> Choice:
    """There are four of them, and they are asked for with every command."""
    kind, name = _DECISIONS.get(decision, ("reject_once", decision))
    return Choice(id=decision, kind=kind, name=name, result={"decision": decision}, offered=offered)


def _file_change(params: dict[str, Any]) -> list[Choice]:
    return [_decision(word, offered=True) for word in _DECISIONS]


def _permissions(params: dict[str, Any]) -> list[Choice]:
    """The choices for extra permissions: granted as they were asked for, or none of them, which is a
    denial."""
    asked = params.get("permissions")
    granted = {"permissions": asked, "scope": "turn"}
    return [
        Choice(id=ALLOW, kind="allow_once", name="Allow for this turn", result=granted),
        Choice(
            id=ALLOW_SESSION,
            kind="allow_always",
            name="Allow for this session",
            result={**granted, "scope": "session"},
        ),
        Choice(id=DENY, kind="reject_once", name="Deny", result={"permissions": {}, "scope": "turn"}),
    ]


def _mcp_tool(params: dict[str, Any]) -> list[Choice]:
    persist = fields.value(params.get("_meta"), "persist")
    scopes = persist if isinstance(persist, list) else [persist]
    accept: dict[str, Any] = {"action": "accept", "content": {}}
    choices = [Choice(id=ALLOW, kind="allow_once", name="Allow", result=accept)]
    for scope, id, name in (
        (SESSION, ALLOW_SESSION, "Allow for this session"),
        (ALWAYS, "acceptAlways", "Always allow"),
    ):
        if scope in scopes:
            result = {**accept, "_meta": {"persist": scope}}
            choices.append(Choice(id=id, kind="allow_always", name=name, result=result))
    return [
        *choices,
        Choice(id=DENY, kind="reject_once", name="Deny", result={"action": "decline"}),
        Choice(id=STOP, kind="reject_once", name="Cancel", result={"action": "cancel"}),
    ]


def _legacy(params: dict[str, Any]) -> list[Choice]:
    denied = {"denied": {"rejection": "Denied by the client."}}
    words: tuple[tuple[str, str, Any], ...] = (
        (ALLOW, "allow_once", "approved"),
        (ALLOW_SESSION, "allow_always", "approved_for_session"),
        (DENY, "reject_once", denied),
        (STOP, "reject_once", "abort"),
    )
    return [Choice(id=id, kind=kind, result={"decision": word}) for id, kind, word in words]


CHOICES: Final[dict[str, Callable[[dict[str, Any]], list[Choice]]]] = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _file_change,
    "item/permissions/requestApproval": _permissions,
    "mcpServer/elicitation/request": _mcp_tool,
    "applyPatchApproval": _legacy,
    "execCommandApproval": _legacy,
}
"""The requests that are permissions, by method."""


def options(choices: list[Choice]) -> list[ev.PermissionOption]:
    return [
        ev.PermissionOption(id=choice.id, name=choice.name, kind=choice.kind)
        for choice in choices
        if choice.offered
    ]


def choice_of_command(choices: list[Choice], command: Answer) -> Choice:
    """The choice of a command. Only its `option` can choose an amendment."""
    by_id = {choice.id: choice for choice in choices}
    if command.option is not None:
        if command.option not in by_id:
            raise UsageError(f"the request has no option {command.option!r}; it has: {', '.join(by_id)}")
        return by_id[command.option]
    if command.decision == "allow":
        lasting = any(word in command.remember for word in (SESSION, ALWAYS)) and ALLOW_SESSION in by_id
        return by_id[ALLOW_SESSION if lasting else ALLOW]
    return by_id[STOP] if command.interrupt and STOP in by_id else by_id[DENY]


def choice_of_result(choices: list[Choice], result: Any) -> Choice | None:
    """The choice that an answer's result is; None if Codex cannot accept it."""
    exact = next((choice for choice in choices if choice.result == result), None)
    if exact is not None or not isinstance(result, dict):
        return exact
    if isinstance(result.get("permissions"), dict):
        wanted = ALLOW if any(result["permissions"].values()) else DENY
    elif "action" in result:
        wanted = str(result["action"])
    else:
        decision = result.get("decision")
        wanted = _decision(decision, offered=False).id if isinstance(decision, dict) else str(decision)
    return next((choice for choice in choices if choice.id == wanted), None)
