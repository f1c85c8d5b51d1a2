"""The demo agent as an agent: what it writes is ACP, and what a client may ask of an agent it does."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

import dragoman
from dragoman._agents import demo
from dragoman._agents.demo import PROGRAM
from dragoman._contract.invariants import broken
from dragoman._files.recording import read_recording
from dragoman._model.commands import Reply
from dragoman._model.events import (
    AgentReady,
    Delta,
    Event,
    FileChanged,
    HostAnswered,
    HostCalled,
    Message,
    PermissionRequested,
    PermissionResolved,
    PlanUpdated,
    TurnEnded,
)
from dragoman._policy.permission import PermissionRequest
from dragoman._runtime.requests import LATER
from dragoman.testing._demo_agent import BROKEN, NEW, OLD, PROMPT, prepare
from tests.dialects.acp.schemas import check

pytestmark = pytest.mark.anyio

FIXED = BROKEN.replace(OLD, NEW)
QUICK: dict[str, Any] = {"agent": "demo", "native": {"pace": 0}}


@pytest.fixture
def anyio_backend() -> str:
    """The agent is a program of its own; that sessions are the same on trio, tests/runtime shows."""
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the job in it."""
    place = tmp_path / "job"
    place.mkdir()
    prepare(place)
    return place


def said(events: Iterable[Event]) -> str:
    return "\n".join(
        event.text or "" for event in events if isinstance(event, Message) and event.kind == "text"
    )


def outcomes(events: Iterable[Event]) -> list[str]:
    return [event.outcome for event in events if isinstance(event, TurnEnded)]


def check_lines(recording: Path) -> None:
    """Every line that the agent wrote is one of protocol 1."""
    asked: dict[Any, str] = {}
    lines = 0
    for frame in read_recording(recording).frames:
        if frame.dir not in ("out", "in"):
            continue
        message = json.loads(frame.line)
        if frame.dir == "in" and "method" in message and "id" in message:
            asked[message["id"]] = message["method"]
        if frame.dir == "out":
            check(1, message, asked.get(message["id"]) if "method" not in message else None)
            lines += 1
    assert lines > 5


@pytest.mark.parametrize("host", [True, False])
async def test_the_whole_job(folder: Path, tmp_path: Path, host: bool) -> None:
    record = tmp_path / "run.jsonl"
    result = await dragoman.ask(**QUICK, prompt=PROMPT, cwd=folder, approve="all", host=host, record=record)
    events = result.events
    assert result.outcome == "completed"
    assert re.fullmatch(demo.AGENT.session_id, result.session or "")
    assert result.text is not None
    assert result.text.startswith("Fixed: ")
    assert result.cost_usd
    assert result.usage
    assert (folder / "mean.py").read_text() == FIXED
    assert [change.path for change in result.changes] == [str(folder / "mean.py")]
    assert broken(events) == []
    kinds = {type(event) for event in events}
    assert kinds >= {AgentReady, Delta, PlanUpdated, PermissionRequested, PermissionResolved, FileChanged}
    calls = [event.method for event in events if isinstance(event, HostCalled)]
    assert calls == (["fs/read_text_file"] * 2 + ["fs/write_text_file"] if host else [])
    check_lines(record)


async def test_what_the_tool_was_allowed_the_host_does_without_asking_again(folder: Path) -> None:
    asked = []

    async def approve(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    result = await dragoman.ask(**QUICK, prompt=PROMPT, cwd=folder, approve=approve)
    assert result.outcome == "completed"
    assert [request.paths for request in asked] == [[str(folder / "mean.py")]]
    assert (folder / "mean.py").read_text() == FIXED


async def test_a_denial(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    result = await dragoman.ask(**QUICK, prompt=PROMPT, cwd=folder, approve="never", record=record)
    assert "Then I leave mean.py as it is." in said(result.events)
    assert (folder / "mean.py").read_text() == BROKEN
    assert not any(isinstance(event, FileChanged) and event.phase == "applied" for event in result.events)
    check_lines(record)


async def test_a_client_that_does_not_write_fails_the_edit(folder: Path) -> None:
    def no_writing(call: HostCalled) -> Reply | None:
        return Reply(error="not here") if call.method == "fs/write_text_file" else None

    result = await dragoman.ask(
        **QUICK, prompt=PROMPT, cwd=folder, approve=lambda request: True, serve=no_writing
    )
    assert (folder / "mean.py").read_text() == BROKEN
    [failed] = [event.phase for event in result.events if isinstance(event, FileChanged)][1:]
    assert failed == "failed"
    assert [event.error is None for event in result.events if isinstance(event, HostAnswered)] == [
        True,
        True,
        False,
    ]


async def test_it_can_be_cancelled_and_goes_on(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    async with dragoman.open("demo", cwd=folder, approve="all", record=record) as session:
        async for event in session.prompt(PROMPT):
            if isinstance(event, Delta):
                await session.interrupt()
        assert isinstance(event, TurnEnded)
        assert event.outcome == "cancelled"
        async for event in session.prompt(PROMPT):
            if isinstance(event, Delta):
                break
    assert (folder / "mean.py").read_text() == BROKEN
    check_lines(record)


async def test_it_can_be_cancelled_while_it_asks(folder: Path) -> None:
    async with dragoman.open(**QUICK, cwd=folder, approve=lambda request: LATER) as session:
        events = []
        async for event in session.prompt(PROMPT):
            events.append(event)
            if isinstance(event, PermissionRequested):
                await session.interrupt()
    assert outcomes(events) == ["cancelled"]
    assert (folder / "mean.py").read_text() == BROKEN


async def test_allowed_always_is_asked_once(folder: Path) -> None:
    async with dragoman.open(**QUICK, cwd=folder, approve=lambda request: LATER) as session:
        asked = 0
        for _ in range(2):
            prepare(folder)
            async for event in session.prompt(PROMPT):
                if isinstance(event, PermissionRequested):
                    asked += 1
                    await session.answer(event.request_id, "allow", option="allow_always")
    assert asked == 1


async def test_an_earlier_session_is_told_again(folder: Path, tmp_path: Path) -> None:
    record, native = tmp_path / "run.jsonl", {"pace": 0, "sessions": str(tmp_path / "kept")}
    before = await dragoman.ask("demo", PROMPT, cwd=folder, approve="all", native=native)
    async with dragoman.open(
        "demo", cwd=folder, native=native, resume=before.session, record=record
    ) as session:
        stream = session.events()
        async for _ in session.prompt("and again"):
            pass
        events = stream.drain()
    told = [event for event in events if event.replay]
    assert said(told) == said(
        event for event in before.events if event.origin == "agent" or isinstance(event, Message)
    )
    assert [event.path for event in told if isinstance(event, FileChanged)] == [str(folder / "mean.py")]
    assert outcomes(events) == ["completed"]
    check_lines(record)
    fresh = await dragoman.ask("demo", "hi", cwd=tmp_path, native=native)
    assert fresh.session != before.session
    with pytest.raises(dragoman.DragomanError, match="no session is called demo-00000009"):
        async with dragoman.connect("demo", native=native) as agent:
            await agent.session(resume="demo-00000009")


async def test_two_sessions_at_once(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    prepare(other)
    answers: dict[str | None, str] = {}

    async def work(session: dragoman.Session) -> None:
        events = [event async for event in session.prompt(PROMPT)]
        assert {event.session for event in events} == {session.id}
        answers[session.id] = said(events)

    async with dragoman.connect("demo", native={"pace": 0}, approve="all") as agent:
        everything = agent.events()
        sessions = [await agent.session(folder), await agent.session(other)]
        async with anyio.create_task_group() as tasks:
            for session in sessions:
                tasks.start_soon(work, session)
        await sessions[0].close()
        again = await agent.session(folder, resume=sessions[0].id)
        heard = again.events().drain()
    assert len(answers) == 2
    [answer, _] = answers.values()
    assert answers == dict.fromkeys(answers, answer)
    grown = "".join(event.text for event in heard if isinstance(event, Delta) and event.replay)
    assert answer.replace("\n", "").endswith(grown[-60:])
    assert [(place / "mean.py").read_text() for place in (folder, other)] == [FIXED, FIXED]
    assert broken(everything.drain()) == []


def test_what_it_does_not_know_it_refuses() -> None:
    asked = [
        b"this is not JSON",
        b'{"jsonrpc":"2.0","id":1,"method":"session/fork","params":{}}',
        b'{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}',
        b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}',
        b'{"jsonrpc":"2.0","method":"$/unknown"}',
        b'{"jsonrpc":"2.0","id":9,"result":{}}',
    ]
    done = subprocess.run(
        [sys.executable, "-I", PROGRAM], input=b"\n".join(asked), capture_output=True, timeout=60, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for answer in answers:
        check(1, answer)
    assert [answer["error"]["code"] for answer in answers] == [-32700, -32601, -32002]
    assert done.stderr == b""
