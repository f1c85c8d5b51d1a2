"""Python functions as tools of the real agents: called with what the model gives, answered with what they return."""

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import msgspec
import pytest

import dragoman
from dragoman import (
    Capability,
    HostCalled,
    ImageBlock,
    PermissionResolved,
    ToolEnded,
    ToolStarted,
    Unsupported,
)
from dragoman.testing import tool
from tests.real.capability_marks import by, exercises, ways
from tests.real.driving import SMALL_SERVER, Events, Lines, Pinned, told

pytestmark = pytest.mark.anyio

ONE_TURN = [("codex", "codex_exec"), ("gemini", "gemini_stream")]
"""Those that have a process for each turn, and ask nobody."""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="


@dataclass
class Place:
    name: str
    floor: int = 0


def add(a: int, b: Annotated[int, msgspec.Meta(description="The other one.")] = 2) -> int:
    """Adds two numbers."""
    return a + b


async def visit(place: Place, how: Literal["car", "train"] = "train") -> dict[str, Any]:
    """Goes somewhere."""
    return {"at": f"{place.name} {place.floor}", "by": how}


def fail() -> None:
    """Always fails."""
    raise ValueError("It is closed on Mondays.")


def draw() -> list[dragoman.ContentBlock]:
    """Draws."""
    return [ImageBlock(mime_type="image/png", data=PIXEL)]


def native(agent: Pinned) -> dict[str, Any]:
    """codex-acp 2.6.0 asks for MCP tools without a title, finds that it may not, and takes that for a denial."""
    return {"mode": "agent-full-access"} if agent.name == "codex-acp" else {}


def check_call(said: Events, name: str, server: str = "dragoman") -> ToolEnded:
    """It is a tool call as any other, of a server of ours, and nobody was asked for leave."""
    [call] = [call for call in said.of(ToolStarted) if call.name == name]
    assert (call.server, call.kind) == (server, "mcp")
    assert {resolved.rule for resolved in said.of(PermissionResolved)} <= {"tools"}
    return said.one(ToolEnded, call_id=call.call_id)


# --- what is called, and with what ---------------------------------------------------------------------------


async def test_a_function_is_called(agent: Pinned) -> None:
    lines: Lines = [agent.tools.of_server("dragoman", "add", a=40), "Forty-two."]
    async with agent.open(lines, tools=[add], native=native(agent)) as run:
        said = await run.turn("Add them.")
        answer, offered = told(run.model), json.dumps(run.model.requests_of("main")[0].body)
    done = check_call(said, "add")
    assert (done.status, done.output) == ("completed", "42")
    assert "42" in answer
    if agent.name.startswith("codex"):  # which tells its model more only when that searches
        assert "Tools of the program that has started you: add." in offered
    else:
        assert "Adds two numbers." in offered
        assert "The other one." in offered
    assert said.said() == ["Forty-two."]
    assert [call for call in run.events.of(HostCalled) if agent.name != "claude"] == []


@ways(*ONE_TURN)
@pytest.mark.parametrize("mode", ["ask", "all", "never"])
async def test_a_function_is_called_where_nobody_is_asked(actor: Pinned, dialect: str, mode: str) -> None:
    lines: Lines = [actor.tools.of_server("dragoman", "add", a=40), "Forty-two."]
    result = await actor.ask(lines, "Add them.", mode=mode, dialect=dialect, tools=[add])
    done = check_call(Events(result.events), "add")
    assert (done.status, done.output) == ("completed", "42")
    assert result.text == "Forty-two."


async def test_types_defaults_and_failures(agent: Pinned) -> None:
    there = agent.tools.of_server("dragoman", "visit", place={"name": "Rome", "floor": 3}, how="car")
    nowhere = agent.tools.of_server("dragoman", "visit", place={"floor": 3})
    lines: Lines = [there, nowhere, agent.tools.of_server("dragoman", "fail"), "Done."]
    async with agent.open(lines, tools=[visit, fail], native=native(agent)) as run:
        said = await run.turn("Go.")
        went, wrong, failed = (told(run.model, n) for n in (1, 2, 3))
    assert "Rome 3" in went
    assert "name" in wrong
    assert "It is closed on Mondays." in failed
    assert [done.status for done in said.of(ToolEnded)] == ["completed", "failed", "failed"]
    assert said.ended.outcome == "completed"


@by("claude", "codex", "gemini")
async def test_an_image_is_shown_to_the_model(agent: Pinned) -> None:
    async with agent.open([agent.tools.of_server("dragoman", "draw"), "A dot."], tools=[draw]) as run:
        await run.turn("Draw.")
        assert PIXEL in json.dumps(run.model.requests_of("main")[1].messages)


# --- who may, and how long -----------------------------------------------------------------------------------


@by("claude", "codex", "gemini")
async def test_a_rule_of_a_file_comes_first(agent: Pinned, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nserver = "dragoman"\ntool = "fail"\neffect = "deny"\nname = "not that"\n')
    lines = [agent.tools.of_server("dragoman", "fail"), agent.tools.of_server("dragoman", "add", a=1)]
    async with agent.open([*lines, "One of two."], tools=[add, fail], policy=rules) as run:
        said = await run.turn("Do both.")
    [denied] = said.of(PermissionResolved, outcome="denied")
    assert (denied.rule or "").startswith("not that")
    calls = {call.name: said.one(ToolEnded, call_id=call.call_id).status for call in said.of(ToolStarted)}
    assert calls["add"] == "completed"
    assert calls["fail"] in ("declined", "failed")


@by("claude", "codex", "gemini")
async def test_in_plan_mode_it_is_not_called(agent: Pinned) -> None:
    called: list[str] = []

    def change() -> None:
        """Changes the world."""
        called.append("yes")

    async with agent.open(
        [agent.tools.of_server("dragoman", "change"), "No."], mode="plan", tools=[change]
    ) as run:
        said = await run.turn("Change it.")
    assert called == []
    assert said.of(ToolEnded, status="completed") == []


@by("claude", "codex", "gemini", "opencode")
async def test_a_function_that_takes_too_long(agent: Pinned) -> None:
    cancelled = anyio.Event()

    async def sleep() -> None:
        """Never comes back."""
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    lines: Lines = [agent.tools.of_server("dragoman", "sleep"), "Enough."]
    async with agent.open(lines, tools=[sleep], handler_timeout=0.2) as run:
        said = await run.turn("Sleep.")
        assert "It took longer than 0.2 s." in told(run.model)
    assert cancelled.is_set()
    assert check_call(said, "sleep").status == "failed"


@by("claude", "codex", "gemini", "opencode")
@pytest.mark.parametrize("way", ["interrupt", "close"])
async def test_a_call_ends_with_its_turn(agent: Pinned, way: str) -> None:
    begun, cancelled = anyio.Event(), anyio.Event()

    async def sleep() -> None:
        """Never comes back."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async with agent.open([agent.tools.of_server("dragoman", "sleep"), "Awake."], tools=[sleep]) as run:
        run.session.prompt("Sleep.")
        await begun.wait()
        if way == "interrupt":
            await run.session.interrupt()
            await run.until(dragoman.TurnEnded)
            # Gemini CLI tells nobody that it no longer waits.
            if agent.name != "gemini" and not agent.differs("an_interrupted_call_goes_on"):
                await cancelled.wait()
    assert cancelled.is_set()
    if agent.name != "opencode":  # it may tell of the call when we have interrupted, and then that it failed
        assert run.events.one(ToolEnded).status == "cancelled"


async def test_a_function_that_blocks_keeps_nobody_waiting(actor: Pinned) -> None:
    """While it waits in its thread, the event loop goes on and sets it free."""
    freed = threading.Event()

    def wait() -> str:
        """Waits."""
        return "freed" if freed.wait(30) else "stuck"

    async with actor.open([actor.tools.of_server("dragoman", "wait"), "Freed."], tools=[wait]) as run:
        turn = run.session.prompt("Wait.")
        await run.until(ToolStarted)
        freed.set()
        said = Events([event async for event in turn])
    assert check_call(said, "wait").output == "freed"


# --- sessions ------------------------------------------------------------------------------------------------


@by("codex", "gemini", "opencode")
async def test_each_session_has_its_own(agent: Pinned) -> None:
    """Beside those of the connection. Each has a server of its own, since opencode has those of all sessions in one pot."""

    def who() -> str:
        """Who it is."""
        return "the first"

    def other() -> str:
        """Who it is."""
        return "the second"

    lines: Lines = [
        agent.tools.of_server("dragoman1", "who"),
        "One.",
        agent.tools.of_server("dragoman", "add", a=1),
        agent.tools.of_server("dragoman2", "other"),
        "Two.",
    ]
    async with agent.connect(lines, tools=[add]) as company:
        one = await company.session(tools=[who])
        two = await company.session(tools=[other])
        first, second = await one.turn("Who?"), await two.turn("Who?")
    assert check_call(first, "who", "dragoman1").output == "the first"
    assert check_call(second, "add").output == "3"
    assert check_call(second, "other", "dragoman2").output == "the second"


@by("codex", "gemini")
async def test_only_a_session_has_tools(agent: Pinned) -> None:
    lines: Lines = [agent.tools.of_server("dragoman1", "add", a=1), "Three."]
    async with agent.connect(lines) as company:
        one = await company.session(tools=[add])
        said = await one.turn("Add.")
    assert check_call(said, "add", "dragoman1").output == "3"


@by("claude", "codex", "opencode")
async def test_a_session_that_is_gone_on_with_has_them(agent: Pinned) -> None:
    first = await agent.ask(["Hi."], "Hello.")
    lines: Lines = [agent.tools.of_server("dragoman", "add", a=1), "Three."]
    again = await agent.ask(lines, "Add.", resume=first.session, tools=[add])
    assert again.session == first.session
    assert check_call(Events(again.events), "add").output == "3"


# --- MCP servers and hooks of Gemini CLI's own turn-by-turn dialect ------------------------------------------


@exercises(Capability.MCP)
async def test_gemini_stream_takes_mcp_servers(gemini: Pinned) -> None:
    """They come with an extension in a home of the run's own; the session is in the user's."""
    (gemini.home / ".gemini").mkdir()
    lines: Lines = [tool("mcp_small_shout", word="hey"), "Shouted."]
    options: dict[str, Any] = {"dialect": "gemini_stream", "model": "gemini-2.5-pro"}
    result = await gemini.ask(
        lines, "Shout.", mcp_servers={"small": SMALL_SERVER}, allowed_tools=["mcp_small_shout"], **options
    )
    assert Events(result.events).one(ToolEnded).output == "HEY!"
    again = await gemini.ask(["Still here."], "And?", resume=result.session, **options)
    assert (again.session, again.text) == (result.session, "Still here.")
    back = await gemini.ask(
        [tool("mcp_small_shout", word="ho"), "Ho."],
        "Shout.",
        resume=result.session,
        mcp_servers={"small": SMALL_SERVER},
        allowed_tools=["mcp_small_shout"],
        **options,
    )
    assert back.session == result.session
    assert Events(back.events).one(ToolEnded).output == "HO!"


async def test_an_agent_without_mcp_servers() -> None:
    with pytest.raises(Unsupported, match="takes no MCP servers"):
        dragoman.open("demo", tools=[add])
