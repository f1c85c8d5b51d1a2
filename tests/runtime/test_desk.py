"""Whoever sits at the desk of a shared run can do what a handler could, and nothing that is said there does any harm."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import structs

import dragoman
from dragoman import LATER
from dragoman._files.following import Follower
from dragoman._model import commands
from dragoman._model.commands import Answer, AnswerQuestion
from dragoman._model.errors import DragomanError, UsageError
from dragoman._model.events import (
    Event,
    HostAnswered,
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
    RunEnded,
    TurnEnded,
    TurnStarted,
)
from dragoman._runtime import desk, desk_caller
from dragoman._runtime.beacons import Beacon, beacons, runtime_folder
from dragoman._runtime.desk_client import DeskClient
from dragoman._runtime.desk_lines import Order, Said, written
from dragoman._runtime.process.child import Child, spawn
from dragoman._runtime.process.pipes import pump
from dragoman.testing import FakeAgent, asks, asks_user, waits
from tests.runtime.test_host_acp import told

pytestmark = pytest.mark.anyio

LONG = 120.0
"""Seconds after which something hangs that should not."""
SHARER = Path(__file__).with_name("sharer.py")


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder whose path is short."""
    with TemporaryDirectory(prefix="d-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@asynccontextmanager
async def shared(agent: FakeAgent, folder: Path, **options: Any) -> AsyncIterator[tuple[Any, DeskClient]]:
    """A session that is shared, and somebody at its desk."""
    options |= {"cwd": folder, "record": folder / "run.jsonl", "share": True}
    with anyio.fail_after(LONG):
        async with dragoman.open(agent, **options) as session, DeskClient(the_beacon().socket) as client:
            yield session, client


def the_beacon() -> Beacon:
    [beacon] = beacons()
    return beacon


async def next_of(kind: type[Event], stream: Any) -> Any:
    async for event in stream:
        if isinstance(event, kind):
            return event
    raise AssertionError(f"no {kind.__name__} came")


# --- found and told ------------------------------------------------------------------------------------------


async def test_a_shared_session_is_found_while_it_is_open(tmp_path: Path) -> None:
    async with shared(FakeAgent(["Hello."]), tmp_path) as (_, client):
        beacon = the_beacon()
        assert (beacon.pid, beacon.agent, beacon.cwd) == (os.getpid(), "fake", str(tmp_path))
        assert beacon.recording == str(tmp_path / "run.jsonl")
        assert os.lstat(beacon.socket).st_mode & 0o777 == 0o600
        assert [said.policy async for said in first(client)] == ["ask"]
    assert (beacons(), os.listdir(runtime_folder())) == ([], [])


async def first(client: DeskClient) -> AsyncIterator[Said]:
    async for said in client:
        yield said
        return


async def test_sharing_needs_a_recording(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="share needs record"):
        dragoman.open(FakeAgent([]), share=True)


async def test_who_does_not_share_is_not_found(tmp_path: Path) -> None:
    async with dragoman.open(FakeAgent([]), record=tmp_path / "run.jsonl"):
        assert beacons() == []


async def test_where_there_can_be_no_desk_there_is_a_warning_and_a_run(
    place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (place / "dragoman").touch()
    with caplog.at_level(logging.WARNING, "dragoman"):
        result = await dragoman.ask(FakeAgent(["Hello."]), "Hi", record=tmp_path / "run.jsonl", share=True)
    assert result.text == "Hello."
    assert "this run is not shared: " in caplog.text


async def test_a_prompt_from_elsewhere_is_a_turn_like_any_other(tmp_path: Path) -> None:
    agent = FakeAgent(lambda prompt: f"You said {prompt}.")
    async with shared(agent, tmp_path) as (session, client):
        events = session.events()
        assert await client.send(commands.Prompt(text="hello"), "phone") is None
        assert (await next_of(TurnStarted, events)).prompt == "hello"
        assert (await next_of(TurnEnded, events)).text == "You said hello."


async def test_steering_interrupting_and_settings(tmp_path: Path) -> None:
    agent = FakeAgent([[waits(), "Steered."], [waits(), "Never."]])
    async with shared(agent, tmp_path) as (session, client):
        events = session.events()
        for said in ("one", "two"):
            await client.send(commands.Prompt(text=said), "phone")
            await next_of(TurnStarted, events)
            command = commands.Steer(text="go on") if said == "one" else commands.Interrupt()
            await client.send(command, "phone")
            await next_of(TurnEnded, events)
        await client.send(commands.SetModel(model="fake-2"), "phone")
    assert agent.prompts == ["one", "two"]
    assert (agent.steers, agent.interrupts) == (["go on"], 1)


async def test_a_mode_takes_the_policy_along_and_all_hear_of_it(tmp_path: Path) -> None:
    agent = FakeAgent([[asks("Bash", command="make"), "Done."]])
    async with shared(agent, tmp_path) as (session, client):
        async with DeskClient(the_beacon().socket) as other:
            await client.send(commands.SetMode(mode="all"), "phone")
            modes = []
            async for said in other:
                modes.append(said.policy)
                if said.policy == "all":
                    break
        assert modes == ["ask", "all"]
        async for _ in session.prompt("go"):
            pass
    assert agent.answers == [True]


async def test_a_mode_that_the_program_itself_sets_is_told(tmp_path: Path) -> None:
    async with shared(FakeAgent(["Hello."]), tmp_path) as (session, client):
        await session.set_mode("plan")
        async for _ in session.prompt("go"):
            pass
        async for said in client:
            if said.policy == "plan":
                break


async def test_closing_ends_the_run(tmp_path: Path) -> None:
    async with shared(FakeAgent([[waits(), "Never."]]), tmp_path) as (session, client):
        events = session.events()
        await client.send(commands.Prompt(text="go"), "phone")
        await next_of(TurnStarted, events)
        await client.send(commands.Close(), "phone")
        assert (await next_of(RunEnded, events)).outcome == "cancelled"
        assert [said async for said in client][1:] == []
        with pytest.raises(DragomanError, match="has hung up"):
            await client.send(commands.Prompt(text="more"), "phone")
        assert beacons() == []


async def test_an_error_of_whoever_sits_there_is_his_own(tmp_path: Path) -> None:
    async with shared(FakeAgent(["Hello."]), tmp_path):
        with pytest.raises(ZeroDivisionError):
            async with DeskClient(the_beacon().socket):
                raise ZeroDivisionError
        with pytest.raises(OSError, match="No such file"):
            async with DeskClient(runtime_folder() / "none.sock"):
                pass


# --- answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_an_answer_says_who_gave_it_now_and_when_it_is_read_again(
    decision: Any, tmp_path: Path
) -> None:
    agent = FakeAgent([[asks("Bash", command="make"), "Done."]])
    async with shared(agent, tmp_path, approve=lambda request: LATER) as (session, client):
        stream = session.prompt("go")
        asked = await next_of(PermissionRequested, stream)
        answer = Answer(request=asked.request_id, decision=decision, by="policy", rule="mine")
        with pytest.raises(DragomanError, match="not asked any more"):
            await client.send(structs.replace(answer, asked=asked.seq - 1), "phone")
        await client.send(structs.replace(answer, asked=asked.seq), "phone")
        resolved = await next_of(PermissionResolved, stream)
        assert (resolved.by, resolved.rule, resolved.who) == ("client", None, "phone")
        with pytest.raises(DragomanError, match="not asked any more: it was answered"):
            await client.send(answer, "laptop")
        async for _ in stream:
            pass
    assert agent.answers == [decision == "allow"]
    kept = [
        event for event in dragoman.convert(tmp_path / "run.jsonl") if isinstance(event, PermissionResolved)
    ]
    assert kept == [resolved]


async def test_whoever_answers_a_question_is_told_too(tmp_path: Path) -> None:
    agent = FakeAgent([[asks_user("Which colour?", "red", "blue"), "Done."]])
    async with shared(agent, tmp_path, answer=lambda question: LATER) as (session, client):
        stream = session.prompt("go")
        asked = await next_of(QuestionAsked, stream)
        await client.send(
            AnswerQuestion(request=asked.request_id, answers={"Which colour?": "blue"}), " my\n\x1b[31mphone "
        )
        answered = await next_of(QuestionAnswered, stream)
        assert answered.who == "my [31mphone"
        async for _ in stream:
            pass
    assert agent.answers == [{"Which colour?": "blue"}]
    kept = [
        event for event in dragoman.convert(tmp_path / "run.jsonl") if isinstance(event, QuestionAnswered)
    ]
    assert kept == [answered]


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_what_the_host_is_about_to_do_is_told_and_answered_here(decision: Any, tmp_path: Path) -> None:
    """No event of the agent's asks for it; whoever answers first wins, and the handler hears no more of it."""
    there, left = anyio.Event(), anyio.Event()
    heard: list[Said] = []

    async def approve(request: dragoman.PermissionRequest) -> bool:
        if not there.is_set():
            tasks.start_soon(answer)
            await there.wait()
            return True
        try:
            await anyio.sleep_forever()
        finally:
            left.set()
        return False

    async def answer() -> None:
        async with DeskClient(the_beacon().socket) as client:
            async for said in client:
                heard.append(said)
                there.set()
                if said.asked and len(heard) > 2:
                    event = json.loads(bytes(said.asked))
                    request, asked = event["request_id"], event["seq"]
                    with pytest.raises(DragomanError, match="not asked any more"):
                        await client.send(Answer(request=request, asked=asked + 1, decision="allow"), "phone")
                    given = Answer(request=request, asked=asked, decision=decision, message="by hand")
                    await client.send(given, "phone")
                if said.settled is not None and len(heard) > 4:
                    return

    files = [tmp_path / "one", tmp_path / "two"]
    orders = [["fs/write_text_file", {"path": str(file), "content": "x"}] for file in files]
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as tasks:
            record = tmp_path / "run.jsonl"
            _, result = await told(orders, tmp_path, approve=approve, record=record, share=True)
    assert left.is_set()
    assert [file.exists() for file in files] == [True, decision == "allow"]
    events = [json.loads(bytes(said.asked)) for said in heard if said.asked]
    assert [event["type"] for event in events] == ["permission.requested"] * 2
    assert [event["input"]["path"] for event in events] == [str(file) for file in files]
    assert all(event["synthesized"] for event in events)
    assert [said.settled for said in heard if said.settled] == [event["request_id"] for event in events]
    for told_again in (result.events, dragoman.convert(record)):
        assert [event.who for event in told_again if isinstance(event, HostAnswered)] == [None, "phone"]


async def test_who_comes_later_hears_what_is_asked_already(tmp_path: Path) -> None:
    asked, may_go = anyio.Event(), anyio.Event()

    async def approve(request: dragoman.PermissionRequest) -> bool:
        asked.set()
        await may_go.wait()
        return True

    async def look() -> None:
        await asked.wait()
        async with DeskClient(the_beacon().socket) as client:
            async for said in client:
                heard.append(bool(said.asked))
                if said.asked:
                    may_go.set()
                if said.settled is not None:
                    return

    heard: list[bool] = []
    order = ["terminal/create", {"command": "touch x"}]
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            await told([order], tmp_path, approve=approve, record=tmp_path / "run.jsonl", share=True)
    assert heard == [False, True, False]


async def test_a_program_may_leave_all_answers_to_others(tmp_path: Path) -> None:
    """Also those to what the host asks for, of which only the desk tells."""

    async def answer() -> None:
        while not beacons():
            await anyio.lowlevel.checkpoint()
        async with DeskClient(the_beacon().socket) as client:
            async for said in client:
                if said.asked:
                    request = json.loads(bytes(said.asked))["request_id"]
                    await client.send(Answer(request=request, decision="allow"), "phone")
                    return

    file = tmp_path / "one"
    order = ["fs/write_text_file", {"path": str(file), "content": "x"}]
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer)
            record = tmp_path / "run.jsonl"
            _, result = await told([order], tmp_path, approve=desk.left_to_others, record=record, share=True)
    assert file.read_text() == "x"
    assert [event.who for event in result.events if isinstance(event, HostAnswered)] == ["phone"]


async def test_of_several_sessions_one_is_named(tmp_path: Path) -> None:
    agent = FakeAgent(lambda prompt: f"You said {prompt}.")
    options: dict[str, Any] = {"dialect": "acp", "record": tmp_path / "run.jsonl", "share": True}
    with anyio.fail_after(LONG):
        async with (
            dragoman.connect(agent, cwd=tmp_path, **options) as connection,
            DeskClient(the_beacon().socket) as client,
        ):
            with pytest.raises(DragomanError, match="there is none yet"):
                await client.send(commands.Prompt(text="hello"), "phone")
            one, two = await connection.session(), await connection.session()
            with pytest.raises(DragomanError, match=f"name one: {one.id}, {two.id}"):
                await client.send(commands.Prompt(text="hello"), "phone")
            events = two.events()
            await client.send(commands.Prompt(text="hello", session=two.id), "phone")
            assert (await next_of(TurnEnded, events)).session == two.id
            await client.send(commands.Close(session=one.id), "phone")
            await client.send(commands.Prompt(text="again"), "phone")
            assert (await next_of(TurnEnded, events)).text == "You said again."


async def test_what_cannot_be_says_why(tmp_path: Path) -> None:
    async with shared(FakeAgent([]), tmp_path) as (_, client):
        for command, why in (
            (commands.RewindFiles(message_id="m"), "rewind_files is not done at a desk"),
            (Answer(request="none"), "not asked any more"),
        ):
            with pytest.raises(DragomanError, match=why):
                await client.send(command, "phone")


# --- hostile -------------------------------------------------------------------------------------------------


@asynccontextmanager
async def raw(beacon: Beacon) -> AsyncIterator[tuple[Any, Callable[[], Any]]]:
    """A connection, and what gives the next line from it."""
    async with await anyio.connect_unix(beacon.socket) as stream:
        lines = BufferedByteReceiveStream(stream)

        async def line() -> Any:
            return json.loads(await lines.receive_until(b"\n", 1 << 20))

        assert (await line()) == {"policy": "ask"}
        yield stream, line


@pytest.mark.parametrize(
    ("said", "id"),
    [
        (b"", None),
        (b"{", None),
        (b"\xff\xfe", None),
        (b"[" * 100_000, None),
        (b"7", None),
        (b"{}", None),
        (b'{"id":"x"}', None),
        (b'{"id":3}', 3),
        (b'{"id":3,"command":{"command":"reply","request":"r"}}', 3),
        (b'{"id":3,"command":{"command":"delete_session"}}', 3),
        (b'{"id":3,"command":{"command":"set_mode"}}', 3),
        (b'{"id":3,"who":7,"command":{"command":"interrupt"}}', 3),
        (b'{"id":3,"command":{"command":"prompt","text":["x"]}}', 3),
        (b'{"id":3,"command":{"command":"answer","request":"r","decision":"maybe"}}', 3),
    ],
)
async def test_a_line_that_is_no_order_is_answered_with_what_is_wrong(
    said: bytes, id: int | None, tmp_path: Path
) -> None:
    async with shared(FakeAgent(["Hello."]), tmp_path), raw(the_beacon()) as (stream, line):
        await stream.send(said + b"\n" + b'{"id":9,"command":{"command":"answer","request":"r"}}\n')
        wrong = await line()
        assert wrong.get("id") == id
        assert "this is no order" in wrong["error"]["message"]
        assert (await line())["id"] == 9


async def test_a_line_that_never_ends_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_caller, "LONGEST", 1000)
    async with shared(FakeAgent(["Hello."]), tmp_path), raw(the_beacon()) as (stream, line):
        await stream.send(b"x" * 2000)
        assert "more than 1000 bytes" in (await line())["error"]["message"]
        with pytest.raises((anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError)):
            await line()


async def test_there_is_room_for_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "MOST_CALLERS", 1)
    async with shared(FakeAgent(["Hello."]), tmp_path) as (_, client):
        assert [said.policy async for said in first(client)] == ["ask"]
        async with await anyio.connect_unix(the_beacon().socket) as stream:
            refusal = Said(**json.loads(await stream.receive()))
            assert "1 other programs are connected" in str(refusal.error)
            with pytest.raises(anyio.EndOfStream):
                await stream.receive()
        async with DeskClient(the_beacon().socket) as second:
            assert [said async for said in second] == []
            with pytest.raises(DragomanError, match="1 other programs are connected"):
                await second.send(commands.Interrupt(), "phone")


async def test_who_does_not_listen_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And holds up nobody else."""
    monkeypatch.setattr(desk_caller, "PATIENCE", 0.1)
    async with shared(FakeAgent(["Hello."]), tmp_path) as (_, client):
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.connect(the_beacon().socket)
            deaf.setblocking(False)
            with pytest.raises(ConnectionError):
                await pour(deaf, b"x" * 1000 + b"\n")
        with pytest.raises(DragomanError, match="not asked any more"):
            await client.send(commands.Answer(request="x"), "phone")


async def pour(into: socket.socket, line: bytes) -> None:
    while True:
        await anyio.wait_writable(into)
        with suppress(BlockingIOError):
            into.send(line)


async def test_orders_are_begun_in_their_order(tmp_path: Path) -> None:
    agent = FakeAgent(lambda prompt: prompt)
    async with shared(agent, tmp_path) as (session, _), raw(the_beacon()) as (stream, line):
        events = session.events()
        orders = [written(Order(n, commands.Prompt(text=str(n)))) for n in range(40)]
        await stream.send(b"".join(orders))
        assert [await line() for _ in orders] == [{"id": n, "ok": True} for n in range(40)]
        for _ in orders:
            await next_of(TurnEnded, events)
    assert agent.prompts == [str(n) for n in range(40)]


async def test_one_that_takes_its_time_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go, carry_out = anyio.Event(), desk.carry_out

    async def slowly(session: Any, command: Any, who: str) -> Any:
        if isinstance(command, commands.SetModel):
            await may_go.wait()
        return await carry_out(session, command, who)

    monkeypatch.setattr(desk, "carry_out", slowly)
    monkeypatch.setattr(desk_caller, "MOST_AT_ONCE", 3)
    async with shared(FakeAgent(["Hello."]), tmp_path), raw(the_beacon()) as (stream, line):
        for number in range(3):
            await stream.send(written(Order(number, commands.SetModel(model="m"))))
            await stream.send(written(Order(9, commands.Answer(request="none"))))
            said = (await line())["error"]["message"]
            assert ("3 orders are not done yet" if number == 2 else "not asked any more") in said
        may_go.set()
        assert sorted([(await line())["id"] for _ in range(3)]) == [0, 1, 2]


async def test_a_stranger_is_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shared(FakeAgent(["Hello."]), tmp_path):
        beacon, uid = the_beacon(), os.getuid()
        with monkeypatch.context() as patch:
            patch.setattr(desk.os, "getuid", lambda: uid + 1)
            async with await anyio.connect_unix(beacon.socket) as stream:
                with pytest.raises(anyio.EndOfStream):
                    await stream.receive()


def test_a_killed_owner_is_noticed(tmp_path: Path) -> None:
    """And what it had recorded is told to its end."""
    with subprocess.Popen(
        [sys.executable, str(SHARER), str(tmp_path / "run.jsonl")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        beacon = the_beacon()
        assert (beacon.pid, Path(beacon.socket).exists()) == (process.pid, True)
        follower = Follower(beacon.recording)
        assert isinstance(follower.read()[-1], Event)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert beacons() == []
        assert not Path(beacon.socket).exists()
        assert isinstance(follower.end()[-1], RunEnded)
        follower.close()


# --- who may not -------------------------------------------------------------------------------------------------

KNOCK = """
import socket, sys
desk = socket.socket(socket.AF_UNIX)
desk.connect(sys.argv[1])
print(desk.makefile().readline())
"""


async def test_what_an_agent_has_started_answers_for_none(tmp_path: Path) -> None:
    """An agent's sandbox may let its commands reach a socket; they would allow what it is asking for."""
    async with shared(FakeAgent([[asks("Bash", command="rm x")]]), tmp_path, approve=lambda request: LATER):
        below = await spawn(
            [sys.executable, "-c", KNOCK, the_beacon().socket], agent="x", cwd=None, env=dict(os.environ)
        )
        assert b"answers for no agent" in await spoken(below)
        beside = await anyio.run_process([sys.executable, "-c", KNOCK, the_beacon().socket])
        assert b"policy" in beside.stdout


async def spoken(child: Child) -> bytes:
    """All that a program says."""
    found: list[bytes] = []
    await pump(child.stdout, found.append)
    child.close()
    return b"".join(found)
