"""Both sides of the protocol against an independent implementation, the Python package agent-client-protocol."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

import dragoman
from dragoman import (
    AgentReady,
    AnswerQuestion,
    Error,
    FileChanged,
    HostAnswered,
    HostCalled,
    Message,
    PermissionResolved,
    PlanUpdated,
    QuestionAnswered,
    QuestionAsked,
    SessionMode,
    ToolEnded,
    ToolStarted,
)
from dragoman.testing import Scenario, _demo_agent
from tests.real.driving import PATIENCE, Events, Watched, check
from tests.real.pins import LIBRARY_FOLDER

pytestmark = pytest.mark.anyio

PEERS = Path(__file__).parent / "peers"
LIBRARY = {"PYTHONPATH": str(LIBRARY_FOLDER)}


@pytest.fixture(autouse=True)
def installed() -> None:
    if not LIBRARY_FOLDER.exists():
        pytest.fail(f"{LIBRARY_FOLDER.name} is not there: run `python -m tests.real.install`")


# --- our client, its agent ---------------------------------------------------------------------------------


@asynccontextmanager
async def talking(place: Path, **fields: Any) -> AsyncIterator[Watched]:
    recording, cwd = place / "run.jsonl", place / "work"
    cwd.mkdir()
    command = [sys.executable, str(PEERS / "library_agent.py")]
    with anyio.fail_after(PATIENCE):
        async with dragoman.open(
            "acp", extra_args=command, cwd=cwd, env=LIBRARY, inherit_env=False, record=recording, **fields
        ) as session:
            watched = Watched(session, Scenario([], ""))
            yield watched
        await watched.rest()
    check(watched.events, recording)


async def test_words_thoughts_and_a_plan(tmp_path: Path) -> None:
    async with talking(tmp_path) as run:
        said = await run.turn("hello")
    ready = run.events.one(AgentReady)
    assert (ready.name, ready.cli_version, ready.protocol_version) == ("library-agent", "1.2.3", 1)
    assert (said.said(kind="thinking"), said.said()) == (["A greeting."], ["Hello to you."])
    [entry] = said.one(PlanUpdated).entries
    assert (entry.text, entry.status) == ("Greet", "in_progress")
    assert said.ended.outcome == "completed"


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_permission_and_files_of_the_client(tmp_path: Path, allowed: bool) -> None:
    async with talking(tmp_path, approve=lambda request: allowed) as run:
        said = await run.turn("write")
    path = tmp_path / "work" / "new.txt"
    assert path.exists() == allowed
    assert said.one(PermissionResolved).option_id == ("yes" if allowed else "no")
    assert said.one(ToolEnded).status == ("completed" if allowed else "declined")
    assert [change.phase for change in said.of(FileChanged)] == [
        "proposed",
        "applied" if allowed else "failed",
    ]
    if allowed:
        assert path.read_text() == "fresh\n"
        assert said.said() == ["It says 'fresh\\n'."]
        assert [call.method for call in said.of(HostCalled)] == ["fs/write_text_file", "fs/read_text_file"]


async def test_a_terminal_of_the_client(tmp_path: Path) -> None:
    """Agents have it in their schema and none of the pinned ones uses it."""
    async with talking(tmp_path, approve="all") as run:
        said = await run.turn("run")
    done = said.one(ToolEnded)
    assert (done.status, done.output, done.exit_code) == ("completed", "out\n", 3)
    assert said.one(ToolStarted).kind == "execute"
    assert said.said() == ["'out\\n' and 3"]
    assert [call.method.partition("/")[2] for call in said.of(HostCalled)] == [
        "create",
        "wait_for_exit",
        "output",
        "release",
    ]
    assert {answer.error for answer in said.of(HostAnswered)} == {None}


@pytest.mark.parametrize(
    ("action", "greeting"), [("accepted", "Hello, Ann."), ("declined", "Hello, whoever.")]
)
async def test_a_question(tmp_path: Path, action: Any, greeting: str) -> None:
    def answer(question: QuestionAsked) -> AnswerQuestion:
        return AnswerQuestion(action=action, answers={"name": "Ann"})

    async with talking(tmp_path, answer=answer) as run:
        said = await run.turn("ask")
    assert said.one(QuestionAnswered).action == action
    assert said.said() == [greeting]


async def test_cancel_modes_and_errors(tmp_path: Path) -> None:
    async with talking(tmp_path) as run:
        stream = run.session.prompt("wait")
        await run.until(dragoman.Delta)
        await run.session.interrupt()
        said = Events([event async for event in stream])
        answer = await run.session.set_mode("wild")
        assert answer is not None
        assert answer.ok
        failed = await run.turn("fail")
    assert said.ended.outcome == "cancelled"
    assert run.events.one(SessionMode).mode == "wild"
    assert (failed.ended.outcome, failed.one(Error).code) == ("failed", "-32603")


async def test_history(tmp_path: Path) -> None:
    async with talking(tmp_path, resume="session-1", native={"replay": True}) as run:
        said = await run.turn("hello")
    history = [(message.role, message.text) for message in run.events.of(Message, replay=True)]
    assert history == [("user", "hello"), ("assistant", "Hello to you.")]
    assert said.said() == ["Hello to you."]


# --- its client, our agent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["allow_once", "reject_once"])
def test_the_demo_agent_is_driven(tmp_path: Path, kind: str) -> None:
    _demo_agent.prepare(tmp_path)
    agent = [sys.executable, "-I", str(_demo_agent.__file__), "--pace", "0"]
    done = subprocess.run(
        [sys.executable, PEERS / "library_client.py", kind, tmp_path, _demo_agent.PROMPT, *agent],
        env=LIBRARY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr.decode()
    seen = json.loads(done.stdout)
    assert (seen["version"], seen["stop"]) == (1, "end_turn")
    kinds = {update["sessionUpdate"] for update in seen["updates"]}
    assert {"agent_message_chunk", "agent_thought_chunk", "plan", "tool_call", "tool_call_update"} <= kinds
    [asked] = seen["asked"]
    assert asked["content"][0]["newText"] == _demo_agent.BROKEN.replace(_demo_agent.OLD, _demo_agent.NEW)
    fixed = _demo_agent.OLD not in (tmp_path / "mean.py").read_text()
    assert fixed == (kind == "allow_once") == ("write" in seen["files"])
