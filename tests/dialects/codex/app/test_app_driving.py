"""Driving Codex: every line that is said here is checked against the protocol, see apps.check."""

from typing import Any

import pytest

from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.content import (
    AudioBlock,
    DiffBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)
from dragoman._model.errors import Unsupported, UsageError
from tests.dialects.codex.app.conversation import THREAD, TURN, Conversation

# --- opening -----------------------------------------------------------------------------------------------


def test_the_conversation_is_opened() -> None:
    wire = Conversation(method="thread/start", params={"cwd": "/w", "approvalPolicy": "untrusted"})
    hello = wire.next("initialize")
    assert hello["params"]["clientInfo"]["name"] == "dragoman"
    assert wire.sent == []
    wire.answer(hello, {"userAgent": "dragoman/0.166.0 (Debian)", "codexHome": "/h"})
    wire.next("initialized")
    assert wire.next("thread/start")["params"] == {"cwd": "/w", "approvalPolicy": "untrusted"}
    assert wire.of(ev.AgentReady)[0].cli_version == "0.166.0"


def test_a_prompt_waits_for_the_thread() -> None:
    wire = Conversation()
    wire.say(c.Prompt(text="early", id="p1"))
    wire.say(c.SetModel(model="other", id="s1"))
    wire.answer(wire.next("initialize"), {})
    wire.next("initialized")
    opening = wire.next("thread/start")
    assert wire.sent == []
    assert wire.machine.turn_of("p1") is None
    wire.answer(opening, {"thread": {"id": THREAD}, "model": "m", "approvalPolicy": "never"})
    assert wire.next("thread/settings/update")["params"] == {"threadId": THREAD, "model": "other"}
    assert wire.next("turn/start")["params"]["input"] == [{"type": "text", "text": "early"}]
    assert wire.machine.turn_of("p1") == 1


def test_resuming_says_so() -> None:
    wire = Conversation(method="thread/resume", params={"threadId": THREAD, "excludeTurns": True}).opened()
    assert wire.of(ev.SessionStarted)[0].resumed


def test_another_thread_than_the_one_asked_for_is_not_used() -> None:
    wire = Conversation(method="thread/resume", params={"threadId": THREAD})
    wire.say(c.Prompt(text="go on", id="p"))
    other = "01a1e0ba-0000-71b3-aaae-2941950f12c7"
    wire.opened(other)
    wire.notify("thread/started", thread={"id": other})
    [error] = wire.of(ev.Error)
    assert (error.scope, other in error.message) == ("session", True)
    prompt = wire.next("turn/start")
    assert prompt["params"]["threadId"] == THREAD
    wire.refuse(prompt, f"thread not found: {THREAD}")
    [turn] = wire.of(ev.TurnEnded)
    assert turn.outcome == "failed"
    assert turn.error is not None
    assert turn.error.message == f"asked for thread {THREAD}, Codex opened {other}: it is not used"
    assert wire.of(ev.SessionStarted) == []
    wire.end(code=0)


def test_a_session_that_cannot_be_opened_fails_its_prompts() -> None:
    wire = Conversation(method="thread/start", params={"modelProvider": "nope"})
    wire.say(c.Prompt(text="one", id="p1"))
    wire.answer(wire.next("initialize"), {})
    wire.next("initialized")
    wire.refuse(wire.next("thread/start"), "Model provider `nope` not found")
    assert wire.of(ev.Error)[0].scope == "session"
    for number in (1, 2):
        wire.refuse(wire.next("turn/start"), "thread not found")
        turn = wire.of(ev.TurnEnded)[-1]
        assert (turn.turn, turn.outcome) == (number, "failed")
        assert turn.error is not None
        assert turn.error.message == "Model provider `nope` not found"
        wire.say(c.Prompt(text="two", id="p2"))
    assert wire.machine.turn_of("p1") == 1


def test_a_refused_handshake_is_an_error_of_the_protocol() -> None:
    wire = Conversation()
    wire.refuse(wire.next("initialize"), "too old")
    assert wire.of(ev.Error)[0].scope == "protocol"


# --- turns -------------------------------------------------------------------------------------------------


def test_what_every_turn_and_what_the_first_turn_says() -> None:
    schema = {"type": "object"}
    wire = Conversation(turn={"outputSchema": schema}, first_turn={"effort": "high"}, mode="plan").opened()
    wire.say(c.Prompt(text="a", id="p1"))
    first = wire.next("turn/start")
    assert first["params"]["outputSchema"] == schema
    assert first["params"]["effort"] == "high"
    assert first["params"]["collaborationMode"] == {"mode": "plan", "settings": {"model": "m"}}
    wire.answer(first, {"turn": {"id": TURN, "status": "inProgress"}})
    wire.completed(type="agentMessage", id="m1", text='{"n": 1}')
    wire.turn_over()
    assert wire.of(ev.TurnEnded)[0].structured_output == {"n": 1}
    wire.say(c.Prompt(text="b", id="p2"))
    assert wire.next("turn/start")["params"] == {
        "threadId": THREAD,
        "input": [{"type": "text", "text": "b"}],
        "outputSchema": schema,
    }


def test_a_prompt_during_a_turn_is_held() -> None:
    wire = Conversation().opened().in_turn()
    wire.say(c.Prompt(text="next", id="p2"))
    assert wire.sent == []
    wire.turn_over()
    assert wire.next("turn/start")["params"]["input"] == [{"type": "text", "text": "next"}]
    assert wire.machine.turn_of("p2") == 2


def test_an_answer_that_comes_after_its_turn_is_over_names_no_other_turn() -> None:
    wire = Conversation().opened()
    wire.say(c.Prompt(text="a", id="p1"))
    late = wire.next("turn/start")
    wire.turn_over()
    wire.say(c.Prompt(text="b", id="p2"))
    wire.answer(late, {"turn": {"id": TURN, "status": "inProgress"}})
    wire.answer(wire.next("turn/start"), {"turn": {"id": "second", "status": "inProgress"}})
    wire.notify("turn/started", threadId=THREAD, turn={"id": "second", "status": "inProgress"})
    wire.say(c.Interrupt(id="i"))
    assert wire.next("turn/interrupt")["params"] == {"threadId": THREAD, "turnId": "second"}


def test_images_and_files_in_prompts() -> None:
    wire = Conversation().opened()
    blocks: list[Any] = [
        TextBlock(text="t"),
        ImageBlock(mime_type="image/gif", data="AAAA"),
        ImageBlock(uri="file:///a.png"),
        ImageBlock(uri="https://x/y.png"),
        AudioBlock(uri="/a.wav"),
        ResourceBlock(text="inside"),
        ResourceLinkBlock(uri="file:///w/readme.md"),
    ]
    wire.say(c.Prompt(text="look", blocks=blocks, id="p"))
    assert wire.next("turn/start")["params"]["input"] == [
        {"type": "text", "text": "look"},
        {"type": "text", "text": "t"},
        {"type": "image", "url": "data:image/gif;base64,AAAA"},
        {"type": "localImage", "path": "/a.png"},
        {"type": "image", "url": "https://x/y.png"},
        {"type": "localAudio", "path": "/a.wav"},
        {"type": "text", "text": "inside"},
        {"type": "mention", "name": "readme.md", "path": "/w/readme.md"},
    ]
    with pytest.raises(UsageError, match="diff"):
        wire.machine.send(c.Steer(text="", blocks=[DiffBlock(path="x")], session=THREAD))


def test_steering_waits_until_the_turn_is_under_way() -> None:
    wire = Conversation().opened()
    with pytest.raises(UsageError, match="no turn"):
        wire.say(c.Steer(text="too early", id="s0"))
    wire.say(c.Prompt(text="go", id="p"))
    start = wire.next("turn/start")
    wire.say(c.Steer(text="left", id="s1"))
    wire.say(c.Interrupt(id="i1"))
    assert wire.sent == []
    wire.answer(start, {"turn": {"id": TURN, "status": "inProgress"}})
    assert wire.sent == []  # now it has a name, but the real one would say: no active turn
    wire.notify("turn/started", threadId=THREAD, turn={"id": TURN, "status": "inProgress"})
    steer = wire.next("turn/steer")
    assert steer["params"]["expectedTurnId"] == TURN
    assert wire.next("turn/interrupt")["params"] == {"threadId": THREAD, "turnId": TURN}
    wire.answer(steer, {"turnId": TURN})
    assert [(event.command, event.request_id) for event in wire.of(ev.CommandEnded)] == [("steer", "s1")]
    assert len(wire.of(ev.TurnStarted)) == 1


def test_what_waited_for_a_turn_that_never_was_is_told() -> None:
    wire = Conversation().opened()
    wire.say(c.Prompt(text="go", id="p"))
    wire.say(c.Interrupt(id="i1"))
    wire.refuse(wire.next("turn/start"), "no")
    [ended] = wire.of(ev.CommandEnded)
    assert (ended.command, ended.request_id, ended.ok) == ("interrupt", "i1", False)


def test_a_command_that_an_interrupt_killed() -> None:
    wire = Conversation().opened().in_turn()
    wire.started(type="commandExecution", id="c", command="sleep", status="inProgress")
    wire.say(c.Interrupt(id="i"))
    wire.completed(type="commandExecution", id="c", command="sleep", status="failed", exitCode=137)
    wire.turn_over("interrupted")
    assert [event.status for event in wire.of(ev.ToolEnded)] == ["cancelled"]
    wire.end(code=0)


def test_an_interrupt_is_answered_when_the_turn_ends_at_the_latest() -> None:
    wire = Conversation().opened().in_turn()
    wire.say(c.Interrupt(id="i1"))
    wire.say(c.Interrupt(id="i2"))
    wire.answer(wire.next("turn/interrupt"), {})
    second = wire.next("turn/interrupt")
    wire.turn_over("interrupted")
    ended = wire.of(ev.CommandEnded)
    assert [(event.request_id, event.ok, event.synthesized) for event in ended] == [
        ("i1", True, False),
        ("i2", True, True),
    ]
    wire.answer(second, {})
    assert len(wire.of(ev.CommandEnded)) == 2
    assert wire.of(ev.TurnEnded)[0].outcome == "cancelled"
    with pytest.raises(UsageError, match="no turn"):
        wire.say(c.Interrupt(id="i3"))


def test_an_interrupt_reaches_subagents_too() -> None:
    wire = Conversation().opened().in_turn()
    wire.started(type="collabAgentToolCall", id="call", tool="spawnAgent", prompt="task", status="inProgress")
    wire.notify("turn/started", threadId="child", turn={"id": "child-turn"})
    wire.say(c.Interrupt(id="i"))
    wanted = [wire.next("turn/interrupt")["params"] for _ in range(2)]
    assert wanted == [
        {"threadId": THREAD, "turnId": TURN},
        {"threadId": "child", "turnId": "child-turn"},
    ]


# --- settings and other commands ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "method", "params", "name"),
    [
        (c.SetModel(model="big"), "thread/settings/update", {"model": "big"}, "set_model"),
        (c.SetMode(mode="ask"), "thread/settings/update", {"approvalPolicy": "untrusted"}, "set_mode"),
        (
            c.SetMode(mode="never"),
            "thread/settings/update",
            {"approvalPolicy": "never", "sandboxPolicy": {"type": "readOnly"}},
            "set_mode",
        ),
        (
            c.SetMode(mode="plan"),
            "thread/settings/update",
            {"collaborationMode": {"mode": "plan", "settings": {"model": "m"}}},
            "set_mode",
        ),
        (
            c.SetMode(mode="all"),
            "thread/settings/update",
            {"approvalPolicy": "untrusted", "sandboxPolicy": {"type": "dangerFullAccess"}},
            "set_mode",
        ),
        (
            c.SetOption(option="effort", value="high"),
            "thread/settings/update",
            {"effort": "high"},
            "set_option",
        ),
        (c.SetOption(option="title", value="T"), "thread/name/set", {"name": "T"}, "set_option"),
        (c.Compact(), "thread/compact/start", {}, "compact"),
        (c.Close(session=THREAD), "thread/unsubscribe", {}, "close"),
    ],
)
def test_commands_that_are_one_request(command: c.Command, method: str, params: Any, name: str) -> None:
    wire = Conversation().opened()
    command.id = "x"
    wire.say(command)
    request = wire.next(method)
    assert request["params"] == {"threadId": THREAD, **params}
    wire.answer(request, {})
    [ended] = wire.of(ev.CommandEnded)
    assert (ended.command, ended.request_id, ended.ok) == (name, "x", True)


def test_what_codex_does_not_know_is_refused_here() -> None:
    wire = Conversation().opened()
    for command in (c.SetMode(mode="yolo"), c.SetOption(option="colour"), c.Compact(instructions="short")):
        with pytest.raises(UsageError):
            wire.say(command)
    with pytest.raises(UsageError, match="no session"):
        wire.say(c.SetModel(model="x", session="elsewhere"))
    assert wire.sent == []
    assert wire.machine.send(c.Close()) == []


def test_a_fork_is_a_session_of_its_own() -> None:
    wire = Conversation().opened()
    wire.say(c.Fork(id="f"))
    request = wire.next("thread/fork")
    assert request["params"] == {"threadId": THREAD, "excludeTurns": True}
    wire.answer(request, {"thread": {"id": "copy", "forkedFromId": THREAD}, "approvalPolicy": "never"})
    assert [event.session for event in wire.of(ev.SessionStarted)] == [THREAD, "copy"]
    [ended] = wire.of(ev.CommandEnded)
    assert (ended.command, ended.result) == ("fork", {"sessionId": "copy"})
    wire.say(c.Prompt(text="there", session="copy", id="p"))
    assert wire.next("turn/start")["params"]["threadId"] == "copy"
    assert wire.machine.turn_of("p") == 1


def test_more_sessions_in_one_process() -> None:
    opening = {"cwd": "/w", "approvalPolicy": "never", "ephemeral": True, "config": {"a": 1}}
    wire = Conversation(method="thread/start", params=opening).opened()
    wire.say(
        c.OpenSession(
            cwd="/v", mcp_servers={"s": {"type": "http", "url": "u", "headers": {"k": "v"}}}, id="o"
        )
    )
    request = wire.next("thread/start")
    assert request["params"] == {
        **opening,
        "cwd": "/v",
        "config": {
            "a": 1,
            "projects": {"/v": {"trust_level": "untrusted"}},
            "mcp_servers": {"s": {"url": "u", "http_headers": {"k": "v"}}},
        },
    }
    wire.answer(request, {"thread": {"id": "second"}, "approvalPolicy": "never"})
    wire.say(c.OpenSession(cwd="/u", resume="old", id="r"))
    resume = wire.next("thread/resume")
    assert resume["params"]["threadId"] == "old"
    wire.refuse(resume, "no rollout found")
    ended = wire.of(ev.CommandEnded)
    assert [(event.command, event.ok) for event in ended] == [("open_session", True), ("open_session", False)]
    assert [event.session for event in wire.of(ev.SessionStarted)] == [THREAD, "second"]
    assert wire.of(ev.Error) == []


def test_a_held_prompt_of_one_session_does_not_hold_up_another() -> None:
    wire = Conversation().opened().in_turn()
    wire.notify("thread/started", thread={"id": "second"})
    wire.say(c.Prompt(text="now", session="second", id="p2"))
    assert wire.next("turn/start")["params"]["threadId"] == "second"
    assert wire.machine.turn_of("p2") == 2


def test_updated_input_is_not_possible() -> None:
    wire = Conversation().opened().in_turn()
    wire.ask(0, "item/commandExecution/requestApproval", itemId="c1", command="ls")
    with pytest.raises(Unsupported):
        wire.say(c.Answer(request="0", decision="allow", updated_input={"command": "rm"}))


# --- the run -----------------------------------------------------------------------------------------------


def test_a_replay_of_the_frames_gives_the_same_events() -> None:
    wire = Conversation(mode="plan").opened().in_turn()
    wire.started(type="commandExecution", id="c1", command="ls", status="inProgress")
    wire.ask(0, "item/commandExecution/requestApproval", itemId="c1", command="ls")
    wire.say(c.Answer(request="0", decision="allow"))
    wire.say(c.SetModel(model="x", id="s"))
    wire.say(c.Prompt(text="held", id="p2"))
    wire.say(c.Interrupt(id="i"))
    wire.turn_over("interrupted")
    wire.say(c.Fork(id="f"))
    wire.end(code=0)


def test_items_left_open_close_with_the_run_and_late_ones_are_taken() -> None:
    wire = Conversation().opened().in_turn()
    for id in ("early", "late", "never"):
        wire.started(type="commandExecution", id=id, command="sleep", status="inProgress")
    wire.completed(type="commandExecution", id="early", command="sleep", status="completed", exitCode=0)
    wire.turn_over()
    assert [event.call_id for event in wire.of(ev.ToolEnded)] == ["early"]
    wire.completed(type="commandExecution", id="late", command="sleep", status="failed", exitCode=7)
    wire.end(code=0)
    assert [(event.call_id, event.status, event.synthesized) for event in wire.of(ev.ToolEnded)] == [
        ("early", "completed", False),
        ("late", "failed", False),
        ("never", "abandoned", True),
    ]
