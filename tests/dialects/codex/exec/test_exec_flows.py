"""What has to be remembered from line to line: growing texts, totals, subagents, turns that are not said."""

from typing import Any

import pytest

from dragoman._model import events as ev
from dragoman._model.frames import Exit
from tests.dialects.codex.exec.exec_lines import item, read
from tests.interpreted import of

STARTED = [{"type": "thread.started", "thread_id": "t-1"}, {"type": "turn.started"}]


def completed(total: int) -> dict[str, Any]:
    return {"type": "turn.completed", "usage": {"input_tokens": total, "output_tokens": total // 10}}


# --- texts -------------------------------------------------------------------------------------------------


def test_a_text_that_grows_comes_in_pieces() -> None:
    texts = ["", "He", "Hello", "Hello", "Hello, wor"]
    lines = [item("updated", id="m", type="agent_message", text=text) for text in texts]
    events = read(*STARTED, *lines, item("completed", id="m", type="agent_message", text="Hello, world"))
    assert [delta.text for delta in of(events, ev.Delta)] == ["", "He", "llo", ", wor", "ld"]
    (message,) = of(events, ev.Message)
    assert (message.text, message.message_id) == ("Hello, world", "m")


def test_two_texts_grow_side_by_side() -> None:
    events = read(
        *STARTED,
        item("updated", id="r", type="reasoning", text="I th"),
        item("updated", id="m", type="agent_message", text="So"),
        item("completed", id="r", type="reasoning", text="I think"),
        item("completed", id="m", type="agent_message", text="So it is"),
    )
    assert [(m.kind, m.text) for m in of(events, ev.Message)] == [
        ("thinking", "I think"),
        ("text", "So it is"),
    ]
    assert [(d.kind, d.text) for d in of(events, ev.Delta)] == [
        ("thinking", "I th"),
        ("text", "So"),
        ("thinking", "ink"),
        ("text", " it is"),
    ]


def test_a_text_that_is_rewritten_while_it_grows() -> None:
    events = read(
        *STARTED,
        item("updated", id="m", type="agent_message", text="abc"),
        item("updated", id="m", type="agent_message", text="axy"),
        item("completed", id="m", type="agent_message", text="axyz"),
    )
    assert [(m.text, m.synthesized) for m in of(events, ev.Message)] == [("abc", True), ("axyz", False)]
    assert [delta.text for delta in of(events, ev.Delta)] == ["abc", "axy", "z"]


def test_half_a_character_waits_for_the_other() -> None:
    lines = [
        rb'{"type":"item.updated","item":{"id":"m","type":"agent_message","text":"a\ud83d"}}',
        rb'{"type":"item.updated","item":{"id":"m","type":"agent_message","text":"a\ud83d\ude00b\ud83d"}}',
        rb'{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"a\ud83d\ude00b\ud83d"}}',
    ]
    events = read(*STARTED, *lines)
    assert [delta.text for delta in of(events, ev.Delta)] == ["a", "😀b", "�"]
    assert [m.text for m in of(events, ev.Message)] == ["a😀b�"]


def test_a_text_that_was_never_finished_is_closed_with_its_turn() -> None:
    events = read(*STARTED, item("updated", id="m", type="agent_message", text="half"), completed(10))
    (message,) = of(events, ev.Message)
    assert (message.text, message.synthesized) == ("half", True)


def test_output_that_grows_comes_in_pieces() -> None:
    outputs = ["", "a\n", "a\nb\n", "cut …\nb\n"]
    lines = [
        item("updated", id="c", type="command_execution", command="x", aggregated_output=output)
        for output in outputs
    ]
    events = read(*STARTED, item("started", id="c", type="command_execution", command="x"), *lines)
    assert [(d.kind, d.text, d.call_id) for d in of(events, ev.Delta)] == [
        ("tool_output", "", "c"),
        ("tool_output", "a\n", "c"),
        ("tool_output", "b\n", "c"),
    ]
    assert [u.output for u in of(events, ev.ToolUpdated)] == ["cut …\nb\n"]


def test_commentary_is_not_the_answer() -> None:
    events = read(
        *STARTED,
        item("completed", id="a", type="agent_message", text="The answer.", phase="final_answer"),
        item("completed", id="b", type="agent_message", text="Tidying up.", phase="commentary"),
        completed(10),
    )
    assert [m.kind for m in of(events, ev.Message)] == ["text", "commentary"]
    assert of(events, ev.TurnEnded)[0].text == "The answer."


# --- totals ------------------------------------------------------------------------------------------------


def totals(events: list[Any]) -> tuple[list[int | None], list[int | None]]:
    turns = [e.usage.input_tokens if e.usage else None for e in of(events, ev.TurnEnded)]
    session = [e.usage.input_tokens for e in of(events, ev.UsageUpdated) if e.usage]
    return turns, session


def test_a_fresh_thread_used_what_it_says() -> None:
    lines = [*STARTED, completed(100), {"type": "turn.started"}, completed(150)]
    assert totals(read(*lines)) == ([100, 50], [100, 150])


@pytest.mark.parametrize(
    "launch",
    [
        {"argv": ["codex", "exec", "--json", "resume", "t-1", "go on"]},
        {"argv": ["codex", "exec", "--json", "resume", "--last", "go on"]},
        {"argv": ["codex", "exec", "fork", "t-0", "go on"]},
        {"resume": "t-1"},
    ],
)
def test_a_resumed_thread_has_no_baseline(launch: dict[str, Any]) -> None:
    lines = [*STARTED, completed(100), {"type": "turn.started"}, completed(150)]
    assert totals(read(*lines, **launch)) == ([None, 50], [100, 150])


@pytest.mark.parametrize(
    ("launch", "resumed"),
    [
        ({}, False),
        ({"resume": "t-1"}, True),
        ({"argv": ["codex", "exec", "resume", "--last"]}, True),
        ({"argv": ["codex", "exec", "resume"]}, True),
        ({"argv": ["codex", "exec", "resume", "no-such-name"]}, False),
    ],
)
def test_whether_it_was_resumed(launch: dict[str, Any], resumed: bool) -> None:
    assert of(read(*STARTED, **launch), ev.SessionStarted)[0].resumed is resumed


def test_two_recordings_one_after_the_other() -> None:
    other = [{"type": "thread.started", "thread_id": "t-2"}, {"type": "turn.started"}]
    events = read(*STARTED, *other, completed(30))
    ended = of(events, ev.TurnEnded)
    assert [(e.session, e.outcome) for e in ended] == [("t-1", "truncated"), ("t-2", "completed")]
    assert ended[1].usage is not None
    assert ended[1].usage.input_tokens == 30
    assert events[-1].outcome == "completed"  # type: ignore[attr-defined]


# --- turns -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exit", "outcome", "run"),
    [
        (Exit(code=1), "truncated", "truncated"),
        (Exit(), "truncated", "truncated"),
        (Exit(code=1, reason="cancelled"), "cancelled", "cancelled"),
        (Exit(signal="SIGKILL", reason="timeout"), "cancelled", "timeout"),
        (Exit(code=1, reason="limited"), "limited", "limited"),
    ],
)
def test_an_interruption_has_no_event(exit: Exit, outcome: str, run: str) -> None:
    events = read(*STARTED, item("started", id="c", type="command_execution", command="x"), exit=exit)
    assert of(events, ev.TurnEnded)[0].outcome == outcome
    assert of(events, ev.RunEnded)[0].outcome == run


def test_the_end_of_the_file_is_no_matter_after_the_turn() -> None:
    events = read(*STARTED, completed(1), exit=Exit())
    assert of(events, ev.RunEnded)[0].outcome == "completed"


def test_an_error_is_not_the_end() -> None:
    error = {
        "type": "error",
        "message": "Reconnecting... 2/5 (exceeded retry limit, last status: 429 Too Many)",
    }
    events = read(*STARTED, error, {"type": "error", "message": "odd"}, completed(1))
    (retry,) = of(events, ev.Retry)
    assert (retry.attempt, retry.max_attempts, retry.status_code) == (2, 5, 429)
    assert retry.reason == "exceeded retry limit, last status: 429 Too Many"
    assert [(e.message, e.scope, e.severity) for e in of(events, ev.Error)] == [("odd", "turn", "error")]
    assert of(events, ev.TurnEnded)[0].outcome == "completed"


def test_a_command_may_end_after_its_turn() -> None:
    events = read(
        *STARTED,
        item("started", id="c", type="command_execution", command="x"),
        completed(1),
        item("completed", id="c", type="command_execution", command="x", exit_code=0, status="completed"),
    )
    assert len(of(events, ev.TurnStarted)) == 1
    assert of(events, ev.ToolEnded)[0].status == "completed"


def test_the_prompt_of_a_run_that_we_started() -> None:
    events = read(*STARTED, completed(1), prompt="Fix it")
    assert of(events, ev.TurnStarted)[0].prompt == "Fix it"
    assert [(m.role, m.text) for m in of(events, ev.Message)] == [("user", "Fix it")]


# --- subagents ---------------------------------------------------------------------------------------------


def test_subagents() -> None:
    spawn = {"type": "collab_tool_call", "tool": "spawn_agent", "sender_thread_id": "t-1", "prompt": "count"}
    wait = {"type": "collab_tool_call", "tool": "wait", "sender_thread_id": "t-1", "prompt": None}
    events = read(
        *STARTED,
        item("started", id="i0", **spawn, receiver_thread_ids=[], agents_states={}, status="in_progress"),
        item(
            "completed",
            id="i0",
            **spawn,
            receiver_thread_ids=["t-2"],
            agents_states={"t-2": {"status": "running", "message": None}},
            status="completed",
        ),
        item("started", id="i1", **wait, receiver_thread_ids=["t-2"], agents_states={}, status="in_progress"),
        item(
            "completed",
            id="i1",
            **wait,
            receiver_thread_ids=["t-2"],
            agents_states={"t-2": {"status": "completed", "message": "seven"}},
            status="completed",
        ),
    )
    (began,), (over,) = of(events, ev.SubagentStarted), of(events, ev.SubagentEnded)
    assert (began.call_id, began.agent_id, began.description) == ("i0", "t-2", "count")
    assert (over.call_id, over.status, over.summary) == ("i0", "completed", "seven")
    assert [(t.name, t.kind) for t in of(events, ev.ToolStarted)] == [
        ("spawn_agent", "think"),
        ("wait", "think"),
    ]


# --- lines nobody knows ------------------------------------------------------------------------------------


def test_unknown_lines_and_items() -> None:
    events = read(
        {"type": "thread.renamed"},
        item("completed", id="x", type="hologram"),
        b"not json",
        b"",
        {"method": "codex/event/new_thing", "params": {"msg": {"type": "new_thing"}}},
    )
    assert [e.native_type for e in of(events, ev.NativeUnknown)] == [
        "thread.renamed",
        "item.completed/hologram",
        "event_msg/new_thing",
    ]
    assert len(of(events, ev.NativeInvalid)) == 1
    assert [e.native_type for e in of(events, ev.NativeKnown)] == ["blank"]


def errors(events: list[ev.Event]) -> list[tuple[str | None, str | None]]:
    return [(error.scope, error.kind) for error in of(events, ev.Error)]


def test_another_thread_than_was_asked_for_is_none() -> None:
    events = read(*STARTED, completed(10), resume="t-0")
    assert errors(events) == [("session", "sessionNotFound")]
    assert errors(read(*STARTED, completed(10), resume="t-1")) == []
    assert errors(read(*STARTED, completed(10), argv=["codex", "exec", "fork", "t-0", "--", "go"])) == []
    asked = ["codex", "exec", "resume", "t-0", "--", "fork"]
    assert errors(read(*STARTED, completed(10), argv=asked)) == [("session", "sessionNotFound")]
    assert errors(read(*STARTED, completed(10), argv=["codex", "exec", "--", "resume"])) == []


def test_a_thread_that_is_not_there() -> None:
    unknown = Exit(code=1, stderr_tail="Error: thread/resume failed: no rollout found for thread id t-1")
    assert errors(read(resume="t-1", exit=unknown)) == [("session", "sessionNotFound")]
    assert errors(read(resume="t-1", exit=Exit(code=1, stderr_tail="bad config.toml"))) == []
    assert errors(read(exit=unknown)) == []


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("unexpected status 401 Unauthorized: not today", "loginRequired"),
        ("Missing environment variable: `OPENAI_API_KEY`.", "loginRequired"),
        ("the command said: Missing environment variable: `HOME`.", None),
        ("unexpected status 500", None),
    ],
)
def test_why_a_turn_failed(message: str, kind: str | None) -> None:
    events = read(*STARTED, {"type": "turn.failed", "error": {"message": message}})
    [ended] = of(events, ev.TurnEnded)
    assert ended.error is not None
    assert ended.error.kind == kind
