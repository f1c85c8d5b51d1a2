"""InsightsEvent files: what is read keeps what always holds, is seen as it was, and can be written back."""

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
from dragoman._model.usage import Usage
from dragoman._projections import insights
from dragoman._projections.published import PROFILES, project
from tests.dialects.odd_files import odd_file
from tests.generated_json import instances
from tests.projections.generated_streams import streams as generated_streams
from tests.projections.insights.claude_lines import INIT, STREAM, assistant, result, use, user
from tests.projections.projected import CAPTURES, captured, name, seen, shown


def read(lines: list[bytes], *, native: bool = False) -> list[ev.Event]:
    return list(convert(lines, "insights", native=native))


def encoded(items: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(item).encode() for item in items]


@pytest.mark.parametrize("capture", CAPTURES, ids=name)
def test_there_and_back(capture: Path) -> None:
    for native in (False, True):
        for profile in PROFILES:
            first = shown("insights", captured(capture, native), profile=profile)
            lines = encoded(first)
            events = read(lines)
            assert broken(events) == []
            assert shown("insights", events, profile=profile) == first
            events = read(lines, native=True)
            assert broken(events, frames=range(1, len(lines) + 1)) == []
            assert shown("insights", events, profile=profile) == first
            assert list(native_lines(events)) == [line + b"\n" for line in lines]
            assert {detect([line]) for line in lines} <= {"insights"}


TALK = [
    INIT,
    assistant({"type": "text", "text": "Hi"}, use("t1", "Read", file_path="/a")),
    user(result("t1", "text")),
    {"type": "result", "subtype": "success", "session_id": "s", "is_error": False, "result": "Hi"},
]


def test_without_lines_the_table_is_read_backwards() -> None:
    events = read(encoded(seen("insights", TALK, "claude_stream")))
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
    events = read(encoded(seen("insights", [INIT, *stream], "claude_stream")))
    thought = [
        event.message_id
        for event in events
        if isinstance(event, ev.Delta | ev.Message) and event.kind == "thinking"
    ]
    assert len(thought) == 2
    assert len(set(thought)) == 1


def test_lines_that_are_no_insights_events_are_told_as_such() -> None:
    events = read([b"not json", b"[]", b'{"event":"text"}', b'{"event":"x"}', b'{"event":[]}', b"  "])
    kinds = [*[ev.NativeInvalid] * 3, *[ev.NativeUnknown] * 2, ev.NativeKnown]
    assert [type(event) for event in events[1:-1]] == kinds
    assert [event.frame for event in events[1:-1]] == [1, 2, 3, 4, 5, 6]
    assert [event.native_type for event in events if isinstance(event, ev.NativeUnknown)] == ["x", None]
    assert broken(events) == []
    assert broken(read([])) == []


@settings(max_examples=60, deadline=None)
@given(generated_streams)
def test_never_raises_and_what_it_says_can_be_read(stream: list[ev.Event]) -> None:
    for profile in PROFILES:
        projector = insights.projector(profile=profile)
        lines = [projector.encode(item) for item in project(stream, projector)]
        assert broken(read(lines)) == []


def test_what_does_not_fit_is_left_out_of_an_item() -> None:
    line = b'{"event":"text","id":1,"provider":"goose","sessionId":"s","timestamp":"t","text":"a\\ud83d","kind":"text"}'
    [said] = [event for event in read([line]) if isinstance(event, ev.Message)]
    assert (said.text, said.session, said.agent_time) == ("a\ufffd", "s", "t")


def test_every_item_is_kept_even_if_it_says_nothing_new() -> None:
    common = {"id": "1", "timestamp": "t", "provider": "codex", "sessionId": "s"}
    init = {"event": "session_init", **common, "model": "m"}
    spawn = {"event": "subagent_spawn", **common, "callId": "c"}
    ended = {"event": "tool_completion", **common, "callId": "c", "status": "completed"}
    asked = {"event": "permission_request", **common, "requestId": "r", "toolName": "x", "toolKind": "other", "toolInput": {}}  # fmt: skip
    items = [init, init, {**init, "model": "n"}, spawn, spawn, ended, ended, asked, asked]
    events = read(encoded(items))
    assert broken(events) == []
    assert shown("insights", events) == items
    assert [event.model for event in events if isinstance(event, ev.SessionUpdated)] == ["n"]


def holds(back: Any, item: Any) -> bool:
    """Whether `back` has all that `item` has; null is the same as absent."""
    if isinstance(item, dict) and isinstance(back, dict):
        return all(holds(back.get(name), value) for name, value in item.items())
    if isinstance(item, list) and isinstance(back, list):
        return len(back) == len(item) and all(map(holds, back, item))
    return bool(back == item)


def test_all_that_the_schema_allows_is_understood_and_nothing_of_it_is_lost() -> None:
    schema = insights.schema()
    validator = jsonschema.Draft202012Validator(schema)

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(instances(schema), max_size=6))
    def understood(items: list[dict[str, Any]]) -> None:
        events = read(encoded(items))
        assert broken(events) == []
        assert [event.reason for event in events if isinstance(event, ev.NativeInvalid)] == []
        for profile in PROFILES:
            again = shown("insights", events, profile=profile)
            assert len(again) == len(items)
            for item, back in zip(items, again, strict=True):
                assert holds(back, item)
                validator.validate(back)

    understood()


COMMON = {"id": "1", "timestamp": "2025-01-15T10:30:00Z", "provider": "codex", "sessionId": "s"}


def test_a_server_says_what_it_is() -> None:
    """Kept in the event, too: seen through the tables it is told again."""
    server = {"name": "db", "status": "connected", "serverInfo": {"name": "Postgres", "version": "1.2"}}
    events = read(encoded([{"event": "session_init", **COMMON, "mcpServers": [server]}]))
    [started] = [event for event in events if isinstance(event, ev.SessionStarted)]
    assert started.mcp_servers[0].server_info == {"name": "Postgres", "version": "1.2"}
    told = ev.SessionStarted(mcp_servers=started.mcp_servers, agent="codex", dialect="codex_app")
    assert shown("insights", [told])[0]["mcpServers"] == [server]


def test_where_a_call_was_at_its_end() -> None:
    call = {**COMMON, "callId": "c"}
    events = read(
        encoded(
            [
                {"event": "tool_invocation", **call, "kind": "edit", "toolName": "Edit", "input": {}},
                {"event": "tool_completion", **call, "status": "completed", "locations": ["/a"]},
            ]
        )
    )
    [updated] = [event for event in events if isinstance(event, ev.ToolUpdated)]
    assert updated.locations == [ev.Location(path="/a")]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"output": "no"}, "no"),
        ({"output": {"message": "no"}}, "no"),
        ({"output": {"x": 1}}, None),
        ({}, None),
    ],
)
def test_why_a_call_failed_is_not_made_up(output: dict[str, Any], message: str | None) -> None:
    item = {
        "event": "tool_completion",
        **COMMON,
        "callId": "c",
        "status": "failed",
        "isError": True,
        **output,
    }
    [ended] = [event for event in read(encoded([item])) if isinstance(event, ev.ToolEnded)]
    assert ended.status == "failed"
    assert (ended.error.message if ended.error is not None else None) == message


def test_no_count_is_less_than_nothing() -> None:
    """Where the lines of several providers are in one file, what one counts is not what another does."""
    usage = Usage(input_tokens=1, cache_read_tokens=3, output_tokens=2)
    counted = ev.UsageUpdated(scope="call", usage=usage, agent="claude", dialect="claude_stream")
    ended = ev.TurnEnded(outcome="completed", usage=usage, agent="claude", dialect="claude_stream")
    step, done = shown("insights", [counted, ended])
    assert (step["stepUsage"]["input_tokens"], done["usage"]["inputTokens"]) == (0, 0)


def test_no_turn_costs_less_than_nothing() -> None:
    line = (
        b'{"event":"turn_complete","id":"1","provider":"claude","sessionId":"s","timestamp":"t","costUsd":-1}'
    )
    events = read([line])
    assert broken(events) == []
    assert shown("insights", events)[0]["costUsd"] == -1


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**40), size=st.integers(0, 60))
def test_any_file(seed: int, size: int) -> None:
    odd_file("insights", seed, size)
