"""The published views on the command line: `convert --view`, `run --view`, `schema --view`, and back."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.fake_program import HELLO, INIT, Invoke, Program, result

VIEWS = ("agent-event", "insights", "untether")


def items(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("view", VIEWS)
def test_every_line_is_valid_by_its_schema(invoke: Invoke, stream: Path, view: str) -> None:
    schema = json.loads(invoke("schema", "--view", view).stdout)
    done = invoke("convert", "--view", view, stream)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert len(items(done.stdout)) >= 2
    for item in items(done.stdout):
        jsonschema.validate(item, schema)


def test_agent_event(invoke: Invoke, stream: Path) -> None:
    told = items(invoke("convert", "--view", "agent-event", stream).stdout)
    assert [item["type"] for item in told] == ["sessionStarted", "textChunk", "sessionEnded"]
    live = items(invoke("convert", "--view", "agent-event", "--profile", "live", stream).stdout)
    assert [item["type"] for item in live][-2:] == ["turnCompleted", "sessionEnded"]


def test_insights_repeats_the_agents_lines(invoke: Invoke, stream: Path) -> None:
    told = items(invoke("convert", "--view", "insights", stream).stdout)
    assert told[0]["raw"] == INIT
    assert told[1]["raw"] == HELLO


@pytest.mark.parametrize("view", ["agent-event", "insights"])
@pytest.mark.parametrize("said", [True, False])
def test_there_and_back(invoke: Invoke, stream: Path, tmp_path: Path, view: str, said: bool) -> None:
    """Which view it is shows in its first line, so `--from` need not be given."""
    shown = invoke("convert", "--view", view, stream).stdout
    path = tmp_path / "view.jsonl"
    path.write_text(shown)
    given = ("--from", view) if said else ()
    assert items(invoke("convert", *given, "--view", view, path).stdout) == items(shown)
    events = items(invoke("convert", *given, path).stdout)
    assert [event["text"] for event in events if event["type"] == "message"] == ["Hello."]
    assert invoke("check", *given, path).exit_code == 0
    events_path = tmp_path / "events.jsonl"
    events_path.write_bytes(invoke("convert", *given, "--native", path).stdout_bytes)
    assert invoke("convert", "--view", "native", events_path).stdout == shown
    assert invoke("convert", *given, "--view", "native", path).stdout == shown


ACP = [
    {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}},
    {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "s",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}},
        },
    },
]


def test_agents_that_agent_event_does_not_know(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "acp.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in ACP))
    refused = invoke("convert", "--from", "acp", "--view", "agent-event", path)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "claude, codex, gemini" in refused.stderr
    wide = items(invoke("convert", "--from", "acp", "--view", "agent-event", "--extended", path).stdout)
    assert wide[0]["agentType"] == "acp"
    named = invoke("convert", "--from", "acp", "--agent", "claude-acp", "--view", "agent-event", path)
    assert items(named.stdout)[0]["agentType"] == "claude"
    assert invoke("convert", "--from", "acp", "--view", "insights", path).exit_code == 0


def test_run(invoke: Invoke, program: Program) -> None:
    agent = program(INIT, HELLO, result())
    done = invoke("run", "claude", "hi", "--view", "agent-event", "--executable", agent)
    assert done.exit_code == 0
    told = [item["type"] for item in items(done.stdout)]
    assert told[:3] == ["sessionStarted", "textChunk", "turnCompleted"]
    assert told[-1] == "sessionEnded"
    told = items(invoke("run", "claude", "hi", "--view", "insights", "--executable", agent).stdout)
    assert [item["event"] for item in told if item["event"] != "usage_update"] == [
        "user_input",
        "session_init",
        "text",
        "turn_complete",
    ]


def test_json_and_view_exclude_each_other(invoke: Invoke, program: Program) -> None:
    done = invoke("run", "claude", "hi", "--json", "--view", "insights", "--executable", program(INIT))
    assert done.exit_code == 2
    assert "exclude" in done.stderr


def test_schemas(invoke: Invoke) -> None:
    titles = {
        args: json.loads(invoke("schema", *args).stdout)["title"]
        for args in (
            ("--view", "agent-event"),
            ("--view", "agent-event", "--extended"),
            ("--view", "insights"),
            ("--native", "claude"),
            ("--native", "codex"),
            ("--native", "gemini"),
        )
    }
    assert list(titles.values()) == [
        "UnifiedAgentEvent",
        "UnifiedAgentEvent (extended)",
        "InsightsEvent",
        "ClaudeStreamEvent",
        "CodexStreamEvent",
        "GeminiStreamEvent",
    ]
    assert invoke("schema", "--view", "insights", "--native", "claude").exit_code == 2
