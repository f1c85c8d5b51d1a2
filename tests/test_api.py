"""From a name and some fields to a session, and to an answer."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dragoman._agents.agent import environment
from dragoman._cli.terminal.exit_status import status_of
from dragoman._files.recording import read_recording
from dragoman._model.config import SessionConfig
from dragoman._model.errors import (
    AgentFailed,
    DragomanError,
    LimitReached,
    ProcessExited,
    RecordingError,
    SpawnFailed,
    TimedOut,
    UsageError,
)
from dragoman._model.events import (
    Denial,
    Event,
    Message,
    PermissionResolved,
    RunEnded,
    RunStarted,
    ToolEnded,
    TurnEnded,
)
from dragoman._model.result import Verdict
from dragoman.api import ask, connect, open
from dragoman.testing import ReplayAgent
from tests.golden import CAPTURES
from tests.runtime.toy_agent import PLURAL, TOY

pytestmark = pytest.mark.anyio


async def test_ask_gives_one_prompt_and_tells_what_came_of_it(tmp_path: Path) -> None:
    result = await ask(TOY, "say hello", cwd=tmp_path)
    assert (result.outcome, result.session) == ("completed", "s-1")
    assert [event.seq for event in result.events] == list(range(1, len(result.events) + 1))
    assert isinstance(result.events[0], RunStarted)
    assert result.events[0].cwd == str(tmp_path)


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("gpt-5.5", (None, pytest.approx(0.001055), 0)),
        ("nobody-knows", (None, None, 1)),
        (None, (None, None, 1)),
    ],
)
async def test_what_the_agent_does_not_say_is_estimated(
    tmp_path: Path, model: str | None, cost: tuple[Any, ...]
) -> None:
    """100 tokens in, 10 of them from the cache, and 20 out (capture codex_exec 0.166.0 resume)."""
    agent = ReplayAgent(CAPTURES / "codex_exec/0.166.0/resume/stdout.jsonl")
    result = await ask(agent, "remember 42", model=model, cwd=tmp_path, approve="all")
    assert (result.cost_usd, result.cost_estimated_usd, result.unpriced_calls) == cost


async def test_ask_of_an_agent_that_takes_its_prompt_at_the_start() -> None:
    """Its stdin is closed behind the opening lines, and it exits by itself."""
    native = {"program": "reads_to_the_end.py", "one_shot": True}
    result = await ask(TOY, "ignored", native=native)
    assert result.outcome == "completed"
    assert [event.text for event in result.events if isinstance(event, Message)] == ["it was closed"]


async def test_ask_of_an_agent_that_dies_before_any_turn_raises() -> None:
    native = {"program": "writes.py", "one_shot": True}
    with pytest.raises(ProcessExited, match="toy exited before it was done: exit code 2"):
        await ask(TOY, "hello", native=native, extra_args=["code:2"])


async def test_approve_may_be_a_handler() -> None:
    result = await ask(TOY, "ask Bash", approve=lambda request: True)
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.by) == ("allowed", "client")


async def test_approve_may_be_a_mode() -> None:
    result = await ask(TOY, "ask Bash", approve="all")
    [resolved] = [event for event in result.events if isinstance(event, PermissionResolved)]
    assert (resolved.outcome, resolved.rule) == ("allowed", "approve=all")


async def test_a_configuration_can_be_changed_on_the_way() -> None:
    config = SessionConfig(agent="toy", prompt="say never", timeout=60.0)
    with pytest.raises(UsageError, match="no agent is called 'toy'"):
        open(config)
    session = open(TOY, **{name: getattr(config, name) for name in ("prompt", "timeout")})
    assert session.agent == "toy"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"blocked_tools": "Bash"},
            r"blocked_tools must be a list of strings, such as \['Bash'\]; not 'Bash'",
        ),
        ({"timeout": "soon"}, "timeout must be a finite number above 0, or None; not 'soon'"),
        ({"max_turns": -1}, "max_turns must be a whole number from 1 on, or None; not -1"),
        ({"modle": "x"}, "there is no option 'modle': did you mean model?"),
        ({"mcp_servers": []}, r"mcp_servers must be a dict of dicts; not \[\]"),
        (
            {"approve": "yes"},
            "approve must be one of ask, dangerous, .* or a function that decides; not 'yes'",
        ),
        ({"prompt": 3}, "prompt must be a string, or None; not 3"),
        ({"cwd": ""}, "cwd must be a path, or None; not ''"),
        ({"cwd": "/no/such/folder"}, "cwd must be a folder that is there; not '/no/such/folder'"),
        ({"cwd": __file__}, "cwd must be a folder that is there; not '.*'"),
        ({"add_dirs": "/tmp"}, r"add_dirs must be a list of paths, such as \['/tmp'\]; not '/tmp'"),
        ({"add_dirs": ["/no/such/folder"]}, "add_dirs must be folders that are there; not '/no/such/folder'"),
        ({"env": {"A": 1}}, r"env\['A'\] must be a string; not 1"),
        ({"allowed_tools": [1]}, r"allowed_tools\[0\] must be a string; not 1"),
        (
            {"record": "/no/such/run.jsonl"},
            "record must be a file in a folder that is there; not '/no/such/run",
        ),
        ({"record": "/"}, "record must be a file in a folder that is there; not '/'"),
        ({"policy": "/no/such.toml"}, "there is no policy file /no/such.toml"),
        ({"fork": True}, "fork needs resume"),
        ({"dialect": "klingon"}, "toy does not speak klingon; it speaks toy"),
    ],
)
@pytest.mark.parametrize("through", [open, connect])
async def test_what_cannot_be_is_refused_by_name_before_anything_starts(
    through: Callable[..., object], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError, match=f"^{sentence}"):
        through(PLURAL, **options)


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        ("cluade", "no agent is called 'cluade': did you mean claude?"),
        ("Codex", "no agent is called 'Codex': did you mean codex?"),
        ("zzzzzz", "no agent is called 'zzzzzz'; there are: claude, codex, gemini, demo, "),
        (3, "agent must be a non-empty string; not 3"),
        (SessionConfig(agent="claude", timeout="soon"), "timeout must be a finite number"),  # type: ignore[arg-type]
    ],
)
async def test_an_agent_that_there_is_not(agent: Any, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        open(agent)
    assert raised.value.message.startswith(sentence)


@pytest.mark.parametrize("options", [{"prompt": "x"}, {"resume": "s-1"}])
async def test_a_connection_has_nothing_that_belongs_to_a_session(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"a connection has no {next(iter(options))}"):
        connect(PLURAL, **options)


# --- ask(check=True) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "options", "error", "sentence"),
    [
        ("exit 3", {}, ProcessExited, r"toy exited before it was done: exit code 3$"),
        (
            "tools 2\nwait",
            {"max_tool_calls": 1},
            LimitReached,
            "toy was stopped by a limit: max_tool_calls=1",
        ),
        ("wait", {"timeout": 0.2}, TimedOut, "toy was not done in time"),
    ],
)
async def test_check_raises_the_error_that_belongs_to_the_result(
    prompt: str, options: dict[str, Any], error: type[DragomanError], sentence: str
) -> None:
    result = await ask(TOY, prompt, **options)
    with pytest.raises(error, match=f"^{sentence}") as raised:
        await ask(TOY, prompt, check=True, **options)
    assert raised.value.agent == "toy"
    assert raised.value.exit_code == (3 if prompt == "exit 3" else raised.value.exit_code)
    assert raised.value.result is not None
    assert raised.value.result.outcome == result.outcome
    assert result.error is not None
    assert result.error.kind == raised.value.kind


async def test_check_says_nothing_where_all_is_well() -> None:
    assert (await ask(TOY, "say hello", check=True)).outcome == "completed"
    denied = await ask(TOY, "ask Bash\nsay so what", check=True, approve="never")
    assert denied.outcome == "completed"


DENIED = PermissionResolved(request_id="r", outcome="denied")
DENIAL = Denial(tool_name="Bash")


@pytest.mark.parametrize(
    "events",
    [
        [TurnEnded(outcome="completed"), RunEnded(outcome="completed")],
        [TurnEnded(outcome="completed"), RunEnded(outcome="timeout")],
        [TurnEnded(outcome="completed"), RunEnded(outcome="limited")],
        [TurnEnded(outcome="completed", denials=[DENIAL]), RunEnded(outcome="completed")],
        [TurnEnded(outcome="failed"), RunEnded(outcome="failed")],
        [TurnEnded(outcome="failed", denials=[DENIAL]), RunEnded(outcome="failed")],
        [TurnEnded(outcome="refused"), RunEnded(outcome="failed")],
        [TurnEnded(outcome="refused", denials=[DENIAL]), RunEnded(outcome="failed")],
        [TurnEnded(outcome="truncated"), RunEnded(outcome="crashed")],
        [TurnEnded(outcome="limited"), RunEnded(outcome="limited")],
        [TurnEnded(outcome="limited", denials=[DENIAL]), RunEnded(outcome="limited")],
        [DENIED, TurnEnded(outcome="limited"), RunEnded(outcome="limited")],
        [DENIED, TurnEnded(outcome="limited", denials=[DENIAL]), RunEnded(outcome="limited")],
        [DENIED, TurnEnded(outcome="cancelled"), RunEnded(outcome="cancelled")],
        [DENIED, TurnEnded(outcome="failed"), RunEnded(outcome="failed")],
        [
            DENIED,
            ToolEnded(call_id="c", status="completed"),
            TurnEnded(outcome="limited"),
            RunEnded(outcome="limited"),
        ],
    ],
)
async def test_an_error_has_the_status_that_the_command_line_exits_with(events: list[Event]) -> None:
    for event in events:
        event.origin = "agent"
    verdict = Verdict(events)
    error = verdict.raised("toy")
    assert (error.exit_status if error is not None else 0) == status_of(verdict, "toy", "", None)


async def test_a_cancelled_turn_did_not_finish_either() -> None:
    events: list[Event] = [TurnEnded(outcome="cancelled"), RunEnded(outcome="cancelled")]
    assert type(Verdict(events).raised("toy")) is AgentFailed


# --- programs, environments, recordings ----------------------------------------------------------------------


async def test_a_missing_program_says_how_to_get_it() -> None:
    with pytest.raises(SpawnFailed, match=r"no-such-agent.*pip install toy.*executable="):
        open(structs.replace(TOY, executable="no-such-agent"))


async def test_a_relative_program_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be looked for in the agent's working directory."""
    monkeypatch.chdir(Path(sys.executable).parent)
    name = Path(sys.executable).name
    result = await ask(TOY, "say hello", executable=f"./{name}", cwd=tmp_path)
    assert isinstance(result.events[0], RunStarted)
    assert os.path.isabs(result.events[0].argv[0])


async def test_a_program_that_may_not_be_run_says_so(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.touch(0o600)
    with pytest.raises(SpawnFailed, match="may not be executed"):
        await ask(TOY, "say hello", executable=program)


async def test_the_environment_is_exactly_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTER", "1")
    mixed = environment(SessionConfig(agent="toy", env={"INNER": "2"}, inherit_env=True))
    assert (mixed["OUTER"], mixed["INNER"]) == ("1", "2")
    alone = environment(SessionConfig(agent="toy", env={"INNER": "2"}, inherit_env=False))
    assert alone == {"INNER": "2"}


async def test_an_agent_inherits_what_all_need_and_what_is_meant_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "https_proxy": "http://proxy",
        "TOY_API_KEY": "k",
        "NODE_OPTIONS": "-x",
    }
    kept_back = {"OUTER": "1", "AWS_SECRET_ACCESS_KEY": "s", "NODE_AUTH_TOKEN": "t", "DATABASE_URL": "db"}
    monkeypatch.setattr(os, "environ", given | kept_back)
    assert environment(SessionConfig(agent="toy"), ("TOY_",)) == given


async def test_record_writes_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    await ask(TOY, "say hello", record=path)
    recording = read_recording(path)
    assert recording.launch is not None
    assert recording.launch.agent == "toy"
    assert recording.exit is not None
    assert (recording.exit.code, recording.exit.reason) == (0, "closed")
    assert not recording.cut


async def test_a_recording_replaces_nothing_unless_it_is_told_to(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    path.write_text("mine")
    with pytest.raises(UsageError, match=r"record would replace .*recording', .* set overwrite"):
        await ask(TOY, "say hello", record=path)
    assert path.read_text() == "mine"
    await ask(TOY, "say hello", record=path, overwrite=True)
    assert read_recording(path).exit is not None
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_recording_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(RecordingError):
        open(TOY, record=tmp_path / ("long" * 100))
