"""Protocol 2: a prompt is only acknowledged, the turn ends when the session is idle, and everything is an upsert."""

from base64 import b64encode
from typing import Any

import pytest

from dragoman._model import commands as c
from dragoman._model import events as ev
from tests.dialects.acp.conversation import OPTIONS, SESSION, Conversation, chunk


def base64(words: str | bytes) -> str:
    return b64encode(words.encode() if isinstance(words, str) else words).decode()


def test_a_turn() -> None:
    talk = Conversation().working(2)
    [known] = talk.answer({"messageId": "u1"}, to="session/prompt")
    assert isinstance(known, ev.NativeKnown)
    talk.update("user_message", messageId="u1", content=[{"type": "text", "text": "go"}])
    talk.update("state_update", state="running")
    talk.agent(chunk("Hel", messageId="a1"), chunk("lo", messageId="a1"))
    assert not talk.of(ev.TurnEnded)
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    talk.update("state_update", state="idle", stopReason="end_turn", usage=usage)
    [ended] = talk.of(ev.TurnEnded)
    assert (ended.outcome, ended.text) == ("completed", "Hello")
    assert ended.usage is not None
    assert ended.usage.total_tokens == 5
    assert [event.echo for event in talk.of(ev.Message) if event.message_id == "u1"] == [True]
    assert [event.status for event in talk.of(ev.SessionStatus)] == ["running"]
    talk.end(code=0)


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"stopReason": "cancelled"}, "cancelled"),
        ({"stopReason": "refusal"}, "refused"),
        ({"stopReason": "error", "error": {"code": 7, "message": "broke"}}, "failed"),
        ({}, "completed"),
    ],
)
def test_how_a_turn_ends(fields: dict[str, Any], outcome: str) -> None:
    talk = Conversation().working(2)
    talk.update("state_update", state="running")
    talk.update("state_update", state="idle", **fields)
    [ended] = talk.of(ev.TurnEnded)
    assert ended.outcome == outcome
    assert (ended.error is None) == (outcome != "failed")
    talk.end(code=0)


def test_a_prompt_that_fails() -> None:
    talk = Conversation().working(2)
    talk.answer(to="session/prompt", error={"code": -32603, "message": "no"})
    assert [event.outcome for event in talk.of(ev.TurnEnded)] == ["failed"]
    talk.end(code=0)


def test_an_idle_of_the_past_ends_no_turn() -> None:
    """claude-agent-acp says idle twice; the next prompt may be on its way already."""
    talk = Conversation().working(2)
    talk.update("state_update", state="idle")
    assert not talk.of(ev.TurnEnded)
    talk.answer({"messageId": "u1"}, to="session/prompt")
    talk.update("state_update", state="idle")
    assert len(talk.of(ev.TurnEnded)) == 1
    talk.update("state_update", state="idle")
    assert len(talk.of(ev.TurnEnded)) == 1
    talk.end(code=0)


def test_a_turn_that_the_agent_begins() -> None:
    talk = Conversation().opened(2)
    talk.update("state_update", state="running")
    talk.agent(chunk("I woke up.", messageId="a"))
    talk.update("state_update", state="idle", stopReason="end_turn")
    [started] = talk.of(ev.TurnStarted)
    assert (started.prompt, started.synthesized) == (None, True)
    assert talk.of(ev.TurnEnded)[0].text == "I woke up."
    talk.end(code=0)


def test_a_whole_message_replaces_its_chunks() -> None:
    talk = Conversation().working(2)
    talk.update("agent_thought", messageId="t", content=[{"type": "text", "text": "hm"}])
    talk.agent(chunk("Helo", messageId="a"))
    talk.update("agent_message", messageId="a", content=[{"type": "text", "text": "Hello"}])
    said = [event for event in talk.of(ev.Message) if event.role == "assistant"]
    assert [(event.kind, event.text, event.message_id, event.block) for event in said] == [
        ("thinking", "hm", "t", 0),
        ("text", "Helo", "a", 0),
        ("text", "Hello", "a", 0),
    ]
    talk.update("state_update", state="idle", stopReason="end_turn")
    assert talk.of(ev.TurnEnded)[0].text == "Hello"
    talk.end(code=0)


def test_null_clears_and_absence_keeps() -> None:
    talk = Conversation().working(2)
    shown = {"type": "content", "content": {"type": "text", "text": "shown"}}
    talk.update("tool_call_update", toolCallId="c", content=[shown], rawOutput=None)
    talk.update("tool_call_update", toolCallId="c", title="T")
    talk.update("tool_call_content_chunk", toolCallId="c", content=shown)
    talk.update("tool_call_update", toolCallId="d", content=[shown])
    talk.update("tool_call_update", toolCallId="d", content=None, status="completed")
    talk.update("tool_call_update", toolCallId="c", status="cancelled")
    assert [(event.call_id, event.status, event.output) for event in talk.of(ev.ToolEnded)] == [
        ("d", "completed", None),
        ("c", "cancelled", "shown\nshown"),
    ]
    talk.end()


def test_in_protocol_1_null_keeps() -> None:
    talk = Conversation().working(1)
    shown = {"type": "content", "content": {"type": "text", "text": "shown"}}
    talk.update("tool_call", toolCallId="c", title="T", content=[shown])
    talk.update("tool_call_update", toolCallId="c", content=None, status="completed")
    assert [event.output for event in talk.of(ev.ToolEnded)] == ["shown"]
    talk.end()


def test_content_after_the_end_is_late() -> None:
    talk = Conversation().working(2)
    talk.update("tool_call_update", toolCallId="c", status="completed")
    talk.update(
        "tool_call_update",
        toolCallId="c",
        content=[{"type": "content", "content": {"type": "text", "text": "more"}}],
    )
    [late] = talk.of(ev.ToolUpdated)
    assert (late.late, late.output) == (True, "more")
    talk.end()


def test_a_terminal_may_come_before_its_tool() -> None:
    talk = Conversation().working(2)
    talk.update("terminal_update", terminalId="t", command="ls", output={"data": base64("one ")})
    assert not talk.of(ev.Delta)
    talk.update("tool_call_update", toolCallId="c", content=[{"type": "terminal", "terminalId": "t"}])
    raw = "zwö".encode()
    talk.update("terminal_output_chunk", terminalId="t", data=base64(raw[:3]))
    talk.update("terminal_output_chunk", terminalId="t", data=base64(raw[3:]))
    talk.update("terminal_update", terminalId="t", exitStatus={"exitCode": 0})
    talk.update("tool_call_update", toolCallId="c", status="completed")
    assert [event.text for event in talk.of(ev.Delta)] == ["one ", "zw", "ö"]
    [ended] = talk.of(ev.ToolEnded)
    assert (ended.output, ended.exit_code) == ("one zwö", 0)
    talk.end()


def test_a_terminal_may_show_something_else() -> None:
    talk = Conversation().working(2)
    talk.update("tool_call_update", toolCallId="c", content=[{"type": "terminal", "terminalId": "t"}])
    talk.update("terminal_update", terminalId="t", output={"data": base64("50%")})
    talk.update("terminal_update", terminalId="t", output={"data": base64("100%")})
    assert [event.text for event in talk.of(ev.Delta)] == ["50%"]
    assert [event.output for event in talk.of(ev.ToolUpdated) if event.terminal_id] == ["100%"]
    talk.update("terminal_update", terminalId="t", output={"data": "%%%not base64"})
    talk.end()


def test_a_diff_of_several_files() -> None:
    patch = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y.py b/z.py\nrename from y.py\nrename to z.py\n"
    changes = [
        {"operation": "modify", "path": "/p/x.py"},
        {"operation": "move", "oldPath": "/p/y.py", "path": "/p/z.py"},
    ]
    diff = {"type": "diff", "changes": changes, "patch": {"format": "git_patch", "text": patch}}
    talk = Conversation().working(2)
    talk.update("tool_call_update", toolCallId="c", kind="edit", status="completed", content=[diff])
    one, two = talk.of(ev.FileChanged)
    assert (one.path, one.change) == ("/p/x.py", "modified")
    assert one.diff is not None
    assert one.diff.endswith("+b")
    assert (two.path, two.move_to, two.change) == ("/p/y.py", "/p/z.py", "moved")
    talk.end()


@pytest.mark.parametrize(
    ("subject", "call", "kind", "given"),
    [
        (
            {"type": "tool_call", "toolCall": {"toolCallId": "c", "kind": "edit", "rawInput": {"a": 1}}},
            "c",
            "edit",
            {"a": 1},
        ),
        ({"type": "command", "command": "ls", "cwd": "/x"}, None, "execute", {"command": "ls", "cwd": "/x"}),
        (None, None, "other", None),
    ],
)
def test_permissions(subject: Any, call: str | None, kind: str, given: Any) -> None:
    talk = Conversation().working(2)
    params = {
        "sessionId": SESSION,
        "title": "May I?",
        "description": "because",
        "subject": subject,
        "options": OPTIONS,
    }
    talk.agent({"id": 5, "method": "session/request_permission", "params": params})
    [asked] = talk.of(ev.PermissionRequested)
    assert (asked.title, asked.reason, asked.call_id, asked.kind, asked.input) == (
        "May I?",
        "because",
        call,
        kind,
        given,
    )
    talk.say(c.Answer(request="5", decision="allow"))
    assert talk.sent[-1]["result"]["outcome"] == {"outcome": "selected", "optionId": "yes"}
    talk.end()


def test_modes_are_an_option() -> None:
    option = {
        "configId": "mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    }
    talk = Conversation().opened(2, configOptions=[option])
    talk.say(c.SetMode(mode="B", id="x"))
    assert talk.sent[-1]["params"] == {"sessionId": SESSION, "configId": "mode", "type": "id", "value": "b"}
    talk.answer({"configOptions": [{**option, "currentValue": "b"}]}, to="session/set_config_option")
    assert [event.mode for event in talk.of(ev.SessionMode)] == ["b"]
    talk.end(code=0)
