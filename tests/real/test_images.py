"""Image files that go with the first prompt, in every language of every agent."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from dragoman import RunEnded, TurnEnded
from dragoman.testing import ScriptedModel
from tests.real.capability_marks import by
from tests.real.command_line import events_of, run
from tests.real.driving import Pinned
from tests.real.test_answers import PIXEL

pytestmark = pytest.mark.anyio


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    """Two, outside of where the agent works."""
    files = [tmp_path / "a dot (1).png", tmp_path / "dot.PNG"]
    for file in files:
        file.write_bytes(base64.b64decode(PIXEL))
    return files


def shown(request: Any) -> int:
    """How many of them a request to a model carries."""
    asked = [message for message in request.messages if message["role"] == "user"]
    return json.dumps(asked).count(PIXEL)


async def test_they_reach_the_model(agent: Pinned, pictures: list[Path]) -> None:
    async with agent.open(["A dot."], prompt="What is it?", images=pictures) as run:
        await run.until(TurnEnded)
        [request] = run.model.requests_of("main")
    assert shown(request) == 2


@by("codex", "gemini")
async def test_they_reach_the_model_in_one_turn(agent: Pinned, pictures: list[Path]) -> None:
    """Also in a session that goes on, and though an ignore file would leave them out."""
    dialect = {"codex": "codex_exec", "gemini": "gemini_stream"}[agent.name]
    (agent.cwd / ".geminiignore").write_text("*.png\n*.PNG\n")
    session: str | None = None
    for seen in (2, 3):
        fields = {"prompt": "What is it?", "dialect": dialect, "resume": session, "model": agent.tools.model}
        async with agent.open(["A dot."], images=pictures[: 4 - seen], **fields) as run:
            await run.until(RunEnded)
            [asked] = run.model.requests_of("main")
        assert shown(asked) == seen
        session = run.session.id


def test_at_the_command_line(codex: Pinned, pictures: list[Path]) -> None:
    with ScriptedModel(["A dot."]) as model:
        words = [word for file in pictures for word in ("--image", str(file))]
        done = run(codex, model, "What is it?", "--json", "--dialect", "codex_exec", *words)
        [request] = model.requests_of("main")
    assert done.returncode == 0, done.stderr
    assert shown(request) == 2
    assert events_of(done.stdout).ended.text == "A dot."
