"""What an earlier program of this model got wrong, and this one must not. The numbers are those of its list; those
that are about talking to agents are proven where that is done (docs/seed-coverage.md says where)."""

import json
from typing import Any

import pytest

from dragoman._files.convert import convert
from dragoman._model import events as ev
from tests.projections.insights.acp_traffic import acp, update
from tests.projections.insights.claude_lines import assistant, claude, result, use, user
from tests.projections.insights.codex_lines import codex, item
from tests.projections.projected import shown


def test_1_results_of_parallel_tools_stay_apart() -> None:
    items = claude(
        assistant(use("t1", "Read", file_path="/a"), use("t2", "Read", file_path="/b")),
        user(result("t1", "first"), result("t2", "second"), tool_use_result={"of": "one of them"}),
    )
    outputs = {entry["callId"]: entry["output"] for entry in items if entry["event"] == "tool_completion"}
    assert outputs == {"t1": "first", "t2": "second"}


@pytest.mark.parametrize("status", [None, "requesting", "something new"])
def test_2_an_unknown_status_is_no_error(status: Any) -> None:
    assert claude({"type": "system", "subtype": "status", "session_id": "s", "status": status}) == []


@pytest.mark.parametrize("place", ["/a.txt", {"path": "/a.txt", "line": 3}])
def test_5_places_are_strings_or_objects(place: Any) -> None:
    [invoked] = acp(
        update(sessionUpdate="tool_call", toolCallId="c", title="t", kind="read", locations=[place])
    )
    assert invoked["locations"] == ["/a.txt"]


def test_7_an_input_that_is_filled_in_later_is_told() -> None:
    items = acp(
        update(sessionUpdate="tool_call", toolCallId="c", title="t", kind="read", rawInput={}),
        update(sessionUpdate="tool_call_update", toolCallId="c", rawInput={"path": "a"}),
    )
    assert [entry["input"] for entry in items] == [{}, {"path": "a"}]


def test_10_a_last_line_without_its_newline_counts_and_bad_bytes_end_nothing() -> None:
    lines = [
        json.dumps({"type": "system", "subtype": "init", "session_id": "s"}).encode(),
        b'{"type":"\xff\xfe"}',
        json.dumps({"type": "result", "subtype": "success", "session_id": "s"}).encode(),
    ]
    items = shown("insights", convert(b"\n".join(lines), "claude_stream"))
    assert [entry["event"] for entry in items] == ["session_init", "turn_complete"]


def test_11_an_error_belongs_to_its_thread() -> None:
    error = ev.Error(message="no", agent="codex", dialect="codex_app", session="b")
    other = ev.SessionStarted(agent="codex", dialect="codex_app", session="a")
    assert [entry["sessionId"] for entry in shown("insights", [other, error])] == ["a", "b"]


def test_12_a_declined_command_is_not_completed() -> None:
    declined = {"command": "rm", "exit_code": None, "status": "declined"}
    completed = codex(
        item("started", "command_execution", command="rm"), item("completed", "command_execution", **declined)
    )[1]
    assert completed["status"] == "cancelled"
    assert "isError" not in completed
    assert completed["extensions"] == {"codex.status": "declined"}
