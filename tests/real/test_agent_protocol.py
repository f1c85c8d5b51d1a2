"""The specification's usage example (004 §9.2) on the real agents: the same program, but for one word. And its adapters
(§7.4) with its transport (§9.3)."""

import os
import subprocess
import sys

import anyio
import pytest

from dragoman.agent_protocol import (
    AgentEvent,
    ClaudeAdapter,
    CodexAdapter,
    FileChangedEvent,
    GeminiAdapter,
    ProtocolAdapter,
    SessionConfig,
    SessionEndedEvent,
    SessionStartedEvent,
    StdioTransport,
    TextChunkEvent,
    ToolCompletedEvent,
    ToolStartedEvent,
)
from dragoman.testing import Scenario
from tests.real.capability_marks import by
from tests.real.driving import PATIENCE, Pinned, playing
from tests.real.pins import CHECKOUT
from tests.test_docs_examples import blocks_of

pytestmark = pytest.mark.anyio

ADAPTERS: dict[str, type[ProtocolAdapter]] = {
    "claude": ClaudeAdapter,
    "codex": CodexAdapter,
    "gemini": GeminiAdapter,
}

WORK = {
    "claude": ["[Tool]", "[Result]"],
    "codex": ["[File]", "[File]"],
    "gemini": ["[Tool]", "[Result]"],
}
"""What is printed of a file that is written: to Codex it is a file change, not a tool."""


@by("claude", "codex", "gemini")
def test_the_usage_example(agent: Pinned) -> None:
    """The first block of docs/agent-protocol.md as a program of its own, in which one word is another."""
    [example, *_] = blocks_of(CHECKOUT / "docs" / "agent-protocol.md")
    assert example.source.count("AgentType.claude") == 1
    program = example.source.replace("AgentType.claude", f"AgentType.{agent.name}")
    (agent.cwd / "my-project").mkdir()
    call = agent.write("my-project/auth.py", "async def login(): ...\n")
    with playing([call, "It is async now.", "And it handles errors."]) as model:
        done = run_program(agent, model, program)
        asked = [str(request.body) for request in model.requests_of("main")]
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    word, id = lines[0].rsplit(" ", 1)
    kinds = [line.split(" ")[0] if line.startswith("[") else line for line in lines[1:]]
    assert word == "Session started:"
    assert [kind for kind in kinds if kind not in ("[Tool]", "[Result]", "[File]", "")] == [
        *("It is async now.", "[Tokens]", "[End]"),
        *(f"Session started: {id}", "And it handles errors.", "[Tokens]", "[End]"),
    ]
    work = [(line.split(" ")[0], line) for line in lines if line.startswith(("[Tool]", "[Result]", "[File]"))]
    assert [kind for kind, _ in work] == WORK[agent.name]
    assert "auth.py" in work[0][1]
    assert lines.count("[End] completed ") == 2
    assert (agent.cwd / "my-project" / "auth.py").read_text() == "async def login(): ...\n"
    assert "Refactor the authentication module" in asked[-1]
    assert "Continue with error handling" in asked[-1]


def run_program(agent: Pinned, model: Scenario, source: str) -> subprocess.CompletedProcess[str]:
    """A Python program that sees the agent on PATH and nothing else of this machine."""
    env = model.env(agent.name, agent.home)
    if agent.name == "codex":  # of the keys there are, Dragoman lets an agent see its own
        config = agent.home / ".codex" / "config.toml"
        config.write_text(config.read_text().replace("SCRIPTED_API_KEY", "OPENAI_API_KEY"))
        env["OPENAI_API_KEY"] = env.pop("SCRIPTED_API_KEY")
    path = f"{agent.executable.parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    return subprocess.run(
        [sys.executable, "-c", source],
        cwd=agent.cwd,
        env={**env, "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@by("claude", "codex", "gemini")
async def test_an_adapter_and_a_transport(agent: Pinned) -> None:
    """Without Dragoman's own way to drive it: the arguments, the process, the lines. Nothing is asked of anyone."""
    adapter = ADAPTERS[agent.name]()
    with anyio.fail_after(PATIENCE), playing([agent.tools.shell("echo hi"), "Done."]) as model:
        config = SessionConfig(
            agent_type=agent.name,
            prompt="- Go.",
            working_directory=str(agent.cwd),
            approval_mode="autoEdit" if agent.name == "claude" else "autoAll",
        )
        env = {**model.env(agent.name, agent.home), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        args = adapter.build_args(config)
        transport = StdioTransport(str(agent.executable), args, config.working_directory, env)
        events: list[AgentEvent] = [event async for event in adapter.events(transport)]
        assert "- Go." in str(model.requests_of("main")[0].body)
    assert isinstance(events[0], SessionStartedEvent)
    assert isinstance(events[-1], SessionEndedEvent)
    assert events[-1].reason == "completed"
    assert any(isinstance(event, ToolStartedEvent | FileChangedEvent) for event in events)
    assert any(isinstance(event, ToolCompletedEvent) for event in events)
    assert "Done." in "".join(event.content for event in events if isinstance(event, TextChunkEvent))
