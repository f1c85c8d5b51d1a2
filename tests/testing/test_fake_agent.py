"""A fake agent: a script goes through all of the runtime, in each dialect that it speaks."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

import dragoman
from dragoman import blocking
from dragoman._contract.invariants import broken
from dragoman.testing import (
    FakeAgent,
    asks,
    asks_user,
    calls,
    exits,
    fails,
    says,
    spends,
    thinks,
    waits,
    writes,
)

pytestmark = pytest.mark.anyio

each_dialect = pytest.mark.parametrize("dialect", ["claude_stream", "acp"])


def of(kind: type, events: Iterable[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@each_dialect
def test_texts_thoughts_and_what_they_cost(dialect: Any) -> None:
    turn = [
        thinks("Let me see."),
        "First.",
        says("Hello there, you."),
        spends(input_tokens=100, cost_usd=0.5),
    ]
    result = blocking.ask(FakeAgent([turn]), "Say hello.", dialect=dialect, check=True)
    assert broken(result.events) == []
    messages = [event for event in of(dragoman.Message, result.events) if event.role == "assistant"]
    assert [message.text for message in messages] == ["Let me see.", "First.", "Hello there, you."]
    pieces = [event.text for event in of(dragoman.Delta, result.events) if event.kind == "text"]
    assert pieces == ["First.", "Hello there, ", "you."]
    assert (result.text or "").endswith("Hello there, you.")
    assert result.cost_usd == 0.5
    assert result.usage is not None
    assert result.usage.input_tokens == 100 + 3


@each_dialect
@pytest.mark.parametrize("allowed", [True, False])
def test_permissions(dialect: Any, allowed: bool) -> None:
    agent = FakeAgent([[asks("Bash", command="rm -rf build", output="gone"), "Done."]])
    asked: list[dragoman.PermissionRequest] = []

    def approve(request: dragoman.PermissionRequest) -> bool:
        asked.append(request)
        return allowed

    result = blocking.ask(agent, "Go", approve=approve, dialect=dialect)
    [request] = asked
    assert (request.tool, request.kind, request.command) == ("Bash", "execute", "rm -rf build")
    [tool] = of(dragoman.ToolEnded, result.events)
    assert tool.status == ("completed" if allowed else "declined")
    assert agent.answers == [allowed]
    assert broken(result.events) == []


@each_dialect
def test_rules_and_modes_decide(dialect: Any, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\neffect = "deny"\ncommand = "rm"\n')
    agent = FakeAgent([[asks("Bash", command="rm -rf build"), asks("Bash", command="make"), "Done."]])
    blocking.ask(agent, "Go", approve="all", policy=rules, dialect=dialect)
    assert agent.answers == [False, True]


@each_dialect
def test_files_are_written(dialect: Any, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("one\ntwo\n")
    agent = FakeAgent([[writes("old.txt", "one\n2\n"), writes("sub/new.txt", "new\n"), "Done."]])
    result = blocking.ask(agent, "Go", cwd=tmp_path, approve="edits", dialect=dialect)
    assert (tmp_path / "old.txt").read_text() == "one\n2\n"
    assert (tmp_path / "sub" / "new.txt").read_text() == "new\n"
    old, new = result.changes
    assert (old.change, old.before, old.after) == ("modified", "one\ntwo\n", "one\n2\n")
    assert (new.change, new.path) == ("created", str(tmp_path / "sub" / "new.txt"))
    refused = FakeAgent([[writes("never.txt", "x"), "Done."]])
    assert blocking.ask(refused, "Go", cwd=tmp_path, approve="never", dialect=dialect).changes == []
    assert not (tmp_path / "never.txt").exists()


@each_dialect
def test_questions_and_what_comes_of_a_step(dialect: Any) -> None:
    def turn(prompt: str) -> Any:
        answers = yield asks_user("Which colour?", "red", "blue")
        allowed = yield asks("Bash", command="make")
        yield f"{prompt} {list((answers or {}).values())} {allowed}"

    agent = FakeAgent([turn, turn])

    def answer(question: dragoman.QuestionAsked) -> Any:
        key = "answer" if dialect == "acp" else "Which colour?"
        assert question.message or question.questions
        return {key: "red"}

    first = blocking.ask(agent, "One", answer=answer, approve="all", dialect=dialect)
    assert first.text == "One ['red'] True"
    second = blocking.ask(agent, "Two", dialect=dialect)
    assert second.text == "Two [] False"
    assert agent.prompts == ["One", "Two"]
    assert agent.answers[1:] == [True, None, False]


def test_tools_have_outputs_and_the_programs_own_are_called() -> None:
    def add(a: int, b: int) -> int:
        """The sum."""
        return a + b

    def broken_tool() -> str:
        """Never works."""
        raise ValueError("no")

    steps = [
        calls("Read", file_path="a.txt", output="a line"),
        calls("Bash", command="false", output="1", failed=True),
        calls("add", a=1, b=2),
        calls("broken_tool"),
        "Done.",
    ]
    result = blocking.ask(FakeAgent([steps]), "Go", tools=[add, broken_tool], check=True)
    ended = of(dragoman.ToolEnded, result.events)
    assert [tool.status for tool in ended] == ["completed", "failed", "completed", "failed"]
    assert [tool.output for tool in ended][:3] == ["a line", "1", "3"]
    assert len(of(dragoman.PermissionRequested, result.events)) == 0


@each_dialect
def test_turns_that_fail_and_agents_that_end(dialect: Any) -> None:
    agent = FakeAgent([fails("the model is gone"), exits(3, "out of memory")])
    failed = blocking.ask(agent, "One", dialect=dialect)
    assert (failed.outcome, failed.error and failed.error.message) == ("failed", "the model is gone")
    with pytest.raises(dragoman.ProcessExited, match="out of memory") as raised:
        blocking.ask(agent, "Two", dialect=dialect, check=True)
    assert raised.value.exit_code == 3


@each_dialect
async def test_interrupted(dialect: Any) -> None:
    agent = FakeAgent([["Working.", waits()], "Next."])
    outcomes = []
    async with dragoman.open(agent, dialect=dialect) as session:
        for prompt in ("One", "Two"):
            async for event in session.prompt(prompt):
                if isinstance(event, dragoman.Delta) and event.text == "Working.":
                    await session.interrupt()
                elif isinstance(event, dragoman.TurnEnded):
                    outcomes.append(event.outcome)
    assert outcomes == ["cancelled", "completed"]
    assert agent.interrupts == 1


async def test_interrupted_while_it_asks() -> None:
    agent = FakeAgent([[asks("Bash", command="make"), "Never said."]])
    async with dragoman.open(agent, approve=lambda request: dragoman.LATER) as session:
        events = []
        async for event in session.prompt("Go"):
            events.append(event)
            if isinstance(event, dragoman.PermissionRequested):
                await session.interrupt()
    assert events[-1].outcome == "cancelled"
    assert agent.answers == []


async def test_steered() -> None:
    def turn(prompt: str) -> Any:
        yield "Working."
        more = yield waits()
        yield f"And {more}."

    agent = FakeAgent([turn])
    async with dragoman.open(agent) as session:
        async for event in session.prompt("Go"):
            if isinstance(event, dragoman.Delta) and event.text == "Working.":
                await session.steer("tests")
            elif isinstance(event, dragoman.TurnEnded):
                text = event.text
    assert text == "And tests."
    assert agent.steers == ["tests"]


async def test_steered_before_it_waits() -> None:
    told = threading.Event()

    def turn(prompt: str) -> Any:
        yield "Working."
        told.wait()
        yield "Still working."
        first = yield waits()
        second = yield waits()
        yield f"{first}, then {second}."

    agent = FakeAgent([turn])
    async with dragoman.open(agent) as session:
        async for event in session.prompt("Go"):
            if isinstance(event, dragoman.Delta) and event.text == "Working.":
                await session.steer("tests")
                await session.steer("docs")
                told.set()
            elif isinstance(event, dragoman.TurnEnded):
                text = event.text
    assert text == "tests, then docs."


@each_dialect
def test_timeouts(dialect: Any) -> None:
    result = blocking.ask(FakeAgent([waits()]), "Go", timeout=0.2, dialect=dialect)
    assert result.outcome == "timeout"
    assert broken(result.events) == []


@each_dialect
def test_limits(dialect: Any) -> None:
    turn = [calls("Read", file_path="a"), calls("Read", file_path="b"), waits()]
    result = blocking.ask(FakeAgent([turn]), "Go", max_tool_calls=1, dialect=dialect)
    assert result.outcome == "limited"


def test_a_function_has_a_turn_for_every_prompt() -> None:
    agent = FakeAgent(lambda prompt: [thinks("Hm."), f"You said {prompt}"])
    with blocking.open(agent, model="mine") as session:
        for prompt in ("a", "b"):
            assert [
                event.text for event in session.prompt(prompt) if isinstance(event, dragoman.TurnEnded)
            ] == [f"You said {prompt}"]
    assert (agent.prompts, agent.turns_left) == (["a", "b"], 0)


async def test_several_sessions() -> None:
    agent = FakeAgent(lambda prompt: f"You said {prompt}")
    said = {}

    async def prompt(session: dragoman.Session, text: str) -> None:
        async for event in session.prompt(text):
            if isinstance(event, dragoman.TurnEnded):
                said[session.id] = event.text

    async with dragoman.connect(agent, dialect="acp") as connection:
        one, two = await connection.session(), await connection.session()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt, one, "one")
            tasks.start_soon(prompt, two, "two")
    assert said == {one.id: "You said one", two.id: "You said two"}


def test_a_resumed_session_keeps_its_id() -> None:
    agent = FakeAgent(["One.", "Two."])
    first = blocking.ask(agent, "a")
    assert blocking.ask(agent, "b", resume=first.session).session == first.session


def test_a_prompt_too_many_is_told() -> None:
    agent = FakeAgent(["One."])
    blocking.ask(agent, "a")
    assert agent.turns_left == 0
    with pytest.raises(dragoman.UsageError, match="has 1 turns, and none for the prompt 'b'; add a turn"):
        blocking.ask(agent, "b")


def test_what_a_script_raises_the_test_hears() -> None:
    def turn(prompt: str) -> str:
        assert prompt == "expected"
        return "Never said."

    with pytest.raises(AssertionError):
        blocking.ask(FakeAgent([turn]), "something else")


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(dragoman.UsageError, match="must be a list of turns"):
        FakeAgent("Hello.")
    with pytest.raises(dragoman.Unsupported, match="hooks"):
        blocking.ask(FakeAgent(["x"]), "x", hooks={"Stop": lambda call: None})
    with pytest.raises(dragoman.Unsupported, match="many_sessions"):
        dragoman.connect(FakeAgent(["x"]))


def test_several_at_once_are_not_in_each_others_way(tmp_path: Path) -> None:
    """No lock of a session, no process: a hundred of them are a second."""
    agent = FakeAgent(lambda prompt: prompt.upper())

    async def main() -> list[str | None]:
        texts: list[str | None] = [None] * 100

        async def one(number: int) -> None:
            texts[number] = (await dragoman.ask(agent, f"p{number}")).text

        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(one, number)
        return texts

    assert anyio.run(main) == [f"P{number}" for number in range(100)]
