"""Questions of the agent go to the handler that answers permissions; no mode and no rule answers them."""

import json
from pathlib import Path

import pytest

from dragoman import AnswerQuestion, PermissionRequested, QuestionAnswered, QuestionAsked, Session
from dragoman._runtime.standing import Request
from dragoman.testing import tool
from tests.real.driving import Pinned

pytestmark = pytest.mark.anyio

QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    "multiSelect": False,
}
ASK = tool("AskUserQuestion", questions=[QUESTION])


async def test_a_question_reaches_the_handler(claude: Pinned) -> None:
    asked: list[Request] = []

    def handler(request: Request, session: Session) -> AnswerQuestion:
        asked.append(request)
        return AnswerQuestion(request=request.request_id, answers={"Which colour?": "Blue"})

    async with claude.open([ASK, "Blue it is."], approve=handler) as run:
        said = await run.turn("Ask me.")
        told = json.dumps(run.model.requests_of("main")[1].messages[-1])
    question = said.one(QuestionAsked)
    assert asked == [question]
    assert [item["question"] for item in question.questions] == ["Which colour?"]
    assert said.one(QuestionAnswered).answers == {"Which colour?": "Blue"}
    assert said.of(PermissionRequested) == []
    assert "Blue" in told


@pytest.mark.parametrize("mode", ["all", "never", "dangerous"])
async def test_a_question_is_not_answered_by_a_mode(claude: Pinned, mode: str, tmp_path: Path) -> None:
    """With a handler it is asked in every mode; a rule about all tools is none about questions."""
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\ntool = "*"\neffect = "deny"\n')

    def handler(request: Request, session: Session) -> AnswerQuestion:
        return AnswerQuestion(request=request.request_id, answers={"Which colour?": "Red"})

    async with claude.open([ASK, "Red it is."], approve=mode, handler=handler, policy=rules) as run:
        said = await run.turn("Ask me.")
    assert said.one(QuestionAnswered).answers == {"Which colour?": "Red"}


async def test_with_nobody_there_it_is_not_answered(claude: Pinned) -> None:
    async with claude.open([ASK, "Then I choose."], approve="all") as run:
        said = await run.turn("Ask me.")
    assert said.one(QuestionAnswered).action in ("cancelled", "declined")
    assert said.said() == ["Then I choose."]
