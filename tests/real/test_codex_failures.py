"""What Codex does when its model or the network says no: it tries again, or says so."""

import socket
from collections.abc import Iterator

import pytest

from dragoman import Delta, Message, Retry, RunEnded, TurnEnded
from dragoman.testing import Cut, Scenario, error, turn
from tests.real.driving import Lines, Pinned

pytestmark = pytest.mark.anyio


@pytest.fixture
def nobody() -> Iterator[Scenario]:
    """A model at an address where every connection is refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        yield Scenario(["Never said."], f"http://127.0.0.1:{taken.getsockname()[1]}")


async def test_after_a_turn_that_failed_a_failure_is_retried(codex: Pinned) -> None:
    async with codex.open([error(429), error(500, "out of order"), "At last."]) as run:
        await run.turn("Hello.")
        said = await run.turn("And now?")
        assert len(run.model.requests_of("main")) == 3
    assert said.said() == ["At last."]
    assert [ended.outcome for ended in run.events.of(TurnEnded)] == ["failed", "completed"]
    assert run.events.one(RunEnded).outcome == "completed"


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


async def test_a_network_that_is_down(codex: Pinned, nobody: Scenario) -> None:
    """Codex tries again without end: only a deadline of one's own ends it."""
    async with codex.open(nobody, timeout=6.0) as run:
        said = await run.turn("Hello.")
    fails = codex.differs("a_network_that_is_down_fails_the_turn")
    assert said.ended.outcome == ("failed" if fails else "cancelled")
    assert said.of(Message, role="assistant") == []
    ended = run.events.one(RunEnded)
    assert (ended.outcome, ended.exit_code) == ("failed" if fails else "timeout", 0)


async def test_a_model_that_is_not_there(codex: Pinned) -> None:
    async with codex.open([error(404, "no such model")] * 4, model="gpt-none") as run:
        said = await run.turn("Hello.")
        assert run.model.requests_of("main")[0].model == "gpt-none"
    assert said.ended.outcome == "failed"
    assert said.ended.error is not None
    assert "404" in said.ended.error.message
