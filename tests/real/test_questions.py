"""Questions, of the agent itself and of MCP servers: they go to a handler of their own, and nothing else answers
them."""

from pathlib import Path
from typing import Any

import pytest

from dragoman import (
    AnswerQuestion,
    Capability,
    PermissionRequested,
    QuestionAnswered,
    QuestionAsked,
    ToolEnded,
)
from dragoman.testing import ToolCall, tool
from tests.real.capability_marks import by, exercises
from tests.real.driving import SMALL_SERVER, Pinned, told

pytestmark = pytest.mark.anyio

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}


def ask(agent: Pinned) -> ToolCall:
    """The model asks the user, in the words of the agent."""
    if agent.name == "claude":
        return tool("AskUserQuestion", questions=[{**COLOUR, "multiSelect": False}])
    return tool("request_user_input", questions=[{**COLOUR, "id": "colour"}])


ASKING: dict[str, dict[str, Any]] = {
    "claude": {},
    "codex": {"approve": "plan"},
    "codex-acp": {"native": {"options": {"collaboration_mode": "plan"}}},
}
"""In which mode the agent may ask: Codex does when it plans."""


@exercises(Capability.QUESTIONS)
@by("claude", "codex", "codex-acp")
async def test_a_question_of_the_agent(agent: Pinned) -> None:
    asked: list[QuestionAsked] = []

    def blue(question: QuestionAsked) -> dict[str, str]:
        asked.append(question)
        if agent.name != "codex-acp":
            return {"Which colour?": "Blue"}
        assert question.schema is not None
        return {next(iter(question.schema["properties"])): "Blue"}  # beside it is a field for other words

    async with agent.open([ask(agent), "Blue it is."], answer=blue, **ASKING[agent.name]) as run:
        said = await run.turn("Paint it.")
        assert "Blue" in told(run.model)
    question = said.one(QuestionAsked)
    assert asked == [question]
    answered = said.one(QuestionAnswered)
    assert (answered.request_id, answered.action) == (question.request_id, "accepted")
    assert said.of(PermissionRequested) == []
    assert said.said() == ["Blue it is."]
    if agent.name == "claude":
        assert [one["question"] for one in question.questions] == ["Which colour?"]
        assert answered.answers == {"Which colour?": "Blue"}
        assert said.one(ToolEnded, call_id=question.call_id).status == "completed"
    if agent.name == "codex":
        assert question.message == "Which colour?"
        assert [one["id"] for one in question.questions] == ["colour"]
        assert answered.answers == {"colour": {"answers": ["Blue"]}}
    if agent.name == "codex-acp":
        assert question.mode == "form"


@by("claude", "codex")
async def test_a_question_that_nobody_answers(agent: Pinned) -> None:
    fields = {"approve": "all", **ASKING[agent.name]}
    async with agent.open([ask(agent), "Red then."], **fields) as run:
        said = await run.turn("Paint it.")
        assert "Blue" not in told(run.model)
    # Claude Code asks with a permission for its tool, which then is denied.
    assert said.one(QuestionAnswered).action == ("declined" if agent.name == "claude" else "cancelled")
    assert said.of(ToolEnded, status="completed") == []
    assert said.said() == ["Red then."]


@pytest.mark.parametrize("mode", ["all", "never", "dangerous"])
async def test_no_mode_and_no_rule_answers_it(claude: Pinned, mode: str, tmp_path: Path) -> None:
    """With a handler it is asked in every mode; a rule about all tools is none about questions."""
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\ntool = "*"\neffect = "deny"\n')

    def red(question: QuestionAsked) -> dict[str, str]:
        return {"Which colour?": "Red"}

    async with claude.open([ask(claude), "Red it is."], approve=mode, answer=red, policy=rules) as run:
        said = await run.turn("Ask me.")
    assert said.one(QuestionAnswered).answers == {"Which colour?": "Red"}


@by("claude", "codex")
@pytest.mark.parametrize(
    ("action", "greeting"), [("accepted", "Hello, Ann!"), ("declined", "Hello, whoever you are!")]
)
async def test_a_question_of_an_mcp_server(agent: Pinned, action: Any, greeting: str) -> None:
    def answer(question: QuestionAsked) -> AnswerQuestion:
        return AnswerQuestion(action=action, answers={"name": "Ann"})

    async with agent.open(
        [agent.tools.of_server("small", "greet"), "Greeted."],
        mcp_servers={"small": SMALL_SERVER},
        approve=lambda request: True,
        answer=answer,
    ) as run:
        said = await run.turn("Greet me.")
    asked = said.one(QuestionAsked)
    assert (asked.message, asked.mode) == ("What is your name?", "form")
    assert asked.schema["required"] == ["name"]
    answered = said.one(QuestionAnswered)
    assert (answered.request_id, answered.action) == (asked.request_id, action)
    assert said.one(ToolEnded).output == greeting
