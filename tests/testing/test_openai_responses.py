"""The scripted model behind the OpenAI Responses API, seen by a plain HTTP client."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dragoman.testing import (
    Cut,
    Error,
    Native,
    RedactedThinking,
    Scenario,
    ScriptedModel,
    ToolCall,
    Usage,
    error,
    script,
    text,
    thinking,
    tool,
    turn,
)
from tests.testing.http_client import NamedAnswer, connect, post

TOOLS = [
    {"type": "function", "name": "exec_command"},
    {"type": "custom", "name": "apply_patch"},
    {"type": "web_search"},
]


class Answer(NamedAnswer):
    def deltas(self, kind: str) -> list[str]:
        return [event["delta"] for event in self.events if event["type"] == f"response.{kind}.delta"]

    @property
    def items(self) -> list[dict[str, Any]]:
        return [event["item"] for event in self.events if event["type"] == "response.output_item.done"]


def said(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def ask(at: Scenario, words: str = "hi", *, stream: bool = True, tools: Any = TOOLS, **more: Any) -> Answer:
    body = {"model": "m-1", "stream": stream, "tools": tools, "input": [said(words)], **more}
    return post(at, "/v1/responses", body, Answer)


def test_streams_every_kind_of_block() -> None:
    content = [
        thinking("Hm, well."),
        RedactedThinking("QUJD"),
        text("Let us see."),
        tool("exec_command", cmd="ls"),
        tool("apply_patch", input="*** Begin Patch"),
        Native({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
    ]
    with ScriptedModel([turn(*content, chunk=6, usage=Usage(1, 2, 3, 4))]) as model:
        answer = ask(model)
    events = answer.events
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    created, *middle, completed = events
    assert (created["type"], created["response"]["status"]) == ("response.created", "in_progress")
    assert (created["response"]["id"], created["response"]["output"]) == ("resp_0001", [])
    blocks = [[e for e in middle if e["output_index"] == i] for i in range(6)]
    assert [e for block in blocks for e in block] == middle
    assert {(b[0]["type"], b[-1]["type"]) for b in blocks} == {
        ("response.output_item.added", "response.output_item.done")
    }
    begun = [block[0]["item"] for block in blocks]
    assert begun[0]["summary"] == []
    assert (begun[2]["content"], begun[2]["status"]) == ([], "in_progress")
    assert (begun[3]["arguments"], begun[4]["input"]) == ("", "")
    assert answer.deltas("reasoning_summary_text") == ["Hm, we", "ll."]
    assert answer.deltas("output_text") == ["Let us", " see."]
    assert json.loads("".join(answer.deltas("function_call_arguments"))) == {"cmd": "ls"}
    assert "".join(answer.deltas("custom_tool_call_input")) == "*** Begin Patch"
    assert answer.items == completed["response"]["output"]
    assert answer.items == [
        {
            "type": "reasoning",
            "id": "rs_0001_0",
            "summary": [{"type": "summary_text", "text": "Hm, well."}],
            "encrypted_content": "c2lnbmF0dXJl",
        },
        {"type": "reasoning", "id": "rs_0001_1", "summary": [], "encrypted_content": "QUJD"},
        {
            "type": "message",
            "id": "msg_0001_2",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Let us see.", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_0001_3",
            "call_id": "call_0001",
            "name": "exec_command",
            "status": "completed",
            "arguments": '{"cmd": "ls"}',
        },
        {
            "type": "custom_tool_call",
            "id": "ctc_0001_4",
            "call_id": "call_0002",
            "name": "apply_patch",
            "status": "completed",
            "input": "*** Begin Patch",
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    ]
    assert completed["type"] == "response.completed"
    assert completed["response"]["usage"] == {
        "input_tokens": 6,
        "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 3},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 10,
    }


def test_whole_answer_says_the_same() -> None:
    content = [thinking("Hm."), text("Look:"), tool("exec_command", cmd="ls")]
    with ScriptedModel([content, content]) as model:
        whole, streamed = ask(model, stream=False).json, ask(model).events[-1]["response"]
    assert whole["status"] == "completed"
    assert [item["type"] for item in whole["output"]] == ["reasoning", "message", "function_call"]
    assert [item["type"] for item in streamed["output"]] == ["reasoning", "message", "function_call"]
    assert (whole["id"], streamed["id"]) == ("resp_0001", "resp_0002")


@pytest.mark.parametrize(
    ("name", "namespace", "own"),
    [
        ("exec_command", None, "exec_command"),
        ("mcp__files__read", "mcp__files", "read"),
        ("multi_agent_v1.spawn_agent", "multi_agent_v1", "spawn_agent"),
    ],
)
def test_namespaces(name: str, namespace: str | None, own: str) -> None:
    with ScriptedModel([tool(name, a=1)]) as model:
        (item,) = ask(model).items
    assert (item["type"], item.get("namespace"), item["name"]) == ("function_call", namespace, own)


def test_given_ids_and_raw_inputs_are_kept() -> None:
    with ScriptedModel(
        [[ToolCall("exec_command", id="mine", raw="{not json"), ToolCall("exec", raw="throw 1")]]
    ) as model:
        call, custom = ask(model).items
    assert (call["call_id"], call["arguments"]) == ("mine", "{not json")
    assert (custom["type"], custom["input"]) == ("custom_tool_call", "throw 1")


@pytest.mark.parametrize(
    ("stop", "status", "reason"),
    [
        ("", "completed", None),
        ("length", "incomplete", "max_output_tokens"),
        ("refusal", "incomplete", "content_filter"),
    ],
)
def test_why_it_stopped(stop: str, status: str, reason: str | None) -> None:
    with ScriptedModel([turn("So.", stop=stop)]) as model:
        last = ask(model).events[-1]
    assert (last["type"], last["response"]["status"]) == (f"response.{status}", status)
    assert last["response"].get("incomplete_details", {}).get("reason") == reason


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (429, "rate_limit_exceeded"),
        (500, "server_error"),
    ],
)
def test_errors(status: int, kind: str) -> None:
    with ScriptedModel([error(status, "no", headers={"retry-after": "0"}), "yes"]) as model:
        refused = ask(model)
        assert ask(model).deltas("output_text") == ["yes"]
    assert (refused.status, refused.headers["retry-after"]) == (status, "0")
    assert refused.json == {"error": {"type": kind, "code": kind, "message": "no"}}


def test_error_type_may_be_given() -> None:
    with ScriptedModel([Error(429, "no", "usage_limit_reached")]) as model:
        assert ask(model).json["error"]["type"] == "usage_limit_reached"


def test_cut_in_the_middle_of_a_stream() -> None:
    with ScriptedModel([turn("abcdef", chunk=2, cut=Cut(5)), turn("abcdef", cut=Cut(-1))]) as model:
        first, second = ask(model), ask(model)
    assert (first.cut, first.deltas("output_text")) == (True, ["ab", "cd"])
    assert second.cut
    assert second.events[-1]["type"] == "response.output_item.done"


def test_cut_with_an_error_event() -> None:
    with ScriptedModel([turn("abcdef", chunk=2, cut=Cut(4, Error(500, "busy")))]) as model:
        last = ask(model).events[-1]
    assert (last["type"], last["response"]["status"]) == ("response.failed", "failed")
    assert last["response"]["error"] == {"type": "server_error", "code": "server_error", "message": "busy"}


def test_odd_text_arrives_as_written() -> None:
    words = "a\u2028b\x85c\ud83d \U0001f600"
    with ScriptedModel([turn(words, chunk=1)]) as model:
        answer = ask(model)
    assert "".join(answer.deltas("output_text")) == words
    assert answer.items[0]["content"][0]["text"] == words


def test_the_log() -> None:
    with ScriptedModel(["a"]) as model:
        ask(model, "hello", instructions="be brief")
        (request,) = model.requests
    assert (request.api, request.route, request.model, request.stream) == (
        "openai_responses",
        "main",
        "m-1",
        True,
    )
    assert (request.system, request.texts, request.messages) == ("be brief", ("hello",), [said("hello")])
    assert request.tools == ("exec_command", "apply_patch", "web_search")


def test_input_may_be_a_string() -> None:
    with ScriptedModel([lambda request: text(request.texts[-1].upper())]) as model:
        assert ask(model, input="echo").deltas("output_text") == ["ECHO"]


def test_routes_side_requests_and_compaction() -> None:
    played = script(["main"], routes={"kid": [tool("exec_command", cmd="x")]}, compact=["a summary"])
    with ScriptedModel(played) as model:
        assert ask(model, "[[kid]] go").items[0]["call_id"] == "call_kid_0001"
        assert ask(model, "You are performing a CONTEXT CHECKPOINT COMPACTION. Create …").deltas(
            "output_text"
        ) == ["a summary"]
        assert ask(model, tools=[]).deltas("output_text") == ["ok"]
        assert ask(model).deltas("output_text") == ["main"]
    assert [r.route for r in model.requests] == ["kid", "compact", "side", "main"]


def test_both_apis_take_turns_of_one_script() -> None:
    with ScriptedModel(["first", "second"]) as model:
        assert ask(model).deltas("output_text") == ["first"]
        connection = connect(model)
        body = {"model": "m", "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": "x"}]}
        connection.request("POST", "/v1/messages", json.dumps(body))
        assert json.loads(connection.getresponse().read())["content"][0]["text"] == "second"
        connection.close()


def test_codex_finds_it_by_its_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with ScriptedModel() as model:
        other = model.add("other", [])
        env = other.env("codex", home=tmp_path / "home")
    inherited = {name for name, value in env.items() if os.environ.get(name) == value}
    assert inherited - {"LANG"} == {"PATH"}
    folder = Path(env["CODEX_HOME"])
    assert folder.is_relative_to(tmp_path / "home")
    assert not folder.is_relative_to(env["TMPDIR"])
    config = tomllib.loads((folder / "config.toml").read_text())
    provider = config["model_providers"][config["model_provider"]]
    assert provider["base_url"] == f"{other.url}/v1"
    assert (provider["wire_api"], provider["supports_websockets"]) == ("responses", False)
    assert env[provider["env_key"]] == "dummy"
    # These would call other hosts, or write requests that nobody here can read.
    assert config["features"] == {"enable_request_compression": False, "plugins": False}
    assert config["analytics"] == {"enabled": False}
