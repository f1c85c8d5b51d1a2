"""The policy as an MCP tool, and the socket behind it."""

import io
import json
import os
import queue
import socket
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from dragoman._model.commands import Answer
from dragoman._model.errors import UsageError
from dragoman._policy import rulebook
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy
from dragoman._policy.rulebook import Rulebook
from dragoman._policy.rules import Rule
from dragoman._runtime import permission_server, permission_socket
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
    assert [answer["error"]["code"] for answer in (resources, tool, bare)] == [-32601, -32602, -32602]
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


# --- peers that mean no good -----------------------------------------------------------------------------------


class Peer(threading.Thread):
    """Listens at a socket, and does with the first who connects what `act` says."""

    def __init__(self, path: Path, act: Callable[[socket.socket], None]) -> None:
        super().__init__(daemon=True)
        self.path = str(path)
        self._act = act
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self.may_end = threading.Event()

    def run(self) -> None:
        connection, _ = self._listener.accept()
        with connection, suppress(OSError):
            self._act(connection)

    def __enter__(self) -> "Peer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.may_end.set()
        self.join(10)
        self._listener.close()


def answered(line: bytes) -> Callable[[socket.socket], None]:
    def act(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(line + b"\n")

    return act


def test_a_silent_listener_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    """There was no time limit."""
    with Peer(tmp_path / "s", lambda connection: peer.may_end.wait(30) and None) as peer:
        answer = asked_at(peer.path, MAKE, timeout=0.05)
    assert answer == {
        "behavior": "deny",
        "message": f"Denied: no answer came from {peer.path} within 0.05 s.",
    }


def test_an_answer_that_drips_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    """Each byte comes in time; the answer does not."""

    def drip(connection: socket.socket) -> None:
        while not peer.may_end.wait(0.01):
            connection.sendall(b"{")

    with Peer(tmp_path / "s", drip) as peer:
        answer = asked_at(peer.path, MAKE, timeout=0.2)
    assert "within 0.2 s" in answer["message"]


def test_an_endless_answer_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permission_server, "LONGEST", 1 << 16)

    def flood(connection: socket.socket) -> None:
        while not peer.may_end.is_set():
            connection.sendall(b" " * 65536)

    with Peer(tmp_path / "s", flood) as peer:
        answer = asked_at(peer.path, MAKE, timeout=30)
    assert "more than an answer may have" in answer["message"]


def test_a_listener_that_takes_no_connection(tmp_path: Path) -> None:
    """Its queue is full: connecting itself waits."""
    with socket.socket(socket.AF_UNIX) as listener:
        path = str(tmp_path / "s")
        listener.bind(path)
        listener.listen(0)
        with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
            for waiting in (first, second):
                waiting.setblocking(False)
                with suppress(BlockingIOError):
                    waiting.connect(path)
            assert asked_at(path, MAKE, timeout=0.05)["behavior"] == "deny"


ANSWERS = [
    b"", b"null", b"[]", b"7", b'"allow"', b"{}", b"no json", b"\xff", b"NaN", b"[" * 100_000, b'{"a":' * 100_000,
    b'{"behavior":"allow"}', b'{"behavior":"allow","updatedInput":null}', b'{"behavior":"allow","updatedInput":[]}',
    b'{"behavior":"Allow","updatedInput":{}}', b'{"behavior":["allow"],"updatedInput":{}}', b'{"updatedInput":{}}',
    b'{"behavior":"deny"}', b'{"behavior":"deny","message":7}', b'{"behavior":true,"updatedInput":{}}',
    b'{"behavior":"allow","updatedInput":{},"updatedPermissions":[]}', b'{"behavior":"deny","message":"x","more":1}',
    b'{"behavior":"allow","updatedInput":{"n":NaN}}', b'{"behavior":"allow","message":"x"}',
    b'{"behavior":"allowAlways"}', b'{"behavior":"allowAlways","message":"x"}', b'{"behavior":"allowalways","updatedInput":{}}',
    b'{"behavior":"denyAlways"}', b'{"behavior":"denyAlways","message":"x","more":1}', b'{"behavior":"always","message":"x"}',
]  # fmt: skip


@pytest.mark.parametrize("line", ANSWERS, ids=lambda line: line[:40].decode("latin-1"))
def test_what_is_no_answer_is_a_denial(line: bytes, tmp_path: Path) -> None:
    """An answer without `behavior` was passed on to the agent."""
    with Peer(tmp_path / "s", answered(line)) as peer:
        [said_] = said(call(**MAKE), ask=peer.path)
    answer = decision(said_)
    assert answer["behavior"] == "deny"
    assert answer["message"].startswith("Denied: ")
    assert set(answer) == {"behavior", "message"}


@pytest.mark.parametrize(
    "answer",
    [
        {"behavior": "allow", "updatedInput": {"command": "make x"}},
        {"behavior": "deny", "message": "not now"},
    ],
)
def test_what_is_an_answer_is_passed_on(answer: Any, tmp_path: Path) -> None:
    with Peer(tmp_path / "s", answered(json.dumps(answer).encode())) as peer:
        [line] = said(call(**MAKE), ask=peer.path)
    assert decision(line) == answer


# --- for longer than once --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        (
            {"behavior": "allowAlways", "updatedInput": {"command": "make"}},
            {"behavior": "allow", "updatedInput": {"command": "make"}},
        ),
        ({"behavior": "denyAlways", "message": "never"}, {"behavior": "deny", "message": "never"}),
    ],
)
def test_an_answer_for_always_is_kept_and_said_as_one_for_once(
    answer: Any, plain: Any, tmp_path: Path
) -> None:
    """§3.8; the CLI takes only allow and deny. It covers what was asked, and nothing else."""
    decide = by_policy(Policy(), "claude", "/", str(tmp_path / "s"))
    with Peer(tmp_path / "s", answered(json.dumps(answer).encode())):
        assert settled(decide, MAKE) == plain
    assert settled(decide, {**MAKE, "tool_use_id": "toolu_9"}) == plain  # nobody is there any more
    other = settled(decide, {"tool_name": "Bash", "input": {"command": "make clean"}})
    assert (other["behavior"], "nobody answers" in other["message"]) == ("deny", True)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (MAKE, {"behavior": "allowAlways", "updatedInput": {"command": "make test"}}),
        ({"tool_name": "Odd"}, {"behavior": "allowAlways", "updatedInput": {}}),
    ],
    ids=["another input", "nothing that a rule could be about"],
)
def test_an_answer_that_cannot_be_kept_holds_once(
    arguments: dict[str, Any], answer: Any, tmp_path: Path
) -> None:
    decide = by_policy(Policy(), "claude", "/", str(tmp_path / "s"))
    with Peer(tmp_path / "s", answered(json.dumps(answer).encode())):
        assert settled(decide, arguments) == {**answer, "behavior": "allow"}
    assert settled(decide, arguments)["behavior"] == "deny"


@pytest.mark.anyio
@pytest.mark.parametrize("decision", ["allow", "deny"])
@pytest.mark.parametrize("remember", [[], ["session"], ["always"], [{"type": "addRules"}]])
async def test_what_a_handler_has_remembered(
    decision: Any, remember: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the session: by the server that asked. For ever: also in the user's rules."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    asked: list[PermissionRequest] = []

    def handler(request: PermissionRequest) -> Answer:
        asked.append(request)
        return Answer(decision=decision, message="so it is", remember=remember)

    decide = by_policy(Policy(), "claude", "/", str(tmp_path / "ask"))
    with anyio.fail_after(10):
        async with permission_listener(tmp_path / "ask", handler):
            first = await to_thread.run_sync(settled, decide, MAKE)
            again = await to_thread.run_sync(settled, decide, MAKE)
            await to_thread.run_sync(settled, decide, {"tool_name": "Bash", "input": {"command": "make x"}})
    assert (first["behavior"], again) == (decision, first)
    lasts = remember in (["session"], ["always"])
    assert [request.command for request in asked] == (
        ["make", "make x"] if lasts else ["make", "make", "make x"]
    )
    for_ever = Policy(rules=rulebook.load()).decide(
        PermissionRequest(permission_request(MAKE, "claude"), "/")
    )
    assert for_ever.effect == (decision if remember == ["always"] else "ask")


def settled(decide: permission_server.Decide, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer, whoever has to be asked for it."""
    answer = decide(arguments)
    return answer() if callable(answer) else answer


# --- while one waits -------------------------------------------------------------------------------------------


def test_pings_and_rules_do_not_wait_for_a_question(tmp_path: Path) -> None:
    """Claude Code calls tools in parallel, and asks whether we are there."""
    reader, writer = os.pipe()
    answers: queue.Queue[Any] = queue.Queue()
    may_answer = threading.Event()

    def act(connection: socket.socket) -> None:
        connection.recv(65536)
        may_answer.wait(30)
        connection.sendall(b'{"behavior":"deny","message":"late"}\n')

    with Peer(tmp_path / "s", act) as peer, os.fdopen(reader, "rb") as stream:
        decide = by_policy(Policy("ask", RULES), "claude", "/", peer.path)
        serving = threading.Thread(
            target=serve, args=(stream, lambda line: answers.put(json.loads(line)), decide), daemon=True
        )
        serving.start()
        for line in (call(id=1, **MAKE), {"jsonrpc": "2.0", "id": 2, "method": "ping"}, call(id=3, **LS)):
            os.write(writer, json.dumps(line).encode() + b"\n")
        assert [answers.get(timeout=30)["id"] for _ in range(2)] == [2, 3]
        may_answer.set()
        last = answers.get(timeout=30)
        assert (last["id"], decision(last)["message"]) == (1, "late")
        os.close(writer)
        serving.join(30)
        assert not serving.is_alive()


def test_too_many_questions_at_once_are_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permission_server, "MOST_WAITING", 1)
    may_answer = threading.Event()

    class Lines(io.BytesIO):
        """Two questions; when they are read, the first is answered."""

        def read1(self, size: int | None = -1, /) -> bytes:
            chunk = super().read1(size)
            if not chunk:
                may_answer.set()
            return chunk

    def heard() -> Any:
        may_answer.wait(30)
        return {"behavior": "deny", "message": "heard"}

    written: list[bytes] = []
    lines = b"".join(json.dumps(call(id=id, **MAKE)).encode() + b"\n" for id in (1, 2))
    serve(Lines(lines), written.append, lambda arguments: heard)
    messages = {line["id"]: decision(line)["message"] for line in map(json.loads, written)}
    assert messages == {1: "heard", 2: "Denied: 1 other questions wait for their answers."}


@pytest.mark.parametrize("depth", [210, 500, 990, 1100, 100_000])
@pytest.mark.parametrize("shape", ['{"a":%s}', "[%s]"])
@pytest.mark.parametrize("is_last", [True, False])
@pytest.mark.parametrize("mode", ["all", "ask", "dangerous"])
def test_deep_input_is_denied_and_answered(depth: int, shape: str, is_last: bool, mode: str) -> None:
    """It ended in a traceback. Cut to size it would have been allowed, and the agent told to use what was left."""
    before, after = shape.split("%s")
    deep = f'{{"name":"approve","arguments":{{"tool_name":"X","input":{{"k":{before * depth}1{after * depth}}}}}}}'
    id = '"id":7'
    parts = ['"jsonrpc":"2.0"', '"method":"tools/call"', f'"params":{deep}']
    parts.insert(3 if is_last else 1, id)
    [denied, pong] = said(
        ("{" + ",".join(parts) + "}").encode(), {"jsonrpc": "2.0", "id": 8, "method": "ping"}, mode=mode
    )
    assert denied["id"] == 7
    assert decision(denied)["behavior"] == "deny"
    assert pong == {"jsonrpc": "2.0", "id": 8, "result": {}}


@pytest.mark.parametrize("text", [rb'"\ud800"', b'"\xff"', b"NaN", b"1e999"])
def test_input_that_was_not_read_as_it_was_written_is_denied(text: bytes) -> None:
    line = json.dumps(call(tool_name="Bash", input={"command": "HERE"})).encode().replace(b'"HERE"', text)
    [denied] = said(line, mode="all")
    assert decision(denied)["behavior"] == "deny"


def test_a_judge_that_fails_denies(caplog: pytest.LogCaptureFixture) -> None:
    def fail(arguments: dict[str, Any]) -> Any:
        raise RuntimeError("out of order")

    written: list[bytes] = []
    serve(io.BytesIO(json.dumps(call(**LS)).encode()), written.append, fail)
    assert decision(json.loads(written[0])) == {
        "behavior": "deny",
        "message": "Denied: the request could not be judged (RuntimeError).",
    }


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("closed")])
def test_nobody_hears_the_answers(error: Exception) -> None:
    def write(line: bytes) -> None:
        raise error

    lines = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 3
    serve(io.BytesIO(lines), write, lambda arguments: {})


# --- a listener and its guests ---------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_the_handler_hears_where_the_agent_works(tmp_path: Path) -> None:
    """The agent cannot say so itself: what it calls `cwd` is not passed on."""
    heard: list[PermissionRequest] = []

    async def handler(request: PermissionRequest) -> bool:
        heard.append(request)
        return False

    path = str(tmp_path / "ask")
    with anyio.fail_after(30):
        async with permission_listener(path, handler):
            await to_thread.run_sync(lambda: said(call(**MAKE, cwd="/elsewhere"), ask=path))
    [request] = heard
    assert request.cwd == "/"


@pytest.mark.anyio
@pytest.mark.parametrize("start", [b"", b'{"tool_name":'])
async def test_a_guest_who_says_nothing_or_half_a_line(
    start: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permission_socket, "PATIENCE", 0.05)
    with anyio.fail_after(30):
        async with (
            permission_listener(tmp_path / "ask", lambda request: True),
            await anyio.connect_unix(tmp_path / "ask") as stream,
        ):
            if start:
                await stream.send(start)
            answer = json.loads(await stream.receive())
    assert answer == {"behavior": "deny", "message": "Denied: no request came within 0.05 s."}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b'{"input":' * 100_000, b'{"tool_name":"X","input":{"a":1}']
)
async def test_a_guest_who_says_what_nobody_can_read(line: bytes, tmp_path: Path) -> None:
    with anyio.fail_after(30):
        async with (
            permission_listener(tmp_path / "ask", lambda request: True),
            await anyio.connect_unix(tmp_path / "ask") as stream,
        ):
            await stream.send(line + b"\n")
            assert json.loads(await stream.receive())["behavior"] == "deny"


@pytest.mark.anyio
async def test_more_guests_than_there_are_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permission_socket, "MOST_AT_ONCE", 2)
    with anyio.fail_after(30):
        async with permission_listener(tmp_path / "ask", lambda request: True), AsyncExitStack() as guests:
            streams = [
                await guests.enter_async_context(await anyio.connect_unix(tmp_path / "ask")) for _ in range(3)
            ]
            assert "other programs are connected" in json.loads(await streams[-1].receive())["message"]
            await streams[0].send(json.dumps(MAKE).encode() + b"\n")
            assert json.loads(await streams[0].receive())["behavior"] == "allow"


@pytest.mark.anyio
@pytest.mark.parametrize("updated", [{"a": {1}}, {"a": float("nan")}, [1], "x"])
async def test_an_answer_that_cannot_be_written_is_a_denial(updated: Any, tmp_path: Path) -> None:
    def handler(request: PermissionRequest) -> Answer:
        return Answer(decision="allow", updated_input=updated)

    with anyio.fail_after(30):
        async with permission_listener(tmp_path / "ask", handler):
            answer = await to_thread.run_sync(asked_at, str(tmp_path / "ask"), MAKE)
    assert answer["behavior"] == "deny"


@pytest.mark.anyio
async def test_one_place_one_listener(tmp_path: Path) -> None:
    """A socket that was left behind is replaced, one in use is not; nor is anything else that is there."""
    path = tmp_path / "ask"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))
    with anyio.fail_after(30):
        async with permission_listener(path, lambda request: True):
            assert path.stat().st_mode & 0o777 == 0o600
            with pytest.raises(UsageError, match="another program listens at"):
                async with permission_listener(path, lambda request: False):
                    pass
            answer = await to_thread.run_sync(asked_at, str(path), MAKE)
            assert answer["behavior"] == "allow"
        assert not path.exists()
        path.write_text("mine")
        with pytest.raises(UsageError, match="is no socket"):
            async with permission_listener(path, lambda request: True):
                pass
        assert path.read_text() == "mine"
        with pytest.raises(UsageError, match="no socket can be made"):
            async with permission_listener(tmp_path / ("long" * 60), lambda request: True):
                pass
