"""Items and notifications that no capture shows, in the shapes that Codex's own schema gives them."""

from typing import Any

import pytest

from dragoman._model import commands as c
from dragoman._model import events as ev
from dragoman._model.content import ImageBlock, TextBlock
from tests.dialects.codex.app.conversation import THREAD, TURN, Conversation


@pytest.mark.parametrize(
    ("item", "name", "kind", "ended"),
    [
        ({"type": "imageView", "path": "/a.png"}, "view_image", "read", {"status": "completed"}),
        ({"type": "sleep", "durationMs": 5}, "sleep", "other", {"status": "completed", "duration_ms": 5.0}),
        (
            {"type": "imageGeneration", "status": "completed", "savedPath": "/b.png", "revisedPrompt": "cat"},
            "image_generation",
            "other",
            {"status": "completed", "content": [ImageBlock(uri="/b.png")]},
        ),
        (
            {"type": "imageGeneration", "status": "failed", "failure": {"message": "no"}},
            "image_generation",
            "other",
            {"status": "failed", "error": ev.ErrorInfo(message="no")},
        ),
        (
            {"type": "functionCallOutput", "name": "lookup", "output": [{"n": 1}]},
            "lookup",
            "other",
            {"status": "completed", "output": '[{"n":1}]'},
        ),
        (
            {
                "type": "dynamicToolCall",
                "tool": "look",
                "status": "failed",
                "success": False,
                "contentItems": [
                    {"type": "inputText", "text": "no"},
                    {"type": "inputImage", "imageUrl": "data:image/png;base64,AA"},
                ],
            },
            "look",
            "other",
            {
                "status": "failed",
                "output": "no",
                "content": [TextBlock(text="no"), ImageBlock(mime_type="image/png", data="AA")],
            },
        ),
        (
            {
                "type": "mcpToolCall",
                "server": "s",
                "tool": "t",
                "status": "failed",
                "error": {"message": "down"},
            },
            "t",
            "mcp",
            {"status": "failed", "error": ev.ErrorInfo(message="down"), "output": None},
        ),
        (
            {"type": "collabAgentToolCall", "tool": "sendMessage", "status": "completed", "prompt": "hi"},
            "send_message",
            "think",
            {"status": "completed"},
        ),
    ],
)
def test_tools(item: dict[str, Any], name: str, kind: str, ended: dict[str, Any]) -> None:
    """Each of them also without its item/started: then it begins when it ends."""
    for announced in (True, False):
        wire = Conversation().opened().in_turn()
        if announced:
            wire.started(id="c1", **item)
        wire.completed(id="c1", **item)
        [started], [end] = wire.of(ev.ToolStarted), wire.of(ev.ToolEnded)
        assert (started.name, started.kind, started.call_id) == (name, kind, "c1")
        assert {field: getattr(end, field) for field in ended} == ended
        wire.end(code=0)


def test_tools_while_they_run() -> None:
    wire = Conversation().opened().in_turn()
    where = {"threadId": THREAD, "turnId": TURN, "itemId": "c1"}
    change = {"path": "/a", "kind": {"type": "delete"}, "diff": "gone\n"}
    wire.started(type="fileChange", id="c1", changes=[], status="inProgress")
    wire.notify("item/fileChange/patchUpdated", **where, changes=[change])
    wire.notify("item/fileChange/outputDelta", **where, delta="Done")
    wire.notify("item/mcpToolCall/progress", **where, message="half way")
    wire.notify("item/commandExecution/terminalInteraction", **where, processId="7", stdin="y\n")
    updates = wire.of(ev.ToolUpdated)
    assert [(event.input, event.output, event.terminal_id, event.ext) for event in updates] == [
        ({"changes": [change]}, None, None, {}),
        (None, "half way", None, {}),
        (None, None, "7", {"codex.stdin": "y\n"}),
    ]
    [deleted] = wire.of(ev.FileChanged)
    assert (deleted.change, deleted.before, deleted.phase) == ("deleted", "gone\n", "proposed")
    assert deleted.diff == "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    wire.ask(0, "item/fileChange/requestApproval", itemId="c1", grantRoot="/root")
    [request] = wire.of(ev.PermissionRequested)
    assert (request.input, request.blocked_path) == ({"changes": [change]}, "/root")


def test_what_a_turn_has_changed_is_said_when_it_changes() -> None:
    wire = Conversation().opened().in_turn()
    where = {"threadId": THREAD, "turnId": TURN}
    for diff in ("--- a\n", "--- a\n", "--- a\n+++ b\n", ""):
        wire.notify("turn/diff/updated", **where, diff=diff)
    wire.notify("turn/diff/updated", **where)
    wire.turn_over()
    wire.in_turn("again")
    wire.notify("turn/diff/updated", **where, diff="")
    said = [(event.diff, event.turn) for event in wire.of(ev.TurnDiff)]
    assert said == [("--- a\n", 1), ("--- a\n+++ b\n", 1), ("", 1), ("", 2)]
    wire.turn_over()
    wire.end(code=0)


def test_a_hook_speaks_in_the_users_name() -> None:
    wire = Conversation().opened().in_turn()
    wire.completed(type="hookPrompt", id="h", fragments=[{"text": "do"}, {"text": "more"}])
    said = wire.of(ev.Message)[-1]
    assert (said.role, said.text, said.synthetic) == ("user", "do\nmore", True)


def test_a_reviewer_settles_permissions_by_itself() -> None:
    wire = Conversation().opened().in_turn()
    where = {"threadId": THREAD, "turnId": TURN, "reviewId": "r1", "targetItemId": "c1"}
    action = {"type": "command", "command": "rm"}
    wire.notify("item/autoApprovalReview/started", **where, action=action, review={"status": "inProgress"})
    assert wire.of(ev.PermissionRequested) == []
    wire.notify(
        "item/autoApprovalReview/completed",
        **where,
        action=action,
        review={"status": "denied", "rationale": "too risky"},
    )
    [asked], [resolved] = wire.of(ev.PermissionRequested), wire.of(ev.PermissionResolved)
    assert (asked.request_id, asked.call_id, asked.tool_name) == ("r1", "c1", "command")
    assert (resolved.outcome, resolved.by, resolved.message) == ("denied", "agent", "too risky")
    wire.end(code=0)


def test_a_compaction_by_itself_and_the_older_word_for_it() -> None:
    wire = Conversation().opened().in_turn()
    wire.started(type="contextCompaction", id="k")
    wire.completed(type="contextCompaction", id="k")
    wire.notify("thread/compacted", threadId=THREAD, turnId=TURN)
    assert [event.trigger for event in wire.of(ev.ContextCompacted)] == ["auto"]
    wire.turn_over()
    wire.in_turn()
    wire.notify("thread/compacted", threadId=THREAD, turnId=TURN)
    assert len(wire.of(ev.ContextCompacted)) == 2


@pytest.mark.parametrize(
    ("method", "params", "kind", "fields"),
    [
        ("warning", {"message": "w"}, ev.Notice, {"severity": "warning", "message": "w"}),
        ("configWarning", {"summary": "s", "details": "d"}, ev.Notice, {"message": "s\nd", "code": "config"}),
        ("deprecationNotice", {"summary": "old"}, ev.Notice, {"severity": "info", "code": "deprecation"}),
        (
            "model/rerouted",
            {"fromModel": "a", "toModel": "b", "reason": "busy"},
            ev.SessionUpdated,
            {"model": "b"},
        ),
        ("thread/closed", {}, ev.SessionStatus, {"status": "ended"}),
        (
            "thread/goal/updated",
            {"goal": {"objective": "o", "status": "active"}},
            ev.SessionStatus,
            {"message": "o"},
        ),
        (
            "account/updated",
            {"authMode": "apikey", "planType": "pro"},
            ev.Auth,
            {"status": "apikey", "message": "pro"},
        ),
        (
            "account/login/completed",
            {"success": False, "error": "e"},
            ev.Auth,
            {"status": "failed", "message": "e"},
        ),
        (
            "thread/realtime/transcript/done",
            {"role": "user", "text": "hi"},
            ev.Message,
            {"role": "user", "text": "hi"},
        ),
        ("thread/name/updated", {"threadName": "n"}, ev.SessionUpdated, {"title": "n"}),
        (
            "thread/settings/updated",
            {"threadSettings": {"approvalPolicy": {"granular": {}}, "effort": "low"}},
            ev.SessionUpdated,
            {"permission_mode": "granular", "effort": "low"},
        ),
    ],
)
def test_notifications(method: str, params: dict[str, Any], kind: Any, fields: dict[str, Any]) -> None:
    wire = Conversation().opened()
    wire.notify(method, threadId=THREAD, **params)
    event = wire.of(kind)[-1]
    assert event.session == THREAD
    assert {name: getattr(event, name) for name in fields} == fields


def test_the_account_is_asked_for() -> None:
    wire = Conversation().opened()
    wire.client({"id": 7, "method": "account/read", "params": {}})
    wire.agent(
        {"id": 7, "result": {"account": {"type": "chatgpt", "email": "e"}, "requiresOpenaiAuth": True}}
    )
    wire.client({"id": 8, "method": "account/rateLimits/read", "params": {}})
    wire.agent({"id": 8, "result": {"rateLimits": {"planType": "pro"}}})
    assert wire.of(ev.SessionUpdated)[-1].account == {"type": "chatgpt", "email": "e"}
    assert wire.of(ev.RateLimit)[0].plan == "pro"
    assert [event.command for event in wire.of(ev.CommandEnded)] == [
        "account/read",
        "account/rateLimits/read",
    ]


SERVERS = [
    {"name": "bad", "runtimeStatus": "failed", "toolsError": "no such file", "tools": {}, "serverInfo": None},
    {
        "name": "small",
        "runtimeStatus": "connected",
        "toolsError": None,
        "serverInfo": {"name": "small", "version": "1", "title": None},
        "tools": {"add": {"name": "add"}},
    },
    {"runtimeStatus": "nameless"},
]


def test_servers_are_asked_for() -> None:
    """The answer of 0.166.0."""
    wire = Conversation().opened()
    wire.notify("mcpServer/startupStatus/updated", threadId=THREAD, name="bad", status="failed", error="no")
    assert wire.of(ev.SessionUpdated)[-1].mcp_servers == [
        ev.McpServer(name="bad", status="failed", error="no")
    ]
    wire.say(c.Refresh(fact="mcp_servers", id="r"))
    asked = wire.next("mcpServerStatus/list")
    assert asked["params"] == {"threadId": THREAD}
    wire.answer(asked, {"data": SERVERS, "nextCursor": None})
    known = [
        ev.McpServer(name="bad", status="failed", error="no such file"),
        ev.McpServer(
            name="small",
            status="connected",
            server_info={"name": "small", "version": "1"},
            tools=["add"],
        ),
    ]
    assert wire.of(ev.SessionUpdated)[-1].mcp_servers == known
    wire.notify("mcpServer/startupStatus/updated", threadId=THREAD, name="more", status="starting")
    assert wire.machine.ledger.known()["mcp_servers"] == [
        *known,
        ev.McpServer(name="more", status="starting"),
    ]
    wire.end(code=0)


@pytest.mark.parametrize("said", [{"runtimeStatus": "failed"}, {}], ids=["0.150.0", "0.135.0"])
def test_a_list_of_servers_that_leaves_out_why_one_failed(said: dict[str, str]) -> None:
    wire = Conversation().opened()
    wire.notify("mcpServer/startupStatus/updated", threadId=THREAD, name="bad", status="failed", error="no")
    wire.say(c.Refresh(fact="mcp_servers", id="r"))
    wire.answer(wire.next("mcpServerStatus/list"), {"data": [{"name": "bad", **said}], "nextCursor": None})
    assert wire.machine.ledger.known()["mcp_servers"] == [
        ev.McpServer(name="bad", status="failed", error="no")
    ]
    wire.end(code=0)


def test_a_server_that_has_come_back() -> None:
    wire = Conversation().opened()
    wire.notify("mcpServer/startupStatus/updated", threadId=THREAD, name="bad", status="failed", error="no")
    wire.say(c.Refresh(fact="mcp_servers", id="r"))
    well = {"name": "bad", "runtimeStatus": "connected"}
    wire.answer(wire.next("mcpServerStatus/list"), {"data": [well], "nextCursor": None})
    assert wire.machine.ledger.known()["mcp_servers"] == [ev.McpServer(name="bad", status="connected")]
    wire.end(code=0)


def test_skills_are_those_of_the_session_s_folder() -> None:
    wire = Conversation(params={"cwd": "/here"}).opened()
    wire.notify("thread/settings/updated", threadId=THREAD, threadSettings={"cwd": "/here"})
    wire.say(c.OpenSession(cwd="/there", id="two"))
    answer = {"thread": {"id": "t2"}, "model": "m", "approvalPolicy": "never", "cwd": "/there"}
    wire.answer(wire.next("thread/start"), answer)
    wire.say(c.Refresh(fact="skills", session="t2", id="s"))
    asked = wire.next("skills/list")
    assert asked["params"] == {"cwds": ["/there"]}
    on, off = (
        {"name": "hello", "description": "Says hello.", "path": "/s", "enabled": True},
        {"enabled": False},
    )
    wire.answer(asked, {"data": [{"cwd": "/there", "skills": [on, {"name": "off", **off}, {}]}]})
    known = wire.machine.ledger.known
    assert known("t2")["skills"] == [ev.Skill(name="hello", description="Says hello.", path="/s")]
    assert "skills" not in known(THREAD)
    wire.say(c.Refresh(fact="models", session="t2", id="m"))
    wire.answer(wire.next("model/list"), {"data": [{"id": "gpt"}]})
    assert known("t2")["models"] == known(THREAD)["models"] == [{"id": "gpt"}]  # they are the account's
    wire.end(code=0)


def test_a_question_before_there_is_a_thread_waits_for_it() -> None:
    wire = Conversation()
    wire.say(c.Refresh(fact="account", id="a"))
    assert [sent["method"] for sent in wire.sent] == ["initialize"]
    wire.opened()
    wire.refuse(wire.next("account/read"), "not now")
    [ended] = wire.of(ev.CommandEnded)
    assert (ended.command, ended.ok, ended.error) == (
        "account/read",
        False,
        ev.ErrorInfo(message="not now", code="-32600"),
    )
    wire.end(code=0)
