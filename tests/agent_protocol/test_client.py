"""The specification's client and sessions, on the demo agent."""

import gc
import json
import os
from pathlib import Path

import anyio
import psutil
import pytest
from msgspec import structs

import dragoman
from dragoman.agent_protocol import (
    AgentClient,
    AgentError,
    AgentErrorType,
    AgentEvent,
    ApprovalMode,
    SandboxMode,
    SessionConfig,
    SessionEndedEvent,
    SessionEndReason,
    SessionStartedEvent,
    TextChunkEvent,
    ToolStartedEvent,
)
from dragoman.agent_protocol._client import _folder_of_session
from dragoman.testing._demo_agent import prepare

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With what the demo agent has something to do in."""
    place = tmp_path / "work"
    place.mkdir()
    prepare(place)
    return place


def config(**fields: object) -> SessionConfig:
    return SessionConfig(**{"agent_type": "demo", "prompt": "Go.", "approval_mode": "autoAll", **fields})  # type: ignore[arg-type]


def demo(**given: object) -> AgentClient:
    return AgentClient(native={"pace": 0}, **given)  # type: ignore[arg-type]


async def all_of(events: object) -> list[AgentEvent]:
    with anyio.fail_after(60):
        return [event async for event in events]  # type: ignore[attr-defined]


async def test_events_are_one_stream_that_ends_with_the_session(tmp_path: Path) -> None:
    session = await demo().start_session(config(working_directory=str(tmp_path)))
    events = await all_of(session.events)
    assert isinstance(events[0], SessionStartedEvent)
    assert isinstance(events[-1], SessionEndedEvent)
    assert events[-1].reason == SessionEndReason.completed
    assert session.id == events[0].session_id
    assert await all_of(session.events) == []


async def test_it_works_whether_or_not_one_listens(tmp_path: Path) -> None:
    session = await demo().start_session(config(working_directory=str(tmp_path)))
    with anyio.fail_after(60):
        await session.session._run.ended.wait()
    events = await all_of(session.events)
    assert isinstance(events[0], SessionStartedEvent)
    assert isinstance(events[-1], SessionEndedEvent)


async def test_one_may_listen_in_another_task(tmp_path: Path) -> None:
    session = await demo().start_session(config(working_directory=str(tmp_path)))
    heard: list[AgentEvent] = []

    async def listen() -> None:
        heard.extend(await all_of(session.events))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
    assert isinstance(heard[-1], SessionEndedEvent)


async def test_cancel(tmp_path: Path) -> None:
    client = AgentClient(native={"pace": 1})
    session = await client.start_session(config(working_directory=str(tmp_path)))
    await anext(session.events)
    await session.cancel()
    events = await all_of(session.events)
    assert isinstance(events[-1], SessionEndedEvent)
    assert events[-1].reason == "cancelled"


async def test_a_block_ends_it(tmp_path: Path) -> None:
    client = AgentClient(native={"pace": 1})
    async with await client.start_session(config(working_directory=str(tmp_path))) as session:
        await anext(session.events)
        pid = session.session._run.child.pid
    assert not psutil.pid_exists(pid)


async def test_nobody_need_keep_it(tmp_path: Path) -> None:
    """What works is held by the loop that it works on, and not only by who started it."""
    client = demo()
    events = (await client.start_session(config(working_directory=str(tmp_path)))).events
    gc.collect()
    assert isinstance((await all_of(events))[-1], SessionEndedEvent)


async def test_handlers_and_options_pass_through(folder: Path) -> None:
    asked: list[str] = []

    def approve(request: object) -> bool:
        asked.append(str(request))
        return True

    session = await demo(approve=approve).start_session(
        config(working_directory=str(folder), approval_mode="ask")
    )
    events = await all_of(session.events)
    assert asked
    assert any(isinstance(event, ToolStartedEvent) for event in events)
    assert any(isinstance(event, TextChunkEvent) for event in events)


async def test_texts_in_pieces_and_whole(folder: Path) -> None:
    """In pieces they amount to the same."""
    told: dict[bool, list[TextChunkEvent]] = {}
    for partial in (True, False):
        prepare(folder)
        session = await demo(partial=partial).start_session(config(working_directory=str(folder)))
        told[partial] = [event for event in await all_of(session.events) if isinstance(event, TextChunkEvent)]
    assert len(told[True]) > len(told[False])
    assert not any(chunk.is_partial for chunk in told[False])
    pieces = "".join(chunk.content + ("" if chunk.is_partial else "\n") for chunk in told[True])
    assert pieces == "".join(chunk.content + "\n" for chunk in told[False])


def test_a_session_that_is_resumed_has_a_folder(tmp_path: Path) -> None:
    """As Claude Code wrote it down; a folder that is gone is none."""
    id, place = "0b3c1e52-6f0a-4a57-9c0e-2f9d1c7a5e11", tmp_path / "project"
    store = tmp_path / ".claude" / "projects" / "somewhere"
    store.mkdir(parents=True)
    line = {"type": "user", "cwd": str(place), "message": {"role": "user", "content": "Go."}}
    (store / f"{id}.jsonl").write_text(json.dumps(line) + "\n")
    wanted = dragoman.SessionConfig(agent="claude", resume=id, env={"HOME": str(tmp_path)}, inherit_env=False)
    assert _folder_of_session(wanted) is None
    place.mkdir()
    assert _folder_of_session(wanted) == str(place)
    assert _folder_of_session(structs.replace(wanted, resume="no-such")) is None
    assert _folder_of_session(structs.replace(wanted, resume=None)) is None
    assert _folder_of_session(structs.replace(wanted, agent="nobody")) is None


# --- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "given", "type", "words"),
    [
        ({"agent_type": "nobody"}, {}, "unknown", "no agent is called 'nobody'"),
        ({"approval_mode": "yolo"}, {}, "unknown", "approve must be one of"),
        ({"sandbox_mode": "tight"}, {}, "unknown", "sandbox must be one of"),
        ({"max_turns": 0}, {}, "unknown", "max_turns must be"),
        ({}, {"executable": "/no/such/program"}, "processSpawnFailed", "was not found"),
    ],
)
async def test_what_cannot_be_started(
    fields: dict[str, object], given: dict[str, object], type: str, words: str
) -> None:
    with pytest.raises(AgentError, match=words) as raised:
        await demo(**given).start_session(config(**fields))
    assert raised.value.type == type
    assert str(raised.value) == f"AgentError({type}): {raised.value.message}"


def program(folder: Path, script: str) -> str:
    path = folder / "agent"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("agent", "script", "type"),
    [
        ("codex", "echo Hello, I am no agent; exit 0", AgentErrorType.jsonParseError),
        ("codex", "echo no licence >&2; exit 9", AgentErrorType.processExitError),
        ("gemini", "exit 41", AgentErrorType.unknown),
    ],
)
async def test_work_that_never_began_raises_from_the_stream(
    tmp_path: Path, agent: str, script: str, type: AgentErrorType
) -> None:
    client = AgentClient(
        executable=program(tmp_path, script),
        inherit_env=False,
        dialect="codex_exec" if agent == "codex" else "gemini_stream",
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )
    session = await client.start_session(config(agent_type=agent, working_directory=str(tmp_path)))
    with pytest.raises(AgentError) as raised:
        await all_of(session.events)
    assert raised.value.type is type
    assert raised.value.agent_type == agent
    assert await all_of(session.events) == []


async def test_enums_are_their_words() -> None:
    assert ApprovalMode.autoAll == "autoAll"
    assert SandboxMode.workspaceWrite == "workspaceWrite"
