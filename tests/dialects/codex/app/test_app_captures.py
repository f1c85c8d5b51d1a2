"""Real runs of Codex app-server: what always holds, and what each of them shows."""

import json
import random
from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.content import ImageBlock, TextBlock
from dragoman._model.events import Event
from dragoman._model.usage import Usage
from dragoman._wire.lines import LineSplitter
from tests.dialects.codex.app.conversation import CAPTURES, SCENARIOS, bare, frames, read
from tests.interpreted import interpreted, of, out


@pytest.fixture(params=SCENARIOS)
def scenario(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def heard(scenario: str) -> list[Event]:
    """The events where only what Codex wrote is known."""
    return interpreted("codex_app", [frame for frame in frames(scenario) if frame.dir == "out"])


# --- what always holds -------------------------------------------------------------------------------------


def test_it_holds_where_the_client_is_not_heard_too(scenario: str) -> None:
    assert heard(scenario)


def test_nothing_is_unknown(scenario: str) -> None:
    events = read(scenario)
    assert [event.native_type for event in of(events, ev.NativeUnknown)] == []
    assert [event.reason for event in of(events, ev.NativeInvalid)] == []


def test_any_chunking_gives_the_same_events(scenario: str) -> None:
    data = b"".join(frame.line + b"\n" for frame in frames(scenario) if frame.dir == "out")
    dice = random.Random(scenario)
    cuts = sorted(dice.randrange(len(data) + 1) for _ in range(60))
    splitter = LineSplitter()
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    again = interpreted("codex_app", out(lines))
    assert [bare(event) for event in again] == [bare(event) for event in heard(scenario)]


# --- what each shows ---------------------------------------------------------------------------------------

SHOWN: dict[str, dict[str, Any]] = {
    "approval_bad_replies": {
        "turns": ["completed 240", "completed 240", "cancelled 120", "completed 120"],
        "tools": ["shell declined", "shell declined", "shell cancelled"],
        "permissions": ["denied", "denied", "cancelled"],
    },
    "approval_command": {
        "turns": ["completed 240", "completed 240", "completed 240", "completed 240", "cancelled 120"],
        "tools": [
            "shell completed",
            "shell completed",
            "shell completed",
            "shell declined",
            "shell declined",
        ],
        "permissions": [
            "allowed accept",
            "allowed acceptForSession",
            "denied decline",
            "denied cancel",
        ],
    },
    "approval_escalation": {
        "turns": ["completed 240"] * 6,
        "tools": ["shell completed"] * 6,
        "permissions": ["allowed acceptWithExecpolicyAmendment"],
    },
    "approval_filechange": {
        "turns": ["completed 240", "completed 240", "completed 240", "completed 240", "cancelled 120"],
        "tools": [*["apply_patch completed"] * 3, "apply_patch declined", "apply_patch declined"],
        "permissions": [
            "allowed accept",
            "allowed acceptForSession",
            "allowed accept",
            "denied decline",
            "denied cancel",
        ],
    },
    "approval_parallel": {
        "turns": ["completed 240"],
        "tools": ["shell completed", "shell declined", "shell completed"],
        "permissions": ["allowed accept", "denied decline", "allowed accept"],
    },
    "bad_input": {"turns": ["failed"], "run": "failed"},
    "basic": {
        "turns": ["completed 840", "completed 120"],
        "tools": [
            "shell completed",
            "apply_patch completed",
            "echo completed",
            "slow completed",
            "web_search completed",
            "shell completed",
        ],
    },
    "err_401": {"turns": ["failed"], "run": "failed"},
    "err_429_usage": {"turns": ["failed"], "run": "failed"},
    "err_500": {"turns": ["failed"], "run": "failed"},
    "err_disconnect": {"turns": ["failed"], "run": "failed"},
    "history_legacy": {
        "turns": ["completed 360", "completed 120"],
        "tools": ["shell completed", "apply_patch completed"],
    },
    "hooks": {"turns": ["completed 240"], "tools": ["shell completed"]},
    "inputs": {"turns": ["completed 120"] * 3},
    "interrupt_steer": {
        "turns": ["cancelled", "cancelled 120", "completed 240"],
        "tools": ["shell cancelled", "shell completed"],
    },
    "mcp_elicitation": {
        "turns": [*["completed 240"] * 4, "completed 360"],
        "tools": [*["ask completed"] * 3, "danger completed", "slow completed", "fail failed"],
        "permissions": ["allowed accept"],
        "questions": ["accepted", "declined", "cancelled"],
    },
    "order_probe": {"turns": ["completed 120"] * 3},
    "permissions_request": {
        "turns": ["completed 240"] * 2,
        "tools": ["shell failed"],
        "permissions": ["allowed accept", "allowed accept"],
    },
    "request_user_input": {"turns": ["completed 240"] * 2, "questions": ["accepted"]},
    "review": {"turns": ["completed"]},
    "sigint_in_turn": {"turns": ["truncated"], "tools": ["shell abandoned"], "run": "truncated"},
    "sigkill_in_turn": {"turns": ["truncated"], "tools": ["shell abandoned"], "run": "truncated"},
    "subagent": {
        "turns": ["completed 360"],
        "tools": ["spawn_agent completed", "wait completed", "shell completed"],
    },
    "subagent_v2": {"turns": ["completed 360"], "tools": ["spawn_agent completed", "wait completed"]},
    "thread_mgmt": {"turns": [*["completed 120"] * 7, "completed"], "tools": ["shell completed"]},
    "two_threads": {"turns": ["completed 240"] * 2, "tools": ["shell completed"] * 2},
}
"""Turns with their tokens, tools in the order of their start, permissions and questions in that of the answer."""


def test_every_scenario_is_described() -> None:
    assert sorted(SHOWN) == SCENARIOS


def test_what_it_shows(scenario: str) -> None:
    events, shown = read(scenario), SHOWN[scenario]
    turns = sorted(of(events, ev.TurnEnded), key=lambda event: event.turn)
    ends = {(event.session, event.call_id): event.status for event in of(events, ev.ToolEnded)}
    told = {
        "turns": [_words(turn.outcome, turn.usage.total_tokens if turn.usage else None) for turn in turns],
        "tools": [
            f"{event.name} {ends[event.session, event.call_id]}" for event in of(events, ev.ToolStarted)
        ],
        "permissions": [
            _words(event.outcome, event.option_id) for event in of(events, ev.PermissionResolved)
        ],
        "questions": [event.action for event in of(events, ev.QuestionAnswered)],
        "run": of(events, ev.RunEnded)[0].outcome,
    }
    last = shown["turns"][-1].split()[0]
    assert told == {"tools": [], "permissions": [], "questions": [], "run": last, **shown}


def _words(*parts: Any) -> str:
    return " ".join(str(part) for part in parts if part is not None)


# --- single things -----------------------------------------------------------------------------------------


def test_the_answer_is_the_final_message() -> None:
    assert [event.text for event in of(read("basic"), ev.TurnEnded)] == [
        "All done now.",
        "Second turn answer",
    ]


def test_commentary_and_thinking_are_told_apart() -> None:
    messages = of(read("basic"), ev.Message)
    said = [(event.kind, event.block, event.text) for event in messages if event.role == "assistant"]
    assert said[:5] == [
        ("thinking", 0, "**Plan**\n\nthink a bit"),
        ("thinking", 1, "**More**"),
        ("thinking", 2, "raw cot text"),
        ("commentary", None, "Working on it."),
        ("text", None, "All done now."),
    ]


def test_a_prompt_is_a_turn_and_its_echo_is_marked() -> None:
    events = read("basic")
    assert [event.prompt for event in of(events, ev.TurnStarted)] == ["go", "again"]
    users = [event for event in of(events, ev.Message) if event.role == "user"]
    assert [(event.text, event.origin, event.echo) for event in users] == [
        ("go", "client", False),
        ("go", "agent", True),
        ("again", "client", False),
        ("again", "agent", True),
    ]


def test_a_whole_output_is_that_of_the_completion() -> None:
    """The deltas lack what came before the tool was announced."""
    events = read("basic")
    shell = of(events, ev.ToolEnded)[0]
    assert shell.output == "tick 1\ntick 2\ntick 3\n"
    deltas = [event for event in of(events, ev.Delta) if event.call_id == shell.call_id]
    assert "".join(event.text for event in deltas) == "tick 2\ntick 3\n"


def test_changes_are_real_diffs() -> None:
    changes = of(read("basic"), ev.FileChanged)
    assert [(event.change, event.phase) for event in changes] == [
        ("moved", "proposed"),
        ("created", "proposed"),
        ("moved", "applied"),
        ("created", "applied"),
    ]
    moved, created = changes[2:]
    assert moved.move_to == "/home/dev/work/app_basic/README2.md"
    assert moved.diff == (
        "--- a/home/dev/work/app_basic/README.md\n+++ b/home/dev/work/app_basic/README2.md\n"
        "@@ -1 +1 @@\n-hello\n+bye\n"
    )
    assert created.diff == "--- /dev/null\n+++ b/home/dev/work/app_basic/new.txt\n@@ -0,0 +1 @@\n+hello\n"
    assert created.after == "hello\n"


def test_what_a_patch_wants_is_in_the_request_to_allow_it() -> None:
    request = of(read("approval_filechange"), ev.PermissionRequested)[0]
    assert (request.tool_name, request.kind) == ("apply_patch", "edit")
    assert request.input["changes"][0]["path"] == "/home/dev/work/app_approval_filechange/f1"
    assert request.title == "/home/dev/work/app_approval_filechange/f1"


def test_a_change_that_was_declined_failed() -> None:
    phases = [event.phase for event in of(read("approval_filechange"), ev.FileChanged)]
    assert phases == ["proposed", "applied"] * 3 + ["proposed", "failed", "proposed"]


def test_a_request_to_run_a_command_says_which_and_what_can_be_answered() -> None:
    request = of(read("approval_command"), ev.PermissionRequested)[0]
    assert (request.tool_name, request.kind, request.title) == ("shell", "execute", "touch a1")
    assert request.input == {
        "command": "/bin/bash -lc 'touch a1'",
        "cwd": "/home/dev/work/app_approval_command",
    }
    assert [(option.id, option.kind) for option in request.options] == [
        ("accept", "allow_once"),
        ("acceptWithExecpolicyAmendment", "allow_always"),
        ("cancel", "reject_once"),
    ]
    assert request.suggestions == ["session"]
    assert request.ext["codex.commandActions"] == [{"type": "unknown", "command": "touch a1"}]


def test_approvals_of_mcp_tools_are_permissions_of_their_call() -> None:
    events = read("mcp_elicitation")
    [request] = of(events, ev.PermissionRequested)
    assert (request.tool_name, request.kind, request.input) == ("mcp__tiny__danger", "mcp", {"what": "x"})
    danger = next(event for event in of(events, ev.ToolStarted) if event.name == "danger")
    assert (request.call_id, danger.server) == (danger.call_id, "tiny")
    assert [option.id for option in request.options] == [
        "accept",
        "acceptForSession",
        "acceptAlways",
        "decline",
        "cancel",
    ]
    question = of(events, ev.QuestionAsked)[0]
    assert (question.message, question.schema["required"]) == ("Which colour?", ["colour"])
    assert of(events, ev.QuestionAnswered)[0].answers == {"colour": "red", "n": 3}


def test_where_the_client_is_not_heard_items_tell_how_requests_were_answered() -> None:
    resolved = of(heard("approval_command"), ev.PermissionResolved)
    assert [event.outcome for event in resolved] == ["allowed", "allowed", "denied", "denied"]
    assert all(event.synthesized for event in resolved)


def test_turns_of_threads_overlap() -> None:
    events = read("two_threads")
    first, second = of(events, ev.TurnStarted)
    assert first.session != second.session
    assert [event.turn for event in of(events, ev.TurnEnded)] == [2, 1]
    for turn in (first, second):
        words = {
            event.text.split()[0]
            for event in of(events, ev.Message)
            if event.session == turn.session and event.text
        }
        assert len({word.lower() for word in words}) == 1


@pytest.mark.parametrize(
    ("name", "call", "summary", "tokens"),
    [
        ("subagent", "call_aa2a827d1e53", "child final answer", 240),
        ("subagent_v2", "call_8def644e987c", "child v2 answer", 120),
    ],
)
def test_a_subagent_is_part_of_its_session(name: str, call: str, summary: str, tokens: int) -> None:
    events = read(name)
    [started], [ended] = of(events, ev.SubagentStarted), of(events, ev.SubagentEnded)
    assert (started.call_id, ended.call_id) == (call, call)
    assert started.agent_id is not None
    assert started.agent_id == started.resume_id == ended.agent_id
    assert (ended.status, ended.summary) == ("completed", summary)
    assert ended.usage is not None
    assert ended.usage.total_tokens == tokens
    inside = [event for event in events if event.ext.get("codex.threadId") == started.agent_id]
    assert inside
    assert {event.parent for event in inside} == {call}
    assert {event.session for event in events if event.session} == {started.session}
    assert not of(inside, ev.TurnStarted)
    assert not of(inside, ev.TurnEnded)


def test_usage_is_that_of_the_turn() -> None:
    """The counts go over the whole thread, a fork and a resume bring their past along, a revert takes some back
    without saying so, and a compaction repeats the last count."""
    events = read("thread_mgmt")
    turns = of(events, ev.TurnEnded)
    assert [turn.usage.total_tokens if turn.usage else None for turn in turns] == [*[120] * 7, None]
    assert len({turn.session for turn in turns}) == 2
    assert of(events, ev.RunEnded)[0].usage == Usage(
        input_tokens=700,
        cache_read_tokens=70,
        cache_write_tokens=0,
        output_tokens=140,
        reasoning_tokens=35,
        total_tokens=840,
    )
    baselines = [event for event in of(events, ev.UsageUpdated) if event.frame in (58, 131)]
    assert [event.scope for event in baselines] == ["session", "session"]


def test_a_compaction_asked_for_is_manual() -> None:
    [compacted] = of(read("thread_mgmt"), ev.ContextCompacted)
    assert (compacted.trigger, compacted.before_tokens, compacted.after_tokens) == ("manual", 120, 6820)


def test_history_is_played_back_without_turns() -> None:
    events = read("thread_mgmt")
    played = [event for event in events if event.replay]
    assert {event.frame for event in played} == {57, 130}
    assert [event.text for event in of(played, ev.Message)][:2] == ["first question", "answer one"]
    assert of(played, ev.TurnStarted) == []
    assert [event.resumed for event in of(events, ev.SessionStarted)] == [False, False]


def test_lists_and_names_belong_to_the_session() -> None:
    updates = of(read("thread_mgmt"), ev.SessionUpdated)
    assert [event.title for event in updates if event.title] == ["My thread"]
    assert any(event.models and event.models[0]["id"] == "gpt-6.1-sol" for event in updates)


def test_retries_are_no_errors() -> None:
    events = read("err_401")
    [retry], [error] = of(events, ev.Retry), of(events, ev.Error)
    assert (retry.attempt, retry.max_attempts, retry.status_code) == (1, 1, 401)
    assert (error.code, error.scope) == ("httpConnectionFailed", "turn")
    [turn] = of(events, ev.TurnEnded)
    assert turn.error is not None
    assert turn.error.code == "httpConnectionFailed"


def test_a_message_that_was_completed_outlives_the_retry() -> None:
    events = read("err_disconnect")
    assert [event.text for event in of(events, ev.Message) if event.role == "assistant"] == ["half", "half"]
    assert [event.discards for event in of(events, ev.Retry)] == [[]]


def test_a_limit_of_the_account_has_its_own_code() -> None:
    [turn] = of(read("err_429_usage"), ev.TurnEnded)
    assert turn.error is not None
    assert turn.error.code == "usageLimitExceeded"


def test_an_interrupted_message_is_closed() -> None:
    cut = [event for event in of(read("interrupt_steer"), ev.Message) if event.synthesized]
    assert [event.text for event in cut] == [
        "streaming a long answer streaming a long answer streaming a long answer streamin"
    ]


def test_steering_says_something_into_the_turn() -> None:
    events = read("interrupt_steer")
    said = [event for event in of(events, ev.Message) if event.text in ("STEERED please", "SECOND START")]
    assert [(event.turn, event.echo) for event in said] == [(3, False), (3, False), (3, True), (3, True)]
    assert len(of(events, ev.TurnStarted)) == 3


def test_a_review_is_one_turn_under_two_names() -> None:
    events = read("review")
    assert len(of(events, ev.TurnStarted)) == 1
    task = next(event for event in of(events, ev.Message) if event.role == "user")
    assert task.synthetic
    [turn] = of(events, ev.TurnEnded)
    assert turn.text is not None
    assert turn.text.startswith("because")
    assert [event.status for event in of(events, ev.SessionStatus) if "review" in event.status] == [
        "review_started",
        "review_ended",
    ]


def test_images_and_a_schema() -> None:
    events = read("inputs")
    message = of(events, ev.Message)[0]
    assert message.blocks == [
        TextBlock(text="see"),
        ImageBlock(uri="/home/dev/work/app_inputs/i.png"),
        ImageBlock(mime_type="image/png", data="iVBORw0KGgo="),
    ]
    assert of(events, ev.TurnEnded)[0].structured_output == {"n": 1}
    assert [event.message_id for event in of(events, ev.Message)[:2]] == ["cm-1", message_id(events)]


def message_id(events: list[ev.Event]) -> str | None:
    return next(event.message_id for event in of(events, ev.Message) if event.echo)


def test_plans_modes_and_questions() -> None:
    events = read("request_user_input")
    assert [event.mode for event in of(events, ev.SessionMode)] == ["plan", "default"]
    [question] = of(events, ev.QuestionAsked)
    assert (question.message, question.questions[0]["id"]) == ("Which db?", "db")
    assert of(events, ev.QuestionAnswered)[0].answers == {"db": {"answers": ["SQLite", "user note: small"]}}
    plan = next(event for event in of(events, ev.Message) if event.kind == "plan")
    assert plan.text == "# Plan\n- step 1\n- step 2\n"
    [entries] = [event.entries for event in of(read("basic"), ev.PlanUpdated)]
    assert [(entry.text, entry.status) for entry in entries] == [("A", "in_progress"), ("B", "pending")]


def test_hooks() -> None:
    hooks = of(read("hooks"), ev.Hook)
    assert [(hook.event, hook.phase, hook.output, hook.outcome) for hook in hooks] == [
        ("userPromptSubmit", "started", None, None),
        ("userPromptSubmit", "ended", "ctx", "completed"),
        ("preToolUse", "started", None, None),
        ("preToolUse", "ended", None, "completed"),
    ]


def test_mcp_servers_come_up() -> None:
    updates = [event.mcp_servers for event in of(read("basic"), ev.SessionUpdated)]
    assert [[(server.name, server.status) for server in servers] for servers in updates] == [
        [("tiny", "starting")],
        [("tiny", "ready")],
    ]


def test_a_turn_may_start_before_its_request_is_answered() -> None:
    traffic = frames("order_probe")
    order = [json.loads(frame.line).get("method", "answer") for frame in traffic if frame.n in (43, 44)]
    assert order == ["turn/started", "answer"]
    assert len(of(read("order_probe"), ev.TurnStarted)) == 3


def test_the_captures_are_small() -> None:
    kept = [path for path in CAPTURES.rglob("*") if path.name in ("frames.jsonl", "meta.json")]
    assert sum(path.stat().st_size for path in kept) < 2_000_000
