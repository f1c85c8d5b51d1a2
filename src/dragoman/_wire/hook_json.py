"""What agents tell a hook and take from it. Claude Code has set the form, and Codex and Gemini CLI keep to it."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from dragoman._model import toolnames
from dragoman._model.hooks import GUARDS, HookAnswer, HookCall
from dragoman._wire import fields

_BEFORE_TOOL: Final = "PreToolUse"


def call_of(event: str, agent: str, native: dict[str, Any]) -> HookCall:
    """What the hook for `event` is told."""
    tool = fields.text(native, "tool_name")
    return HookCall(
        event=event,
        agent=agent,
        session=fields.text(native, "session_id"),
        cwd=fields.text(native, "cwd"),
        tool_name=tool,
        kind=toolnames.kind_of(tool) if tool is not None else None,
        input=native.get("tool_input"),
        output=native.get("tool_response"),
        call_id=fields.text(native, "tool_use_id"),
        prompt=fields.text(native, "prompt"),
        native=native,
    )


def native_answer(reply: Any, native: Mapping[str, Any]) -> dict[str, Any]:
    """A hook's reply in the agent's words; `native` is what the agent had told. Raises TypeError for what no hook may
    return, and for what JSON cannot hold."""
    if reply is None:
        return {}
    if isinstance(reply, Mapping):
        answer: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(dict(reply)))
        return answer
    if not isinstance(reply, HookAnswer):
        raise TypeError(f"a hook must return None, a HookAnswer or a dict; not {reply!r:.80}")
    event = fields.text(native, "hook_event_name") or ""
    special: dict[str, Any] = {"hookEventName": event}
    answer = {}
    if reply.block is not None and event == _BEFORE_TOOL:
        special |= {"permissionDecision": "deny", "permissionDecisionReason": reply.block}
    elif reply.block is not None:
        answer = {"decision": "block", "reason": reply.block}
    if reply.context is not None:
        special["additionalContext"] = reply.context
    return {**answer, "hookSpecificOutput": special} if len(special) > 1 else answer


def failed(event: str, why: str, native: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a hook that gave none: no, where something would be done after it; elsewhere nothing."""
    return native_answer(HookAnswer(block=why) if event in GUARDS else None, native)
