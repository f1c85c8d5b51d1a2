"""The schemas of specification 004 §8: views of all captures validate, and so do the agents' own lines."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dragoman._dialects.agent_event.messages import AGENT_TYPES
from dragoman._dialects.codex.exec import messages
from dragoman._dialects.codex.shared.values import STATUSES
from dragoman._files.convert import convert
from dragoman._files.sources import open_source
from dragoman._model import events as ev
from dragoman._projections.agent_event.schema import native_schema, schema
from tests import golden
from tests.dialects.codex.exec.test_exec_seed_shapes import PRINTED
from tests.projections.agent_event import streams
from tests.projections.projected import CAPTURES, captured, lines_of, name, shown

STRICT = jsonschema.Draft7Validator(schema())
EXTENDED = jsonschema.Draft7Validator(schema(extended=True))

NATIVE = {"claude_stream": "claude", "codex_exec": "codex", "gemini_stream": "gemini"}


def problems(validator: Any, items: list[dict[str, Any]]) -> list[str]:
    return [f"{error.message}: {item}" for item in items for error in validator.iter_errors(item)]


def test_the_schemas_are_schemas() -> None:
    for each in (schema(), schema(extended=True), *map(native_schema, AGENT_TYPES)):
        jsonschema.Draft7Validator.check_schema(each)


def test_8_1_has_eight_types_and_extended_fifteen() -> None:
    assert len(schema()["oneOf"]) == 8
    assert len(schema(extended=True)["oneOf"]) == 15


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "textChunk", "id": "1", "sessionId": "s", "timestamp": "t"},
        {"type": "nothing", "id": "1", "sessionId": "s", "timestamp": "t"},
        {"type": "sessionStarted", "id": "1", "sessionId": "s", "timestamp": "t", "agentType": "goose"},
        {"type": "toolProgress", "id": "1", "sessionId": "s", "timestamp": "t", "toolId": "c", "progress": 2},
        {"type": "turnStarted", "id": "1", "sessionId": "s", "timestamp": "t"},
        {"type": "sessionEnded", "sessionId": "s", "timestamp": "t", "reason": "completed"},
    ],
)
def test_8_1_refuses_what_is_wrong(wrong: dict[str, Any]) -> None:
    assert not STRICT.is_valid(wrong)


@pytest.mark.parametrize("capture", CAPTURES, ids=name)
def test_views_of_captures_validate(capture: Path) -> None:
    events = captured(capture)
    named = capture.parts[-3].partition("_")[0]
    vendor = named if named in AGENT_TYPES else "claude"  # the published schema knows three
    for profile in ("seed", "live"):
        extended = shown("agent-event", events, extended=True, profile=profile)  # type: ignore[arg-type]
        assert problems(EXTENDED, extended) == []
        strict = shown("agent-event", events, vendor=vendor, profile=profile)  # type: ignore[arg-type]
        assert problems(STRICT, strict) == []
        assert sum(item["type"] == "sessionEnded" for item in strict) >= 1
        assert strict[-1]["type"] == "sessionEnded"


@pytest.mark.parametrize("dialect", NATIVE)
def test_the_agents_own_lines_validate(dialect: str) -> None:
    validator = jsonschema.Draft7Validator(native_schema(NATIVE[dialect]))
    wrong = []
    for capture in golden.captures(dialect):
        for frame in open_source(golden.source(capture), dialect):
            try:
                value = json.loads(frame.line)
            except ValueError:
                continue
            if frame.dir == "out" and isinstance(value, dict) and not validator.is_valid(value):
                wrong.append((name(capture), value.get("type")))
    assert [kind for _, kind in wrong if kind != "frobnicate"] == []


@pytest.mark.parametrize(
    ("agent", "stream"),
    [
        ("claude", streams.CLAUDE),
        ("claude", streams.FLAT),
        ("codex", streams.CODEX),
        ("gemini", streams.GEMINI),
    ],
)
def test_the_streams_of_the_specification_validate(agent: str, stream: str) -> None:
    validator = jsonschema.Draft7Validator(native_schema(agent))
    assert problems(validator, [json.loads(line) for line in lines_of(stream)]) == []


@pytest.mark.parametrize("printed", [text for text, _ in PRINTED])
def test_the_examples_of_4_8_validate(printed: str) -> None:
    validator = jsonschema.Draft7Validator(native_schema("codex"))
    assert problems(validator, [json.loads(printed)]) == []


def test_the_codex_schema_names_what_its_reader_knows() -> None:
    codex = native_schema("codex")
    item = codex["$defs"]["Item"]["properties"]
    assert {each["properties"]["type"]["const"] for each in codex["oneOf"]} == messages.TYPES.keys()
    for phase in ("started", "updated", "completed"):
        lines = [
            {"type": f"item.{phase}", "item": {"id": "1", "type": type}} for type in item["type"]["enum"]
        ]
        events = list(convert(lines_of(lines), "codex_exec"))
        assert [event for event in events if isinstance(event, ev.NativeUnknown)] == []
    assert set(item["status"]["enum"]) == {"in_progress", *STATUSES}


@pytest.mark.parametrize(
    ("agent", "wrong"),
    [
        ("claude", {"type": "frobnicate"}),
        ("claude", {"type": "assistant", "session_id": "s"}),
        ("codex", {"type": "item.started", "item": {"id": "1", "type": "frobnicate"}}),
        ("codex", {"type": "thread.started"}),
        ("codex", {"type": "session_meta"}),
        ("codex", {"type": "event_msg", "payload": {"message": "of no type"}}),
        ("codex", {"type": "approval.required", "action_type": "shell"}),
        ("gemini", {"type": "tool_result", "tool_id": "1", "status": "maybe"}),
        ("gemini", {"type": "init"}),
    ],
)
def test_native_schemas_refuse_what_is_wrong(agent: str, wrong: dict[str, Any]) -> None:
    assert not jsonschema.Draft7Validator(native_schema(agent)).is_valid(wrong)
