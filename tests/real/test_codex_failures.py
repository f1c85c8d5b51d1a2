"""When the model, the network, the limits or the program itself say no."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import dragoman
from dragoman import Delta, Error, Message, Retry, RunEnded, SpawnFailed, TurnEnded
from dragoman.testing import Cut, Hold, Scenario, error, tool, turn
from tests.real.driving import Lines, Pinned

pytestmark = pytest.mark.anyio


@pytest.fixture
def nobody() -> Iterator[Scenario]:
    """A model at an address where every connection is refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        yield Scenario(["Never said."], f"http://127.0.0.1:{taken.getsockname()[1]}")


# --- the model ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "words", "code", "requests"),
    [
        (401, "401 Unauthorized: scripted error", "httpConnectionFailed", 2),
        (429, "429 Too Many Requests", "responseTooManyFailedAttempts", 1),
        (500, "high demand", "internalServerError", 4),
    ],
)
async def test_a_request_that_is_refused(
    codex: Pinned, status: int, words: str, code: str, requests: int
) -> None:
    async with codex.open([error(status)] * 4) as run:
        said = await run.turn("Hello.")
        assert len(run.model.requests_of("main")) == requests
    assert said.ended.outcome == "failed"
    assert said.ended.error is not None
    assert words in said.ended.error.message
    assert said.ended.error.code == code
    told = said.one(Error)
    assert (told.message, told.code, told.scope) == (said.ended.error.message, code, "turn")
    assert len(said.of(Retry)) == (requests > 1)
    assert said.ended.usage is None
    assert run.events.one(RunEnded).outcome == "failed"


async def test_a_failure_is_retried(codex: Pinned) -> None:
    async with codex.open([error(500, "out of order"), "At last."]) as run:
        said = await run.turn("Hello.")
        assert len(run.model.requests_of("main")) == 2
    assert said.said() == ["At last."]
    assert said.ended.outcome == "completed"


async def test_an_answer_that_breaks_off_is_begun_again(codex: Pinned) -> None:
    broken = turn("These words came, and no more.", chunk=17, cut=Cut(4))
    async with codex.open([broken, "All of it."]) as run:
        said = await run.turn("Hello.")
        assert len(run.model.requests_of("main")) == 2
    retry = said.one(Retry)
    assert (retry.attempt, retry.max_attempts) == (1, 1)
    assert "disconnected" in (retry.reason or "")
    [first, *_] = said.of(Delta, kind="text")
    assert (first.text, retry.discards) == ("These words came,", [first.message_id])
    assert said.said() == ["All of it."]
    assert said.ended.text == "All of it."
    assert said.ended.outcome == "completed"


async def test_an_answer_that_breaks_off_every_time(codex: Pinned) -> None:
    lines: Lines = [turn("These words came, and no more.", chunk=17, cut=Cut(4))] * 4
    async with codex.open(lines) as run:
        said = await run.turn("Hello.")
        assert len(run.model.requests_of("main")) == 2
    assert said.ended.outcome == "failed"
    assert said.ended.error is not None
    assert "stream disconnected" in said.ended.error.message
    assert len(said.of(Retry)) == 1
    assert said.one(Message, role="assistant").text == "These words came,"


async def test_a_turn_after_one_that_failed(codex: Pinned) -> None:
    async with codex.open([error(429), "Well again."]) as run:
        await run.turn("Hello.")
        said = await run.turn("And now?")
    assert said.said() == ["Well again."]
    assert [ended.outcome for ended in run.events.of(TurnEnded)] == ["failed", "completed"]
    assert run.events.one(RunEnded).outcome == "completed"


# --- time --------------------------------------------------------------------------------------------------


async def test_a_network_that_is_down(codex: Pinned, nobody: Scenario) -> None:
    """Codex tries again without end: only a deadline of one's own ends it."""
    async with codex.open(nobody, timeout=2.0) as run:
        said = await run.turn("Hello.")
    assert said.ended.outcome == "cancelled"
    assert said.of(Message, role="assistant") == []
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.exit_code) == ("timeout", 0)


async def test_a_run_that_takes_too_long(codex: Pinned) -> None:
    async with codex.open([turn("Never said.", hold=Hold("never"))], timeout=2.0) as run:
        said = await run.turn("Hello.")
    assert said.ended.outcome == "cancelled"
    assert run.events.one(RunEnded).outcome == "timeout"


async def test_silence_that_lasts_too_long(codex: Pinned) -> None:
    async with codex.open([turn("Never said.", hold=Hold("never"))], idle_timeout=1.0) as run:
        said = await run.turn("Hello.")
    assert said.ended.outcome == "cancelled"
    assert run.events.one(RunEnded).outcome == "timeout"


# --- limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["max_turns=1", "max_tokens=300", "max_tool_calls=1"])
async def test_a_limit_is_kept(codex: Pinned, limit: str) -> None:
    """Codex knows none of them: the run is stopped from without."""
    name, _, most = limit.partition("=")
    calls = [tool("exec_command", cmd=f"touch {name}") for name in ("one", "two")]
    lines: Lines = [*calls, turn("Never said.", hold=Hold("never"))]
    result = await codex.ask(lines, "Go on and on.", approve="all", **{name: int(most)})
    assert result.outcome == "limited"
    [ended] = [event for event in result.events if isinstance(event, TurnEnded)]
    assert (ended.outcome, ended.text) == ("limited", None)
    assert limit in str(ended.reason)
    assert (codex.cwd / "one").exists()


# --- the program -------------------------------------------------------------------------------------------


async def test_a_program_that_is_not_there(codex: Pinned, tmp_path: Path) -> None:
    with pytest.raises(SpawnFailed, match="was not found"):
        await codex.ask(["Never said."], "Hello.", executable=tmp_path / "nowhere" / "codex")
    with pytest.raises(SpawnFailed, match="npm install"):
        dragoman.open("codex", inherit_env=False, env={"PATH": str(tmp_path)})


async def test_a_model_that_is_not_there(codex: Pinned) -> None:
    async with codex.open([error(404, "no such model")] * 4, model="gpt-none") as run:
        said = await run.turn("Hello.")
        assert run.model.requests_of("main")[0].model == "gpt-none"
    assert said.ended.outcome == "failed"
    assert said.ended.error is not None
    assert "404" in said.ended.error.message
