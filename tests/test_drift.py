"""Drift: what no type names is listed in the books that ship, and what is in no book is noticed, in every dialect."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from dragoman._agents import AGENTS
from dragoman._cli import cli
from dragoman._dialects import DIALECTS
from dragoman._drift import book
from dragoman._drift.survey import Spot
from dragoman._files.surveys import survey
from tests.golden import CAPTURES, dialects, known, source

Json = dict[str, Any]
Change = Callable[[Json], None]


# --- the books -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", dialects())
def test_the_books_are_those_of_the_captures(dialect: str) -> None:
    assert known(dialect) == (book.FOLDER / f"{dialect}.txt").read_text()


def test_every_dialect_of_an_agent_has_a_book() -> None:
    assert dialects() == sorted(name for name, record in DIALECTS.items() if not record.published)


def test_a_book_is_read_as_it_was_written() -> None:
    spots = [
        Spot("a b", "x.y", "null"),
        Spot("a b", "x.y", "string"),
        Spot("a b", "(unknown)"),
        Spot("c", "d[e]", "list"),
        Spot("c", "a name", "string"),
    ]
    kept = book.gathered(spots)
    assert book.read(book.write(kept, ["1", "2"])) == kept


# --- what is new ---------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A line of a capture that is changed in three ways, and what then is told of it."""

    capture: str
    picks: Callable[[Json], bool]
    """The line, among those of the capture."""
    message: Change
    field: Change
    type: Change
    told: list[tuple[str, ...]]
    """what, message, field, kind; in the order of the changes."""


def put(*path: str | int, value: Any) -> Change:
    """Sets what is at a path."""

    def change(line: Json) -> None:
        place: Any = line
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value

    return change


def of_type(*words: str) -> Callable[[Json], bool]:
    return lambda line: (line.get("type"), line.get("subtype"))[: len(words)] == words


def calls(method: str) -> Callable[[Json], bool]:
    return lambda line: line.get("method") == method


def answers(name: str) -> Callable[[Json], bool]:
    """The answer that has this field."""
    return lambda line: isinstance(line.get("result"), dict) and name in line["result"]


def asks_codex(line: Json) -> bool:
    return line.get("method") == "item/commandExecution/requestApproval"


CASES = {
    "claude_stream": Case(
        "claude_stream/2.1.325/drift_text",
        of_type("assistant"),
        put("type", value="hologram"),
        put("message", "shiny", value=1),
        put("message", "model", value=5),
        [
            ("message", "hologram", "", ""),
            ("field", "assistant", "message.shiny", "number"),
            ("type", "assistant", "message.model", "number"),
        ],
    ),
    "claude_stream block": Case(
        "claude_stream/2.1.325/drift_text",
        of_type("assistant"),
        put("message", "content", value=[{"type": "hologram"}]),
        put("message", "usage", "service_tier", value={}),
        put("message", "usage", "input_tokens", value="1"),
        [
            ("field", "assistant", "message.content[hologram]", "object"),
            ("type", "assistant", "message.usage.service_tier", "object"),
            ("type", "assistant", "message.usage.input_tokens", "string"),
        ],
    ),
    "claude_stream request": Case(
        "claude_stream/2.1.325/drift_tool_allowed",
        lambda line: line.get("request", {}).get("subtype") == "can_use_tool",
        put("request", "subtype", value="hologram"),
        put("request", "shiny", value=True),
        put("request", "tool_name", value=["Bash"]),
        [
            ("message", "control_request/hologram", "", ""),
            ("field", "control_request/can_use_tool", "request.shiny", "boolean"),
            ("type", "control_request/can_use_tool", "request.tool_name", "list"),
        ],
    ),
    "claude_transcript": Case(
        "claude_transcript/2.1.325/*",
        of_type("assistant"),
        put("type", value="hologram"),
        put("shiny", value=1),
        put("message", "model", value=5),
        [
            ("message", "hologram", "", ""),
            ("field", "assistant", "shiny", "number"),
            ("type", "assistant", "message.model", "number"),
        ],
    ),
    "codex_app": Case(
        "codex_app/0.166.0/*",
        calls("turn/completed"),
        put("method", value="turn/hologram"),
        put("params", "turn", "shiny", value=1),
        put("params", "turn", "status", value=5),
        [
            ("message", "turn/hologram", "", ""),
            ("field", "turn/completed", "turn.shiny", "number"),
            ("type", "turn/completed", "turn.status", "number"),
        ],
    ),
    "codex_app request": Case(
        "codex_app/0.166.0/*",
        asks_codex,
        put("method", value="item/hologram/requestApproval"),
        put("params", "shiny", value=1),
        put("params", "command", value=["touch"]),
        [
            ("message", "item/hologram/requestApproval", "", ""),
            ("field", "item/commandExecution/requestApproval", "shiny", "number"),
            ("type", "item/commandExecution/requestApproval", "command", "list"),
        ],
    ),
    "codex_app result": Case(
        "codex_app/0.166.0/*",
        answers("userAgent"),
        put("result", "shinier", value={"a": 1}),
        put("result", "shiny", value=1),
        put("result", "codexHome", value=False),
        [
            ("field", "initialize result", "shinier", "object"),
            ("field", "initialize result", "shiny", "number"),
            ("type", "initialize result", "codexHome", "boolean"),
        ],
    ),
    "codex_exec": Case(
        "codex_exec/0.166.0/*",
        lambda line: line.get("item", {}).get("type") == "agent_message",
        put("item", "type", value="hologram"),
        put("item", "shiny", value=1),
        put("item", "text", value={}),
        [
            ("message", "item.completed/hologram", "", ""),
            ("field", "item.completed/agent_message", "item.shiny", "number"),
            ("type", "item.completed/agent_message", "item.text", "object"),
        ],
    ),
    "codex_rollout": Case(
        "codex_rollout/0.166.0/*",
        of_type("turn_context"),
        put("type", value="hologram"),
        put("payload", "shiny", value=1),
        put("payload", "model", value=5),
        [
            ("message", "hologram", "", ""),
            ("field", "turn_context", "payload.shiny", "number"),
            ("type", "turn_context", "payload.model", "number"),
        ],
    ),
    "gemini_stream": Case(
        "gemini_stream/0.61.0/*",
        of_type("message"),
        put("type", value="hologram"),
        put("shiny", value=1),
        put("content", value=5),
        [
            ("message", "hologram", "", ""),
            ("field", "message", "shiny", "number"),
            ("type", "message", "content", "number"),
        ],
    ),
    "gemini_chat": Case(
        "gemini_chat/0.61.0/*",
        of_type("gemini"),
        put("type", value="hologram"),
        put("tokens", "shiny", value=1),
        put("model", value=5),
        [
            ("message", "hologram", "", ""),
            ("field", "message", "tokens.shiny", "number"),
            ("type", "message", "model", "number"),
        ],
    ),
    "copilot_events": Case(
        "copilot_events/1.0.102/*",
        of_type("session.usage_record"),
        put("type", value="session.hologram"),
        put("data", "usage", "shiny", value=1),
        put("data", "usage", "model", value=5),
        [
            ("message", "session.hologram", "", ""),
            ("field", "session.usage_record", "data.usage.shiny", "number"),
            ("type", "session.usage_record", "data.usage.model", "number"),
        ],
    ),
    "qwen_chat": Case(
        "qwen_chat/0.24.4/*",
        of_type("assistant"),
        put("type", value="hologram"),
        put("usageMetadata", "shiny", value=1),
        put("model", value=5),
        [
            ("message", "hologram", "", ""),
            ("field", "assistant", "usageMetadata.shiny", "number"),
            ("type", "assistant", "model", "number"),
        ],
    ),
    "acp": Case(
        "acp/gemini-0.61.0/*",
        calls("session/update"),
        put("params", "update", "sessionUpdate", value="hologram"),
        put("params", "update", "shiny", value=1),
        put("params", "sessionId", value=5),
        [
            ("message", "session/update/hologram", "", ""),
            (
                "field",
                "session/update/available_commands_update",
                "update[available_commands_update].shiny",
                "number",
            ),
            ("type", "session/update/available_commands_update", "sessionId", "number"),
        ],
    ),
    "acp request": Case(
        "acp/gemini-0.61.0/*",
        calls("session/request_permission"),
        put("method", value="session/hologram"),
        put("params", "toolCall", "shiny", value=1),
        put("params", "options", value={}),
        [
            ("message", "session/hologram", "", ""),
            ("field", "session/request_permission", "toolCall.shiny", "number"),
            ("type", "session/request_permission", "options", "object"),
        ],
    ),
    "acp result": Case(
        "acp/gemini-0.61.0/*",
        answers("agentCapabilities"),
        put("result", "agentCapabilities", "shinier", value={}),
        put("result", "agentInfo", "shiny", value=1),
        put("result", "authMethods", value="many"),
        [
            ("field", "initialize result", "agentCapabilities.shinier", "object"),
            ("field", "initialize result", "agentInfo.shiny", "number"),
            ("type", "initialize result", "authMethods", "string"),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("changed", [0, 1, 2], ids=["message", "field", "type"])
def test_what_is_new_is_named(name: str, changed: int, tmp_path: Path) -> None:
    case = CASES[name]
    file = changed_capture(case, case[2 + changed], tmp_path)
    done = CliRunner().invoke(cli, ["drift", "--json", str(file)])
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    found = [tuple(new.get(key, "") for key in ("what", "message", "field", "kind")) for new in told["new"]]
    assert case.told[changed] in found
    about = case.told[changed][1]  # and its answer, where it is a request
    assert {message for _, message, *_ in found} <= {about, f"{about} result"}


def changed_capture(case: Case, change: Change, folder: Path) -> Path:
    """A copy of a capture with one line changed."""
    for capture in sorted(CAPTURES.glob(case.capture)):
        if capture.is_dir():
            path = source(capture)
            rows = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
            framed = path.name == "frames.jsonl"
            for index, row in enumerate(rows):
                line = json.loads(row["line"]) if framed and row["dir"] == "out" else None if framed else row
                if isinstance(line, dict) and case.picks(line):
                    change(line)
                    rows[index] = {**row, "line": json.dumps(line)} if framed else line
                    copy = folder / path.name
                    copy.write_text("".join(json.dumps(row) + "\n" for row in rows))
                    (folder / "meta.json").write_text((capture / "meta.json").read_text())
                    return copy
    raise AssertionError(f"no line for it in {case.capture}")


def test_all_three_at_once(tmp_path: Path) -> None:
    """What the issue asks for: a message type, a field and a changed field type, in one recording."""
    lines: list[Json] = [
        {"type": "system", "subtype": "init", "session_id": "s", "claude_code_version": "9.9.9"},
        {"type": "hologram", "session_id": "s"},
        {"type": "result", "subtype": "success", "session_id": "s", "num_turns": "two", "brand_new": 1},
    ]
    path = tmp_path / "stdout.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = CliRunner().invoke(cli, ["drift", str(path)])
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"{path}: claude 9.9.9, newer than tested ({', '.join(AGENTS['claude'].tested_versions)})",
        "  message of an unknown type: hologram, 1 time, first in frame 2",
        "  field of another type: result/success: num_turns is string, not number, 1 time, first in frame 3",
        "  field that no type names: result/success: brand_new (number), 1 time, first in frame 3",
    ]


def test_what_is_translated_as_known_is_not_told_as_unknown(tmp_path: Path) -> None:
    """Codex 0.100.0 sends the first version's notifications beside the second's."""
    path = tmp_path / "frames.jsonl"
    line = {
        "method": "codex/event/agent_message",
        "params": {"conversationId": "c", "msg": {"type": "agent_message"}},
    }
    path.write_text(json.dumps({"t": 0, "dir": "out", "line": json.dumps(line)}) + "\n")
    assert survey(path, "codex_app").sights == {}


def test_what_a_client_writes_is_looked_at_unless_it_is_ours(tmp_path: Path) -> None:
    ask = {"id": 0, "method": "initialize", "params": {"shiny": 1}}
    row = {"n": 1, "t": 0.0, "dir": "in", "line": json.dumps(ask)}
    header = {"dragoman": "recording/1", "agent": "codex", "dialect": "codex_app", "pid": 7}
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert list(survey(path, "codex_app").sights) == [Spot("initialize", "shiny", "number")]
    path.write_text(json.dumps(header) + "\n" + json.dumps(row) + "\n")
    assert survey(path).sights == {}


def test_a_request_that_could_not_be_answered_is_told(tmp_path: Path) -> None:
    """Also in our own recordings."""
    rows: list[Json] = [
        {"dragoman": "recording/1", "agent": "codex", "dialect": "codex_app", "pid": 7},
        {"n": 1, "t": 0.0, "dir": "out", "line": json.dumps({"id": 0, "method": "shiny/ask", "params": {}})},
        {
            "n": 2,
            "t": 0.0,
            "dir": "in",
            "line": json.dumps({"id": 0, "error": {"code": -32601, "message": "?"}}),
        },
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = CliRunner().invoke(cli, ["drift", str(path)])
    assert done.exit_code == 1
    assert "request that was not answered: shiny/ask, 1 time, first in frame 2" in done.stdout
    claude = [
        {"dragoman": "recording/1", "agent": "claude", "dialect": "claude_stream", "pid": 7},
        {
            "n": 1,
            "t": 0.0,
            "dir": "out",
            "line": json.dumps(
                {"type": "control_request", "request_id": "r", "request": {"subtype": "shiny_ask"}}
            ),
        },
        {
            "n": 2,
            "t": 0.0,
            "dir": "in",
            "line": json.dumps(
                {
                    "type": "control_response",
                    "response": {
                        "subtype": "error",
                        "request_id": "r",
                        "error": "unsupported control request: shiny_ask",
                    },
                }
            ),
        },
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in claude))
    assert Spot("control_request/shiny_ask", "(refused)") in survey(path).sights
