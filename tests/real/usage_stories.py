"""What agents are made to do where their usage is counted: stories of a few turns, and what the model says to them."""

import json
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import anyio
import pytest

from dragoman import Delta, RunEnded, SubagentEnded, TurnEnded
from dragoman.testing import Hold, Script, ScriptedModel, Thinking, Usage, error, script, tool, turn
from tests.real.capability_marks import ACTORS
from tests.real.driving import Gate, Pinned, Watched, eventually
from tests.real.test_claude_subagents import NOT_BEHIND_OUR_BACK
from tests.real.test_sessions import age

CUT = "cut"
"""The gate at which an answer stays that is interrupted."""


def size(n: int) -> Usage:
    """The tokens of a call, which no other call of the test has."""
    return Usage(input=1000 + n, cache_read=100 + n, cache_write=10 + n, output=7 * n)


# --- what is done ----------------------------------------------------------------------------------------------

Story = Callable[[Pinned, ScriptedModel], Awaitable[list[Watched]]]


async def with_tools(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    async with agent.open(model, approve="all") as run:
        await run.turn("Count.")
        await run.turn("Count on.")
    return [run]


async def resumed(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    if agent.differs("sessions_come_back_empty_over_acp"):
        return await resumed_in_the_stream(agent, model)
    async with agent.open(model, approve="all") as first:
        await first.turn("Count.")
    age(agent)
    async with agent.open(model, approve="all", resume=first.session.id) as second:
        await second.turn("Count on.")
    return [first, second]


async def forked_twice(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    runs: list[Watched] = []
    for prompt in ("Count.", "Count on.", "And on."):
        origin = {"resume": runs[-1].session.id, "fork": True} if runs else {}
        async with agent.open(model, approve="all", **origin) as run:
            await run.turn(prompt)
        runs.append(run)
    assert len({run.session.id for run in runs}) == 3
    async with agent.open(model, approve="all", resume=runs[0].session.id) as again:
        await again.turn("The first one goes on.")
    return [*runs, again]


async def with_a_subagent(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    asked = "How many files?"
    if agent.name == "gemini":  # over ACP its policy denies it subagents
        async with agent.open(model, prompt=asked, approve="all", dialect="gemini_stream") as run:
            await run.until(RunEnded)
    else:
        waited = NOT_BEHIND_OUR_BACK if agent.name == "claude" else {}
        async with agent.open(model, approve="all", env=waited) as run:
            await run.turn(asked)
    assert len(model.requests_of("count")) == 2
    return [run]


async def with_history(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    async with agent.open(model, approve="all") as run:
        await run.turn("Begin.")
        await run.turn("How many files?")
    assert len(model.requests_of("count")) == 2
    return [run]


async def compacted(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    async with agent.open(model, approve="all") as run:
        await run.turn("Count.")
        await run.turn("Count on.")
        await run.until(TurnEnded, turn=2)
        await run.session.compact()
        await run.until(TurnEnded, turn=3)
        await run.turn("And on.")
    assert len(model.requests_of("compact")) == 1
    return [run]


async def compacted_by_itself(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    """Gemini CLI compacts when its context is full, here after some tokens; over ACP never."""
    settings = agent.home / ".gemini" / "settings.json"
    small = {"model": {"compressionThreshold": 0.000_01}}
    runs = await resumed_in_the_stream(
        agent,
        model,
        lambda: settings.write_text(json.dumps(json.loads(settings.read_text("utf-8")) | small), "utf-8"),
    )
    assert model.requests_of("compact")
    return runs


async def resumed_in_the_stream(
    agent: Pinned, model: ScriptedModel, between: Callable[[], object] = lambda: None
) -> list[Watched]:
    runs: list[Watched] = []
    for prompt in ("Count.", "Count on."):
        origin = {"resume": runs[-1].session.id} if runs else {}
        async with agent.open(model, prompt=prompt, approve="all", dialect="gemini_stream", **origin) as run:
            await run.until(RunEnded)
        runs.append(run)
        age(agent)
        between()
    return runs


async def with_another_model(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    async with agent.open(model, approve="all") as run:
        await run.turn("Count.")
        await run.session.set_model(OTHER_MODEL[agent.name])
        await run.turn("Count on.")
    return [run]


OTHER_MODEL = {"claude": "claude-haiku-4-5", "codex": "gpt-5.4", "gemini": "gemini-2.5-flash"}


async def interrupted(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    async with agent.open(model, approve="all") as run:
        cut = run.session.prompt("Count.")
        await run.held(CUT)
        await run.until(Delta)  # so that the agent knows what was sent
        await run.session.interrupt()
        async for _ in cut:
            pass
        await run.turn("Count on.")
    return [run]


async def with_a_subagent_in_the_background(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    """It works on when the turn is over. Claude Code then takes a turn for what it found; Codex tells nobody."""
    if agent.differs("a_turn_waits_for_its_tasks"):
        model.open("count")
    async with agent.open(model, approve="all") as run:
        await run.turn("How many files?", leaves_running=True)
        await run.held("count")
        model.open("count")
        await run.until(SubagentEnded)
        if agent.name == "claude":
            await run.asked(3)
            await run.until(TurnEnded)
        await run.turn("Count on.")
    assert len(model.requests_of("count")) == 2
    return [run]


async def with_a_command_in_the_background(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    """It ends between two turns; Claude Code takes one for that."""
    gate = Gate(agent.cwd / "gate")
    async with agent.open(model, approve="all") as run:
        await run.turn("Start it.", leaves_running=True)
        await run.until(TurnEnded)
        await gate.open()
        if agent.name == "claude":
            await run.until(TurnEnded)
        await run.turn("Count on.")
    return [run]


async def copied_to_the_background(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    """A session that is open goes on in the background as a copy, and as itself."""
    if agent.differs("a_resumed_session_is_idle_in_the_background"):
        pytest.skip("nothing is asked there")
    known = {"hasCompletedOnboarding": True, "projects": {str(agent.cwd): {"hasTrustDialogAccepted": True}}}
    keys = {"customApiKeyResponses": {"approved": ["dummy"], "rejected": []}}
    (agent.home / ".claude.json").write_text(json.dumps(known | keys), "utf-8")

    async def program(*arguments: str) -> str:
        env = model.env(agent.name, agent.home)
        command = [str(agent.executable), *arguments]
        done = await anyio.run_process(command, env=env, cwd=agent.cwd, stdin=subprocess.DEVNULL)
        return done.stdout.decode()

    async with agent.open(model, approve="all") as run:
        await run.turn("Count.")
        try:
            await program("--bg", "--resume", run.session.id, "Count on.")
            await eventually(lambda: any("Number 3." in text for text in kept(agent)))
        finally:
            await program("daemon", "stop", "--any")
        await run.turn("And on.")
    assert len(kept(agent)) == 2
    return [run]


def kept(agent: Pinned) -> list[str]:
    """What Claude Code has written of each session."""
    return [path.read_text("utf-8") for path in agent.home.glob(".claude/projects/*/*.jsonl")]


async def with_a_search(agent: Pinned, model: ScriptedModel) -> list[Watched]:
    async with agent.open(model, approve="all") as run:
        await run.turn("What is new?")
    assert model.requests_of("search")
    return [run]


def wait_for_it(request: Any) -> Any:
    agent = json.loads(request.messages[-1]["output"])["agent_id"]
    return turn(tool("multi_agent_v1.wait_agent", targets=[agent], timeout_ms=30_000), usage=size(2))


TASK = {"description": "Count", "prompt": "[[count]] Count.", "subagent_type": "general-purpose"}
FOUND = {"SummaryOfFindings": "seven", "ExplorationTrace": [], "RelevantLocations": []}


def cut_off(agent: Pinned) -> Script:
    long = turn("One, two, three, four, five, six, seven.", usage=size(1), hold=Hold(CUT, after=5))
    return script([long, turn("Eight.", usage=size(2))])


def after_a_failure(agent: Pinned) -> Script:
    return script([error(500, headers={"retry-after": "0"}), *counting(agent).turns])


def sending_with_history(agent: Pinned) -> Script:
    """The subagent's file begins with the history of its parent."""
    before = turn("First.", usage=size(11))
    spawn = tool("multi_agent_v1.spawn_agent", message="[[count]] Count.", fork_context=True)
    rest = sending(agent)
    return script([before, turn(spawn, usage=size(1)), *rest.turns[1:]], routes=rest.routes)


def sending(agent: Pinned) -> Script:
    """Someone is sent to count, in two calls of the model."""
    look = turn(agent.tools.shell("echo child"), usage=size(21))
    found = turn("Seven.", usage=size(22))
    sent: list[Any]
    if agent.name == "claude":
        sent = [turn(tool("Task", **TASK), usage=size(1))]
    elif agent.name == "codex":
        sent = [
            turn(tool("multi_agent_v1.spawn_agent", message="[[count]] Count."), usage=size(1)),
            wait_for_it,
        ]
    else:
        investigate = tool("invoke_agent", agent_name="codebase_investigator", prompt="[[count]] Count.")
        sent = [turn(investigate, usage=size(1))]
        look = turn(tool("list_directory", dir_path="."), usage=size(21))
        found = turn(tool("complete_task", report=FOUND), usage=size(22))
    return script([*sent, turn("It counted seven.", usage=size(3))], routes={"count": [look, found]})


def sending_behind(agent: Pinned) -> Script:
    """Someone is sent, and nobody waits."""
    waited, found = sending(agent), turn("Seven.", usage=size(22))
    look = turn(agent.tools.shell("echo child"), usage=size(21), hold=Hold("count"))
    said = [turn(f"Number {n}.", usage=size(n)) for n in range(2, 5)]
    spawn = waited.turns[0]
    if agent.name == "claude" and agent.differs("tasks_are_waited_for"):
        spawn = turn(tool("Task", **TASK, run_in_background=True), usage=size(1))
    return script([spawn, *said], routes={"count": [look, found]})


def starting(agent: Pinned) -> Script:
    """A command that waits until the turn is over."""
    wait = f"read word < {agent.cwd / 'gate'}"
    start = {
        "claude": tool("Bash", command=wait, run_in_background=True),
        "codex": tool("exec_command", cmd=wait, yield_time_ms=250),
        "gemini": tool("run_shell_command", command=wait, is_background=True),
    }[agent.name]
    return script([turn(start, usage=size(1)), *[turn(f"Number {n}.", usage=size(n)) for n in range(2, 5)]])


def searching(agent: Pinned) -> Script:
    """The search itself is a request of its own."""
    search = turn(tool("WebSearch", query="[[search]] news"), usage=size(1))
    return script(
        [search, turn("Nothing.", usage=size(2))], routes={"search": [turn("None.", usage=size(21))]}
    )


def counting(agent: Pinned) -> Script:
    """A turn with a tool and thoughts, then some without."""
    first = turn(Thinking("I shall look."), agent.tools.shell("echo one"), usage=size(1))
    rest = [turn(f"Number {n}.", usage=size(n)) for n in range(2, 9)]
    summary = turn("<analysis>-</analysis><summary>Counted.</summary>", usage=size(31))
    return script([first, *rest], compact=[summary])


class Told(NamedTuple):
    """A story: what is done, what the model says to it, and which agents can do it."""

    play: Story
    lines: Callable[[Pinned], Script]
    agents: tuple[str, ...] = ACTORS


STORIES = {
    "tools": Told(with_tools, counting),
    "resume": Told(resumed, counting),
    "forks": Told(forked_twice, counting, ("claude", "codex")),
    "subagent": Told(with_a_subagent, sending),
    "subagent_with_history": Told(with_history, sending_with_history, ("codex",)),
    "subagent_in_background": Told(with_a_subagent_in_the_background, sending_behind, ("claude", "codex")),
    "command_in_background": Told(with_a_command_in_the_background, starting),
    "session_in_background": Told(copied_to_the_background, counting, ("claude",)),
    "compaction": Told(compacted, counting, ("claude", "codex")),
    "compaction_by_itself": Told(compacted_by_itself, counting, ("gemini",)),
    "failure": Told(with_tools, after_a_failure),
    "interrupt": Told(interrupted, cut_off),
    "another_model": Told(with_another_model, counting),
    "web_search": Told(with_a_search, searching, ("claude",)),
}
