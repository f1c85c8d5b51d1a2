"""Tools that really run, the same with every agent: commands, and tools of MCP servers."""

import json

import pytest

from dragoman import (
    Capability,
    Delta,
    PermissionRequested,
    SessionStarted,
    SessionUpdated,
    ToolEnded,
    ToolStarted,
    UsageUpdated,
)
from dragoman.testing import text, tool, turn
from tests.real.capability_marks import by, exercises
from tests.real.driving import SMALL_SERVER, Events, Lines, Pinned, Watched, told

pytestmark = pytest.mark.anyio

WORDS = "Grüße: one two three four five six seven 🎈 eight nine ten."
COUNT = "expr 6 '*' 7 | tee answer"  # Gemini CLI runs nothing with $( in it
FAIL = "echo no; exit 3"

FAILED = {
    "claude": ("failed", 3),
    "codex": ("failed", 3),
    "gemini": ("completed", None),
    "opencode": ("completed", 3),
    "codex-acp": ("failed", 3),
}
"""What is said of a command that exits with 3."""


async def test_commands(agent: Pinned) -> None:
    """One that succeeds, after some words, and one that fails."""
    first, second = agent.tools.shell(COUNT), agent.tools.shell(FAIL)
    lines: Lines = [turn(text(WORDS), first, chunk=3), second, "It is 42."]
    async with agent.open(lines, approve="all") as run:
        said = await run.turn("What is six times seven?")
        counted, no = (told(run.model, n) for n in (1, 2))
    assert (agent.cwd / "answer").read_text() == "42\n"
    assert "42" in counted
    call, failing = said.of(ToolStarted)
    assert (call.name, call.kind) == (agent.tools.shell_name, "execute")
    done, failed = said.of(ToolEnded)
    assert (done.call_id, done.status, (done.output or "").strip()) == (call.call_id, "completed", "42")
    assert failed.call_id == failing.call_id
    assert (failed.status, failed.exit_code) == FAILED[agent.name]
    assert "no" in (failed.output or "")
    assert said.said() == [WORDS, "It is 42."]
    pieces: dict[str | None, str] = {}
    for piece in said.of(Delta, kind="text"):
        pieces[piece.message_id] = pieces.get(piece.message_id, "") + piece.text
    assert list(pieces.values()) == [WORDS, "It is 42."]
    assert (said.ended.outcome, said.ended.text) == ("completed", "It is 42.")
    if agent.name == "claude":
        assert [started.input for started in (call, failing)] == [{"command": COUNT}, {"command": FAIL}]
        inputs = "".join(piece.text for piece in said.of(Delta, kind="tool_input"))
        assert inputs == f'{{"command": "{COUNT}"}}{{"command": "{FAIL}"}}'
        assert said.ended.steps == 3
    if agent.name == "codex":
        assert (call.title, call.input["cwd"]) == (COUNT, str(agent.cwd))
        assert COUNT in call.input["command"]
        assert (done.output, done.exit_code, failed.output) == ("42\n", 0, "no\n")
        assert "exited with code 3" in no
    if agent.name in ("claude", "codex"):
        assert len(said.of(Delta, kind="text")) > 10
        check_usage(agent, run, said)


def check_usage(agent: Pinned, run: Watched, said: Events) -> None:
    """Each answer of the model is counted, and the turn."""
    calls = [call.usage for call in run.events.of(UsageUpdated, scope="call") if call.usage is not None]
    assert calls
    if agent.name == "codex":
        assert [usage.output_tokens for usage in calls] == [20, 20, 20]
    assert said.ended.usage is not None
    assert said.ended.usage.output_tokens == 60


@exercises(Capability.MCP)
async def test_a_tool_of_an_mcp_server(agent: Pinned) -> None:
    """Not one that answers with a number: gemini 0.61.0 takes its text for JSON."""
    # codex-acp 2.6.0 asks for these without a title, finds that it may not, and takes that for a denial.
    native = {"mode": "agent-full-access"} if agent.name == "codex-acp" else {}
    async with agent.open(
        [agent.tools.of_server("small", "shout", word="hey"), "Shouted."],
        mcp_servers={"small": SMALL_SERVER},
        native=native,
        approve=lambda request: True,
    ) as run:
        said = await run.turn("Shout.")
        assert "HEY!" in told(run.model)
    known = run.events.of(SessionUpdated) if agent.name == "codex" else run.events.of(SessionStarted)
    servers = {server.name: server.status for event in known for server in event.mcp_servers}
    assert list(servers) == ["small"]
    call = said.one(ToolStarted)
    assert (call.name, call.server, call.kind) == ("shout", "small", "mcp")
    done = said.one(ToolEnded)
    assert (done.call_id, done.status, done.output) == (call.call_id, "completed", "HEY!")
    assert said.said() == ["Shouted."]
    if agent.name in ("claude", "codex"):
        assert call.native_name == "mcp__small__shout"
        assert call.input == {"word": "hey"}
    if agent.name in ("claude", "codex", "gemini"):
        assert said.one(PermissionRequested).kind == "mcp"
    if agent.name == "codex":
        assert servers == {"small": "ready"}


@by("claude", "codex")
async def test_tools_side_by_side(agent: Pinned) -> None:
    files = [agent.cwd / name for name in ("a", "b", "c")]
    for file in files:
        file.write_text(f"this is {file.name}\n")
    if agent.name == "claude":
        calls = [tool("Read", file_path=str(file)) for file in files]
    else:
        calls = [agent.tools.shell(f"cat {file}") for file in files]
    async with agent.open([calls, "Three."], approve="all") as run:
        said = await run.turn("Read them.")
    started = said.of(ToolStarted)
    outputs = {end.call_id: end.output or "" for end in said.of(ToolEnded, status="completed")}
    assert len({call.call_id for call in started}) == len(outputs) == 3
    for file in files:
        [call] = [call for call in started if str(file) in json.dumps(call.input)]
        assert f"this is {file.name}" in outputs[call.call_id]
    assert said.said() == ["Three."]
