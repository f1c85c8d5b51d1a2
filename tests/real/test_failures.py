"""When the API says no, or there is nothing to start: what is said of it, and whether the session survives."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

import dragoman
from dragoman import Capability, Error, Retry, RunEnded, SpawnFailed, UsageError
from dragoman.testing import Step, Usage, error, script, turn
from dragoman.testing._scripted_model.environment import GEMINI_SETTINGS
from tests.real.capability_marks import by, exercises
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio


class Refusal(NamedTuple):
    """What Codex makes of a status: its words, its code, and how often it asks."""

    words: str
    code: str
    requests: int


CODEX = {
    401: Refusal("401 Unauthorized: not today", "httpConnectionFailed", 2),
    429: Refusal("429 Too Many Requests", "responseTooManyFailedAttempts", 1),
    500: Refusal("high demand", "internalServerError", 4),
}


@by("codex", "gemini", "codex-acp")
@pytest.mark.parametrize("status", [401, 429, 500])
async def test_a_request_that_is_refused(agent: Pinned, status: int) -> None:
    if agent.name == "gemini":
        hasty(agent)
    async with agent.open(script([error(status, "not today")], repeat_last=True)) as run:
        said = await run.turn("Hello.")
        requests = len(run.model.requests_of("main"))
    assert said.ended.outcome == "failed"
    failure = said.ended.error
    assert failure is not None
    told = said.one(Error, severity="error")
    assert (failure.message, failure.code) == (told.message, told.code)
    assert run.events.one(RunEnded).outcome == "failed"
    if agent.name == "gemini":
        unsaid = status == 429 and agent.differs("a_quota_has_no_status")
        assert failure.code == ("500" if unsaid else str(status))
        assert "not today" in failure.message
    if agent.name == "codex":
        refusal = CODEX[status]
        code = (
            "other" if status == 401 and agent.differs("a_key_that_is_refused_has_no_code") else refusal.code
        )
        assert refusal.words in failure.message
        assert (failure.code, told.scope, requests) == (code, "turn", refusal.requests)
        assert (failure.kind == "loginRequired") == (status == 401)
        assert len(said.of(Retry)) == (requests > 1)
        assert said.ended.usage is None


def hasty(gemini: Pinned) -> None:
    """Gemini CLI tries ten times otherwise, for minutes."""
    folder = gemini.home / ".gemini"
    folder.mkdir()
    settings = {**GEMINI_SETTINGS, "general": {**GEMINI_SETTINGS["general"], "maxAttempts": 1}}
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")


@exercises(Capability.COST)
@by("opencode")
async def test_an_error_that_lasts_errors_that_pass_and_what_it_cost(agent: Pinned) -> None:
    """OpenCode goes on trying, unless the API says that there is no point; the session survives it. It counts up what
    the turns cost, at the price that the scripted model has in its configuration."""
    now = {"retry-after-ms": "1"}
    lines: list[Step] = [
        error(401, "who are you?"),
        error(429, headers=now),
        error(500, headers=now),
        "At last.",
    ]
    async with agent.open([*lines, turn("Again.", usage=Usage(output=40))]) as run:
        refused = await run.turn("Hello.")
        passed = await run.turn("Hello again.")
        assert len(run.model.requests_of("main")) == 4
        again = await run.turn("And again.")
    assert refused.ended.outcome == "failed"
    assert refused.ended.error is not None
    assert "who are you?" in refused.ended.error.message
    assert (passed.ended.outcome, passed.said()) == ("completed", ["At last."])
    assert passed.ended.cost_usd == pytest.approx((110 + 2 * 20) / 1e6)
    assert again.ended.cost_usd == pytest.approx((110 + 2 * 40) / 1e6)
    assert run.events.one(RunEnded).cost_usd == pytest.approx(340 / 1e6)


@by("claude", "codex")
async def test_nothing_to_start(agent: Pinned, tmp_path: Path) -> None:
    with pytest.raises(SpawnFailed, match="was not found"):
        await agent.ask(["Never said."], "Hello.", executable=tmp_path / "nowhere" / agent.name)
    with pytest.raises(SpawnFailed, match="npm install"):
        dragoman.open(agent.name, inherit_env=False, env={"PATH": str(tmp_path)})
    with pytest.raises(UsageError, match="cwd must be a folder that is there"):
        await agent.ask(["Never said."], "Hello.", cwd=tmp_path / "nowhere")
