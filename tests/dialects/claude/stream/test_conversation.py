"""Both directions: what we say, how the CLI answers, and what comes of it."""

from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._dialects.claude.stream import gate
from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.content import ImageBlock, JsonBlock, ResourceLinkBlock
from dragoman._model.errors import Unsupported, UsageError
from dragoman._wire import note_frames
from tests.dialects.claude.stream.conversation import (
    SESSION,
    Conversation,
    can_use,
    init,
    result,
    stream,
    text,
    tool_result,
    tool_use,
)


def test_it_opens_with_initialize() -> None:
    talk = Conversation()
    hooks = {"PreToolUse": [{"hookCallbackIds": [gate.CALLBACK], "timeout": 60}]}
    request = {"subtype": "initialize", "hooks": hooks}
    assert talk.sent == [{"type": "control_request", "request_id": "initialize", "request": request}]
    answer = {"commands": [{"name": "/x", "argumentHint": "[y]"}], "models": [1], "account": {"email": "e"}}
    response = {"subtype": "success", "request_id": "initialize", "response": answer}
    [ready] = talk.agent({"type": "control_response", "response": response})
    assert isinstance(ready, ev.AgentReady)
    assert ready.capabilities == answer
    talk.agent(init(slash_commands=["x", "y"]))
    [started] = talk.of(ev.SessionStarted)
    assert [(command.name, command.hint) for command in started.commands] == [("x", "[y]"), ("y", None)]
    assert started.account == {"email": "e"}


def test_the_session_is_known_before_the_agent_speaks() -> None:
    talk = Conversation(["claude", "--session-id", SESSION])
    [started, message] = talk.say(c.Prompt(text="go"))
    assert (started.session, message.session) == (SESSION, SESSION)


def test_a_turn() -> None:
    talk = Conversation()
    started, message = talk.say(c.Prompt(text="go"))
    assert isinstance(started, ev.TurnStarted)
    assert (started.prompt, started.origin, started.turn) == ("go", "client", 1)
    assert isinstance(message, ev.Message)
    assert (message.role, message.text, message.origin) == ("user", "go", "client")
    talk.agent(init(), text("Hi."), result("Hi."))
    assert len(talk.of(ev.TurnStarted)) == 1
    [ended] = talk.of(ev.TurnEnded)
    assert (ended.outcome, ended.text, ended.turn) == ("completed", "Hi.", 1)
    talk.end(code=0)
    assert broken(talk.events) == []


def test_a_prompt_while_busy_is_held() -> None:
    talk = Conversation()
    talk.say(c.Prompt(text="one", id="p1"))
    assert talk.say(c.Prompt(text="two", id="p2")) == []
    assert talk.machine.turn_of("p2") is None
    talk.agent(init(), result())
    assert [sent["message"]["content"] for sent in talk.sent if sent["type"] == "user"] == ["one", "two"]
    assert (talk.machine.turn_of("p1"), talk.machine.turn_of("p2")) == (1, 2)
    assert [event.prompt for event in talk.of(ev.TurnStarted)] == ["one", "two"]


def test_steering_goes_in_at_once() -> None:
    talk = Conversation()
    talk.say(c.Prompt(text="one"))
    [message] = talk.say(c.Steer(text="and quickly"))
    assert isinstance(message, ev.Message)
    assert message.turn == 1
    assert len(talk.of(ev.TurnStarted)) == 1


def test_images_and_files_in_a_prompt() -> None:
    talk = Conversation()
    talk.say(c.Prompt(text="see", blocks=[ImageBlock(mime_type="image/png", data="AAAA")]))
    content = talk.sent[-1]["message"]["content"]
    assert content[0] == {"type": "text", "text": "see"}
    assert content[1]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    [message] = [event for event in talk.of(ev.Message) if event.blocks]
    assert message.blocks[1] == ImageBlock(mime_type="image/png", data="AAAA")
    talk.say(c.Steer(blocks=[ResourceLinkBlock(uri="file:///a/b.py")]))
    assert talk.sent[-1]["message"]["content"] == [{"type": "text", "text": "@/a/b.py"}]
    with pytest.raises(UsageError, match="json"):
        talk.say(c.Steer(text="x", blocks=[JsonBlock(value=1)]))


class TestPermissions:
    def asked(self, version: str = "2.1.325") -> Conversation:
        talk = Conversation()
        talk.say(c.Prompt(text="go"))
        talk.agent(init(version=version), tool_use("Bash", command="ls"), can_use("Bash", command="ls"))
        return talk

    def test_request(self) -> None:
        [request] = self.asked().of(ev.PermissionRequested)
        assert (request.request_id, request.call_id, request.kind) == ("r1", "toolu_1", "execute")
        assert request.input == {"command": "ls"}

    def test_allow_always_sends_the_input(self) -> None:
        talk = self.asked()
        [resolved] = talk.say(c.Answer(request="r1", decision="allow"))
        assert talk.sent[-1]["response"]["response"] == {
            "behavior": "allow",
            "updatedInput": {"command": "ls"},
        }
        assert isinstance(resolved, ev.PermissionResolved)
        assert (resolved.outcome, resolved.by, resolved.updated_input) == ("allowed", "client", None)

    def test_allow_with_another_input(self) -> None:
        [resolved] = self.asked().say(
            c.Answer(request="r1", decision="allow", updated_input={"command": "pwd"})
        )
        assert isinstance(resolved, ev.PermissionResolved)
        assert resolved.updated_input == {"command": "pwd"}

    def test_only_what_was_chosen_is_remembered(self) -> None:
        talk = self.asked()
        rule = {"type": "addRules", "destination": "session"}
        talk.say(c.Answer(request="r1", decision="allow", remember=[rule]))
        assert talk.sent[-1]["response"]["response"]["updatedPermissions"] == [rule]

    def test_deny(self) -> None:
        talk = self.asked()
        [resolved] = talk.say(
            c.Answer(request="r1", message="no"), note_frames.Decided(request="r1", by="policy", rule="rm")
        )
        assert isinstance(resolved, ev.PermissionResolved)
        assert (resolved.outcome, resolved.by, resolved.rule) == ("denied", "policy", "rm")
        assert resolved.message == "no"
        [ended] = talk.agent(tool_result("no", is_error=True))
        assert isinstance(ended, ev.ToolEnded)
        assert ended.status == "declined"

    def test_deny_and_interrupt(self) -> None:
        talk = self.asked()
        talk.say(c.Answer(request="r1", message="no", interrupt=True))
        assert talk.sent[-1]["response"]["response"]["interrupt"] is True

    def test_a_withdrawn_request_is_cancelled_and_can_no_longer_be_answered(self) -> None:
        talk = self.asked()
        [resolved] = talk.agent({"type": "control_cancel_request", "request_id": "r1"})
        assert isinstance(resolved, ev.PermissionResolved)
        assert (resolved.outcome, resolved.by) == ("cancelled", "agent")
        with pytest.raises(UsageError, match="r1"):
            talk.say(c.Answer(request="r1", decision="allow"))
        rejected = tool_result("rejected", is_error=True, tool_use_result="User rejected tool use")
        [ended] = talk.agent(rejected)
        assert isinstance(ended, ev.ToolEnded)
        assert ended.status == "cancelled"

    def test_what_is_open_at_the_end_of_the_turn_is_cancelled(self) -> None:
        talk = self.asked()
        talk.agent(result(terminal_reason="aborted_tools", subtype="error_during_execution", is_error=True))
        [resolved] = talk.of(ev.PermissionResolved)
        assert (resolved.outcome, resolved.by, resolved.synthesized) == ("cancelled", "agent", True)
        talk.end(code=0)
        assert broken(talk.events) == []

    @pytest.mark.parametrize(("version", "outcome"), [("2.1.197", "denied"), ("2.1.325", "allowed")])
    def test_a_bare_allow_of_another_client(self, version: str, outcome: str) -> None:
        talk = self.asked(version)
        bare = {"subtype": "success", "request_id": "r1", "response": {"behavior": "allow"}}
        talk._receive("in", ev_line({"type": "control_response", "response": bare}))
        [resolved] = talk.of(ev.PermissionResolved)
        assert resolved.outcome == outcome

    def test_no_options(self) -> None:
        with pytest.raises(UsageError, match="options"):
            self.asked().say(c.Answer(request="r1", option="x"))


def ev_line(message: object) -> bytes:
    import json

    return json.dumps(message).encode()


def test_a_question() -> None:
    talk = Conversation()
    questions = [{"question": "Which?", "header": "W", "options": [{"label": "A"}]}]
    talk.agent(init(), tool_use("AskUserQuestion", questions=questions))
    [asked] = talk.agent(can_use("AskUserQuestion", questions=questions))
    assert isinstance(asked, ev.QuestionAsked)
    assert (asked.questions, asked.message, asked.call_id) == (questions, "Which?", "toolu_1")
    [answered] = talk.say(c.AnswerQuestion(request="r1", answers={"Which?": "A"}))
    assert isinstance(answered, ev.QuestionAnswered)
    assert (answered.action, answered.answers) == ("accepted", {"Which?": "A"})
    updated = talk.sent[-1]["response"]["response"]["updatedInput"]
    assert updated == {"questions": questions, "answers": {"Which?": "A"}}


@pytest.mark.parametrize(
    ("action", "word"), [("accepted", "accept"), ("declined", "decline"), ("cancelled", "cancel")]
)
def test_an_elicitation(action: str, word: str) -> None:
    talk = Conversation()
    request = {
        "subtype": "elicitation",
        "message": "Name?",
        "mode": "form",
        "requested_schema": {"type": "object"},
    }
    [asked] = talk.agent({"type": "control_request", "request_id": "r1", "request": request})
    assert isinstance(asked, ev.QuestionAsked)
    assert (asked.message, asked.schema) == ("Name?", {"type": "object"})
    [answered] = talk.say(c.AnswerQuestion(request="r1", action=action, answers={"name": "Ann"}))  # type: ignore[arg-type]
    assert isinstance(answered, ev.QuestionAnswered)
    assert answered.action == action
    assert talk.sent[-1]["response"]["response"]["action"] == word


class TestHostCalls:
    def called(self, **request: object) -> tuple[Conversation, ev.HostCalled]:
        talk = Conversation()
        [call] = talk.agent({"type": "control_request", "request_id": "r1", "request": request})
        assert isinstance(call, ev.HostCalled)
        return talk, call

    def test_a_hook(self) -> None:
        talk, call = self.called(subtype="hook_callback", callback_id="h", input={"a": 1}, tool_use_id="t")
        assert (call.method, call.call_id) == ("hook_callback", "t")
        talk.say(c.Reply(request="r1", result={"continue": False}))
        assert talk.sent[-1]["response"]["response"] == {"continue": False}
        [answered] = talk.of(ev.HostAnswered)
        assert answered.result == {"continue": False}

    def test_no_opinion_on_a_hook(self) -> None:
        talk, _ = self.called(subtype="hook_callback", callback_id="h", input={})
        talk.say(c.Reply(request="r1"))
        assert talk.sent[-1]["response"]["response"] == {}

    def test_a_server_in_the_client(self) -> None:
        message = {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {"_meta": {"claudecode/toolUseId": "toolu_9"}},
        }
        talk, call = self.called(subtype="mcp_message", server_name="s", message=message)
        assert call.call_id == "toolu_9"
        talk.say(c.Reply(request="r1", result={"content": []}))
        reply = talk.sent[-1]["response"]["response"]["mcp_response"]
        assert reply == {"jsonrpc": "2.0", "id": 4, "result": {"content": []}}

    def test_no_opinion_on_an_mcp_request_is_method_not_found(self) -> None:
        talk, _ = self.called(subtype="mcp_message", server_name="s", message={"id": 4, "method": "x"})
        talk.say(c.Reply(request="r1"))
        assert talk.sent[-1]["response"]["response"]["mcp_response"]["error"]["code"] == -32601

    def test_an_mcp_notification_is_answered_too(self) -> None:
        talk, _ = self.called(subtype="mcp_message", server_name="s", message={"method": "n"})
        talk.say(c.Reply(request="r1"))
        assert talk.sent[-1]["response"]["response"]["mcp_response"] == {"jsonrpc": "2.0", "result": {}}

    def test_a_dialog(self) -> None:
        talk, _ = self.called(subtype="request_user_dialog", dialog_kind="x", payload={})
        talk.say(c.Reply(request="r1"))
        assert talk.sent[-1]["response"]["response"] == {"behavior": "cancelled"}

    def test_an_unknown_request_is_refused_at_once(self) -> None:
        talk = Conversation()
        talk.agent({"type": "control_request", "request_id": "r1", "request": {"subtype": "from_the_future"}})
        assert talk.sent[-1]["response"]["subtype"] == "error"
        [answered] = talk.of(ev.HostAnswered)
        assert answered.error is not None


class TestCommands:
    @pytest.mark.parametrize(
        ("command", "request_", "name"),
        [
            (c.Interrupt(id="k"), {"subtype": "interrupt"}, "interrupt"),
            (c.SetMode(id="k", mode="plan"), {"subtype": "set_permission_mode", "mode": "plan"}, "set_mode"),
            (
                c.SetMode(id="k", mode="edits"),
                {"subtype": "set_permission_mode", "mode": "default"},
                "set_mode",
            ),
            (c.SetModel(id="k", model="haiku"), {"subtype": "set_model", "model": "haiku"}, "set_model"),
            (
                c.SetOption(id="k", option="max_thinking_tokens", value=5),
                {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 5},
                "set_option",
            ),
            (
                c.SetOption(id="k", option="title", value="T"),
                {"subtype": "rename_session", "title": "T"},
                "set_option",
            ),
        ],
    )
    def test_requests(self, command: c.Command, request_: object, name: str) -> None:
        talk = Conversation()
        assert isinstance(command, talk.machine.awaited)
        talk.say(command)
        assert talk.sent[-1] == {"type": "control_request", "request_id": "k", "request": request_}
        response = {"subtype": "success", "request_id": "k"}
        [ended] = talk.agent({"type": "control_response", "response": response})
        assert isinstance(ended, ev.CommandEnded)
        assert (ended.command, ended.request_id, ended.ok) == (name, "k", True)

    def test_a_refusal(self) -> None:
        talk = Conversation()
        talk.say(c.SetMode(id="k", mode="all"))
        response = {"subtype": "error", "request_id": "k", "error": "no", "error_code": "bypass_not_launched"}
        [ended] = talk.agent({"type": "control_response", "response": response})
        assert isinstance(ended, ev.CommandEnded)
        assert ended.error == ev.ErrorInfo(message="no", code="bypass_not_launched")

    def test_another_model_is_a_fact_of_the_session(self) -> None:
        talk = Conversation()
        talk.agent(init())
        talk.say(c.SetModel(id="k", model="haiku"))
        talk.agent({"type": "control_response", "response": {"subtype": "success", "request_id": "k"}})
        [updated] = talk.of(ev.SessionUpdated)
        assert updated.model == "haiku"
        talk.agent(init(model="haiku"))
        assert len(talk.of(ev.SessionUpdated)) == 1

    def test_nonsense_is_refused_before_it_is_sent(self) -> None:
        talk = Conversation()
        with pytest.raises(UsageError, match="mode"):
            talk.say(c.SetMode(mode="wild"))
        with pytest.raises(UsageError, match="option"):
            talk.say(c.SetOption(option="colour", value=1))
        with pytest.raises(Unsupported, match="live_fork"):
            talk.say(c.Fork())
        assert len(talk.sent) == 1

    def test_compaction_waits_for_the_turn(self) -> None:
        talk = Conversation()
        talk.say(c.Prompt(text="one"))
        talk.say(c.Compact(instructions="keep names"))
        talk.agent(init(), result())
        assert talk.sent[-1]["message"]["content"] == "/compact keep names"


def test_a_clear_during_a_turn_does_not_leave_it_open() -> None:
    talk = Conversation(["claude", "--session-id", SESSION])
    talk.agent(init())
    talk.agent(result())
    talk.say(c.Prompt(text="/clear"))
    other = "22222222-2222-4222-8222-222222222222"
    talk.agent({"type": "conversation_reset", "session_id": SESSION}, init(other), result("", session=other))
    talk.say(c.Prompt(text="next"))
    talk.agent(init(other), result("z", session=other))
    talk.end(code=0)
    assert [event.outcome for event in talk.of(ev.TurnEnded)] == ["completed"] * 3
    assert broken(talk.events) == []
    [cleared] = talk.of(ev.ContextCompacted)
    assert cleared.trigger == "cleared"


def test_stopping_by_a_limit_is_what_the_turn_came_to() -> None:
    talk = Conversation()
    talk.say(c.Prompt(text="one"))
    talk.agent(init())
    talk.note(note_frames.Stopping(reason="limited", detail="max_tool_calls"))
    talk.agent(result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools"))
    [ended] = talk.of(ev.TurnEnded)
    assert (ended.outcome, ended.reason) == ("limited", "max_tool_calls")
    [run] = [event for event in talk.end(code=0) if isinstance(event, ev.RunEnded)]
    assert run.outcome == "limited"


def test_halves_of_a_character_in_two_deltas() -> None:
    talk = Conversation()
    talk.agent(init(), stream({"type": "message_start", "message": {"id": "m"}}))
    talk.agent(
        stream({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    )
    for half in (b"\\ud83d", b"\\ude00!"):
        line = (
            b'{"type":"stream_event","event":{"type":"content_block_delta","index":0,'
            b'"delta":{"type":"text_delta","text":"' + half + b'"}}}'
        )
        talk.agent(line)
    assert [event.text for event in talk.of(ev.Delta)] == ["", "😀!"]
    talk.agent(text("😀!", id="m"), result())
    talk.end(code=0)
    assert broken(talk.events) == []


def test_what_a_retry_replaces_gets_no_message() -> None:
    talk = Conversation()
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Half"}}
    talk.agent(init(), stream({"type": "message_start", "message": {"id": "m1"}}), stream(delta))
    talk.agent({"type": "system", "subtype": "api_retry", "attempt": 1, "error": "unknown"})
    [retry] = talk.of(ev.Retry)
    assert retry.discards == ["m1"]
    talk.agent(text("Whole.", id="m2"), result("Whole."))
    assert [event.text for event in talk.of(ev.Message)] == ["Whole."]
    talk.end(code=0)
    assert broken(talk.events) == []


def test_text_cut_off_by_the_end_is_said() -> None:
    talk = Conversation()
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Half"}}
    talk.agent(init(), stream({"type": "message_start", "message": {"id": "m1"}}), stream(delta))
    talk.end(signal="SIGKILL")
    [message] = talk.of(ev.Message)
    assert (message.text, message.synthesized) == ("Half", True)
    assert talk.of(ev.TurnEnded)[0].outcome == "truncated"


class TestInterruptedTools:
    """The client knows that it interrupted, and the CLI does not always say so."""

    def interrupted(self, *lines: dict[str, Any]) -> Conversation:
        talk = Conversation()
        talk.say(c.Prompt(text="Go."))
        talk.agent(init(), *lines)
        talk.say(c.Interrupt(id="i"))
        talk.agent({"type": "control_response", "response": {"subtype": "success", "request_id": "i"}})
        return talk

    @pytest.mark.parametrize(
        ("said", "status", "exit_code"),
        [
            ("Exit code 137", "cancelled", 137),
            ("MCP error -32001: AbortError: The operation was aborted.", "cancelled", None),
            ("Exit code 3\nno", "failed", 3),
        ],
    )
    def test_how_a_tool_ends_then(self, said: str, status: str, exit_code: int | None) -> None:
        """As 2.1.150 words it; and a command that had ended by itself."""
        talk = self.interrupted(tool_use("Bash", command="sleep 9"))
        [ended] = talk.agent(tool_result(said, is_error=True, tool_use_result=f"Error: {said}"))
        assert isinstance(ended, ev.ToolEnded)
        assert (ended.status, ended.exit_code, ended.output) == (status, exit_code, said)
        talk.agent(result(terminal_reason="aborted_tools", subtype="error_during_execution", is_error=True))
        talk.end(code=0)

    def test_a_permission_that_was_being_asked(self) -> None:
        """As 2.1.150 words it; later ones reject the call."""
        talk = self.interrupted(tool_use("Bash", command="ls"), can_use("Bash", command="ls"))
        talk.agent({"type": "control_cancel_request", "request_id": "r1"})
        said = "Tool permission request failed: AbortError"
        [ended] = talk.agent(tool_result(said, is_error=True, tool_use_result=f"Error: {said}"))
        assert isinstance(ended, ev.ToolEnded)
        assert ended.status == "cancelled"

    def test_a_tool_of_the_client_s_that_was_at_work(self) -> None:
        """2.1.197 to 2.1.325 reject it, as they do a call that is denied."""
        message = {"method": "tools/call", "params": {"_meta": {"claudecode/toolUseId": "toolu_1"}}, "id": 1}
        request = {"subtype": "mcp_message", "server_name": "own", "message": message}
        call = {"type": "control_request", "request_id": "h1", "request": request}
        talk = self.interrupted(tool_use("mcp__own__sleep"), call)
        assert [called.call_id for called in talk.of(ev.HostCalled)] == ["toolu_1"]
        [ended] = talk.agent(tool_result("no", is_error=True, tool_use_result="User rejected tool use"))
        assert isinstance(ended, ev.ToolEnded)
        assert ended.status == "cancelled"

    def test_a_denial_that_ends_the_turn(self) -> None:
        """The call that was denied is declined, the one beside it was interrupted."""
        talk = Conversation()
        talk.say(c.Prompt(text="Go."))
        talk.agent(
            init(), tool_use("Bash", id="a", command="sleep 9"), tool_use("Bash", id="b", command="rm")
        )
        talk.agent(can_use("Bash", call="b", command="rm"))
        talk.say(c.Answer(request="r1", message="no", interrupt=True))
        talk.agent(
            tool_result("no", id="b", is_error=True), tool_result("Exit code 137", id="a", is_error=True)
        )
        assert [(ended.call_id, ended.status) for ended in talk.of(ev.ToolEnded)] == [
            ("b", "declined"),
            ("a", "cancelled"),
        ]


def test_one_structured_result_is_not_given_to_two_tools() -> None:
    talk = Conversation()
    talk.agent(init(), tool_use("Bash", id="a", command="1"), tool_use("Bash", id="b", command="2"))
    both = tool_result("1", id="a", tool_use_result={"stdout": "?"})
    both["message"]["content"].append({"type": "tool_result", "tool_use_id": "b", "content": "2"})
    talk.agent(both)
    assert [(event.call_id, event.structured) for event in talk.of(ev.ToolEnded)] == [
        ("a", None),
        ("b", None),
    ]
