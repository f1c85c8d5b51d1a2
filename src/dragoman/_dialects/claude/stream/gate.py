"""Our own hook before every tool call: what the CLI would do without a word comes before the policy too.

It says `deny` or `ask`, never anything else. An answer that allows, or that has no opinion, lets a project's own hook
decide, and change the input after us; an error lets the tool run (2.1.197 to 2.1.325). With `ask` the CLI sends
can_use_tool for every call, and the input there is the one that runs.
"""

from typing import Any, Final

from dragoman._model.errors import UsageError
from dragoman._wire import fields

CALLBACK: Final = "dragoman.gate"
_EVENT: Final = "PreToolUse"
_TIMEOUT: Final = 60
"""Seconds. The policy answers at once; without an answer the CLI refuses the call."""


def hooks(given: Any) -> dict[str, Any]:
    """The `hooks` of initialize: the caller's own, and ours. Raises UsageError for what the CLI could not read: it
    might leave out ours as well."""
    own = {} if given is None else given
    if not isinstance(own, dict) or not all(
        isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
        for entries in own.values()
    ):
        raise UsageError("the native option hooks must be a dict of lists of dicts, as initialize takes them")
    ids = [
        id for entries in own.values() for entry in entries for id in fields.items(entry, "hookCallbackIds")
    ]
    if CALLBACK in ids:
        raise UsageError(f"the hook callback id {CALLBACK!r} is Dragoman's own: choose another")
    ours = {"hookCallbackIds": [CALLBACK], "timeout": _TIMEOUT}
    return {**own, _EVENT: [ours, *own.get(_EVENT, [])]}


def is_ours(request: dict[str, Any]) -> bool:
    """Whether a control request of the CLI's is a call of our hook."""
    return request.get("subtype") == "hook_callback" and request.get("callback_id") == CALLBACK


def guards(request: dict[str, Any]) -> bool:
    """Whether a control request is a call of any hook that may deny a tool call."""
    named = fields.mapping(request, "input").get("hook_event_name")
    return request.get("subtype") == "hook_callback" and named == _EVENT


def denial(message: str) -> dict[str, Any]:
    """The answer that the call is not to run, and why."""
    return _answer("deny", message)


def no_objection() -> dict[str, Any]:
    """The answer that the call is to be asked for."""
    return _answer("ask", "every call is asked for")


def _answer(decision: str, reason: str) -> dict[str, Any]:
    said = {"hookEventName": _EVENT, "permissionDecision": decision, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": said}


def denied(answer: dict[str, Any]) -> bool:
    """Whether an answer of ours denies the call."""
    return fields.mapping(answer, "hookSpecificOutput").get("permissionDecision") == "deny"


def reason(answer: dict[str, Any]) -> str | None:
    """Why, as the model is told."""
    return fields.text(answer.get("hookSpecificOutput"), "permissionDecisionReason")
