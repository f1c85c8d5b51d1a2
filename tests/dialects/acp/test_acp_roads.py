"""Updates take short roads where they are what most are: whichever road one takes, the same events come of it."""

import json
import unittest.mock
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._dialects.acp import messages as m
from dragoman._model import events as ev
from dragoman._model.frames import Frame
from tests.dialects.acp.conversation import SESSION, chunk, update
from tests.generated_lines import TRAFFIC, Line, runs, spoiled_runs
from tests.interpreted import interpreted

DIFF = {"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"}


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def events(run: list[Line]) -> list[ev.Event]:
    return interpreted("acp", [Frame(n, direction, line) for n, (direction, line) in enumerate(run, 1)])


# --- lines ---------------------------------------------------------------------------------------------------


def as_most_are(line: bytes) -> bytes:
    """An update as nearly all agents write one, whatever is in it; any other line as it is."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(value, dict) or value.get("method") != m.UPDATE:
        return line
    return compact({"jsonrpc": "2.0", "method": m.UPDATE, **value})


@given(run=st.lists(TRAFFIC["acp"], max_size=12) | spoiled_runs("acp"))
def test_lines_of_any_kind(run: list[Line]) -> None:
    run = [(direction, as_most_are(line)) for direction, line in run]
    quick = events(run)
    with unittest.mock.patch.object(m, "BEGINNING", b"no line begins so"):
        assert events(run) == quick


def test_the_quick_road_is_taken() -> None:
    lines = [line for run in runs("acp") for direction, line in run if direction == "out"]
    updates = [line for line in lines if b'"session/update"' in line]
    assert sum(line.startswith(m.BEGINNING) for line in updates) > 0.8 * len(updates)


# --- chunks --------------------------------------------------------------------------------------------------


def with_meta(line: bytes) -> bytes:
    """A chunk with a `_meta` that says nothing: it is looked at, where one without goes on with the block that is open."""
    try:
        value = json.loads(line)
        told = value["params"]["update"]
        if told["sessionUpdate"] in ("agent_message_chunk", "agent_thought_chunk") and not told.get("_meta"):
            told["_meta"] = {"of": "nothing"}
            return compact(value)
    except (ValueError, KeyError, TypeError):
        pass
    return line


def test_captured_chunks() -> None:
    for run in runs("acp"):
        slow = [(direction, with_meta(line) if direction == "out" else line) for direction, line in run]
        assert events(slow) == events(run)


def line_of(message: dict[str, Any]) -> bytes:
    return compact({"jsonrpc": "2.0", **message})


def prompt(id: str) -> Line:
    params = {"sessionId": SESSION, "prompt": [{"type": "text", "text": "go"}]}
    return "in", line_of({"id": id, "method": "session/prompt", "params": params})


SAID: list[Line] = [
    *(("out", line_of(chunk(text))) for text in ("One", "é", "", "\ud83d", "\ude00", "[MODE_UPDATE] plan")),
    *(("out", line_of(chunk(text, messageId=id))) for text in ("Two", "\ud83d") for id in ("a", "b")),
    ("out", line_of(chunk("Hm", "agent_thought_chunk"))),
    ("out", line_of(chunk("Sub", _meta={"claudeCode": {"parentToolUseId": "c1"}}))),
    ("out", line_of(chunk("Other", session="s2"))),
    ("out", line_of(chunk("go", "user_message_chunk"))),
    ("out", line_of(update("agent_message_chunk", content={"type": "image", "data": "x", "mimeType": "y"}))),
    ("out", line_of(update("agent_message_chunk", content="plain"))),
    ("out", line_of(update("agent_message_chunk"))),
    ("out", line_of(update("agent_message", messageId="a", content=[{"type": "text", "text": "All"}]))),
    ("out", line_of(update("tool_call", toolCallId="c1", title="Edit", status="completed", content=[DIFF]))),
    ("out", line_of(update("tool_call_update", toolCallId="c2", status="in_progress"))),
    ("out", line_of(update("current_mode_update", currentModeId="plan"))),
    ("out", line_of(update("plan", entries=[]))),
    ("out", line_of({"id": "p", "result": {"stopReason": "end_turn"}})),
    ("in", line_of({"method": "session/cancel", "params": {"sessionId": SESSION}})),
    ("in", line_of({"id": "l", "method": "session/load", "params": {"sessionId": SESSION}})),
    prompt("p"),
]
MODES = {"currentModeId": "default", "availableModes": [{"id": "default"}, {"id": "plan"}]}
OPENED: list[Line] = [
    ("in", line_of({"id": "n", "method": "session/new", "params": {"cwd": "/", "mcpServers": []}})),
    ("out", line_of({"id": "n", "result": {"sessionId": SESSION, "modes": MODES}})),
    prompt("p"),
]


@pytest.mark.parametrize("begun", [[], OPENED], ids=["unheard", "heard"])
@given(said=st.lists(st.sampled_from(SAID), max_size=14))
def test_chunks_among_anything(begun: list[Line], said: list[Line]) -> None:
    run = [*begun, *said]
    slow = [(direction, with_meta(line) if direction == "out" else line) for direction, line in run]
    assert events(slow) == events(run)


def test_a_turn_of_one_chunk_is_not_empty() -> None:
    """Where the stream has no lines of the client, the chunk begins the turn that it is said in."""
    run: list[Line] = [
        ("out", line_of(chunk("Done."))),
        ("out", line_of({"id": 1, "result": {"stopReason": "end_turn"}})),
    ]
    assert [event for event in events(run) if isinstance(event, ev.Notice)] == []
