"""What was settled where the specifications contradict each other, or the agents them."""

from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._projections import agent_event
from dragoman._projections.agent_event.project import AgentEventProjector
from dragoman._projections.published import project
from tests.projections.projected import bare, seen, shown

G_INIT = {"type": "init", "session_id": "s", "model": "m"}
LOOP = {"type": "error", "severity": "warning", "message": "Loop detected"}
BROKEN = {"type": "error", "severity": "error", "message": "Invalid stream"}
OK = {
    "type": "result",
    "status": "success",
    "stats": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
}
BAD = {
    "type": "result",
    "status": "error",
    "error": {"type": "FatalTurnLimitedError", "message": "Too many turns"},
}


def ends(items: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(item["type"], item.get("reason"), item.get("error")) for item in items[1:]]


# --- C1, C2: errors ----------------------------------------------------------------------------------------


def test_c1_seed_gemini_ends_at_once_and_says_nothing_more() -> None:
    items = seen("agent-event", [G_INIT, BROKEN, OK], "gemini_stream", exit=0)
    assert ends(items) == [("sessionEnded", "failed", "Invalid stream")]


def test_c1_live_gemini_a_warning_is_none_and_an_error_waits_for_the_result() -> None:
    # After a loop the CLI says success; that the turn was cut short is the turn's outcome, not the warning's.
    limited = seen("agent-event", [G_INIT, LOOP, OK], "gemini_stream", profile="live", exit=0)
    assert ends(limited) == [("sessionEnded", "failed", "Loop detected")]
    failed = seen("agent-event", [G_INIT, BROKEN, BAD], "gemini_stream", profile="live", exit=53)
    assert ends(failed) == [("sessionEnded", "failed", "Too many turns")]
    extended = seen(
        "agent-event", [G_INIT, LOOP, BROKEN, BAD], "gemini_stream", profile="live", extended=True
    )
    assert [item["severity"] for item in extended if item["type"] == "error"] == ["warning", "error"]
    assert [item["type"] for item in extended][-1] == "sessionEnded"


def test_c1_live_an_error_without_a_result_is_why_it_ended() -> None:
    items = seen("agent-event", [G_INIT, BROKEN], "gemini_stream", profile="live")
    assert ends(items) == [("sessionEnded", "failed", "Invalid stream")]


THREAD = {"type": "thread.started", "thread_id": "t"}
TURN = {"type": "turn.started"}
RECONNECTING = {"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"}
LOST = {"type": "error", "message": "stream disconnected"}
DONE = {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}}
FAILED = {"type": "turn.failed", "error": {"message": "stream disconnected before completion"}}


def test_c2_reconnecting_is_a_retry_in_both_profiles() -> None:
    for profile in ("seed", "live"):
        stream = [THREAD, TURN, RECONNECTING, DONE]
        items = seen("agent-event", stream, "codex_exec", profile=profile, extended=True, exit=0)  # type: ignore[arg-type]
        retries = [item for item in items if item["type"] == "retry"]
        assert [(item["attempt"], item["maxAttempts"]) for item in retries] == [(1, 5)]
        assert items[-1]["reason"] == "completed"


def test_c2_codex_error_ends_by_the_table_and_waits_when_live() -> None:
    stream = [THREAD, TURN, LOST, FAILED]
    assert ends(seen("agent-event", stream, "codex_exec", exit=1)) == [
        ("sessionEnded", "failed", "stream disconnected")
    ]
    assert ends(seen("agent-event", stream, "codex_exec", profile="live", exit=1)) == [
        ("sessionEnded", "failed", "stream disconnected before completion")
    ]
    recovered = seen("agent-event", [THREAD, TURN, LOST, DONE], "codex_exec", profile="live", exit=0)
    assert ends(recovered) == [("turnCompleted", None, None), ("sessionEnded", "completed", None)]


def test_a_claude_message_that_is_an_error_ends_nothing() -> None:
    """The API's errors come as an assistant message with `error`; the result says what became of it."""
    stream = [
        {"type": "system", "subtype": "init", "session_id": "s"},
        {
            "type": "assistant",
            "session_id": "s",
            "error": "rate_limit",
            "message": {
                "id": "m",
                "role": "assistant",
                "content": [{"type": "text", "text": "Limit reached"}],
            },
        },
        {
            "type": "result",
            "subtype": "success",
            "is_error": True,
            "result": "Limit reached",
            "session_id": "s",
        },
    ]
    items = seen("agent-event", stream, "claude_stream")
    assert [item["type"] for item in items] == ["sessionStarted", "textChunk", "sessionEnded"]
    assert items[-1]["error"] == "Limit reached"


# --- C3, C4, C6: what is shown -----------------------------------------------------------------------------


def test_c3_users_are_shown_on_request() -> None:
    events: list[Event] = [ev.Message(role="user", text="Hi", agent="gemini", session="s")]
    assert shown("agent-event", events) == []
    projector = AgentEventProjector(include_user=True)
    [item] = [projector.encode(item) for item in project(events, projector)]
    assert b'"role":"user"' in item
    assert b'"content":"Hi"' in item


def test_c4_what_deltas_amount_to_is_not_said_again() -> None:
    stream = [
        G_INIT,
        {"type": "message", "role": "assistant", "content": "He", "delta": True},
        {"type": "message", "role": "assistant", "content": "llo", "delta": True},
        OK,
    ]
    items = seen("agent-event", stream, "gemini_stream")
    assert [item["content"] for item in items if item["type"] == "textChunk"] == ["He", "llo"]


def test_c5_live_codex_texts_are_cut_to_what_is_new() -> None:
    def item(phase: str, text: str) -> dict[str, Any]:
        return {"type": f"item.{phase}", "item": {"id": "1", "type": "agent_message", "text": text}}

    stream = [THREAD, TURN, item("started", "a"), item("updated", "ab"), item("completed", "ab"), DONE]
    contents = [
        [
            item["content"]
            for item in seen("agent-event", stream, "codex_exec", profile=profile)
            if "content" in item
        ]
        for profile in ("seed", "live")
    ]
    assert contents == [["a", "ab", "ab"], ["a", "b", "ab"]]


def test_c6_files_changed_by_tools_are_shown_on_request() -> None:
    change = ev.FileChanged(path="a.txt", change="modified", call_id="c", agent="claude", session="s")
    failed = ev.FileChanged(
        path="b.txt", change="modified", call_id="c", phase="failed", agent="claude", session="s"
    )
    assert shown("agent-event", [change, failed]) == []
    projector = AgentEventProjector(derived_changes=True)
    assert len(list(project([change, failed], projector))) == 1


def test_a_file_that_moved_is_deleted_and_created() -> None:
    moved = ev.FileChanged(
        path="a.txt", change="moved", move_to="b.txt", diff="--- a", agent="codex", session="s"
    )
    assert bare(shown("agent-event", [moved])) == [
        {"type": "fileChanged", "filePath": "a.txt", "changeType": "deleted"},
        {"type": "fileChanged", "filePath": "b.txt", "changeType": "created", "diff": "--- a"},
    ]


# --- C8: several turns, one ending -------------------------------------------------------------------------


def turn(n: int, agent: str, **ended: Any) -> list[Event]:
    where: dict[str, Any] = {"agent": agent, "session": "s"}
    return [
        ev.TurnStarted(seq=10 * n, **where),
        ev.Message(seq=10 * n + 1, role="assistant", text=f"answer {n}", **where),
        ev.TurnEnded(seq=10 * n + 2, **{"outcome": "completed", **ended}, **where),
    ]


def run(agent: str, *turns: list[Event], outcome: Any = "completed") -> list[Event]:
    first: Event = ev.SessionStarted(seq=1, agent=agent, session="s")
    last: Event = ev.RunEnded(
        seq=99, outcome=outcome, agent=agent, session="s", usage=Usage(input_tokens=5, output_tokens=7)
    )
    return [first, *(event for one in turns for event in one), last]


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("claude", "sessionStarted textChunk turnCompleted textChunk sessionEnded"),
        ("acp", "sessionStarted textChunk turnCompleted textChunk sessionEnded"),
        ("codex", "sessionStarted textChunk turnCompleted textChunk turnCompleted sessionEnded"),
        ("gemini", "sessionStarted textChunk turnCompleted textChunk turnCompleted sessionEnded"),
    ],
)
def test_c8_two_turns(agent: str, expected: str) -> None:
    items = shown("agent-event", run(agent, turn(1, agent), turn(2, agent)), extended=True)
    types = [item["type"] for item in items if item["type"] != "turnStarted"]
    assert types == expected.split()
    assert items[-1]["finalUsage"] == {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}
    assert len({item["id"] for item in items}) == len(items)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_c8_live_a_turn_ends_when_it_ends(agent: str) -> None:
    projector = agent_event.projector(profile="live")
    told = [
        [type(item).__name__ for item in projector.feed(event)]
        for event in run(agent, turn(1, agent), turn(2, agent))
    ]
    assert told[3] == ["TurnCompletedEvent"]
    assert told[-1] == ["SessionEndedEvent"]


def test_c8_a_failed_turn_that_another_one_follows_is_over_too() -> None:
    failed = turn(1, "claude", outcome="failed", error=ev.ErrorInfo(message="no"))
    items = shown("agent-event", run("claude", failed, turn(2, "claude")))
    assert [item["type"] for item in items][2:] == ["turnCompleted", "textChunk", "sessionEnded"]
    assert items[-1]["reason"] == "completed"


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("failed", "failed"),
        ("refused", "failed"),
        ("limited", "failed"),
        ("truncated", "failed"),
        ("cancelled", "cancelled"),
    ],
)
def test_reasons(outcome: Any, reason: str) -> None:
    items = shown("agent-event", run("claude", turn(1, "claude", outcome=outcome), outcome=outcome))
    assert items[-1]["reason"] == reason
    assert ("error" in items[-1]) == (reason == "failed")


def test_a_time_limit_is_why_the_session_ended() -> None:
    items = shown("agent-event", run("claude", turn(1, "claude", outcome="cancelled"), outcome="timeout"))
    assert items[-1]["reason"] == "timeout"


def test_a_stream_that_just_stops_says_what_it_knows() -> None:
    items = shown("agent-event", run("claude", turn(1, "claude"))[:-1])
    assert [item["type"] for item in items] == ["sessionStarted", "textChunk", "sessionEnded"]


def test_several_sessions_in_one_run_end_each() -> None:
    events: list[Event] = [
        ev.SessionStarted(seq=1, agent="codex", session="a"),
        ev.SessionStarted(seq=2, agent="codex", session="b"),
        ev.TurnEnded(seq=3, agent="codex", session="b", outcome="failed", error=ev.ErrorInfo(message="no")),
        ev.RunEnded(seq=4, agent="codex", session="a", outcome="failed", exit_code=1),
    ]
    items = shown("agent-event", events)
    assert [(item["sessionId"], item["reason"], item["error"]) for item in items[2:]] == [
        ("a", "failed", "exit code 1"),
        ("b", "failed", "no"),
    ]


# --- C10, C12, C17 and the tools ---------------------------------------------------------------------------


def test_c10_agents_outside_the_three_families() -> None:
    assert agent_event.refusal(vendor="claude") == ""
    assert agent_event.refusal(vendor="goose", extended=True) == ""
    assert "goose" in agent_event.refusal(vendor="goose")
    events: list[Event] = [ev.SessionStarted(seq=1, agent="goose", dialect="acp", session="s")]
    assert shown("agent-event", events, extended=True, vendor="goose")[0]["agentType"] == "goose"
    adapter: list[Event] = [ev.SessionStarted(seq=1, agent="claude-acp", dialect="acp", session="s")]
    assert shown("agent-event", adapter, vendor="claude")[0]["agentType"] == "claude"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(input_tokens=1, output_tokens=2), {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}),
        (
            Usage(input_tokens=1, output_tokens=2, total_tokens=9),
            {"inputTokens": 1, "outputTokens": 2, "totalTokens": 9},
        ),
        (
            Usage(input_tokens=1, total_tokens=9),
            {"inputTokens": 1, "outputTokens": 8, "totalTokens": 9},
        ),
        (Usage(output_tokens=2), None),
        (None, None),
    ],
)
def test_c12_usage(usage: Usage | None, expected: dict[str, int] | None) -> None:
    items = shown("agent-event", run("codex", turn(1, "codex", usage=usage)))
    assert items[2].get("usage") == expected


def test_c17_declined() -> None:
    stream = [
        THREAD,
        TURN,
        {"type": "item.started", "item": {"id": "1", "type": "command_execution", "command": "rm -r /"}},
        {
            "type": "item.completed",
            "item": {
                "id": "1",
                "type": "command_execution",
                "command": "rm -r /",
                "exit_code": None,
                "status": "declined",
            },
        },
    ]
    items = bare(seen("agent-event", stream, "codex_exec"))
    assert items[2] == {"type": "toolCompleted", "toolId": "1", "success": False, "error": "declined"}


def started(**fields: Any) -> Event:
    return ev.ToolStarted(
        **{"call_id": "c", "name": "read", "agent": "acp", "dialect": "acp", "session": "s", **fields}
    )


def updated(**fields: Any) -> Event:
    return ev.ToolUpdated(**{"call_id": "c", "agent": "acp", "dialect": "acp", "session": "s", **fields})


@pytest.mark.parametrize(
    "reason",
    [
        updated(input={"path": "a"}),
        updated(ext={"acp.status": "in_progress"}),
        ev.PermissionRequested(request_id="r", call_id="c", agent="acp", dialect="acp", session="s"),
        ev.ToolEnded(call_id="c", status="completed", agent="acp", dialect="acp", session="s"),
        ev.TurnEnded(outcome="completed", agent="acp", dialect="acp", session="s"),
    ],
    ids=["input", "in_progress", "permission", "end", "end of the turn"],
)
def test_an_announced_tool_waits_for_a_reason_to_be_shown(reason: Event) -> None:
    projector = agent_event.projector(extended=True)
    assert projector.feed(started(ext={"acp.status": "pending"}, input={})) == []
    assert projector.feed(updated(title="Reading a")) == []
    told = [projector.encode(item) for item in projector.feed(reason)]
    assert b'"toolStarted"' in told[0]
    if isinstance(reason, ev.ToolUpdated) and reason.input:
        assert b'"arguments":{"path":"a"}' in told[0]


def test_a_tool_that_begins_at_work_is_shown_at_once() -> None:
    projector = agent_event.projector(extended=True)
    assert len(projector.feed(started(ext={"acp.status": "in_progress"}))) == 1
    assert len(projector.feed(started(call_id="d", input={"path": "a"}))) == 1


def test_what_was_inferred_is_shown_live_only() -> None:
    events: list[Event] = [
        started(synthesized=True, name="unknown", input={"a": 1}),
        ev.ToolEnded(
            call_id="c", status="abandoned", synthesized=True, agent="acp", dialect="acp", session="s"
        ),
    ]
    assert shown("agent-event", events, extended=True) == []
    live = shown("agent-event", events, extended=True, profile="live")
    assert [item["type"] for item in live] == ["toolStarted", "toolCompleted"]
    assert live[1]["error"] == "abandoned"


def test_names_are_the_agents_own() -> None:
    tool = started(name="query", native_name="mcp__db__query", server="db", input={"a": 1})
    assert shown("agent-event", [tool])[0]["toolName"] == "mcp__db__query"


def test_history_is_not_told_again() -> None:
    old = ev.Message(role="assistant", text="before", replay=True, agent="gemini", session="s")
    assert shown("agent-event", [old]) == []


@pytest.mark.parametrize(
    ("config", "mode", "expected"),
    [
        ({"approve": "dangerous", "sandbox": "workspace"}, None, ("askDangerous", "workspaceWrite")),
        ({"approve": "never"}, None, (None, None)),
        ({}, "bypassPermissions", ("autoAll", None)),
        ({}, "acceptEdits", ("autoEdit", None)),
        ({}, "on-request", ("askDangerous", None)),
        ({}, "plan", (None, None)),
    ],
)
def test_configuration_6_4_and_7_3(
    config: dict[str, Any], mode: str | None, expected: tuple[Any, Any]
) -> None:
    events: list[Event] = [
        ev.RunStarted(agent="claude", config=config, cwd="/here"),
        ev.SessionStarted(agent="claude", session="s", permission_mode=mode),
    ]
    shown_config = shown("agent-event", events)[0]["config"]
    assert (shown_config.get("approvalMode"), shown_config.get("sandboxMode")) == expected
    assert shown_config["workingDirectory"] == "/here"
