"""AgentEvent files: what is read keeps what always holds, is seen as it was, and can be written back."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman._contract.invariants import broken
from dragoman._dialects import detect
from dragoman._files.convert import convert, native_lines
from dragoman._model import events as ev
from dragoman._projections import agent_event
from dragoman._projections.published import PROFILES, project
from tests.dialects.odd_files import odd_file
from tests.generated_json import instances
from tests.projections.agent_event import streams
from tests.projections.generated_streams import streams as generated_streams
from tests.projections.projected import CAPTURES, captured, lines_of, name, seen, shown

WAYS = [(profile, extended) for profile in PROFILES for extended in (False, True)]


def read(lines: list[bytes], *, native: bool = False) -> list[ev.Event]:
    return list(convert(lines, "agent-event", native=native))


def encoded(items: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(item).encode() for item in items]


@pytest.mark.parametrize("capture", CAPTURES, ids=name)
def test_there_and_back(capture: Path) -> None:
    for profile, extended in WAYS:
        first = shown("agent-event", captured(capture), profile=profile, extended=extended)
        lines = encoded(first)
        events = read(lines, native=True)
        assert broken(events, frames=range(1, len(lines) + 1)) == []
        assert shown("agent-event", events, profile=profile, extended=extended) == first
        assert list(native_lines(events)) == [line + b"\n" for line in lines]
        assert {detect([line]) for line in lines} <= {"agent-event"}


@pytest.mark.parametrize(
    ("stream", "dialect"),
    [
        (streams.CLAUDE, "claude_stream"),
        (streams.CODEX, "codex_exec"),
        (streams.GEMINI, "gemini_stream"),
        (streams.FLAT, "claude_stream"),
    ],
)
def test_the_same_turns_texts_tools_and_usage_come_back(stream: str, dialect: str) -> None:
    there = list(convert(lines_of(stream), dialect, exit=0))
    back = read(encoded(seen("agent-event", stream, dialect, exit=0)))
    assert {event.dialect for event in back} == {"agent-event"}
    assert back[0].agent == there[0].agent

    def facts(events: list[ev.Event]) -> list[Any]:
        said = [
            e.text for e in events if isinstance(e, ev.Message) and e.role == "assistant" and e.kind == "text"
        ]
        tools = [
            (e.call_id, e.name, e.kind)
            for e in events
            if isinstance(e, ev.ToolStarted) and e.name != "apply_patch"
        ]
        ends = [
            (e.outcome, e.usage.input_tokens if e.usage else None)
            for e in events
            if isinstance(e, ev.TurnEnded)
        ]
        return [said, tools, ends, [e.outcome for e in events if isinstance(e, ev.RunEnded)]]

    assert facts(back) == facts(there)


def test_a_repeating_text_is_cut_to_what_is_new() -> None:
    back = read(encoded(seen("agent-event", streams.CODEX, "codex_exec", exit=0)))
    deltas = [event.text for event in back if isinstance(event, ev.Delta)]
    assert deltas == ["", "I've refactored the login function to be async."]


def test_lines_that_are_no_agent_events_are_told_as_such() -> None:
    lines = [
        b"not json",
        b"[]",
        b'{"type":"textChunk"}',
        b'{"type":"x","id":"1","sessionId":"s","timestamp":"t"}',
        b'{"type":[]}',
        b"  ",
    ]
    events = read(lines)
    kinds = [*[ev.NativeInvalid] * 3, *[ev.NativeUnknown] * 2, ev.NativeKnown]
    assert [type(event) for event in events[1:-1]] == kinds
    assert [event.frame for event in events[1:-1]] == [1, 2, 3, 4, 5, 6]
    assert [event.native_type for event in events if isinstance(event, ev.NativeUnknown)] == ["x", None]
    assert broken(events) == []


def test_what_does_not_fit_is_left_out_of_an_item() -> None:
    line = (
        b'{"type":"textChunk","id":1,"sessionId":"s","timestamp":"t","content":"a\\ud83d","isPartial":false}'
    )
    [said] = [event for event in read([line]) if isinstance(event, ev.Message)]
    assert (said.text, said.session, said.agent_time) == ("a\ufffd", "s", "t")


def test_who_speaks_is_said_where_the_session_starts() -> None:
    items = seen("agent-event", streams.GEMINI, "gemini_stream")
    assert {event.agent for event in read(encoded(items))} == {"gemini"}
    assert {event.agent for event in read([b"", *encoded(items[2:4]), *encoded(items[:2])])} == {"gemini"}
    assert {event.agent for event in read(encoded(items[1:]))} == {""}
    assert {event.agent for event in convert(encoded(items), agent="mine")} == {"mine"}


def test_every_item_is_kept_even_if_it_says_nothing_new() -> None:
    started = {"type": "sessionStarted", "id": "1", "sessionId": "s", "timestamp": "t", "agentType": "codex"}
    tool = {"type": "toolStarted", "id": "2", "sessionId": "s", "timestamp": "t", "toolId": "c", "toolName": "x", "arguments": {}}  # fmt: skip
    ended = {"type": "toolCompleted", "id": "3", "sessionId": "s", "timestamp": "t", "toolId": "c", "success": True}  # fmt: skip
    mine = {"type": "systemEvent", "id": "4", "sessionId": "s", "timestamp": "t", "subtype": "mine", "data": {"seq": 7}}  # fmt: skip
    ours = {**mine, "id": "5", "subtype": "notice", "data": {"message": "m", "turn": 9, "line": "x"}}
    items = [started, started, tool, tool, ended, ended, mine, ours]
    events = read(encoded(items))
    assert broken(events) == []
    assert shown("agent-event", events, extended=True) == items
    assert [event.message for event in events if isinstance(event, ev.Notice)] == ["m"]
    strict = shown("agent-event", events)
    assert [item["type"] for item in strict] == [item["type"] for item in items[:6]]


def test_how_a_session_ended_is_how_the_run_did() -> None:
    ended = {"type": "sessionEnded", "id": "1", "sessionId": "s", "timestamp": "t", "error": "too slow"}
    outcomes = {}
    for reason in ("completed", "failed", "cancelled", "timeout"):
        last = read(encoded([{**ended, "reason": reason}]))[-1]
        assert isinstance(last, ev.RunEnded)
        outcomes[reason] = last.outcome
    assert outcomes == {"completed": "truncated", "failed": "failed", "cancelled": "cancelled", "timeout": "timeout"}  # fmt: skip


def test_what_no_turn_told_of_was_used_in_a_turn() -> None:
    """Capture claude_stream/2.1.197/subagent_background: nothing is said in its last turn."""
    counts = {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}
    more = {"inputTokens": 15, "outputTokens": 3, "totalTokens": 18}
    common = {"id": "1", "sessionId": "s", "timestamp": "t"}
    events = read(
        encoded(
            [
                {"type": "turnCompleted", **common, "usage": counts},
                {"type": "sessionEnded", **common, "reason": "completed", "finalUsage": more},
            ]
        )
    )
    usages = [event.usage for event in events if isinstance(event, ev.TurnEnded)]
    assert [usage.total_tokens for usage in usages if usage is not None] == [12, 6]
    assert isinstance(events[-1], ev.RunEnded)
    assert events[-1].usage is not None
    assert events[-1].usage.total_tokens == 18


def as_shown(item: dict[str, Any]) -> dict[str, Any]:
    """A todo without a status: there, null is shown as absent."""
    if item["type"] != "todoList":
        return item
    todos = [{k: v for k, v in todo.items() if (k, v) != ("status", None)} for todo in item["items"]]
    return {**item, "items": todos}


@pytest.mark.parametrize("extended", [False, True])
def test_all_that_the_schema_allows_is_understood_and_nothing_of_it_is_lost(extended: bool) -> None:
    schema = agent_event.schema(extended=extended)
    validator = jsonschema.Draft7Validator(schema)

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(instances(schema), max_size=6))
    def understood(items: list[dict[str, Any]]) -> None:
        for item in items:
            validator.validate(item)
        events = read(encoded(items))
        assert broken(events) == []
        assert [event.reason for event in events if isinstance(event, ev.NativeInvalid)] == []
        for profile in PROFILES:
            again = shown("agent-event", events, profile=profile, extended=True)
            assert len(again) == len(items)
            for item, back in zip(items, again, strict=True):
                assert {name: back.get(name) for name in item} == as_shown(item)
                validator.validate(back)

    understood()


@pytest.mark.parametrize(
    ("item", "meaning"),
    [
        ({"type": "textChunk", "content": "x"}, ev.Message(role="assistant", text="x")),
        ({"type": "textChunk", "content": "x", "role": None}, ev.Message(role="assistant", text="x")),
        ({"type": "textChunk", "content": "x", "role": "user"}, ev.Message(role="user", text="x")),
        ({"type": "toolStarted", "toolId": "c", "toolName": "Read"}, ev.ToolStarted(call_id="c", name="Read")),
        ({"type": "turnCompleted"}, ev.TurnEnded(outcome="completed")),
        ({"type": "sessionStarted", "agentType": "codex", "config": {"model": "m"}}, ev.SessionStarted(model="m")),
        ({"type": "sessionEnded", "reason": "completed", "x-of": "others"}, ev.SessionStatus(status="ended")),
    ],
)  # fmt: skip
def test_optional_is_optional(item: dict[str, Any], meaning: ev.Event) -> None:
    item = {"id": "1", "sessionId": "s", "timestamp": "2025-01-15T10:30:00Z", **item}
    events = read(encoded([item]))
    assert broken(events) == []
    [said] = [event for event in events if event.frame == 1 and not event.synthesized]
    assert type(said) is type(meaning)
    told = {name: value for name in meaning.__struct_fields__ if (value := getattr(meaning, name))}
    assert {name: getattr(said, name) for name in told if name not in ("origin", "kind")} == {
        name: value for name, value in told.items() if name not in ("origin", "kind")
    }
    [back] = shown("agent-event", events)
    assert {name: back.get(name) for name in item} == item


def test_nothing_is_a_run_too() -> None:
    assert broken(read([])) == []


def test_what_is_missing_is_inferred() -> None:
    lines = [
        {
            "type": "toolCompleted",
            "id": "1",
            "sessionId": "s",
            "timestamp": "",
            "toolId": "c",
            "success": True,
        },
        {
            "type": "toolStarted",
            "id": "2",
            "sessionId": "s",
            "timestamp": "",
            "toolId": "d",
            "toolName": "Read",
            "arguments": {},
        },
    ]
    events = read(encoded(lines))
    assert broken(events) == []
    inferred = [type(event).__name__ for event in events if event.synthesized]
    assert inferred == ["TurnStarted", "ToolStarted", "TurnEnded", "ToolEnded"]


@settings(max_examples=60, deadline=None)
@given(generated_streams)
def test_never_raises_and_what_it_says_can_be_read(stream: list[ev.Event]) -> None:
    for profile, extended in WAYS:
        projector = agent_event.projector(profile=profile, extended=extended)
        lines = [projector.encode(item) for item in project(stream, projector)]
        assert broken(read(lines)) == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**40), size=st.integers(0, 60))
def test_any_file(seed: int, size: int) -> None:
    odd_file("agent-event", seed, size)
