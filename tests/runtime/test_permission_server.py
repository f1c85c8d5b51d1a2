"""The policy as an MCP tool, and the socket behind it."""

import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from dragoman._model.commands import Answer
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy
from dragoman._policy.rulebook import Rulebook
from dragoman._policy.rules import Rule
from dragoman._runtime.permission_server import asked_at, by_policy, permission_request, serve
from dragoman._runtime.permission_socket import permission_listener
from dragoman._runtime.requests import LATER

RULES = Rulebook(
    ("mine", [Rule(effect="deny", command="rm", message="keep it"), Rule(effect="allow", command="ls")])
)
LS: dict[str, Any] = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "toolu_1"}
RM: dict[str, Any] = {"tool_name": "Bash", "input": {"command": "rm x"}, "tool_use_id": "toolu_2"}
MAKE: dict[str, Any] = {"tool_name": "Bash", "input": {"command": "make"}, "tool_use_id": "toolu_3"}


def call(name: str = "approve", id: int = 1, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": id,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def said(*lines: Any, mode: Any = "ask", ask: str | None = None) -> list[dict[str, Any]]:
    """What the server writes when it reads these lines."""
    written: list[bytes] = []
    text = b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )
    serve(io.BytesIO(text), written.append, by_policy(Policy(mode, RULES), "claude", "/", ask))
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in written)
    return [json.loads(line) for line in written]


def decision(answer: dict[str, Any]) -> Any:
    [content] = answer["result"]["content"]
    assert content["type"] == "text"
    return json.loads(content["text"])


# --- MCP -----------------------------------------------------------------------------------------------------


def test_the_handshake() -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-03-26", "capabilities": {}},
    }
    [first, pong, tools] = said(
        hello,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "p", "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    )
    assert (first["jsonrpc"], first["id"]) == ("2.0", 0)
    assert first["result"]["protocolVersion"] == "2025-03-26"
    assert first["result"]["serverInfo"]["name"] == "dragoman"
    assert first["result"]["capabilities"] == {"tools": {}}
    assert (pong["id"], pong["result"]) == ("p", {})
    [tool] = tools["result"]["tools"]
    assert tool["name"] == "approve"
    assert tool["inputSchema"]["required"] == ["tool_name"]


def test_it_speaks_over_pipes_too() -> None:
    """One line at a time, each answered before the next is there."""
    reader, writer = os.pipe()
    answers: list[bytes] = []
    answered = threading.Semaphore(0)

    def write(line: bytes) -> None:
        answers.append(line)
        answered.release()

    with os.fdopen(reader, "rb") as stream:
        serving = threading.Thread(
            target=serve, args=(stream, write, by_policy(Policy(), "claude", None)), daemon=True
        )
        serving.start()
        for n in range(3):
            line = json.dumps({"jsonrpc": "2.0", "id": n, "method": "ping"}).encode() + b"\n"
            os.write(writer, line[:9])
            os.write(writer, line[9:])
            assert answered.acquire(timeout=10)
        os.close(writer)
        serving.join(timeout=10)
        assert not serving.is_alive()
    assert [json.loads(line)["id"] for line in answers] == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "mode", "answer"),
    [
        (LS, "ask", {"behavior": "allow", "updatedInput": {"command": "ls"}}),
        (RM, "ask", {"behavior": "deny", "message": "keep it"}),
        (RM, "all", {"behavior": "deny", "message": "keep it"}),
        (MAKE, "all", {"behavior": "allow", "updatedInput": {"command": "make"}}),
    ],
)
def test_rules_and_modes_decide(arguments: dict[str, Any], mode: str, answer: Any) -> None:
    [line] = said(call(**arguments), mode=mode)
    assert decision(line) == answer


def test_with_nobody_to_ask_the_answer_is_no() -> None:
    [line] = said(call(**MAKE))
    assert decision(line)["behavior"] == "deny"
    assert "nobody was there to ask" in decision(line)["message"]


def test_the_shape_of_the_specification() -> None:
    """There the input is called `tool_input`, and comes with a context."""
    context = {"session_id": "sess_abc123", "turn_number": 3, "working_directory": "/path/to/project"}
    [line] = said(call(tool_name="Bash", tool_input={"command": "ls"}, context=context))
    assert decision(line) == {"behavior": "allow", "updatedInput": {"command": "ls"}}
    request = permission_request({"tool_name": "Edit", "tool_input": {"file_path": "a"}}, "claude")
    assert (request.tool_name, request.kind, request.title) == ("Edit", "edit", "a")
    assert request.call_id is None


@pytest.mark.parametrize(
    "arguments", [{}, {"tool_name": 7, "input": "x", "tool_use_id": 9}, {"tool_name": None}]
)
def test_odd_arguments_are_denied(arguments: dict[str, Any]) -> None:
    [line] = said(call(**arguments))
    assert decision(line)["behavior"] == "deny"


def test_what_it_does_not_know() -> None:
    [resources, tool, bare] = said(
        {"jsonrpc": "2.0", "id": 1, "method": "resources/list"},
        call("other", id=2, **LS),
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": None},
    )
    assert [answer["error"]["code"] for answer in (resources, tool, bare)] == [-32601] * 3
    assert "resources/list" in resources["error"]["message"]


def test_garbage_is_passed_over() -> None:
    lines = said(
        b"", b"no json", b"\xff\xfe", b"[]", b"7", b'{"id":1}', {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    )
    assert lines[-1] == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_the_last_line_may_lack_its_end() -> None:
    written: list[bytes] = []
    serve(io.BytesIO(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'), written.append, lambda arguments: {})
    assert len(written) == 1


# --- the socket ----------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("verdict", "answer"),
    [
        (lambda id: True, {"behavior": "allow", "updatedInput": {"command": "make"}}),
        (lambda id: False, {"behavior": "deny", "message": "Denied."}),
        (
            lambda id: Answer(request=id, decision="allow", updated_input={"command": "make test"}),
            {"behavior": "allow", "updatedInput": {"command": "make test"}},
        ),
        (lambda id: Answer(request=id, message="not today"), {"behavior": "deny", "message": "not today"}),
    ],
)
async def test_a_program_is_asked(
    verdict: Callable[[str], bool | Answer], answer: Any, tmp_path: Path
) -> None:
    asked: list[PermissionRequest] = []

    async def handler(request: PermissionRequest) -> bool | Answer:
        asked.append(request)
        return verdict(request.id)

    path = tmp_path / "ask"
    with anyio.fail_after(10):
        async with permission_listener(path, handler):
            assert path.stat().st_mode & 0o777 == 0o600
            [line] = await to_thread.run_sync(lambda: said(call(**MAKE), ask=str(path)))
    assert decision(line) == answer
    [request] = asked
    assert (request.tool, request.kind, request.event.call_id) == ("Bash", "execute", "toolu_3")
    assert (request.agent, request.commands) == ("claude", [["make"]])
    assert not path.exists()


@pytest.mark.anyio
async def test_what_a_rule_settles_reaches_nobody(tmp_path: Path) -> None:
    async def handler(request: PermissionRequest) -> bool:
        raise AssertionError("asked")

    with anyio.fail_after(10):
        async with permission_listener(tmp_path / "ask", handler):
            lines = await to_thread.run_sync(lambda: said(call(**LS), call(**RM), ask=str(tmp_path / "ask")))
    assert [decision(line)["behavior"] for line in lines] == ["allow", "deny"]


@pytest.mark.anyio
async def test_a_handler_that_fails_denies_and_the_next_is_heard(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    failures = iter([True, False])

    async def handler(request: PermissionRequest) -> bool:
        if next(failures):
            raise RuntimeError("out of order")
        return True

    path = str(tmp_path / "ask")
    with anyio.fail_after(10):
        async with permission_listener(path, handler):
            first = await to_thread.run_sync(asked_at, path, MAKE)
            second = await to_thread.run_sync(asked_at, path, MAKE)
    assert first["behavior"] == "deny"
    assert "out of order" in first["message"]
    assert second["behavior"] == "allow"


@pytest.mark.anyio
@pytest.mark.parametrize("reply", [None, "no", 1, LATER])
async def test_a_reply_that_is_no_answer_denies(
    reply: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody could give it later: the line is closed with it."""

    async def handler(request: PermissionRequest) -> Any:
        return reply

    with anyio.fail_after(10):
        async with permission_listener(tmp_path / "ask", handler):
            answer = await to_thread.run_sync(asked_at, str(tmp_path / "ask"), MAKE)
    assert answer["behavior"] == "deny"


@pytest.mark.anyio
async def test_a_handler_is_asked_several_things_at_once(tmp_path: Path) -> None:
    both = anyio.Event()
    waiting: list[PermissionRequest] = []

    async def handler(request: PermissionRequest) -> bool:
        waiting.append(request)
        if len(waiting) == 2:
            both.set()
        await both.wait()
        return request.tool == "Bash"

    path, answers = str(tmp_path / "ask"), {}

    async def ask(tool: str) -> None:
        answers[tool] = await to_thread.run_sync(asked_at, path, {"tool_name": tool})

    with anyio.fail_after(10):
        async with permission_listener(path, handler), anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "Bash")
            tasks.start_soon(ask, "Edit")
    assert (answers["Bash"]["behavior"], answers["Edit"]["behavior"]) == ("allow", "deny")


@pytest.mark.anyio
async def test_what_is_not_understood_is_denied(tmp_path: Path) -> None:
    async def handler(request: PermissionRequest) -> bool:
        return False

    with anyio.fail_after(10):
        async with permission_listener(tmp_path / "ask", handler):
            async with await anyio.connect_unix(tmp_path / "ask") as stream:
                await stream.send(b"no json\n")
                assert json.loads(await stream.receive())["behavior"] == "deny"
            async with await anyio.connect_unix(tmp_path / "ask") as stream:
                await stream.send(b'{"tool_name":')
                await stream.send_eof()
                assert json.loads(await stream.receive())["behavior"] == "deny"
            async with await anyio.connect_unix(tmp_path / "ask") as stream:
                await stream.send(b'{"tool_name":"Bash"}\n')
            answer = await to_thread.run_sync(asked_at, str(tmp_path / "ask"), MAKE)
    assert answer["behavior"] == "deny"  # the one that hung up has taken nobody along


def test_nobody_listens(tmp_path: Path) -> None:
    answer = asked_at(str(tmp_path / "none"), MAKE)
    assert answer["behavior"] == "deny"
    assert "nobody answers at" in answer["message"]
