"""The scripted model behind OpenAI's Chat Completions API, seen by a plain HTTP client."""

import json
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
    text,
    thinking,
    tool,
    turn,
)
from tests.testing.http_client import Answer, post

TOOLS = [
    {"type": "function", "function": {"name": "bash"}},
    {"type": "function", "function": {"name": "read"}},
]


def ask(at: Scenario, *messages: dict[str, Any], stream: bool = True, **more: Any) -> Answer:
    said = list(messages) or [{"role": "user", "content": "hi"}]
    body = {"model": "m-1", "stream": stream, "tools": TOOLS, "messages": said, **more}
    return post(at, "/v1/chat/completions", body, Answer)


def test_streams_every_kind_of_block() -> None:
    content = [
        thinking("Hm, well."),
        RedactedThinking("QUJD"),
        text("Let us see."),
        tool("bash", command="ls"),
        ToolCall("read", {}, "mine", raw='{"path": '),
        Native({"refusal": "no"}),
    ]
    with ScriptedModel([turn(*content, chunk=8, usage=Usage(1, 2, 3, 4))]) as model:
        answer = ask(model)
    *chunks, end, usage = answer.events
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert [d["reasoning_content"] for d in deltas if "reasoning_content" in d] == ["Hm, well", "."]
    assert "".join(d.get("content", "") for d in deltas) == "Let us see."
    calls = [call for d in deltas for call in d.get("tool_calls", [])]
    first, second = ([call for call in calls if call["index"] == index] for index in (0, 1))
    assert first[0] == {
        "index": 0,
        "id": "call_0001",
        "type": "function",
        "function": {"name": "bash", "arguments": ""},
    }
    assert json.loads("".join(call["function"]["arguments"] for call in first)) == {"command": "ls"}
    assert second[0]["id"] == "mine"
    assert "".join(call["function"]["arguments"] for call in second) == '{"path": '
    assert deltas[-1] == {"refusal": "no"}
    assert end["choices"] == [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]
    assert usage["choices"] == []
    assert usage["usage"] == {
        "prompt_tokens": 6,
        "completion_tokens": 4,
        "total_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 2},
    }
    assert answer.data[-1] == "[DONE]"
    assert {event["id"] for event in answer.events} == {"chatcmpl-0001"}


def test_a_whole_answer() -> None:
    with ScriptedModel(
        [[thinking("hm"), "Yes.", tool("bash", command="ls")], turn(Native({"refusal": "no"}))]
    ) as model:
        answer, native = ask(model, stream=False).json, ask(model, stream=False).json
    assert answer["choices"] == [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Yes.",
                "reasoning_content": "hm",
                "tool_calls": [
                    {
                        "id": "call_0001",
                        "type": "function",
                        "function": {"name": "bash", "arguments": '{"command": "ls"}'},
                    }
                ],
            },
            "finish_reason": "tool_calls",
        }
    ]
    assert answer["usage"]["total_tokens"] == 180
    assert native["choices"][0]["message"] == {"role": "assistant", "content": None, "refusal": "no"}


@pytest.mark.parametrize(
    ("stop", "reason"), [("", "stop"), ("length", "length"), ("refusal", "content_filter"), ("odd", "odd")]
)
def test_why_it_stopped(stop: str, reason: str) -> None:
    with ScriptedModel([turn("x", stop=stop)]) as model:
        assert ask(model, stream=False).json["choices"][0]["finish_reason"] == reason


def test_errors_and_cuts() -> None:
    turns = [
        error(429, "slow"),
        turn("abcdef", chunk=2, cut=Cut(2)),
        turn("ab", cut=Cut(1, Error(500, "gone"))),
    ]
    with ScriptedModel(turns) as model:
        refused, cut, failed = ask(model), ask(model), ask(model)
    assert refused.status == 429
    assert refused.json["error"] == {
        "message": "slow",
        "type": "rate_limit_error",
        "param": None,
        "code": None,
    }
    assert cut.cut
    assert cut.data[-1] != "[DONE]"
    assert failed.events[-1]["error"]["message"] == "gone"


def test_what_was_asked() -> None:
    messages = (
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Really."}]},
        {"role": "user", "content": [{"type": "text", "text": "hello"}, {"type": "image_url"}]},
        {"role": "assistant", "content": "yes?"},
        {"role": "user", "content": "again"},
    )
    with ScriptedModel(["x"]) as model:
        ask(model, *messages)
        [request] = model.requests
    assert (request.api, request.model, request.stream) == ("openai_chat", "m-1", True)
    assert (request.system, request.texts) == ("Be brief.\nReally.", ("hello", "again"))
    assert request.tools == ("bash", "read")
