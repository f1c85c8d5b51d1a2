"""The shapes that the specification prints (004 §3.5, §3.6, §9.5): older tools wrote them, so they are read."""

import json

from dragoman._contract.invariants import broken
from dragoman._model import events as ev
from tests.dialects.claude.stream.conversation import Conversation

FLOW = """\
{"type":"system","subtype":"init","uuid":"uuid1","session_id":"sess_abc123","claude_code_version":"1.0.32","cwd":"/project","tools":["Read","Edit"],"model":"claude-sonnet-4-20250514","permissionMode":"default"}
{"type":"user","uuid":"uuid2","session_id":"sess_abc123","message":{"role":"user","content":[{"type":"text","text":"Refactor the auth module"}]},"parent_tool_use_id":null}
{"type":"assistant","uuid":"uuid3","session_id":"sess_abc123","message":{"role":"assistant","content":[{"type":"text","text":"I'll analyze the codebase..."},{"type":"tool_use","id":"toolu_01","name":"Read","input":{"file_path":"/src/auth.ts"}}]},"parent_tool_use_id":null}
{"type":"user","uuid":"uuid4","session_id":"sess_abc123","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":"export function login()..."}]},"parent_tool_use_id":"toolu_01","isSynthetic":true}
{"type":"assistant","uuid":"uuid5","session_id":"sess_abc123","message":{"role":"assistant","content":[{"type":"text","text":"I found the auth module. Let me refactor it..."},{"type":"tool_use","id":"toolu_02","name":"Edit","input":{"file_path":"/src/auth.ts","old_string":"function login()","new_string":"async function login()"}}]},"parent_tool_use_id":null}
{"type":"tool_progress","uuid":"uuid6","session_id":"sess_abc123","tool_use_id":"toolu_02","tool_name":"Edit","elapsed_time_seconds":0.5}
{"type":"user","uuid":"uuid7","session_id":"sess_abc123","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_02","content":"File updated"}]},"parent_tool_use_id":"toolu_02","isSynthetic":true}
{"type":"assistant","uuid":"uuid8","session_id":"sess_abc123","message":{"role":"assistant","content":[{"type":"text","text":"Done! I've made the login function async."}]},"parent_tool_use_id":null}
{"type":"result","subtype":"success","uuid":"uuid9","session_id":"sess_abc123","duration_ms":12500,"is_error":false,"num_turns":3,"result":"Done!","usage":{"input_tokens":5000,"output_tokens":1200}}
"""


def test_the_complete_flow_of_section_3_6() -> None:
    talk = Conversation()
    talk.agent(*(line.encode() for line in FLOW.splitlines()))
    talk.end(code=0)
    assert broken(talk.events) == []
    assert [event.text for event in talk.of(ev.Message) if event.role == "assistant"] == [
        "I'll analyze the codebase...",
        "I found the auth module. Let me refactor it...",
        "Done! I've made the login function async.",
    ]
    assert [(event.name, event.parent) for event in talk.of(ev.ToolStarted)] == [
        ("Read", None),
        ("Edit", None),
    ]
    assert [(event.status, event.parent) for event in talk.of(ev.ToolEnded)] == [("completed", None)] * 2
    assert [event.elapsed for event in talk.of(ev.ToolUpdated)] == [0.5]
    assert not talk.of(ev.SubagentStarted)
    [change] = talk.of(ev.FileChanged)
    assert (change.path, change.change) == ("/src/auth.ts", "modified")
    [ended] = talk.of(ev.TurnEnded)
    assert (ended.outcome, ended.text, ended.steps) == ("completed", "Done!", 3)
    assert ended.usage is not None
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (5000, 1200)


def test_the_flat_shapes_of_section_9_5() -> None:
    talk = Conversation()
    talk.agent(
        {"type": "init", "session_id": "sess_123"},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Editing."}]},
        {"type": "tool_use", "id": "toolu_01", "name": "Edit", "input": {"file": "test.txt"}},
        {"type": "tool_result", "tool_use_id": "toolu_01", "content": "OK", "is_error": False},
        {"type": "result", "status": "success", "session_id": "sess_123"},
    )
    talk.end(code=0)
    assert broken(talk.events) == []
    assert [event.session for event in talk.of(ev.SessionStarted)] == ["sess_123"]
    assert [event.text for event in talk.of(ev.Message)] == ["Editing."]
    assert [event.name for event in talk.of(ev.ToolStarted)] == ["Edit"]
    assert [(event.status, event.output) for event in talk.of(ev.ToolEnded)] == [("completed", "OK")]
    assert [event.outcome for event in talk.of(ev.TurnEnded)] == ["completed"]


def test_a_flat_failure() -> None:
    talk = Conversation()
    error = {"type": "permission_denied", "message": "Tool execution blocked by user"}
    talk.agent(
        {"type": "init", "session_id": "s"},
        {"type": "error", "error": error},
        {"type": "result", "status": "error"},
    )
    [event] = talk.of(ev.Error)
    assert (event.message, event.code) == ("Tool execution blocked by user", "permission_denied")
    assert talk.of(ev.TurnEnded)[0].outcome == "failed"


def test_a_hook_response_and_an_auth_status() -> None:
    talk = Conversation()
    hook = {"type": "system", "subtype": "hook_response", "hook_name": "PreToolUse", "hook_event": "Edit"}
    auth = {"type": "auth_status", "isAuthenticating": True, "output": ["Authenticating with API key..."]}
    talk.agent(hook | {"stdout": "Hook output...", "stderr": "", "exit_code": 0}, auth)
    [ran] = talk.of(ev.Hook)
    assert (ran.name, ran.event, ran.phase, ran.output, ran.exit_code) == (
        "PreToolUse",
        "Edit",
        "ended",
        "Hook output...",
        0,
    )
    [status] = talk.of(ev.Auth)
    assert (status.status, status.message) == ("authenticating", "Authenticating with API key...")


def test_what_a_hook_wrote_as_errors() -> None:
    """`output` has both; a recording without it has the first that is there."""
    talk = Conversation()
    hook = {"type": "system", "subtype": "hook_response", "exit_code": 2, "outcome": "error"}
    both = {"output": "out\nerr\n", "stdout": "out\n", "stderr": "err\n"}
    talk.agent(hook | both, hook | {"stderr": "err\n"}, hook | {"output": "out\n", "stderr": ""})
    said = [(event.output, event.stderr, event.exit_code) for event in talk.of(ev.Hook)]
    assert said == [("out\nerr\n", "err\n", 2), ("err\n", "err\n", 2), ("out\n", None, 2)]


def test_what_the_specification_sends_as_a_prompt() -> None:
    """The CLI ignores this shape today; a recording of an older client may hold it."""
    talk = Conversation()
    prompt = {"type": "message", "role": "user", "content": [{"type": "text", "text": "Follow up"}]}
    talk._receive("in", json.dumps(prompt).encode())
    assert [event.prompt for event in talk.of(ev.TurnStarted)] == ["Follow up"]
