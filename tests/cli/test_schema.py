"""`dragoman schema`."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dragoman._files.convert import convert
from dragoman._model.events import EVENTS
from dragoman._wire.event_json import encode
from tests.cli.fake_program import Invoke

CAPTURES = Path(__file__).parents[2] / "captures"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    from dragoman._cli.commands.schema import events_schema

    schema: dict[str, Any] = json.loads(json.dumps(events_schema()))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_printed(invoke: Invoke, validator: Draft202012Validator) -> None:
    done = invoke("schema")
    assert done.exit_code == 0
    printed = json.loads(done.stdout)
    assert printed == validator.schema
    assert printed["$id"] == "dragoman.events/1"
    assert printed["discriminator"]["propertyName"] == "type"
    assert set(printed["discriminator"]["mapping"]) == set(EVENTS)


def test_a_run_is_valid(recording: Path, validator: Draft202012Validator) -> None:
    events = list(convert(recording, native=True))
    assert len(events) > 50
    for event in events:
        validator.validate(json.loads(encode(event)))


@pytest.mark.parametrize(
    "path", sorted(CAPTURES.glob("*/*/*/stdout.jsonl"))[::10], ids=lambda path: path.parent.name
)
def test_captures_are_valid(path: Path, validator: Draft202012Validator) -> None:
    for event in convert(path):
        validator.validate(json.loads(encode(event)))


@pytest.mark.parametrize(
    "event",
    [
        {"type": "no.such.event", "seq": 1},
        {"type": "delta", "kind": "text", "text": "x"},
        {
            "type": "turn.ended",
            "outcome": "fine",
            "seq": 1,
            "agent": "",
            "dialect": "",
            "turn": 0,
            "origin": "agent",
        },
        {"seq": 1},
        [],
    ],
)
def test_what_is_no_event_is_not_valid(event: Any, validator: Draft202012Validator) -> None:
    assert not validator.is_valid(event)
