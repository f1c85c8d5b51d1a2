"""AgentEvents read back: the result keeps what always holds, and is seen as it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from dragoman._contract.invariants import broken
from dragoman._files.convert import convert
from dragoman._model import events as ev
from dragoman._projections import agent_event
from dragoman._projections.published import PROFILES, project
from tests.projections.agent_event import streams
from tests.projections.generated_streams import streams as generated_streams
from tests.projections.projected import CAPTURES, captured, lines_of, name, seen, shown

WAYS = [(profile, extended) for profile in PROFILES for extended in (False, True)]


def encoded(items: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(item).encode() for item in items]


@pytest.mark.parametrize("capture", CAPTURES, ids=name)
def test_there_and_back(capture: Path) -> None:
    for profile, extended in WAYS:
        first = shown("agent-event", captured(capture), profile=profile, extended=extended)
        events = list(agent_event.read(encoded(first)))
        assert broken(events) == []
        assert shown("agent-event", events, profile=profile, extended=extended) == first


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
    back = list(agent_event.read(encoded(seen("agent-event", stream, dialect, exit=0))))
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
    back = list(agent_event.read(encoded(seen("agent-event", streams.CODEX, "codex_exec", exit=0))))
    deltas = [event.text for event in back if isinstance(event, ev.Delta)]
    assert deltas == ["", "I've refactored the login function to be async."]


def test_lines_that_are_no_agent_events_are_told_as_such() -> None:
    lines = [
        b"not json",
        b"{}",
        b'{"type":"textChunk"}',
        b'{"type":"x","id":"1","sessionId":"s","timestamp":"t"}',
    ]
    events = list(agent_event.read(lines))
    assert [type(event).__name__ for event in events] == ["RunStarted", *["NativeInvalid"] * 4, "RunEnded"]
    assert broken(events) == []


def test_nothing_is_a_run_too() -> None:
    assert broken(list(agent_event.read([]))) == []


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
    events = list(agent_event.read(encoded(lines)))
    assert broken(events) == []
    inferred = [type(event).__name__ for event in events if event.synthesized]
    assert inferred == ["TurnStarted", "ToolStarted", "TurnEnded", "ToolEnded"]


@settings(max_examples=60, deadline=None)
@given(generated_streams)
def test_never_raises_and_what_it_says_can_be_read(stream: list[ev.Event]) -> None:
    for profile, extended in WAYS:
        projector = agent_event.projector(profile=profile, extended=extended)
        lines = [projector.encode(item) for item in project(stream, projector)]
        assert broken(list(agent_event.read(lines))) == []
