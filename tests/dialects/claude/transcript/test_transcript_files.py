"""What holds for every captured file."""

import json
from pathlib import Path

import pytest

from dragoman._dialects.claude.transcript import looks_like
from dragoman._model import events as ev
from dragoman._model.usage import Usage, added
from dragoman._wire.event_json import detach
from tests.dialects.claude.transcript.transcript_files import (
    FILES,
    SCENARIOS,
    files,
    frames,
    read,
)
from tests.interpreted import interpreted, of


def test_there_are_captures() -> None:
    assert len(SCENARIOS) > 30


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_all_that_always_holds_holds(scenario: Path) -> None:
    events = read(*files(scenario))
    assert of(events, ev.NativeUnknown) == []
    assert of(events, ev.NativeInvalid) == []
    assert not any(event.replay for event in events)
    assert all(turn.synthesized for turn in of(events, ev.TurnEnded))


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_the_bytes_come_back(path: Path) -> None:
    events = interpreted("claude_transcript", frames([path]), native=True)
    assert b"".join(filter(None, map(detach, events))) == path.read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_the_first_line_tells(path: Path) -> None:
    with path.open("rb") as file:
        assert looks_like(json.loads(file.readline()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_every_api_call_is_counted_once(path: Path) -> None:
    calls: dict[str, int] = {}
    for line in path.read_bytes().splitlines():
        value = json.loads(line)
        if value.get("type") == "assistant" and value["message"].get("model", "<synthetic>") != "<synthetic>":
            calls[value["message"]["id"]] = value["message"]["usage"]["output_tokens"]
    events = read(path)
    said = [usage for usage in of(events, ev.UsageUpdated) if usage.scope == "call"]
    assert {usage.message_id: usage.usage.output_tokens for usage in said if usage.usage} == calls
    assert len(said) == len(calls)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_turns_sum_up_the_main_thread(scenario: Path) -> None:
    events = read(*files(scenario))
    calls, turns = Usage(), Usage()
    for event in of(events, ev.UsageUpdated):
        if event.scope == "call" and event.parent is None and event.usage is not None:
            calls = added(calls, event.usage)
    for turn in of(events, ev.TurnEnded):
        turns = added(turns, turn.usage or Usage())
    assert turns == calls


def test_what_is_of_other_dialects_is_not_ours() -> None:
    assert not looks_like({"type": "assistant", "message": {}, "session_id": "s", "uuid": "u"})
    assert not looks_like({"type": "system", "subtype": "init", "session_id": "s"})
    assert not looks_like({"type": "session_meta", "timestamp": "t", "payload": {}})
    assert not looks_like({"sessionId": "s", "projectHash": "h", "startTime": "t"})
