"""What Claude Code does when its model says no, and limits that it keeps by itself."""

import pytest

from dragoman import Capability, Error, LoginRequired, Retry, TurnEnded
from dragoman.testing import Usage, error, tool, turn
from tests.real.capability_marks import exercises
from tests.real.driving import Lines, Pinned

pytestmark = pytest.mark.anyio

AT_ONCE = {"CLAUDE_CODE_MAX_RETRIES": "0"}


async def test_a_key_that_is_refused(claude: Pinned) -> None:
    with pytest.raises(LoginRequired, match="claude is not logged in, or its key is not accepted") as raised:
        await claude.ask([error(401, "invalid x-api-key")] * 2, "Hello.", env=AT_ONCE)
    result = raised.value.result
    assert result is not None
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
