"""InsightsEvents read back: the result keeps what always holds, and is seen as it was."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from dragoman._contract.invariants import broken
from dragoman._model import events as ev
from dragoman._projections import insights
from dragoman._projections.insights.schema import schema
from dragoman._projections.published import PROFILES, project
from tests.projections.generated_streams import streams as generated_streams
from tests.projections.insights.claude_lines import INIT, STREAM, assistant, result, use, user
from tests.projections.projected import CAPTURES, captured, name, seen, shown

SCHEMA = jsonschema.Draft202012Validator(schema())


def encoded(items: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(item).encode() for item in items]


@pytest.mark.parametrize("capture", CAPTURES, ids=name)
def test_there_and_back(capture: Path) -> None:
    for native in (False, True):
        for profile in PROFILES:
            first = shown("insights", captured(capture, native), profile=profile)
            events = list(insights.read(encoded(first)))
            assert broken(events) == []
            assert shown("insights", events, profile=profile) == first


@pytest.mark.parametrize("capture", CAPTURES, ids=name)
def test_views_of_captures_validate(capture: Path) -> None:
    for profile in PROFILES:
        for item in shown("insights", captured(capture), profile=profile):
            SCHEMA.validate(item)


@pytest.mark.parametrize(
    "wrong",
    [
        {"event": "text", "id": "1", "timestamp": "t", "provider": "claude", "sessionId": "s", "text": "a"},
        {"event": "nothing", "id": "1", "timestamp": "t", "provider": "claude", "sessionId": "s"},
        {"event": "turn_complete", "id": "1", "timestamp": "t", "provider": "goose", "sessionId": "s"},
        {"event": "turn_complete", "timestamp": "t", "provider": "claude", "sessionId": "s"},
    ],
)
def test_the_schema_refuses_what_is_wrong(wrong: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(wrong)


TALK = [
    INIT,
    assistant({"type": "text", "text": "Hi"}, use("t1", "Read", file_path="/a")),
    user(result("t1", "text")),
    {"type": "result", "subtype": "success", "session_id": "s", "is_error": False, "result": "Hi"},
]


def test_where_every_item_has_its_line_the_lines_are_read() -> None:
    items = seen("insights", TALK, "claude_stream", native=True)
    events = list(insights.read(encoded(items)))
    assert {event.dialect for event in events} == {"claude_stream"}
    assert [event.line for event in events if event.line] == [
        json.dumps(line, separators=(",", ":")) for line in TALK
    ]


def test_lines_that_tell_something_else_are_not_believed() -> None:
    items = seen("insights", TALK, "claude_stream", native=True)
    items[1]["text"] = "Bye"
    events = list(insights.read(encoded(items)))
    assert {event.dialect for event in events} == {"insights"}
    assert [event.text for event in events if isinstance(event, ev.Message)] == ["Bye"]


def test_without_lines_the_table_is_read_backwards() -> None:
    events = list(insights.read(encoded(seen("insights", TALK, "claude_stream"))))
    assert {event.dialect for event in events} == {"insights"}
    assert {event.agent for event in events} == {"claude"}
    kinds = [type(event).__name__ for event in events]
    assert kinds == [
        "RunStarted",
        "SessionStarted",
        "TurnStarted",
        "Message",
        "ToolStarted",
        "ToolEnded",
        "TurnEnded",
        "RunEnded",
    ]
    ended = events[-2]
    assert isinstance(ended, ev.TurnEnded)
    assert (ended.outcome, ended.text) == ("completed", "Hi")


def test_deltas_and_their_text_are_one_message() -> None:
    said = assistant({"type": "thinking", "thinking": "hm"}, id="msg_1")
    stream = [*STREAM[:3], said, *STREAM[3:]]
    events = list(insights.read(encoded(seen("insights", [INIT, *stream], "claude_stream"))))
    thought = [
        event.message_id
        for event in events
        if isinstance(event, ev.Delta | ev.Message) and event.kind == "thinking"
    ]
    assert len(thought) == 2
    assert len(set(thought)) == 1


def test_lines_that_are_no_insights_events_are_told_as_such() -> None:
    events = list(insights.read([b"not json", b"{}", b'{"event":"text"}']))
    assert [type(event).__name__ for event in events] == ["RunStarted", *["NativeInvalid"] * 3, "RunEnded"]
    assert broken(events) == []
    assert broken(list(insights.read([]))) == []


@settings(max_examples=60, deadline=None)
@given(generated_streams)
def test_never_raises_and_what_it_says_can_be_read(stream: list[ev.Event]) -> None:
    for profile in PROFILES:
        projector = insights.projector(profile=profile)
        lines = [projector.encode(item) for item in project(stream, projector)]
        assert broken(list(insights.read(lines))) == []
