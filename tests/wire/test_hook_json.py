"""What a hook is told, and how its answer is said."""

from typing import Any

import pytest

from dragoman import HookAnswer
from dragoman._wire.hook_json import call_of, failed, native_answer

BEFORE = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "cwd": "/w",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "t1",
    "more": 1,
}


def test_what_it_is_told() -> None:
    call = call_of("PreToolUse", "claude", BEFORE)
    assert (call.event, call.agent, call.session, call.cwd, call.call_id) == (
        "PreToolUse",
        "claude",
        "s",
        "/w",
        "t1",
    )
    assert (call.tool_name, call.kind, call.input) == ("Bash", "execute", {"command": "ls"})
    assert call.native == BEFORE
    after = call_of("PostToolUse", "claude", {"tool_name": "mcp__a__b", "tool_response": [1]})
    assert (after.kind, after.output, after.session) == ("mcp", [1], None)
    odd = call_of("Stop", "gemini", {"tool_name": 7, "session_id": [], "prompt": {}})
    assert (odd.tool_name, odd.kind, odd.session, odd.prompt) == (None, None, None, None)


@pytest.mark.parametrize(
    ("reply", "event", "native"),
    [
        (None, "PreToolUse", {}),
        (HookAnswer(), "PreToolUse", {}),
        (
            HookAnswer(block="No."),
            "PreToolUse",
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "No.",
                }
            },
        ),
        (HookAnswer(block="No."), "BeforeTool", {"decision": "block", "reason": "No."}),
        (HookAnswer(block=""), "Stop", {"decision": "block", "reason": ""}),
        (
            HookAnswer(context="Sunday."),
            "UserPromptSubmit",
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "Sunday."}},
        ),
        ({"continue": False}, "Stop", {"continue": False}),
    ],
)
def test_what_it_says(reply: Any, event: str, native: dict[str, Any]) -> None:
    assert native_answer(reply, {"hook_event_name": event}) == native


@pytest.mark.parametrize("reply", [True, False, "no", 0, [], object(), {"a": object()}])
def test_what_is_no_answer(reply: Any) -> None:
    with pytest.raises(TypeError):
        native_answer(reply, BEFORE)


def test_a_failure_is_no_leave() -> None:
    said = failed("PreToolUse", "Broken.", BEFORE)["hookSpecificOutput"]
    assert (said["permissionDecision"], said["permissionDecisionReason"]) == ("deny", "Broken.")
    assert failed("PreToolUse", "Broken.", {}) == {"decision": "block", "reason": "Broken."}
    assert failed("UserPromptSubmit", "Broken.", {"hook_event_name": "BeforeAgent"})["decision"] == "block"
    assert failed("Stop", "Broken.", {"hook_event_name": "Stop"}) == {}
