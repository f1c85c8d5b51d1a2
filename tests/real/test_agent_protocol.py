"""The specification's usage example (004 §9.2) on the real agents: the same program, but for one word. And its adapters
(§7.4) with its transport (§9.3)."""

from typing import Any

import anyio
import pytest

from dragoman.agent_protocol import (
    AgentClient,
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
from tests.agent_protocol import usage_example
from tests.real.capability_marks import by
from tests.real.driving import PATIENCE, Pinned, playing

pytestmark = pytest.mark.anyio

ADAPTERS: dict[str, type[ProtocolAdapter]] = {
    "claude": ClaudeAdapter,
    "codex": CodexAdapter,
    "gemini": GeminiAdapter,
}


@by("claude", "codex", "gemini")
async def test_the_usage_example(agent: Pinned) -> None:
    lines = [agent.write("auth.py", "async def login(): ...\n"), "It is async now.", "And it handles errors."]
    with anyio.fail_after(PATIENCE), playing(lines) as model:
        given: Any = agent.fields(model)
        given.pop("cwd")
        printed = await usage_example.main(AgentClient(**given), agent.name, str(agent.cwd))
        assert len(model.requests_of("main")) == 3
    assert printed[0].startswith("Session started: ")
    assert any(line.startswith(("[Tool] ", "[File] ")) for line in printed)
    assert "".join(printed).count("It is async now.") == 1
    assert sum(line.endswith("\n") for line in printed) == 1
    assert sum(line.startswith("[Tokens] ") for line in printed) == 1
    assert [line for line in printed if line.startswith("[End] ")] == ["[End] completed", "[End] completed"]
    assert (agent.cwd / "auth.py").read_text() == "async def login(): ...\n"


@by("claude", "codex", "gemini")
async def test_an_adapter_and_a_transport(agent: Pinned) -> None:
    """Without Dragoman's own way to drive it: the arguments, the process, the lines. Nothing is asked of anyone."""
    adapter = ADAPTERS[agent.name]()
    with anyio.fail_after(PATIENCE), playing([agent.tools.shell("echo hi"), "Done."]) as model:
        config = SessionConfig(
            agent_type=agent.name,
            prompt="Go.",
            working_directory=str(agent.cwd),
            approval_mode="autoEdit" if agent.name == "claude" else "autoAll",
        )
        env = {**model.env(agent.name, agent.home), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        args = adapter.build_args(config)
        transport = StdioTransport(str(agent.executable), args, config.working_directory, env)
        events: list[AgentEvent] = [event async for event in adapter.events(transport)]
    assert isinstance(events[0], SessionStartedEvent)
    assert isinstance(events[-1], SessionEndedEvent)
    assert events[-1].reason == "completed"
    assert any(isinstance(event, ToolStartedEvent | FileChangedEvent) for event in events)
    assert any(isinstance(event, ToolCompletedEvent) for event in events)
    assert "Done." in "".join(event.content for event in events if isinstance(event, TextChunkEvent))
