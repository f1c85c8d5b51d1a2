"""What all events have in common."""

import json

import pytest
from msgspec import structs

from dragoman._model.events import EVENTS, Event
from dragoman._wire.event_json import encode


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_says_its_type_as_its_line_does(name: str) -> None:
    cls = EVENTS[name]
    event = cls(**{field.name: "x" for field in structs.fields(cls) if field.required})
    assert event.type == name
    assert json.loads(encode(event))["type"] == name


def test_a_type_can_be_matched() -> None:
    match EVENTS["auth"]():
        case Event(type="auth"):
            pass
        case _:
            pytest.fail("not matched")
