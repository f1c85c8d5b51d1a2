"""What of a client's line must be as it was recorded, and what may differ."""

from typing import Any

import pytest

from dragoman._files.likeness import answered, difference, paired, renamed

USER = {"type": "user", "message": {"role": "user", "content": "Go"}, "uuid": "a"}
NEW = {"id": 1, "method": "session/new", "params": {"cwd": "/one", "mcpServers": [{"name": "x"}]}}
START = {"id": 1, "method": "thread/start", "params": {"cwd": "/one", "sandbox": "read-only", "config": {}}}
HELLO = {"type": "control_request", "request_id": "1", "request": {"subtype": "initialize", "hooks": {}}}


@pytest.mark.parametrize(
    ("recorded", "sent"),
    [
        (USER, {**USER, "uuid": "b"}),
        (NEW, {"id": "open", "method": "session/new", "params": {"cwd": "/two", "mcpServers": []}}),
        (START, {"id": 2, "method": "thread/start", "params": {"sandbox": "read-only", "model": "m"}}),
        (HELLO, {**HELLO, "request_id": "2", "request": {"subtype": "initialize", "sdkMcpServers": ["x"]}}),
        ({"method": "initialize", "params": {"v": 1}}, {"method": "initialize", "params": {"v": 2}}),
        ({"text": "key [redacted], twice [redacted]."}, {"text": "key abc, twice d\ne f."}),
        ("no object", "no object"),
    ],
)
def test_the_same(recorded: Any, sent: Any) -> None:
    assert difference(recorded, sent) is None


@pytest.mark.parametrize(
    ("recorded", "sent", "said"),
    [
        (
            USER,
            {**USER, "message": {"role": "user", "content": "Stop"}},
            "message.content was 'Go' and is 'Stop'",
        ),
        (USER, {**USER, "priority": 1}, "priority is not in the recording"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {}]}, "a[1].b is not sent"),
        ({"a": [1]}, {"a": [1, 2]}, "a was [1] and is [1, 2]"),
        ({"a": 1}, {"a": True}, "a was 1 and is True"),
        ({"text": "key [redacted]."}, {"text": "no key"}, "text was 'key [redacted].' and is 'no key'"),
        (
            START,
            {"method": "thread/start", "params": {"sandbox": "full"}},
            "params.sandbox was 'read-only' and is 'full'",
        ),
        (NEW, {**NEW, "method": "session/load"}, "method was 'session/new' and is 'session/load'"),
        ({"id": 1, "result": {}}, {"id": 2, "result": {}}, "id was 1 and is 2"),
        ("x", {"a": 1}, "it was 'x' and is {'a': 1}"),
    ],
)
def test_something_else(recorded: Any, sent: Any, said: str) -> None:
    assert difference(recorded, sent) == said


def test_a_long_value_is_cut() -> None:
    said = difference({"a": "x" * 1000}, {"a": "y" * 1000})
    assert said is not None
    assert len(said) < 500


def test_what_stands_for_the_same() -> None:
    assert paired(USER, {**USER, "uuid": "b"}).texts == [("a", "b")]
    opened = paired(NEW, {**NEW, "id": 9, "params": {"cwd": "/two"}})
    assert (opened.ids, opened.places) == ([(1, 9)], [("/one", "/two")])
    assert paired({"id": 1, "result": {}}, {"id": 1, "result": {}}).ids == []


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 1, "result": {}},
        {"type": "control_response", "response": {"subtype": "success", "request_id": 1, "response": {}}},
    ],
)
def test_an_answer_gets_another_id(answer: Any) -> None:
    assert answered(answer) == 1
    assert answered(renamed(answer, "other")) == "other"
    assert renamed(renamed(answer, "other"), 1) == answer
