"""The other language of Codex, `codex exec --json`: one prompt, one turn, one process, and nobody is asked."""

import stat
from pathlib import Path

import pytest

from dragoman import (
    Error,
    FileChanged,
    LoginRequired,
    Message,
    PlanUpdated,
    Result,
    Retry,
    RunEnded,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unsupported,
    UsageError,
    UsageUpdated,
)
from dragoman.testing import Hold, ScriptedModel, Usage, error, thinking, tool, turn
from tests.real.driving import Events, Lines, Pinned, alive, eventually, waits_forever

pytestmark = pytest.mark.anyio

EXEC = {"dialect": "codex_exec"}
SEVEN = turn("Seven.", usage=Usage(input=700, cache_read=70, cache_write=7, output=77))
EIGHT = turn("Eight.", usage=Usage(input=800, cache_read=80, cache_write=8, output=88))
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+fresh\n*** End Patch\n"


def events_of(result: Result) -> Events:
    return Events(result.events)


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_text(codex: Pinned) -> None:
    result = await codex.ask([turn(thinking("Is it six?"), "Seven.")], "How many?", **EXEC)
    assert (result.outcome, result.text) == ("completed", "Seven.")
    events = events_of(result)
    assert {event.dialect for event in events} == {"codex_exec"}
    assert events.said("user") == ["How many?"]
    assert events.one(TurnStarted).prompt == "How many?"
    assert events.said() == ["Seven."]
    assert events.said(kind="thinking") == ["Is it six?"]
    assert events.ended.usage is not None
    assert (events.ended.usage.input_tokens, events.ended.usage.output_tokens) == (160, 20)
    assert events.one(RunEnded).exit_code == 0
    assert result.session == events.one(SessionStarted).session


async def test_tools(codex: Pinned) -> None:
    plan = tool("update_plan", plan=[{"step": "Look", "status": "completed"}])
    lines: Lines = [
        tool("exec_command", cmd="echo $((6*7)) | tee answer"),
        tool("exec_command", cmd="exit 3"),
        tool("apply_patch", input=PATCH),
        plan,
        "Done.",
    ]
    native = {"config": {"tools.update_plan.enabled": True}}
    result = await codex.ask(lines, "Work.", approve="all", native=native, **EXEC)
    assert result.outcome == "completed"
    assert (codex.cwd / "answer").read_text() == "42\n"
    assert (codex.cwd / "new.txt").read_text() == "fresh\n"
    events = events_of(result)
    assert [(call.name, call.kind) for call in events.of(ToolStarted)] == [
        ("shell", "execute"),
        ("shell", "execute"),
        ("apply_patch", "edit"),
    ]
    first, second, third = events.of(ToolEnded)
    assert (first.status, first.output, first.exit_code) == ("completed", "42\n", 0)
    assert (second.status, second.exit_code) == ("failed", 3)
    assert third.status == "completed"
    assert [(change.path, change.change) for change in result.changes] == [
        (str(codex.cwd / "new.txt"), "created")
    ]
    assert [change.phase for change in events.of(FileChanged)] == ["proposed", "applied"]
    assert events.of(PlanUpdated)[-1].entries[0].text == "Look"


async def test_nobody_is_asked_and_nothing_is_changed(codex: Pinned) -> None:
    lines: Lines = [tool("exec_command", cmd="touch here"), tool("apply_patch", input=PATCH), "Then not."]
    result = await codex.ask(lines, "Touch it.", **EXEC)
    assert (result.outcome, result.text, result.changes) == ("completed", "Then not.", [])
    assert list(codex.cwd.iterdir()) == []


async def test_resume(codex: Pinned) -> None:
    """The thread's total is all that is said: what the turn took is not known."""
    with ScriptedModel([SEVEN, EIGHT]) as model:
        first = await codex.ask(model, "Count to seven.", **EXEC)
        second = await codex.ask(model, "Go on.", resume=first.session, **EXEC)
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert second.text == "Eight."
    assert second.session == first.session
    events = events_of(second)
    assert events.one(SessionStarted).resumed
    assert events_of(first).ended.usage is not None
    assert events.ended.usage is None
    total = events.one(UsageUpdated, scope="session").usage
    assert total is not None
    assert total.output_tokens == 165


async def test_resume_of_a_session_of_the_other_language(codex: Pinned) -> None:
    with ScriptedModel([SEVEN, EIGHT]) as model:
        async with codex.open(model) as first:
            await first.turn("Count to seven.")
        second = await codex.ask(model, "Go on.", resume=first.session.id, **EXEC)
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert (second.text, second.session) == ("Eight.", first.session.id)


async def test_fork(codex: Pinned) -> None:
    with ScriptedModel([SEVEN, EIGHT]) as model:
        first = await codex.ask(model, "Count to seven.", **EXEC)
        if codex.differs("exec_has_no_fork"):
            with pytest.raises(Unsupported, match="fork in codex_exec before"):
                await codex.ask(model, "Go on.", resume=first.session, fork=True, **EXEC)
            return
        second = await codex.ask(model, "Go on.", resume=first.session, fork=True, **EXEC)
        texts = model.requests_of("main")[1].texts
    assert "Count to seven." in texts
    assert second.text == "Eight."
    assert second.session not in (None, first.session)
    assert not events_of(second).one(SessionStarted).resumed
    assert events_of(second).ended.usage is None


async def test_a_request_that_is_refused(codex: Pinned) -> None:
    with pytest.raises(LoginRequired, match="401 Unauthorized: invalid key") as raised:
        await codex.ask([error(401, "invalid key")] * 4, "Hello.", **EXEC)
    result = raised.value.result
    assert result is not None
    assert result.outcome == "failed"
    events = events_of(result)
    assert events.of(Retry)
    assert events.of(Error)
    assert events.one(RunEnded).exit_code == 1


async def test_closing_during_a_tool_leaves_nothing_behind(codex: Pinned) -> None:
    pid_file = codex.cwd / "pid"
    call = tool("exec_command", cmd=waits_forever(pid_file), yield_time_ms=30_000)
    async with codex.open([call], approve="all", prompt="Wait.", **EXEC) as run:
        await run.until(ToolStarted)
        await eventually(pid_file.exists)
    assert not alive(int(pid_file.read_text()))
    assert run.events.one(TurnEnded).outcome == "cancelled"
    assert run.events.one(ToolEnded).status == "cancelled"


async def test_a_run_that_takes_too_long(codex: Pinned) -> None:
    lines: Lines = [turn("Never said.", hold=Hold("never"))]
    result = await codex.ask(lines, "Hello.", timeout=1.5, **EXEC)
    assert result.outcome == "timeout"
    assert events_of(result).of(Message, role="assistant") == []


async def test_structured_output(codex: Pinned) -> None:
    """Also in a thread that goes on. The file with the schema is gone when the run is over."""
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    session: str | None = None
    for answer, value in (('{"n": 7}', {"n": 7}), ("no JSON", None)):
        fields = {"output_schema": schema, "prompt": "How many?", "resume": session, **EXEC}
        async with codex.open([turn(answer, hold=Hold("go"))], **fields) as run:
            [file] = map(Path, run.session._run.plan.files)
            await run.held("go")
            assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
            run.model.open("go")
            await run.until(RunEnded)
            [request] = run.model.requests_of("main")
        assert request.schema == schema
        assert run.events.ended.structured_output == value
        assert not file.parent.exists()
        session = run.session.id


async def test_its_answer_in_a_file(codex: Pinned, tmp_path: Path) -> None:
    file = tmp_path / "answer"
    result = await codex.ask(["Seven."], "How many?", native={"output_last_message": str(file)}, **EXEC)
    assert (file.read_text(), result.text) == ("Seven.", "Seven.")
    nowhere = {"output_last_message": str(tmp_path / "none" / "answer")}
    with pytest.raises(UsageError, match="must be a file in a folder that is there"):
        await codex.ask(["Never."], "How many?", native=nowhere, **EXEC)
    with pytest.raises(Unsupported, match="the result's text"):
        await codex.ask(["Never."], "How many?", native={"output_last_message": str(file)})


async def test_what_it_cannot_do_is_said_before_anything_is_sent(codex: Pinned) -> None:
    with pytest.raises(UsageError, match="takes its prompt when it starts"):
        async with codex.open(["Never said."], **EXEC):
            pass
    async with codex.open([turn("Seven.", hold=Hold("go"))], prompt="How many?", **EXEC) as run:
        await run.held("go")
        with pytest.raises(Unsupported, match="steer"):
            await run.session.steer("Mind the left.")
        run.model.open("go")
        assert (await run.until(TurnEnded)).text == "Seven."
