"""Whatever an agent does: its run ends, in time and once, all it wrote is on record, and no process stays behind."""

from pathlib import Path

import pytest

from dragoman._model.events import Message, NativeInvalid, PermissionResolved, ToolEnded, TurnEnded
from dragoman._runtime import run as run_module
from dragoman._runtime.process import child, stopping
from tests.faults.fault_agent import AGENTS, CONVERSING, run

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """What goes wrong is the agent, a program of its own."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "PIPE_GRACE", 0.3)
    monkeypatch.setattr(stopping, "LAST_WORD_GRACE", 0.3)
    monkeypatch.setattr(child, "SWEEP_GRACE", 0.3)


@pytest.fixture(params=AGENTS)
def dialect(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=CONVERSING)
def conversing(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


async def test_an_agent_without_fault(tmp_path: Path, dialect: str) -> None:
    """Else the others would prove nothing."""
    report = await run(tmp_path, dialect, "none")
    assert report.result.outcome == "completed"
    assert [event.status for event in report.events if isinstance(event, ToolEnded)] == ["completed"]
    assert "hello" in report.text()


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("floods_stderr", "completed"),
        ("floods_stdout", "completed"),
        ("long_line", "completed"),
        ("bad_utf8", "completed"),
        ("lone_surrogates", "completed"),
        ("closes_stdin", "completed"),
        ("hangs_after_the_result", "completed"),
        ("dies_in_a_line", "truncated"),
        ("dies_in_a_tool", "truncated"),
        ("exits_in_a_tool", "truncated"),
        ("no_result", "truncated"),
        ("never_ends_its_line", "timeout"),
        ("ignores_signals", "timeout"),
        ("leaves_orphans", "timeout"),
    ],
)
async def test_outcome(tmp_path: Path, dialect: str, fault: str, outcome: str) -> None:
    report = await run(tmp_path, dialect, fault)
    assert report.result.outcome == outcome


async def test_silence_is_a_timeout(tmp_path: Path, dialect: str) -> None:
    report = await run(tmp_path, dialect, "silent", idle_timeout=0.5)
    assert report.result.outcome == "timeout"


@pytest.mark.parametrize("dialect", [name for name in AGENTS if name != "gemini_stream"])
async def test_an_agent_that_closes_its_stdout_has_nothing_more_to_say(tmp_path: Path, dialect: str) -> None:
    """Gemini's is a file, which nobody can see being closed."""
    report = await run(tmp_path, dialect, "closes_stdout")
    assert report.result.outcome == "truncated"


async def test_answers_out_of_order(tmp_path: Path, dialect: str) -> None:
    """What comes after the end is a turn that the agent began by itself, in dialects that know such turns."""
    report = await run(tmp_path, dialect, "answers_out_of_order")
    first = next(event for event in report.events if isinstance(event, TurnEnded))
    assert first.outcome == "completed"
    assert [event.call_id for event in report.events if isinstance(event, ToolEnded)] == ["t1"]


async def test_answers_given_twice(tmp_path: Path, dialect: str) -> None:
    report = await run(tmp_path, dialect, "answers_twice")
    assert report.result.outcome == "completed"


async def test_what_is_no_text_is_kept_byte_for_byte(tmp_path: Path, dialect: str) -> None:
    report = await run(tmp_path, dialect, "bad_utf8")
    [_] = [frame.line for frame in report.frames("out") if b"\xff\xfe\x00\xed\xa0\xbd" in frame.line]
    assert "\ufffd" in report.text() or any(isinstance(event, NativeInvalid) for event in report.events)


async def test_a_thousand_permissions_at_once(tmp_path: Path, conversing: str) -> None:
    report = await run(tmp_path, conversing, "asks_a_thousand_times", approve="all")
    assert report.result.outcome == "completed"
    resolved = [event for event in report.events if isinstance(event, PermissionResolved)]
    assert [event.outcome for event in resolved] == ["allowed"] * 1000


async def test_an_agent_that_asks_and_never_reads(tmp_path: Path, conversing: str) -> None:
    report = await run(tmp_path, conversing, "asks_and_never_reads", size=500)
    assert report.result.outcome == "timeout"
    assert sum(isinstance(event, PermissionResolved) for event in report.events) == 500


async def test_another_protocol(tmp_path: Path, dialect: str) -> None:
    report = await run(tmp_path, dialect, "wrong_protocol")
    turns = [event.outcome for event in report.events if isinstance(event, TurnEnded)]
    assert (report.result.outcome, turns) in (("completed", []), ("truncated", ["truncated"]))
    assert not any(isinstance(event, Message) and event.role == "assistant" for event in report.events)
