"""Gemini CLI with stream-json: what one process tells of a turn, what its prompt, tools and limits do, and how the
session file that it leaves puts right what it told."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman import (
    AgentFailed,
    Capability,
    Delta,
    FileChanged,
    LoginRequired,
    Message,
    Retry,
    RunEnded,
    SubagentEnded,
    SubagentStarted,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    Unsupported,
    UsageError,
    convert,
)
from dragoman._contract.invariants import broken
from dragoman._dialects import machine_for
from dragoman._reports.enrich import enrich
from dragoman.testing import Cut, Hold, ScriptedModel, Usage, error, script, text, thinking, tool, turn
from dragoman.testing._scripted_model.environment import GEMINI_SETTINGS
from tests.real.driving import Events, Lines, Pinned, alive, eventually, waits_forever

pytestmark = pytest.mark.anyio

STREAM: dict[str, Any] = {"dialect": "gemini_stream", "model": "gemini-2.5-pro"}


def settle(gemini: Pinned, **sections: dict[str, Any]) -> None:
    """Settings of its user, beside those that it needs to work here."""
    settings = {
        name: {**GEMINI_SETTINGS.get(name, {}), **sections.get(name, {})}
        for name in (*GEMINI_SETTINGS, *sections)
    }
    folder = gemini.home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")


def test_what_it_declares_is_tested_here() -> None:
    """Capabilities of the agent are those of ACP; in this dialect it has these."""
    assert machine_for("gemini_stream").capabilities == {
        Capability.PARTIALS,  # test_text_and_its_pieces
        Capability.RESUME,  # test_a_turn_and_the_next
        Capability.SUBAGENTS,  # test_a_subagent
        Capability.MCP,  # test_tools_of_ours
        Capability.HOOKS,  # test_hooks_of_ours
    }


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_text_and_its_pieces(gemini: Pinned) -> None:
    words = "Grüße: one two three four five six seven 🎈 eight nine ten."
    async with gemini.open([turn(words, chunk=5, usage=Usage(output=33))], prompt="Count.", **STREAM) as run:
        await run.until(RunEnded)
    pieces = run.events.of(Delta, kind="text")
    assert len(pieces) > 5
    assert ["".join(piece.text for piece in pieces)] == run.events.said() == [words]
    assert run.events.one(TurnStarted).prompt == "Count."
    ended = run.events.ended
    assert (ended.outcome, ended.text) == ("completed", words)
    assert ended.usage is not None
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (160, 33)
    assert ended.model_usage.keys() == {"gemini-2.5-pro"}


async def test_tools(gemini: Pinned) -> None:
    path = gemini.cwd / "new.txt"
    lines: Lines = [
        tool("write_file", file_path=str(path), content="one\ntwo\n"),
        tool("replace", file_path=str(path), old_string="one", new_string="1", instruction="Change it."),
        tool("run_shell_command", command="cat new.txt"),
        tool("read_file", file_path=str(gemini.cwd / "nowhere")),
        "Done.",
    ]
    result = await gemini.ask(lines, "Work.", approve="all", **STREAM)
    events = Events(result.events)
    assert path.read_text() == "1\ntwo\n"
    assert [call.kind for call in events.of(ToolStarted)] == ["edit", "edit", "execute", "read"]
    assert [done.status for done in events.of(ToolEnded)] == ["completed", "completed", "completed", "failed"]
    assert events.of(ToolEnded)[2].output == "1\ntwo"
    assert [change.path for change in events.of(FileChanged)] == [str(path)] * 2
    assert {change.path for change in result.changes} == {str(path)}
    assert result.text == "Done."


@pytest.mark.parametrize(("approve", "done"), [("ask", []), ("edits", ["new.txt"]), ("plan", [])])
async def test_without_a_client_to_ask(gemini: Pinned, approve: str, done: list[str]) -> None:
    """What would be asked is not even offered to the model; that it is called all the same is an error."""
    write = tool("write_file", file_path=str(gemini.cwd / "new.txt"), content="one\n")
    shell = tool("run_shell_command", command="touch here")
    async with gemini.open([write, shell, "Then not."], prompt="Work.", approve=approve, **STREAM) as run:
        await run.until(RunEnded)
        offered = run.model.requests_of("main")[0].tools
    assert "run_shell_command" not in offered
    assert sorted(file.name for file in gemini.cwd.iterdir()) == done
    assert run.events.of(ToolEnded)[-1].status == "failed"
    assert run.events.ended.text == "Then not."


async def test_a_subagent(gemini: Pinned) -> None:
    lines = script(
        [tool("invoke_agent", agent_name="codebase_investigator", prompt="[[look]] Look."), "It is there."],
        routes={"look": [tool("complete_task", Result="Found."), "Found."]},
    )
    result = await gemini.ask(lines, "Find it.", approve="all", **STREAM)
    events = Events(result.events)
    begun = events.one(SubagentStarted)
    assert begun.call_id == events.one(ToolStarted, name="invoke_agent").call_id
    assert events.one(SubagentEnded).call_id == begun.call_id
    assert result.text == "It is there."


async def test_three_megabytes_on_one_line(gemini: Pinned) -> None:
    """Of a tool's input, and of an answer. The CLI exits without waiting until a pipe has taken what it wrote: so its
    stdout is a file."""
    content = "".join(f"{number:08x}\n" for number in range(300_000))
    words = "".join(f"{number:07} " for number in range(400_000))
    assert len(words) == 3_200_000
    lines: Lines = [
        tool("write_file", file_path="n.txt", content=content),
        turn(words, chunk=len(words)),
    ]
    result = await gemini.ask(lines, "Tell me everything.", approve="all", **STREAM)
    events = Events(result.events)
    assert result.outcome == "completed"
    assert events.one(ToolStarted).input["content"] == content
    [piece] = events.of(Delta, kind="text")
    assert piece.text == words
    assert events.said() == [words]
    assert result.text == words


# --- how it ends -------------------------------------------------------------------------------------------


async def test_max_turns_of_its_own(gemini: Pinned) -> None:
    settle(gemini, model={"maxSessionTurns": 1})
    shell = tool("run_shell_command", command="true")
    result = await gemini.ask([shell, "Never said."], "Work.", approve="all", **STREAM)
    assert result.outcome == "limited"
    run = Events(result.events).one(RunEnded)
    assert run.exit_code == 53


async def test_max_turns_of_ours(gemini: Pinned) -> None:
    shell = tool("run_shell_command", command="true")
    lines: Lines = [shell, turn("Once more. ", hold=Hold("never", after=1))]
    async with gemini.open(lines, prompt="Work.", approve="all", max_turns=1, **STREAM) as run:
        await run.until(RunEnded)
    assert run.events.ended.outcome == "limited"


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
async def test_errors_of_the_api(gemini: Pinned, status: int) -> None:
    settle(gemini, general={"maxAttempts": 1})  # else it tries for minutes
    lines = script([error(status, "not today")], repeat_last=True)
    with pytest.raises(LoginRequired if status == 401 else AgentFailed) as raised:
        await gemini.ask(lines, "Go", check=True, **STREAM)
    result = raised.value.result
    assert result is not None
    assert result.outcome == "failed"
    assert result.error is not None
    if status == 429 and gemini.differs("a_quota_has_no_status"):
        assert (result.error.code, result.error.kind) == (None, "unknown")
        return
    assert result.error.code == str(status)
    assert "not today" in result.error.message


async def test_stopped_during_a_tool(gemini: Pinned) -> None:
    pid_file = gemini.cwd / "pid"
    shell = tool("run_shell_command", command=waits_forever(pid_file))
    async with gemini.open([shell, text("Never said.")], prompt="Wait.", approve="all", **STREAM) as run:
        await eventually(pid_file.exists)
    assert not alive(int(pid_file.read_text()))
    assert run.events.ended.outcome == "cancelled"
    assert run.events.one(ToolEnded).status == "cancelled"


async def test_what_it_cannot_do(gemini: Pinned) -> None:
    with pytest.raises(UsageError, match="takes its prompt when it starts"):
        async with gemini.open(["Never said."], **STREAM):
            pass
    async with gemini.open(["One."], prompt="Go", **STREAM) as run:
        with pytest.raises(Unsupported, match="interrupt"):
            await run.session.interrupt()
        await run.until(RunEnded)


# --- one process after the other, and the file that it leaves ---------------------------------------------------


async def test_a_turn_and_the_next(gemini: Pinned) -> None:
    with ScriptedModel(["First.", "Second."]) as model:
        first = await gemini.ask(model, "One", **STREAM)
        second = await gemini.ask(model, "-Two", resume=first.session, **STREAM)
        assert [request.texts[-1] for request in model.requests_of("main")] == ["One", "-Two"]
    assert (first.outcome, first.text) == ("completed", "First.")
    assert (second.outcome, second.text, second.session) == ("completed", "Second.", first.session)
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.cache_read_tokens) == (160, 50)


def session_file(gemini: Pinned) -> Path:
    [path] = (gemini.home / ".gemini" / "tmp").glob("*/chats/session-*.jsonl")
    return path


async def test_what_the_stream_leaves_out_is_in_the_file(gemini: Pinned) -> None:
    lines: Lines = [
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


async def test_a_connection_that_breaks(gemini: Pinned) -> None:
    result = await gemini.ask([turn("Half of it", chunk=4, cut=Cut(2))], "Go", **STREAM)
    assert (result.outcome, Events(result.events).said()) == ("failed", ["Half of "])


async def test_a_turn_that_is_stopped(gemini: Pinned) -> None:
    async with gemini.open(
        [turn("a b c", chunk=2, hold=Hold("gate", after=1))], prompt="Go", **STREAM
    ) as run:
        await run.until(Delta)
    assert run.events.ended.outcome == "cancelled"
    assert run.events.one(Message, role="assistant").text == "a "


async def test_nobody_signed_in(gemini: Pinned) -> None:
    with (
        ScriptedModel() as model,
        pytest.raises(LoginRequired, match="must specify the GEMINI_API_KEY"),
    ):
        await gemini.ask(model, "Go", env={"GEMINI_API_KEY": ""}, **STREAM)
