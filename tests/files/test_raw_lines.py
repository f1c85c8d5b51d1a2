"""Insights files that repeat the agent's own lines: those are read, where they tell the same."""

import json
from typing import Any

import pytest

from dragoman._contract.invariants import broken
from dragoman._dialects.insights.machine import InsightsFile
from dragoman._files.convert import convert
from dragoman._model import events as ev
from dragoman._wire.event_json import encode
from tests.projections.insights.claude_lines import INIT, assistant, result, use, user
from tests.projections.projected import lines_of, seen, shown

TALK = [
    INIT,
    assistant({"type": "text", "text": "Hi"}, use("t1", "Read", file_path="/a")),
    user(result("t1", "text")),
    {"type": "result", "subtype": "success", "session_id": "s", "is_error": False, "result": "Hi"},
]


def items_of_talk() -> list[dict[str, Any]]:
    return seen("insights", TALK, "claude_stream", native=True)


def read(items: list[dict[str, Any]], **options: Any) -> list[ev.Event]:
    return list(convert(lines_of(items), "insights", **options))


def without_items(event: ev.Event) -> bytes:
    event.ext.pop("insights.items", None)
    return encode(event)


def test_where_every_item_has_its_line_the_lines_are_read() -> None:
    items = items_of_talk()
    events = read(items)
    assert broken(events) == []
    assert {event.dialect for event in events} == {"claude_stream"}
    assert shown("insights", events) == items
    assert list(map(without_items, events)) == list(map(encode, convert(lines_of(TALK), "claude_stream")))


def test_who_spoke_and_how_it_ended_can_be_told() -> None:
    first, *_, last = read(items_of_talk(), agent="mine", exit=3)
    assert (first.agent, first.dialect) == ("mine", "claude_stream")
    assert isinstance(last, ev.RunEnded)
    assert last.exit_code == 3


def test_blank_lines_between_them_do_not_matter() -> None:
    lines = [line for item in lines_of(items_of_talk()) for line in (b"", item)]
    assert {event.dialect for event in convert(lines, "insights")} == {"claude_stream"}


def test_lines_that_tell_something_else_are_not_believed() -> None:
    items = items_of_talk()
    items[1]["text"] = "Bye"
    events = read(items)
    assert {event.dialect for event in events} == {"insights"}
    assert [event.text for event in events if isinstance(event, ev.Message)] == ["Bye"]


def test_one_line_that_is_missing_is_enough() -> None:
    items = items_of_talk()
    del items[-1]["raw"]
    events = read(items)
    assert {event.dialect for event in events} == {"insights"}
    assert shown("insights", events) == items


def test_lines_of_nobody_are_not_read() -> None:
    items = items_of_talk()[:1]
    items[0]["raw"] = {"some": "json"}
    events = read(items)
    assert {event.dialect for event in events} == {"insights"}
    assert shown("insights", events) == items


def test_who_wants_the_lines_of_the_file_gets_those() -> None:
    lines = lines_of(items_of_talk())
    events = list(convert(lines, "insights", native=True))
    assert {event.dialect for event in events} == {"insights"}
    assert [event.line for event in events if event.line] == [json.dumps(item) for item in items_of_talk()]


def test_lines_that_are_nested_too_deeply_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InsightsFile, "strict", True)
    item = json.dumps({**items_of_talk()[0], "raw": {**INIT, "x": "DEEP"}})
    for depth in range(900, 1010):
        line = item.replace('"DEEP"', "[" * depth + "]" * depth).encode()
        assert {event.dialect for event in convert([line], "insights")} == {"insights"}
