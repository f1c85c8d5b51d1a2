"""The agents of the table, and a small one that is really started."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman._agents import AGENTS, acp
from dragoman._dialects.acp.counting import RULES
from dragoman._dialects.acp.machine import Acp
from dragoman._model import events as ev
from dragoman._model.capabilities import Capability
from dragoman._model.config import SessionConfig
from dragoman._model.errors import LoginRequired, SpawnFailed, Unsupported, UsageError
from dragoman.api import ask, connect, open

SMALL = str(Path(__file__).with_name("small_agent.py"))


def config(name: str = "goose", **fields: Any) -> SessionConfig:
    return SessionConfig(agent=name, cwd="/proj", **fields)


def planned(name: str = "goose", **fields: Any) -> Any:
    return AGENTS[name].plan(config(name, **fields), "/bin/agent", "acp")


def test_the_table() -> None:
    rows = acp.rows()
    assert len(rows) == 55
    for name, row in rows.items():
        record = acp.record(name)
        assert record.dialects == ("acp",)
        assert record.executable == row.command[0]
        assert record.capabilities <= Acp.capabilities
        assert record.fetched == (row.command[0] in ("npx", "uvx"))
    assert {name: row.vendor for name, row in rows.items() if row.vendor} == {
        "claude-acp": "claude",
        "codex-acp": "codex",
        "gemini": "gemini",
        "qwen-code": "gemini",
    }


def test_a_row_says_one_thing_of_its_versions() -> None:
    for name, row in acp.rows().items():
        assert not (row.tested and row.seen), name
        assert not row.seen or row.why, f"{name}: what kept it from a turn?"


def test_at_least_fourteen_did_a_turn() -> None:
    assert len([name for name, row in acp.rows().items() if row.tested]) >= 14


def test_a_name_that_is_somebody_elses_is_not_fetched() -> None:
    assert not AGENTS["mux"].fetched
    assert planned("mux").argv == ["/bin/agent", "acp"]


def test_a_name_that_anybody_could_claim_is_not_fetched() -> None:
    """A package that nobody has had may be anyone's by the time it is run; but a scope on npm has its owner."""
    fetched = {name: row for name, row in acp.rows().items() if acp.record(name).fetched}
    assert fetched
    for name, row in fetched.items():
        assert row.command[2].startswith("@") or row.tested or row.seen, name
    assert planned("dirac").argv == ["/bin/agent", "--acp"]


def test_one_that_asks_nobody_is_run_only_where_all_is_allowed() -> None:
    """pi-acp 0.0.34 ran a command that a handler would have denied: it was never asked."""
    with pytest.raises(Unsupported, match="asks nobody"):
        planned("pi-acp")
    assert planned("pi-acp", approve="all").argv == ["/bin/agent"]


def test_a_mode_to_ask_in_of_its_own() -> None:
    """Kilo's `ask` answers questions and changes nothing (7.7.7)."""
    plan = planned("kilo")
    assert plan.options.opening.modes == ("code",)
    assert plan.mode_meanings["code"] == "ask"
    assert "ask" not in plan.mode_meanings
    assert planned("kilo", approve="plan").options.opening.modes[0] == "plan"


def test_what_the_table_says_of_usage_is_what_a_recording_tells() -> None:
    told = {row.usage for row in acp.rows().values() if row.usage is not None}
    assert told == set(RULES.values())


def test_all_agents_are_found_by_name() -> None:
    assert {"claude", "acp", "goose", "qwen-code"} <= set(AGENTS)
    assert len(AGENTS) == len(set(AGENTS))
    assert "nobody" not in AGENTS
    assert AGENTS["claude"].dialects[0] == "claude_stream"


def test_a_plan() -> None:
    plan = planned("qwen-code", extra_args=["--verbose"], add_dirs=["/other"], native={"mode": "yolo"})
    assert plan.argv == ["/bin/agent", "--acp", "--experimental-skills", "--verbose"]
    assert isinstance(plan.machine, Acp)
    opening = plan.options.opening
    assert (opening.usage_rule, opening.directories) == ("calls", ["/other"])
    assert (opening.cwd, opening.modes, opening.mode_required) == ("/proj", ("yolo",), True)
    assert Capability.SET_MODEL not in planned("github-copilot-cli").capabilities


@pytest.mark.parametrize(
    ("name", "executable", "arguments"),
    [
        ("codex-acp", "/bin/npx", ["-y", "@agentclientprotocol/codex-acp"]),
        ("codex-acp", "/bin/codex-acp", []),
        ("auggie", "/bin/auggie", ["--acp"]),
        ("fast-agent", "/bin/uvx", ["--from", "fast-agent-mcp", "fast-agent", "acp", "-x"]),
        ("fast-agent", "/opt/fast-agent", ["acp", "-x"]),
        ("opencode", "/opt/oc", ["acp"]),
    ],
)
def test_an_agent_that_is_there_need_not_be_fetched(name: str, executable: str, arguments: list[str]) -> None:
    assert AGENTS[name].plan(config(name), executable, "acp").argv == [executable, *arguments]


@pytest.mark.parametrize(
    ("approve", "first", "required"),
    [
        ("ask", "default", False),
        ("edits", "default", False),
        ("plan", "plan", True),
        ("all", "default", False),
    ],
)
def test_approve_modes(approve: Any, first: str | None, required: bool) -> None:
    opening = planned(approve=approve).options.opening
    assert next(iter(opening.modes), None) == first
    assert opening.mode_required == required


def test_programs_of_mcp_servers_are_found() -> None:
    servers = {"a": {"command": Path(sys.executable).name}, "b": {"url": "https://example.com"}}
    opening = planned(mcp_servers=servers, env={"PATH": str(Path(sys.executable).parent)}).options.opening
    assert opening.mcp_servers["a"]["command"] == sys.executable
    assert opening.mcp_servers["b"] == {"url": "https://example.com"}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"output_schema": {"type": "object"}}, Unsupported),
        ({"mcp_servers": {"s": {"command": "s", "excludeTools": ["x"]}}}, Unsupported),
        ({"blocked_tools": ["x"]}, Unsupported),
        ({"sandbox": "workspace"}, Unsupported),
        ({"native": {"bogus": 1}}, UsageError),
    ],
)
def test_what_cannot_be(fields: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        planned(**fields)


def test_what_run_started_may_not_say() -> None:
    told = planned(
        env={"KEY": "secret"}, prompt="x", mcp_servers={"m": {"url": "u", "headers": {"A": "secret"}}}
    ).config
    assert "secret" not in str(told)
    assert told["mcp_servers"] == ["m"]


# --- the small agent ---------------------------------------------------------------------------------------------------


@pytest.fixture
def anyio_backend() -> str:
    """The agent is a program of its own; that sessions are the same on trio, tests/runtime shows."""
    return "asyncio"


def small(version: int, *more: str) -> dict[str, Any]:
    return {"extra_args": [sys.executable, SMALL, str(version), *more]}


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_it_is_asked(version: int, tmp_path: Path) -> None:
    result = await ask("acp", "hello", cwd=tmp_path, **small(version))
    assert (result.outcome, result.text, result.session) == ("completed", "HELLO", "s1")


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("verdict", [True, False])
async def test_it_asks(version: int, verdict: bool) -> None:
    result = await ask("acp", "run ls", approve=lambda request: verdict, **small(version))
    [tool] = [event for event in result.events if isinstance(event, ev.ToolEnded)]
    assert tool.status == ("completed" if verdict else "declined")
    assert result.text == ("RUN LS" if verdict else None)


@pytest.mark.anyio
async def test_it_is_interrupted_and_goes_on() -> None:
    async with open("acp", **small(1)) as session:
        async for event in session.prompt("wait"):
            if isinstance(event, ev.TurnStarted):
                await session.interrupt()
            last = event
        assert isinstance(last, ev.TurnEnded)
        assert last.outcome == "cancelled"
        ended = await session.set_mode("plan")
        assert ended is not None
        assert ended.ok
        said = [event async for event in session.prompt("again")]
        assert isinstance(said[-1], ev.TurnEnded)
        assert said[-1].text == "AGAIN"


@pytest.mark.anyio
async def test_it_has_several_sessions(tmp_path: Path) -> None:
    async with connect("acp", cwd=tmp_path, **small(1)) as agent:
        one, two = await agent.session(), await agent.session()
        assert (one.id, two.id) == ("s1", "s2")
        for session, text in ((two, "second"), (one, "first")):
            said = [event async for event in session.prompt(text)]
            assert isinstance(said[-1], ev.TurnEnded)
            assert (said[-1].text, said[-1].session) == (text.upper(), session.id)


@pytest.mark.anyio
async def test_it_wants_a_login() -> None:
    with pytest.raises(LoginRequired, match="small login"):
        await ask("acp", "hello", **small(1, "needs-login"))


def test_the_generic_agent_wants_a_command() -> None:
    with pytest.raises(UsageError, match="--"):
        open("acp")
    with pytest.raises(SpawnFailed, match="no-such-agent"):
        open("acp", extra_args=["no-such-agent"])


@pytest.mark.parametrize(("agent", "brings"), [("opencode", ".opencode"), ("codex-acp", ".codex")])
@pytest.mark.parametrize("trusted", [None, False])
def test_an_agent_that_nothing_holds_back_is_not_started_in_a_project_that_is_not_trusted(
    agent: str, brings: str, trusted: bool | None, tmp_path: Path
) -> None:
    (tmp_path / brings).mkdir()
    with pytest.raises(UsageError, match=rf"is not trusted.*{re.escape(brings)}.*dragoman trust"):
        open(agent, cwd=tmp_path, trusted=trusted)
    with pytest.raises(SpawnFailed):  # nothing else is in its way
        open(agent, cwd=tmp_path, trusted=True, executable="no-such-program")


def test_a_sandbox_that_is_a_mode() -> None:
    opening = planned("codex-acp", sandbox="workspace", approve="all").options.opening
    assert (opening.modes, opening.mode_required) == (("workspace-write",), True)
    assert opening.words["edits"] == ("workspace-write",)
    assert opening.words["plan"] == ("plan", "read-only")
    with pytest.raises(UsageError, match="not both"):
        planned("codex-acp", sandbox="workspace", native={"mode": "agent"})
    with pytest.raises(Unsupported, match="sandbox=workspace"):
        planned("goose", sandbox="workspace")
