"""The policy as a PreToolUse hook of Claude Code: what the CLI runs before every call, whatever its settings allow.

A permission tool is asked only for what the CLI is in doubt of: a user's `permissions.allow` and modes such as `auto` keep
calls from it (docs/approval.md). A hook hears them all.
"""

import json
from typing import Any, Final

from dragoman._runtime.permission_server import Decide, is_answer, is_exact

EVENT: Final = "PreToolUse"


def call_on(line: bytes) -> dict[str, Any]:
    """The call that a hook is to judge. Raises ValueError for what cannot be judged, which must block it."""
    if not is_exact(line):
        raise ValueError("the call cannot be read as it was written")
    call = json.loads(line)
    if not isinstance(call, dict) or call.get("hook_event_name") != EVENT or not call.get("tool_name"):
        raise ValueError(f"this is no {EVENT} call")
    if not isinstance(call.get("cwd"), str):
        raise ValueError("the call names no folder")
    return call


def answer(call: dict[str, Any], decide: Decide) -> dict[str, Any]:
    """What the hook prints: allow or deny, with the reason. Raises ValueError if nothing was decided."""
    decision = decide(call)
    decided = decision() if callable(decision) else decision
    if not is_answer(decided):
        raise ValueError("no decision was made")
    said: dict[str, Any] = {"hookEventName": EVENT, "permissionDecision": decided["behavior"]}
    if decided["behavior"] == "deny":
        said["permissionDecisionReason"] = decided["message"]
    elif decided["updatedInput"] != call.get("tool_input", {}):
        said["updatedInput"] = decided["updatedInput"]
    return {"hookSpecificOutput": said}
