"""From a name and some fields to a session, and to an answer."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dragoman._agents.agent import environment
from dragoman._files.recording import read_recording
from dragoman._model.config import SessionConfig
from dragoman._model.errors import ProcessExited, RecordingError, SpawnFailed, UsageError
from dragoman._model.events import Message, PermissionResolved, RunStarted
from dragoman.api import ask, open
from tests.runtime.toy_agent import TOY

pytestmark = pytest.mark.anyio


async def test_ask_gives_one_prompt_and_tells_what_came_of_it(tmp_path: Path) -> None:
    result = await ask(TOY, "say hello", cwd=tmp_path)
    assert (result.outcome, result.session) == ("completed", "s-1")
    assert [event.seq for event in result.events] == list(range(1, len(result.events) + 1))
    assert isinstance(result.events[0], RunStarted)
    assert result.events[0].cwd == str(tmp_path)


async def test_ask_of_an_agent_that_takes_its_prompt_at_the_start() -> None:
    """Its stdin is closed behind the opening lines, and it exits by itself."""
    native = {"program": "reads_to_the_end.py", "one_shot": True}
    result = await ask(TOY, "ignored", native=native)
    assert result.outcome == "completed"
    assert [event.text for event in result.events if isinstance(event, Message)] == ["it was closed"]


async def test_ask_of_an_agent_that_dies_before_any_turn_raises() -> None:
    native = {"program": "writes.py", "one_shot": True}
    with pytest.raises(ProcessExited, match="exited before the turn began"):
        await ask(TOY, "hello", native=native, extra_args=["code:2"])


async def test_approve_may_be_a_handler() -> None:
    result = await ask(TOY, "ask Bash", approve=lambda request, session: True)
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
    ("fields", "sentence"),
    [
        ({"approve": "sometimes"}, "approve is one of ask, dangerous"),
        ({"sandbox": "beach"}, "sandbox is one of none"),
        ({"dialect": "klingon"}, "toy does not speak klingon; it speaks toy"),
    ],
)
async def test_what_cannot_be_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        open(TOY, **fields)


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


async def test_a_recording_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(RecordingError):
        open(TOY, record=tmp_path / "no" / "such" / "folder")
