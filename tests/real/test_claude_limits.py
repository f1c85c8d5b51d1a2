"""When the model, the limits or the program itself say no."""

from pathlib import Path

import pytest

import dragoman
from dragoman import Capability, Error, Retry, RunEnded, SpawnFailed, TurnEnded, UsageError
from dragoman.testing import Hold, Usage, error, tool, turn
from tests.real.capability_marks import exercises
from tests.real.driving import Lines, Pinned

pytestmark = pytest.mark.anyio

AT_ONCE = {"CLAUDE_CODE_MAX_RETRIES": "0"}


async def test_a_key_that_is_refused(claude: Pinned) -> None:
    result = await claude.ask([error(401, "invalid x-api-key")] * 2, "Hello.", env=AT_ONCE)
    assert result.outcome == "failed"
    assert result.error is not None
    assert "Invalid API key" in result.error.message
    assert result.error.code == "authentication_failed"
    [said] = [event for event in result.events if isinstance(event, Error)]
    assert said.code == "authentication_failed"


async def test_a_rate_limit_is_waited_for(claude: Pinned) -> None:
    lines: Lines = [error(429, "slow down", headers={"retry-after": "0"}), "At last."]
    async with claude.open(lines) as run:
        said = await run.turn("Hello.")
        assert len(run.model.requests_of("main")) == 2
    retry = said.one(Retry)
    assert (retry.attempt, retry.status_code, retry.reason) == (1, 429, "rate_limit")
    assert said.said() == ["At last."]
    assert said.ended.outcome == "completed"


@exercises(Capability.MAX_TURNS)
async def test_max_turns(claude: Pinned) -> None:
    lines: Lines = [tool("Bash", command="touch one"), tool("Bash", command="touch two"), "Never said."]
    result = await claude.ask(lines, "Go on and on.", approve="all", max_turns=1)
    assert result.outcome == "limited"
    [ended] = [event for event in result.events if isinstance(event, TurnEnded)]
    assert (ended.outcome, ended.reason) == ("limited", "max_turns")
    assert [file.name for file in claude.cwd.iterdir()] == ["one"]


@exercises(Capability.MAX_COST)
async def test_max_cost(claude: Pinned) -> None:
    dear = turn(tool("Bash", command="touch one"), usage=Usage(output=100_000))
    result = await claude.ask([dear, "Never said.", "Nor this."], "Spend.", approve="all", max_cost_usd=0.01)
    assert result.outcome == "limited"
    assert result.cost_usd is not None
    assert result.cost_usd > 0.01


async def test_an_answer_that_is_too_long(claude: Pinned) -> None:
    lines, most = [turn("And so", stop="length")] * 5, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "9"}
    result = await claude.ask(lines, "Tell me.", env=most)
    assert result.outcome == "limited"
    assert result.error is not None
    assert result.error.code == "max_output_tokens"


async def test_a_run_that_takes_too_long(claude: Pinned) -> None:
    async with claude.open([turn("Never said.", hold=Hold("never"))], timeout=3.0) as run:
        said = await run.turn("Hello.")
    assert said.ended.outcome == "cancelled"
    assert run.events.one(RunEnded).outcome == "timeout"


async def test_silence_that_lasts_too_long(claude: Pinned) -> None:
    async with claude.open([turn("Never said.", hold=Hold("never"))], idle_timeout=2.0) as run:
        said = await run.turn("Hello.")
    assert said.ended.outcome == "cancelled"
    assert "said nothing for 2 s" in str(said.ended.reason)
    assert run.events.one(RunEnded).outcome == "timeout"


async def test_a_program_that_is_not_there(claude: Pinned, tmp_path: Path) -> None:
    with pytest.raises(SpawnFailed, match="was not found"):
        await claude.ask(["Never said."], "Hello.", executable=tmp_path / "nowhere" / "claude")
    with pytest.raises(SpawnFailed, match="npm install"):
        dragoman.open("claude", inherit_env=False, env={"PATH": str(tmp_path)})


async def test_a_directory_that_is_not_there(claude: Pinned, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cwd must be a folder that is there"):
        await claude.ask(["Never said."], "Hello.", cwd=tmp_path / "nowhere")
