"""The scripted model behind the Gemini API, seen by a plain HTTP client."""

import json
import os
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
from tests.testing.http_client import Answer, post

TOOLS = [{"functionDeclarations": [{"name": "read_file"}, {"name": "glob"}]}]


def ask(at: Scenario, words: str = "hi", *, stream: bool = True, tools: Any = TOOLS, **more: Any) -> Answer:
    verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
    body = {"contents": [{"role": "user", "parts": [{"text": words}]}], "tools": tools, **more}
    return post(at, f"/v1beta/models/gemini-2.5-pro:{verb}", body, Answer)


def parts(event: dict[str, Any]) -> Any:
    return event["candidates"][0]["content"]["parts"]


def test_streams_every_kind_of_block() -> None:
    content = [
        thinking("**Plan** do it"),
        RedactedThinking("QUJD"),
        text("Let us see."),
        tool("read_file", file_path="a"),
        ToolCall("glob", {"pattern": "*"}, "mine"),
        Native({"executableCode": {"code": "1"}}),
    ]
    with ScriptedModel([turn(*content, chunk=6, usage=Usage(1, 2, 3, 4))]) as model:
        events = ask(model).events
    assert [parts(event) for event in events] == [
        [{"text": "**Plan** do it", "thought": True, "thoughtSignature": "c2lnbmF0dXJl"}],
        [{"text": "", "thought": True, "thoughtSignature": "QUJD"}],
        [{"text": "Let us"}],
        [{"text": " see."}],
        [
            {"functionCall": {"id": "call_0001", "name": "read_file", "args": {"file_path": "a"}}},
            {"functionCall": {"id": "mine", "name": "glob", "args": {"pattern": "*"}}},
        ],
        [{"executableCode": {"code": "1"}}],
    ]
    assert [event["candidates"][0].get("finishReason") for event in events] == [None] * 5 + ["STOP"]
    assert events[-1]["usageMetadata"] == {
        "promptTokenCount": 6,
        "cachedContentTokenCount": 2,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 13,
    }
    assert all("usageMetadata" not in event for event in events[:-1])
    assert {event["modelVersion"] for event in events} == {"gemini-2.5-pro"}


def test_a_whole_answer() -> None:
    with ScriptedModel([["Yes.", tool("glob", pattern="*")]]) as model:
        answer = ask(model, stream=False).json
    assert parts(answer) == [
        {"text": "Yes."},
        {"functionCall": {"id": "call_0001", "name": "glob", "args": {"pattern": "*"}}},
    ]
    assert answer["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("", "STOP"),
        ("length", "MAX_TOKENS"),
        ("refusal", "SAFETY"),
        ("RECITATION", "RECITATION"),
        ("none", None),
    ],
)
def test_why_it_stopped(stop: str, reason: str | None) -> None:
    with ScriptedModel([turn("x", stop=stop)]) as model:
        [event] = ask(model).events
    assert event["candidates"][0].get("finishReason") == reason


def test_an_empty_turn_is_one_event() -> None:
    with ScriptedModel([turn()]) as model:
        [event] = ask(model).events
    assert parts(event) == []


@pytest.mark.parametrize(
    ("status", "word"), [(429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL"), (418, "UNKNOWN")]
)
def test_errors(status: int, word: str) -> None:
    with ScriptedModel([error(status, "no")]) as model:
        answer = ask(model)
    assert answer.status == status
    assert answer.json == {"error": {"code": status, "message": "no", "status": word}}


def test_a_stream_that_is_cut() -> None:
    with ScriptedModel(
        [turn("abcdef", chunk=2, cut=Cut(1)), turn("ab", cut=Cut(1, Error(503, "gone")))]
    ) as model:
        cut, failed = ask(model), ask(model)
    assert cut.cut
    assert parts(cut.events[0]) == [{"text": "ab"}]
    assert failed.events[-1]["error"] == {"code": 503, "message": "gone", "status": "UNAVAILABLE"}


def test_what_was_asked() -> None:
    system = {"parts": [{"text": "Be brief."}]}
    with ScriptedModel(["x"]) as model:
        ask(model, "hello", systemInstruction=system)
        [request] = model.requests
    assert (request.api, request.model, request.stream) == ("gemini", "gemini-2.5-pro", True)
    assert (request.system, request.texts) == ("Be brief.", ("hello",))
    assert request.tools == ("read_file", "glob")
    assert request.route == "main"


def test_tokens_are_counted() -> None:
    with ScriptedModel() as model:
        answer = post(model, "/v1beta/models/m:countTokens", {"contents": []}, Answer)
        assert answer.json["totalTokens"] > 0
        assert post(model, "/v1beta/models/m:paint", {}, Answer).status == 404
        assert model.strays == ["POST /v1beta/models/m:paint"]


def test_a_request_for_a_form_gets_it() -> None:
    """Gemini CLI asks a small model to choose the model, and tries for a minute if the answer is not JSON."""
    form = {
        "type": "OBJECT",
        "properties": {
            "reasoning": {"type": "STRING"},
            "choice": {"enum": ["flash", "pro"]},
            "score": {"type": ["integer", "null"]},
            "sure": {"anyOf": [{"type": "boolean"}]},
            "list": {"type": "array"},
        },
    }
    with ScriptedModel(script(["main"], side={"poem": "no form"})) as model:
        told = [
            parts(
                ask(
                    model, words, stream=False, tools=None, generationConfig={"responseJsonSchema": form}
                ).json
            )
            for words in ("choose", "a poem")
        ]
        assert {request.route for request in model.requests} == {"side"}
    assert json.loads(told[0][0]["text"]) == {
        "reasoning": "ok",
        "choice": "flash",
        "score": 1,
        "sure": False,
        "list": [],
    }
    assert told[1][0]["text"] == "no form"


def test_a_summary_has_its_own_route() -> None:
    with ScriptedModel(script(["main"], compact=["so far"])) as model:
        answer = ask(model, "Generate the <state_snapshot>.", tools=None)
        assert model.requests[0].route == "compact"
    assert parts(answer.events[0]) == [{"text": "so far"}]


def test_the_environment(tmp_path: Path) -> None:
    with ScriptedModel() as model:
        env = model.env("gemini", tmp_path)
        assert env["GOOGLE_GEMINI_BASE_URL"] == model.url
    assert env["HOME"] == str(tmp_path)
    assert os.environ.keys() & env.keys() <= {"PATH", "HOME", "TMPDIR", "LANG", "NO_COLOR"} | {
        name for name in env if name.endswith("_PROXY")
    }
    settings = tmp_path / ".gemini" / "settings.json"
    assert json.loads(settings.read_text())["security"]["auth"]["selectedType"] == "gemini-api-key"
    settings.write_text('{"mine": true}')
    with ScriptedModel() as model:
        model.env("gemini", tmp_path)
    assert settings.read_text() == '{"mine": true}'
