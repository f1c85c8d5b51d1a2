"""The examples in the README and the docs run: each Python block, as it stands there, on an agent that only works and on
one that asks for everything. Only the programs behind the names claude, codex and gemini are others."""

import ast
import builtins
import http.client
import inspect
import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from msgspec import structs

import dragoman
from dragoman import _agents
from dragoman._agents import acp, demo
from dragoman._agents.agent import Agent, with_tools
from dragoman._model.capabilities import Capability
from dragoman._model.config import SessionConfig
from dragoman._runtime.functions import Functions
from dragoman._runtime.plan import LaunchPlan
from dragoman._server.hub import Hub
from dragoman._server.serving import Serving
from dragoman.testing import FakeAgent, ReplayAgent
from dragoman.testing._demo_agent import prepare
from tests.runtime.toy_dialect import FAKES

ROOT = Path(__file__).parent.parent
RECORDINGS = ROOT / "captures" / "claude_stream" / "2.1.325"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


class Block(NamedTuple):
    """A Python block of a page."""

    page: str
    line: int
    source: str

    @property
    def free_names(self) -> set[str]:
        """Names that the block uses and does not make: what its reader has already."""
        made, used = set(dir(builtins)), set()
        for node in ast.walk(ast.parse(self.source)):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                made |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                made.add(node.name)
            elif isinstance(node, ast.arg):
                made.add(node.arg)
            elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
                made.add(node.name)
        return used - made

    def compiled(self) -> Any:
        """Top-level `await` is allowed: such a block stands inside an async function."""
        source = "\n" * self.line + self.source
        return compile(source, self.page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    @property
    def is_async(self) -> bool:
        return bool(self.compiled().co_flags & inspect.CO_COROUTINE)


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(page.name, text.count("\n", 0, found.start()) + 1, found[1])
        for found in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]

# --- the agents behind the names -----------------------------------------------------------------------------


def demo_plan(config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
    plan = demo.plan(structs.replace(config, native={"pace": 0, "sessions": "sessions"}), executable, dialect)
    return structs.replace(plan, capabilities=plan.capabilities | {Capability.MCP})


def extended(config: SessionConfig, dialect: str, functions: Functions) -> SessionConfig:
    """They are given tools and hooks, and use none."""
    return with_tools(config, functions)


def asker_plan(config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
    row = acp.Row("Asks for everything", (executable,))
    return acp.plan(config, row, [executable, "-I", str(FAKES / "acp_asker.py")])


WORKS = structs.replace(demo.AGENT, plan=demo_plan, extended=extended)
ASKS = structs.replace(acp.record("acp"), executable=sys.executable, plan=asker_plan, extended=extended)


@pytest.fixture(params=[WORKS, ASKS], ids=["works", "asks"])
def agent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Agent:
    agent: Agent = request.param
    monkeypatch.setattr(_agents, "AGENTS", dict.fromkeys(("claude", "codex", "gemini"), agent))
    return agent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the examples are run, with the folders that they name; there is a job to do in the first."""
    for name in ("my-project", "here", "there"):
        (tmp_path / name).mkdir()
    prepare(tmp_path / "my-project")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- what the reader of a block has already ------------------------------------------------------------------


@asynccontextmanager
async def some_events(block: Block) -> AsyncIterator[list[dragoman.Event]]:
    yield (await dragoman.ask("claude", "Fix the login bug")).events


@asynccontextmanager
async def open_session(block: Block) -> AsyncIterator[dragoman.Session]:
    """A session at work, which ends after its own turn and those that the block asks for: some blocks listen to it
    until it is over."""
    turns = 1 + block.source.count("session.prompt(")
    async with (
        anyio.create_task_group() as tasks,
        dragoman.open("claude", prompt="Fix the login bug") as session,
    ):
        tasks.start_soon(close_after, session, session.events(), turns)
        yield session


async def close_after(session: dragoman.Session, events: dragoman.EventStream, turns: int) -> None:
    async for event in events:
        turns -= isinstance(event, dragoman.TurnEnded)
        if turns == 0:
            await session.close()


@asynccontextmanager
async def a_bot(block: Block) -> AsyncIterator[Callable[[Mapping[str, str]], str]]:
    """It asks the model of its environment until that calls no more tools."""

    def run(env: Mapping[str, str]) -> str:
        body = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": [{"name": "Bash"}]}
        while True:
            connection = http.client.HTTPConnection(urlsplit(env["ANTHROPIC_BASE_URL"]).netloc, timeout=30)
            connection.request("POST", "/v1/messages", json.dumps(body))
            answer = json.loads(connection.getresponse().read())
            connection.close()
            if answer["stop_reason"] != "tool_use":
                return str(answer["content"][0]["text"])

    yield run


@asynccontextmanager
async def a_link(block: Block) -> AsyncIterator[str]:
    """To a server at work in another thread, in a home with nothing in it."""
    with TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", home)
        with start_blocking_portal() as portal:
            serving = portal.call(partial(Serving, Hub(), port=0))
            portal.start_task_soon(serving.run)
            yield serving.link()
            portal.call(serving.stop)


GIVEN: dict[str, Callable[[Block], AbstractAsyncContextManager[Any]]] = {
    "events": some_events,
    "session": open_session,
    "my_bot": a_bot,
    "link": a_link,
}


FIXTURES: dict[str, Callable[[Path], Any]] = {
    "tmp_path": lambda folder: folder,
    "fake_agent": lambda folder: FakeAgent,
    "replay_agent": lambda folder: lambda recording: ReplayAgent(RECORDINGS / recording),
}
"""What the tests among the examples may ask for."""


# --- running them --------------------------------------------------------------------------------------------


def run(block: Block, folder: Path) -> None:
    """As a script, or inside an async function; then the tests that it defines."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    if not block.is_async and not block.free_names:
        exec(block.compiled(), namespace)
    else:
        anyio.run(run_async, block, namespace)
    for name, value in list(namespace.items()):
        if name.startswith("test_"):
            wanted = inspect.signature(value).parameters
            value(**{fixture: FIXTURES[fixture](folder) for fixture in wanted})


async def run_async(block: Block, namespace: dict[str, Any]) -> None:
    async with AsyncExitStack() as stack:
        for name in sorted(block.free_names):
            namespace[name] = await stack.enter_async_context(GIVEN[name](block))
        made = eval(block.compiled(), namespace)
        if inspect.isawaitable(made):
            await made


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}:{block.line}")
def test_an_example_runs(block: Block, agent: Agent, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without a complaint in the log either: a handler that fails is told there, and the agent is denied."""
    run(block, folder)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_the_agent_that_asks_asks_for_everything(folder: Path) -> None:
    result = dragoman.blocking.ask(ASKS, "Go", cwd=folder, approve="all", check=True)
    assert [event.type for event in result.events if hasattr(event, "request_id")] == [
        *("permission.requested", "permission.resolved"),
        *("host.called", "host.answered") * 2,
        *("question.asked", "question.answered"),
    ]
    assert (folder / "asked.txt").read_text() == "asked\n"


def test_the_example_of_the_specification_goes_on_with_its_session(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the real agents: tests/real/test_agent_protocol."""
    monkeypatch.setattr(_agents, "AGENTS", {"claude": WORKS})
    [example, *_] = blocks_of(ROOT / "docs" / "agent-protocol.md")
    run(example, folder)
    lines = capsys.readouterr().out.splitlines()
    [started, again] = [line for line in lines if line.startswith("Session started: ")]
    assert started == again
    assert lines.count("[End] completed ") == 2
    assert lines[-1] == "[End] completed "


def test_the_first_example_is_a_whole_script() -> None:
    [first, *_] = blocks_of(ROOT / "README.md")
    assert not first.is_async
    assert first.free_names == set()


def test_no_example_hides_in_another_kind_of_fence() -> None:
    """Signatures in api.md are no examples."""
    for page in PAGES:
        fences = re.findall(r"^```(\w+)$", page.read_text("utf-8"), re.MULTILINE)
        assert set(fences) <= {"python", "sh", "console", "toml", "json"} | (
            {"py"} if page.name == "api.md" else set()
        )
