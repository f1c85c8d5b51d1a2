"""Canonical events as lines, also where JSON cannot hold what is in them."""

import json

import pytest

from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._wire.event_json import decode, encode, plain

HALF = "\ud83d"

EVENTS: list[Event] = [
    ev.CommandEnded(ok=False, error=ev.ErrorInfo(message=HALF)),
    ev.NativeKnown(native_type=HALF, eol=False),
    ev.PlanUpdated(entries=[ev.PlanEntry(text=HALF)]),
    ev.SessionStarted(tools=[HALF], title="", resumed=True),
    ev.ToolStarted(call_id="c", name="Bash", input={"command": HALF, "n": 0, "flag": False, "none": None}),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_half_a_character_is_repaired_and_nothing_else_is_lost(event: Event) -> None:
    whole = json.loads(json.dumps(plain(event)).replace("\\ud83d", "\ufffd"))
    assert json.loads(encode(event)) == whole
    assert isinstance(decode(encode(event)), type(event))


def test_what_is_left_out_is_what_the_encoder_leaves_out() -> None:
    for event in (ev.CommandEnded(ok=False), ev.NativeKnown(eol=False), ev.SessionStarted(title="")):
        assert json.loads(encode(event)) == plain(event)
