"""Gemini CLI with stream-json: one process for a turn, put right by the session file that it leaves."""

from pathlib import Path

import pytest

import dragoman
from dragoman import FileChanged, Message, ToolEnded, ToolStarted
from dragoman._contract.invariants import broken
from dragoman._files.convert import convert
from dragoman._model.events import Retry
from dragoman._reports.enrich import enrich
from dragoman.testing import Cut, Hold, ScriptedModel, error, text, thinking, tool, turn
from tests.real.driving import Events, Pinned

pytestmark = pytest.mark.anyio

STREAM = {"dialect": "gemini_stream", "model": "gemini-2.5-pro"}


def session_file(gemini: Pinned) -> Path:
    [path] = (gemini.home / ".gemini" / "tmp").glob("*/chats/session-*.jsonl")
    return path


async def test_a_turn_and_the_next(gemini: Pinned) -> None:
    with ScriptedModel(["First.", "Second."]) as model:
        first = await gemini.ask(model, "One", **STREAM)
        second = await gemini.ask(model, "-Two", resume=first.session, **STREAM)
        assert [request.texts[-1] for request in model.requests_of("main")] == ["One", "-Two"]
    assert (first.outcome, first.text) == ("completed", "First.")
    assert (second.outcome, second.text, second.session) == ("completed", "Second.", first.session)
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.cache_read_tokens) == (160, 50)


async def test_what_the_stream_leaves_out_is_in_the_file(gemini: Pinned) -> None:
    lines = [
        turn("Let me ", stop="none"),
        turn(
            thinking("**Look** around"), "Let me see.", tool("write_file", file_path="n.txt", content="one\n")
        ),
        turn(tool("run_shell_command", command="echo out; exit 3")),
        text("Done."),
    ]
    result = await gemini.ask(lines, "Work", approve="all", **STREAM)
    plain = Events(result.events)
    assert plain.said() == ["Let me Let me see.", "Done."]
    assert plain.one(FileChanged).change == "modified"
    events = Events(enrich(result.events, convert(session_file(gemini))))
    assert broken(events) == []
    assert events.said() == ["Let me see.", "Done."]
    assert events.said(kind="thinking") == ["**Look**\naround"]
    assert len(events.of(Retry)) == 1
    assert (events.one(FileChanged).change, events.one(FileChanged).after) == ("created", "one\n")
    shell = events.one(ToolEnded, call_id="run_shell_command__call_0002")
    assert (shell.output, shell.exit_code, shell.status) == ("out", 3, "completed")


async def test_a_great_deal_of_it(gemini: Pinned) -> None:
    """More than a pipe takes before the CLI exits."""
    content = "".join(f"{n:08x}\n" for n in range(300_000))
    lines = [tool("write_file", file_path="n.txt", content=content), "Done."]
    result = await gemini.ask(lines, "Work", approve="all", **STREAM)
    assert result.outcome == "completed"
    assert Events(result.events).one(ToolStarted).input["content"] == content


@pytest.mark.parametrize(("status", "code"), [(400, "400"), (401, "401"), (403, "403")])
async def test_errors_of_the_api(gemini: Pinned, status: int, code: str) -> None:
    """Not 500: the CLI tries for minutes."""
    result = await gemini.ask([error(status, "no")], "Go", **STREAM)
    assert result.outcome == "failed"
    assert result.error is not None
    assert result.error.code == code


async def test_a_connection_that_breaks(gemini: Pinned) -> None:
    result = await gemini.ask([turn("Half of it", chunk=4, cut=Cut(2))], "Go", **STREAM)
    assert (result.outcome, Events(result.events).said()) == ("failed", ["Half of "])


async def test_a_turn_that_is_stopped(gemini: Pinned) -> None:
    async with gemini.open(
        [turn("a b c", chunk=2, hold=Hold("gate", after=1))], prompt="Go", **STREAM
    ) as run:
        await run.until(dragoman.Delta)
    assert run.events.ended.outcome == "cancelled"
    assert run.events.one(Message, role="assistant").text == "a "


async def test_nobody_signed_in(gemini: Pinned) -> None:
    with (
        ScriptedModel() as model,
        pytest.raises(dragoman.ProcessExited, match="exited before the turn began"),
    ):
        await gemini.ask(model, "Go", env={"GEMINI_API_KEY": ""}, **STREAM)
