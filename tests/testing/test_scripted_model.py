"""The scripted model seen by a plain HTTP client."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from dragoman.testing import (
    Cut,
    Error,
    Hold,
    Native,
    RedactedThinking,
    Request,
    Scenario,
    ScriptedModel,
    ToolCall,
    Usage,
    error,
    load,
    script,
    text,
    thinking,
    tool,
    turn,
)
from tests.testing import http_client
from tests.testing.http_client import NamedAnswer, connect, post

TOOLS = [{"name": "Bash"}, {"name": "Read"}]


class Answer(NamedAnswer):
    @property
    def said(self) -> str:
        if "event-stream" not in self.headers["content-type"]:
            return "".join(b.get("text", "") for b in self.json["content"])
        return "".join(e["delta"].get("text", "") for e in self.events if e["type"] == "content_block_delta")


def ask(at: Scenario, words: Any = "hi", *, stream: bool = True, tools: Any = TOOLS, **more: Any) -> Answer:
    said = [{"role": "user", "content": words}]
    body = {"model": "m-1", "stream": stream, "tools": tools, "messages": said, **more}
    return post(at, "/v1/messages", body, Answer)


def send(at: Scenario, method: str, path: str, body: str | None = None, **headers: str) -> Answer:
    return http_client.send(at, method, path, body, Answer, **headers)


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def test_streams_every_kind_of_block() -> None:
    content = [
        thinking("Hm, well."),
        RedactedThinking("QUJD"),
        text("Let us see."),
        tool("Bash", command="ls"),
        Native({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
    ]
    with ScriptedModel([turn(*content, chunk=6, usage=Usage(1, 2, 3, 4))]) as model:
        answer = ask(model)
    assert answer.headers["request-id"] == "req_0001"
    events = answer.events
    start, ping, *middle, delta, stop = events
    assert start["message"] == {
        "id": "msg_0001",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 1,
            "cache_read_input_tokens": 2,
            "cache_creation_input_tokens": 3,
            "cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 1,
        },
    }
    assert ping == {"type": "ping"}
    assert delta["delta"]["stop_reason"] == "tool_use"
    assert delta["usage"] == {"output_tokens": 4}
    assert stop == {"type": "message_stop"}
    blocks = [[e for e in middle if e["index"] == i] for i in range(5)]
    assert list(chain(*blocks)) == middle
    assert {(b[0]["type"], b[-1]["type"]) for b in blocks} == {("content_block_start", "content_block_stop")}
    assert [b[0]["content_block"] for b in blocks] == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "redacted_thinking", "data": "QUJD"},
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "toolu_0001", "name": "Bash", "input": {}},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
    ]
    thought, redacted, said, call, native = [[e["delta"] for e in b[1:-1]] for b in blocks]
    assert [d.get("thinking") for d in thought] == ["Hm, we", "ll.", None]
    assert thought[-1] == {"type": "signature_delta", "signature": "c2lnbmF0dXJl"}
    assert said == [{"type": "text_delta", "text": t} for t in ("Let us", " see.")]
    assert json.loads("".join(d["partial_json"] for d in call)) == {"command": "ls"}
    assert redacted == native == []


def test_whole_answer_says_the_same() -> None:
    with ScriptedModel([[thinking("Hm."), "Look:", tool("Read", file_path="a")]]) as model:
        message = ask(model, stream=False).json
    assert message["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"},
        {"type": "text", "text": "Look:"},
        {"type": "tool_use", "id": "toolu_0001", "name": "Read", "input": {"file_path": "a"}},
    ]
    assert (message["id"], message["stop_reason"]) == ("msg_0001", "tool_use")
    assert message["usage"]["output_tokens"] == 20


def test_ids_are_counted_per_route_and_given_ids_are_kept() -> None:
    calls = [tool("A"), ToolCall("B", id="mine"), tool("C")]
    with ScriptedModel(script([calls, tool("D")], routes={"sub": [tool("E")]})) as model:
        answers = [ask(model, w, stream=False).json for w in ("x", "[[sub]] y", "z")]
    assert [a["id"] for a in answers] == ["msg_0001", "msg_sub_0001", "msg_0002"]
    ids = [[b["id"] for b in a["content"]] for a in answers]
    assert ids == [["toolu_0001", "mine", "toolu_0003"], ["toolu_sub_0001"], ["toolu_0004"]]


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("", "end_turn"),
        ("length", "max_tokens"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded",) * 2,
    ],
)
def test_stop_reasons(stop: str, reason: str) -> None:
    with ScriptedModel([turn("So.", stop=stop)]) as model:
        assert ask(model, stream=False).json["stop_reason"] == reason


def test_odd_text_arrives_as_written() -> None:
    words = "a\u2028b\x85c\ud83d \U0001f600"
    with ScriptedModel([turn(words, chunk=1), ToolCall("Bash", raw='{"command": "ec')]) as model:
        assert ask(model).said == words
        parts = [
            e["delta"]["partial_json"]
            for e in ask(model).events
            if "delta" in e and "partial_json" in e["delta"]
        ]
    assert "".join(parts) == '{"command": "ec'


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_errors(status: int, kind: str) -> None:
    with ScriptedModel([error(status, "no", headers={"retry-after": "7"}), "yes"]) as model:
        refused = ask(model)
        assert ask(model).said == "yes"
    assert refused.status == status
    assert refused.headers["retry-after"] == "7"
    assert refused.json == {"type": "error", "error": {"type": kind, "message": "no"}}


def test_error_type_may_be_given() -> None:
    with ScriptedModel([Error(403, "no", "billing_error")]) as model:
        assert ask(model).json["error"]["type"] == "billing_error"


def test_headers_and_model_of_an_answer() -> None:
    with ScriptedModel([turn("hi", model="m-2", headers={"x-limit": "0.9"})]) as model:
        answer = ask(model)
    assert answer.headers["x-limit"] == "0.9"
    assert answer.events[0]["message"]["model"] == "m-2"


def test_cut_in_the_middle_of_a_stream() -> None:
    with ScriptedModel([turn("abcdef", chunk=2, cut=Cut(5)), turn("abcdef", cut=Cut(-1)), "whole"]) as model:
        first, second, third = ask(model), ask(model), ask(model)
    assert (first.cut, first.said, len(first.events)) == (True, "abcd", 5)
    assert second.cut
    assert second.events[-1]["type"] == "message_delta"
    assert (third.cut, third.said) == (False, "whole")


def test_cut_with_an_error_event() -> None:
    with ScriptedModel([turn("abcdef", chunk=2, cut=Cut(4, Error(529, "busy")))]) as model:
        answer = ask(model)
    assert answer.cut
    assert answer.said == "ab"
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    assert answer.events[-1] == failed


def test_cut_before_the_first_byte() -> None:
    with ScriptedModel([turn("x", cut=Cut(0))]) as model, pytest.raises(http.client.RemoteDisconnected):
        ask(model)


def test_cut_of_a_whole_answer() -> None:
    with ScriptedModel([turn("x", cut=Cut(3))]) as model:
        answer = ask(model, stream=False)
    assert answer.cut
    assert answer.body.startswith(b'{"id"')


def test_held_until_the_gate_opens(background: ThreadPoolExecutor) -> None:
    with ScriptedModel([turn("late", hold=Hold("go"))]) as model:
        answer = background.submit(ask, model)
        assert model.wait_for_request(1).texts == ("hi",)
        model.wait_for_hold("go")
        assert not answer.done()
        model.open("go")
        assert answer.result().said == "late"


def test_held_in_the_middle_with_all_before_it_sent() -> None:
    with ScriptedModel([turn("abcdef", chunk=2, hold=Hold("go", after=4))]) as model:
        connection = connect(model)
        body = {"model": "m", "stream": True, "tools": TOOLS, "messages": []}
        connection.request("POST", "/v1/messages", json.dumps(body))
        response = connection.getresponse()
        model.wait_for_hold("go")
        seen = b""
        while seen.count(b"\n\n") < 4:
            seen += response.read1()
        assert b'"ab"' in seen
        assert seen.count(b"\n\n") == 4
        model.open("go")
        assert b"message_stop" in response.read()
        connection.close()


def test_a_gate_may_be_opened_before_anyone_comes() -> None:
    with ScriptedModel([turn("a", hold=Hold("go", after=99)), error(500)]) as model:
        model.open("go")
        assert ask(model).said == "a"


def test_waiting_has_an_end() -> None:
    with ScriptedModel(["a"]) as model:
        ask(model)
        with pytest.raises(TimeoutError, match=r"no request 2 of main; so far \['main'\]"):
            model.wait_for_request(2, timeout=0)
        with pytest.raises(TimeoutError, match="gate 'go'"):
            model.wait_for_hold("go", timeout=0)


def test_close_ends_what_is_held_delayed_or_idle(background: ThreadPoolExecutor) -> None:
    before = set(threading.enumerate())
    with ScriptedModel(
        [turn("a", hold=Hold("never")), turn("b", delay=3600), turn("c", chunk_delay=3600)]
    ) as model:
        idle = socket.create_connection(("127.0.0.1", urlsplit(model.url).port or 0))
        asked = []
        for n in (1, 2, 3):
            asked.append(background.submit(ask, model))
            model.wait_for_request(n)
        mine = set(background._threads)
    assert set(threading.enumerate()) - before - mine == set()
    assert idle.recv(1) == b""
    idle.close()
    for answer in asked:
        with suppress(ConnectionError, http.client.HTTPException):
            answer.result()
    with pytest.raises(ConnectionRefusedError):
        ask(model)
    model.close()


def test_routes_by_the_earliest_marker() -> None:
    played = script(["main 1", "main 2"], routes={"a": ["a 1", "a 2"], "b": ["b 1"]})
    with ScriptedModel(played) as model:
        said = [
            ask(model, "plain").said,
            ask(
                model, [{"type": "text", "text": "remember"}, {"type": "text", "text": "go [[b]], not [[a]]"}]
            ).said,
            ask(model, "[[a]]").said,
            ask(model, "[[c]]").said,
            ask(model, "[[a]] again").said,
        ]
    assert said == ["main 1", "b 1", "a 1", "main 2", "a 2"]
    assert [r.route for r in model.requests] == ["main", "b", "a", "main", "a"]
    assert [r.texts[0] for r in model.requests_of("a")] == ["[[a]]", "[[a]] again"]


@pytest.mark.parametrize("name", ["main", "side", "a b", ""])
def test_route_names_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="name for a route"):
        script([], routes={name: []})


def test_when_the_script_is_used_up() -> None:
    with ScriptedModel(["a"]) as model, ScriptedModel(script(["a", "b"], repeat_last=True)) as again:
        assert [ask(model).said for _ in range(3)] == ["a", "(script exhausted)", "(script exhausted)"]
        assert [ask(again).said for _ in range(3)] == ["a", "b", "b"]


def test_side_requests_take_no_turn() -> None:
    with ScriptedModel(script(["turn"], side={"weather": "sunny"})) as model:
        title = ask(model, "x", tools=[], system=[{"type": "text", "text": "Make a short Title."}]).said
        assert json.loads(title) == {"title": "Scripted title"}
        assert ask(model, "How is the Weather?", tools=None).said == "sunny"
        assert ask(model, "quota", tools=[]).said == "ok"
        assert ask(model).said == "turn"
    assert [r.route for r in model.requests] == ["side", "side", "side", "main"]
    assert model.wait_for_request(1).tools == ("Bash", "Read")
    assert model.wait_for_request(2, route=None).texts == ("How is the Weather?",)


def test_side_none_lets_every_request_take_a_turn() -> None:
    with ScriptedModel(script(["turn"], side=None)) as model:
        assert ask(model, tools=[]).said == "turn"


def test_compaction_has_turns_of_its_own() -> None:
    prompt = "CRITICAL: text only.\nYour task is to create a detailed summary of the conversation so far."
    with ScriptedModel(script(["turn"], compact=["<summary>mine</summary>"])) as model:
        assert ask(model, prompt).said == "<summary>mine</summary>"
        assert "<summary>" in ask(model, prompt, tools=[]).said
        assert ask(model).said == "turn"
    assert [r.route for r in model.requests] == ["compact", "compact", "main"]


def test_a_turn_made_of_the_request() -> None:
    with ScriptedModel([lambda request: turn(request.texts[-1].upper())]) as model:
        assert ask(model, "echo").said == "ECHO"


def test_a_script_that_fails_fails_the_test() -> None:
    def broken(request: Request) -> str:
        raise LookupError("nothing to say")

    with pytest.raises(LookupError, match="nothing to say"), ScriptedModel([broken]) as model:
        assert ask(model).status == 500


def test_the_log_keeps_the_request_but_no_key() -> None:
    with ScriptedModel(["a"]) as model:
        body = {
            "model": "m",
            "messages": [{"role": "user", "content": "hi"}],
            "tools": TOOLS,
            "system": "be brief",
        }
        headers = {"x-api-key": "secret", "Authorization": "secret", "X-App": "cli"}
        send(model, "POST", "/v1/messages?beta=true", json.dumps(body), **headers)
        (request,) = model.requests
    assert (request.api, request.route, request.model, request.stream) == ("anthropic", "main", "m", False)
    assert (request.system, request.messages, request.body) == ("be brief", body["messages"], body)
    assert request.headers["x-app"] == "cli"
    assert b"secret" not in msgspec.json.encode(request)


def test_several_scenarios_on_one_server() -> None:
    with ScriptedModel(["root"]) as model:
        other = model.add("other", ["beside", "beside 2"])
        assert other.url == f"{model.url}/s/other"
        assert [ask(other).said, ask(model).said, ask(other).said] == ["beside", "root", "beside 2"]
        assert (len(model.requests), len(other.requests)) == (1, 2)


def test_other_paths() -> None:
    with ScriptedModel() as model:
        assert send(model, "POST", "/v1/messages/count_tokens", "x" * 40).json == {"input_tokens": 10}
        assert model.strays == []
        assert send(model, "HEAD", "/").status == 200
        assert send(model, "GET", "/v1/models").status == 404
        assert send(model, "POST", "/v1/nothing", "{}").json["error"]["type"] == "not_found_error"
        assert send(model, "POST", "/s/nobody/v1/messages", "{}").status == 404
        assert send(model, "POST", "/v1/messages", "{").status == 400
        assert send(model, "POST", "/v1/messages", "[]").status == 400
        assert model.requests == []
    assert model.strays == ["HEAD /", "GET /v1/models", "POST /v1/nothing", "POST /s/nobody/v1/messages"]


def test_it_is_a_proxy_that_refuses() -> None:
    with ScriptedModel() as model:
        tunnel = connect(model)
        tunnel.set_tunnel("example.org", 443)
        with pytest.raises(OSError, match="502"):
            tunnel.request("GET", "/")
        tunnel.close()
    assert model.strays == ["CONNECT example.org:443"]


def test_connections_are_kept_alive() -> None:
    with ScriptedModel(["a", "b"]) as model:
        connection = connect(model)
        for said in (b'"a"', b'"b"'):
            body = {"model": "m", "stream": True, "tools": TOOLS, "messages": []}
            connection.request("POST", "/v1/messages", json.dumps(body))
            assert said in connection.getresponse().read()
            assert connection.sock is not None
        connection.close()


def test_environment_is_complete_and_takes_over_nothing_but_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "secret")
    with ScriptedModel() as model:
        other = model.add("other", [])
        env = other.env("claude", home=tmp_path / "home")
    inherited = {name for name, value in env.items() if os.environ.get(name) == value}
    assert inherited - {"LANG"} == {"PATH"}
    assert env["HOME"] == str(tmp_path / "home")
    assert env["ANTHROPIC_BASE_URL"] == other.url
    assert env["HTTPS_PROXY"] == model.url
    assert Path(env["TMPDIR"]).is_dir()
    assert "ANTHROPIC_AUTH_TOKEN" not in env
    with pytest.raises(ValueError, match="'nobody'; there is one for claude"):
        model.env("nobody", home=tmp_path)


SCRIPT = {
    "turns": [
        "plain",
        {"type": "tool", "name": "Bash", "input": {"command": "ls"}},
        ["look:", {"type": "thinking", "text": "hm"}],
        {"content": ["cut"], "cut": {"after": 3, "error": {"status": 529}}, "usage": {"output": 5}},
        {"error": {"status": 429}, "headers": {"retry-after": "1"}},
        "\ud83d",
    ],
    "routes": {"sub": ["from sub"]},
    "repeat_last": True,
}


def test_json_scripts_say_the_same_as_python_ones(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(SCRIPT))
    assert load(tmp_path / "s.json") == script(
        [
            "plain",
            tool("Bash", command="ls"),
            [text("look:"), thinking("hm")],
            turn("cut", cut=Cut(3, Error(529)), usage=Usage(output=5)),
            error(429, headers={"retry-after": "1"}),
            "\ud83d",
        ],
        routes={"sub": ["from sub"]},
        repeat_last=True,
    )


@pytest.mark.parametrize("wrong", [{"contnet": []}, {"type": "txet"}, {"type": "text", "words": "x"}, [7]])
def test_mistakes_in_a_script_are_found_when_it_is_read(wrong: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        script([wrong])


def test_runs_from_a_shell(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(SCRIPT))
    command = [sys.executable, "-m", "dragoman.testing", "--script", str(tmp_path / "s.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        assert ask(Scenario([], url)).said == "plain"
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
