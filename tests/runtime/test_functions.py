"""Functions of ours behind a bridge: what an agent's side may do there, and what is left when it is over."""

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

import dragoman
from dragoman import HookAnswer, HookCall, SpawnFailed, Unsupported, UsageError
from dragoman._model.events import HostCalled
from dragoman._model.tools import checked_tools
from dragoman._runtime import bridge_socket, functions
from dragoman._runtime.bridge_socket import PROGRAM
from dragoman._runtime.functions import Functions
from tests.runtime.toy_dialect import FAKES

pytestmark = pytest.mark.anyio

USER = [sys.executable, "-I", str(FAKES / "mcp_user.py")]


def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b


async def shout(word: str) -> str:
    """Shouts."""
    return word.upper()


def fail() -> None:
    raise ValueError("Not today.")


def leave() -> None:
    sys.exit(3)


async def give_up() -> None:
    raise asyncio.CancelledError


def nonsense() -> object:
    return object()


async def sleep() -> None:
    await anyio.sleep_forever()


TOOLS = [add, shout, fail, leave, nonsense, sleep]


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever happens, no socket and no folder of a run stays. The path of a socket may not be long."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield
        assert os.listdir(folder) == []


async def used(*orders: Any, **options: Any) -> list[Any]:
    """What an agent gets from the server for these orders."""
    result = await dragoman.ask(
        "acp", json.dumps(orders), extra_args=USER, **{"tools": TOOLS, "approve": "all", **options}
    )
    answers: list[Any] = json.loads(result.text or "")
    return answers


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def text(answer: Any) -> tuple[str, bool]:
    [content] = answer["result"]["content"]
    return content["text"], answer["result"].get("isError", False)


# --- tools behind a bridge -----------------------------------------------------------------------------------


async def test_calls_and_failures() -> None:
    said = await used(
        call("add", a=1),
        call("shout", word="hey"),
        call("add", a="one"),
        call("add", a=1, c=2),
        call("fail"),
        call("leave"),
        call("nonsense"),
        "close",
    )
    assert said.pop() == 0
    assert [text(answer) for answer in said[:2]] == [("3", False), ("HEY", False)]
    assert [text(answer)[1] for answer in said[2:]] == [True] * 5
    for answer, why in zip(
        said[2:], ("$.a", "`c`", "ValueError: Not today.", "SystemExit", "object"), strict=True
    ):
        assert why in text(answer)[0]


async def test_a_function_that_cancels_itself(anyio_backend_name: str) -> None:
    if anyio_backend_name == "asyncio":
        [said] = await used(call("give_up"), tools=[give_up])
        assert text(said) == ("CancelledError", True)


async def test_a_function_that_takes_too_long() -> None:
    slow, quick = await used(call("sleep"), call("add", a=1), handler_timeout=0.05)
    assert text(slow) == ("It took longer than 0.05 s.", True)
    assert text(quick) == ("3", False)


async def test_hostile_lines() -> None:
    """Whatever is no request is answered as such, and the next one is served."""
    deep = '{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": ' + "[" * 100_000
    said = await used(
        "garbage",
        "[]",
        "7",
        deep,
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": ["add"], "arguments": 7}}',
        '{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "add", "arguments": [1]}}',
        '{"jsonrpc": "2.0", "id": 4, "method": "resources/list"}',
        '{"jsonrpc": "2.0", "id": 5, "method": "ping"}\n{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}',
        call("add", a=40),
    )
    codes = [answer["error"]["code"] if "error" in answer else None for answer in said]
    assert codes == [-32700, -32700, -32700, -32700, -32602, -32602, None, -32601, None, None]
    assert text(said[-1]) == ("42", False)


async def test_a_line_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge_socket, "LONGEST", 1000)
    fine, endless = await used(call("add", a=1), "x" * 200_000)
    assert text(fine) == ("3", False)
    assert endless == "hung up"


async def test_calls_are_cancelled_when_nobody_waits_any_more() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("wait")

    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": {"name": "wait"}}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    lines = "\n".join(json.dumps(line) for line in (begin, cancel, ping))
    [answer, closed] = await used(lines, "close", tools=[wait])
    assert (answer, closed) == ({"jsonrpc": "2.0", "id": 1, "result": {}}, 0)
    assert ended == ["wait"]


async def test_several_sessions() -> None:
    def who() -> str:
        return "the second"

    async with dragoman.connect("acp", extra_args=USER, tools=[add]) as connection:
        one = await connection.session()
        two = await connection.session(tools=[who])
        with pytest.raises(UsageError, match="tools must be a list"):
            await connection.session(tools=who)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="MCP server 'dragoman2' already"):
            await connection.session(tools=[who], mcp_servers={"dragoman2": {"command": "x"}})
        for session, name, said in ((one, "add", "5"), (two, "who", "the second")):
            arguments = {"a": 3} if name == "add" else {}
            events = [event async for event in session.prompt(json.dumps([call(name, **arguments)]))]
            [message] = [
                event for event in events if isinstance(event, dragoman.Message) and event.role == "assistant"
            ]
            [answer] = json.loads(message.text or "")
            assert text(answer) == (said, False)


async def test_a_session_that_has_the_first_tools_of_its_connection() -> None:
    async with dragoman.connect("acp", extra_args=USER) as connection:
        session = await connection.session(tools=[add])
        events = [event async for event in session.prompt(json.dumps([call("add", a=3)]))]
    [message] = [
        event for event in events if isinstance(event, dragoman.Message) and event.role == "assistant"
    ]
    assert text(json.loads(message.text or "")[0]) == ("5", False)


# --- where it is refused -------------------------------------------------------------------------------------


async def test_what_cannot_be() -> None:
    with pytest.raises(Unsupported, match=r"tools in acp.*It takes no MCP servers"):
        dragoman.open("demo", tools=[add])
    with pytest.raises(Unsupported, match="hooks in acp"):
        dragoman.open("acp", extra_args=USER, hooks={"PreToolUse": lambda call: None})
    with pytest.raises(UsageError, match="MCP server 'dragoman' already"):
        dragoman.open("acp", extra_args=USER, tools=[add], mcp_servers={"dragoman": {"command": "x"}})
    with pytest.raises(UsageError, match="must have a name"):
        dragoman.open("acp", extra_args=USER, tools=[lambda x: x])


@pytest.mark.parametrize(("folder", "why"), [("d" * 100, "too long"), ("missing", "No such file")])
async def test_no_place_for_a_socket(folder: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", f"{tempfile.gettempdir()}/{folder}")
    with pytest.raises(SpawnFailed, match=why):
        async with dragoman.open("acp", extra_args=USER, tools=[add]):
            pass


async def test_an_agent_that_does_not_start(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("no program")
    program.chmod(0o755)
    with pytest.raises(SpawnFailed):
        async with dragoman.open("acp", extra_args=[str(program)], tools=[add]):
            pass


# --- the socket itself ---------------------------------------------------------------------------------------


@asynccontextmanager
async def served(made: Functions) -> AsyncIterator[str]:
    """The path of the socket, as long as it is served."""
    path = made.socket.command("x")[-2]
    await made.socket.open()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.socket.serve)
        yield path
        tasks.cancel_scope.cancel()


def told(path: str, data: bytes, close: bool = True) -> bytes:
    """All that comes back."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(path)
        parts = []
        with suppress(ConnectionResetError, BrokenPipeError):  # it has hung up, and not read all
            connection.sendall(data)
            if close:
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                parts.append(part)
        return b"".join(parts)


async def test_only_the_owner_may_connect() -> None:
    async with served(Functions("x", checked_tools([add]))) as path:
        assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not Path(path).parent.exists()


@pytest.mark.parametrize(
    "data", [b"", b"nobody\n", b"dragoman", b"\xff\xfe\n", b"x" * 5000, b"dragoman.hook.Stop\n{}"]
)
async def test_who_wants_what_is_not_there(data: bytes) -> None:
    async with served(Functions("x", checked_tools([add]))) as path:
        assert await to_thread.run_sync(told, path, data) == b""
        ping = b'dragoman\n{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(ping)
            answer = await to_thread.run_sync(connection.recv, 1000)
        assert json.loads(answer) == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge_socket, "MOST_AT_ONCE", 2)
    async with served(Functions("x", checked_tools([add]))) as path:
        held = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for connection in held:
            connection.connect(path)
            connection.sendall(b'dragoman\n{"id": 1, "method": "ping"}\n')
            await to_thread.run_sync(connection.recv, 1000)
        assert await to_thread.run_sync(told, path, b"dragoman\n", False) == b""
        for connection in held:
            connection.close()


# --- hooks ---------------------------------------------------------------------------------------------------


def run_hook(command: list[str], said: bytes) -> tuple[int, bytes]:
    done = subprocess.run(
        command, input=said, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=False
    )
    return done.returncode, done.stdout


BEFORE = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.mark.parametrize(
    ("given", "denied"),
    [
        (json.dumps(BEFORE).encode(), False),
        (json.dumps({**BEFORE, "tool_input": {"command": "rm"}}).encode(), True),
        (b"garbage", True),
        (b"", True),
        (b'{"tool_input": ' + b"[" * 100_000, True),
        (b'{"tool_input": "\\ud83d"}', True),
        (b"x" * 20_000, True),
    ],
)
async def test_a_hook_behind_a_bridge(given: bytes, denied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read to the letter is not judged."""
    monkeypatch.setattr(bridge_socket, "LONGEST", 150_000)

    def before(call: HookCall) -> HookAnswer | None:
        return HookAnswer(block="No.") if call.input["command"] == "rm" else None

    made = Functions("codex", hooks={"PreToolUse": before})
    async with served(made):
        status, said = await to_thread.run_sync(run_hook, made.hook_commands()["PreToolUse"], given)
    assert status == 0
    assert ("deny" in said.decode() or "block" in said.decode()) is denied
    assert json.loads(said) is not None


async def test_a_hook_that_says_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge_socket, "LONGEST", 1000)
    made = Functions("codex", hooks={"PreToolUse": lambda call: None})
    async with served(made):
        status, said = await to_thread.run_sync(run_hook, made.hook_commands()["PreToolUse"], b"x" * 200_000)
    assert (status, said) == (2, b"")


@pytest.mark.parametrize(("event", "expected"), [("PreToolUse", 2), ("UserPromptSubmit", 2), ("Stop", 1)])
async def test_a_hook_that_reaches_nobody(event: str, expected: int) -> None:
    """2 blocks what is about to be done; at the end of a turn that would keep the model at work for ever."""
    made = Functions("codex", hooks={event: lambda call: None})
    assert await to_thread.run_sync(run_hook, made.hook_commands()[event], b"{}") == (expected, b"")


async def test_a_hook_that_is_too_slow() -> None:
    async def sleeps(call: HookCall) -> None:
        await anyio.sleep_forever()

    made = Functions("codex", hooks={"PreToolUse": sleeps, "Stop": sleeps}, timeout=0.05)
    said = await made.hooks.answer("PreToolUse", BEFORE)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert await made.hooks.answer("Stop", {"hook_event_name": "Stop"}) == {}
    assert made.hooks.agent_waits > 0.05


# --- in the agent's own stream -------------------------------------------------------------------------------


def asked(method: str, **params: Any) -> HostCalled:
    return HostCalled(request_id="1", method=method, params=params)


async def test_what_it_takes_of_an_agents_stream() -> None:
    made = Functions("claude", checked_tools([add]), {"PreToolUse": lambda call: HookAnswer(block="No.")})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("add", a=1)}
    ours = asked("mcp_message", server_name="dragoman", message=message)
    assert made.does(ours)
    assert (await made.do(ours)).result == {"content": [{"type": "text", "text": "3"}]}
    hook = asked("hook_callback", callback_id="dragoman.hook.PreToolUse", input=BEFORE)
    assert made.does(hook)
    assert "deny" in json.dumps((await made.do(hook)).result)
    for other in (
        asked("mcp_message", server_name="theirs", message=message),
        asked("hook_callback", callback_id="dragoman.gate", input=BEFORE),
        asked("hook_callback", callback_id="dragoman.hook.Stop", input=BEFORE),
        asked("hook_callback", callback_id="PreToolUse", input=BEFORE),
        asked("hook_callback", callback_id=["x"]),
        asked("fs/read_text_file", path="x"),
        HostCalled(request_id="1", method="mcp_message"),
    ):
        assert not made.does(other)
    assert not Functions("claude").does(ours)


@pytest.mark.parametrize(
    "message", [None, [], 7, {"method": "notifications/initialized"}, {"id": 1, "result": {}}]
)
async def test_messages_that_want_no_answer(message: Any) -> None:
    made = Functions("claude", checked_tools([add]))
    reply = await made.do(asked("mcp_message", server_name="dragoman", message=message))
    assert (reply.result, reply.error) == ({}, None)
    wrong = await made.do(asked("mcp_message", server_name="dragoman", message={"id": 1, "method": "x"}))
    assert (wrong.error, wrong.code) == ("no such method: x", -32601)


# --- the bridge ----------------------------------------------------------------------------------------------


def test_the_bridge_needs_nothing_but_the_standard_library() -> None:
    """It has to start quickly, with no site-packages."""
    code = f"import sys, runpy; runpy.run_path({PROGRAM!r}, run_name='x'); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert {name.partition(".")[0] for name in loaded.stdout.split()} <= {
        *sys.stdlib_module_names,
        "__main__",
    }
    assert functions.SERVER not in loaded.stdout
