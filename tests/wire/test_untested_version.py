"""A run on a version that was not tested says so, once, and alike in a replay."""

import json
from pathlib import Path

import pytest

import dragoman
from dragoman import Notice, RunStarted, SessionStarted
from dragoman._dialects import machine_for
from dragoman._model.events import AgentReady, Event
from dragoman._model.frames import Frame, Launch
from dragoman._wire.machine import play
from tests.cli.fake_program import HELLO, INIT, result, write_program

TESTED = ("2.1.197", "2.1.325")


def played(*versions: str, tested: tuple[str, ...] = TESTED, launched: str | None = None) -> list[Event]:
    lines = [
        json.dumps({**INIT, "session_id": f"s{n}", "claude_code_version": v}) for n, v in enumerate(versions)
    ]
    frames = [Frame(n, "out", line.encode()) for n, line in enumerate(lines, 1)]
    launch = Launch(agent="claude", dialect="claude_stream", tested_versions=tested, cli_version=launched)
    return list(play(frames, machine_for("claude_stream"), launch))


def notices(events: list[Event]) -> list[Notice]:
    return [event for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize(
    ("version", "words"),
    [("2.0.0", "older than tested"), ("2.1.300", "between tested versions"), ("2.2.0", "newer than tested")],
)
def test_it_says_so_once_behind_what_tells_the_version(version: str, words: str) -> None:
    events = played(version, version)
    [notice] = notices(events)
    assert notice.message == f"claude {version} is {words} (2.1.197, 2.1.325)"
    assert (notice.code, notice.severity, notice.synthesized) == ("untested_version", "info", True)
    before = events[events.index(notice) - 1]
    assert isinstance(before, SessionStarted | AgentReady)
    assert before.cli_version == version


def test_the_first_version_that_is_told_counts() -> None:
    """A thread of Codex names the version that began it."""
    assert notices(played("2.1.325", "2.0.0")) == []
    events = played("2.1.325", launched="9.9.9")
    assert isinstance(events[0], RunStarted)
    assert [notice.seq for notice in notices(events)] == [2]


def test_nothing_is_said_of_tested_ones_or_where_nothing_was_tested() -> None:
    assert notices(played("2.1.197")) == []
    assert notices(played("9.9.9", tested=())) == []


@pytest.mark.anyio
async def test_live_and_in_a_replay(tmp_path: Path) -> None:
    program = write_program(tmp_path / "agent", {**INIT, "claude_code_version": "9.9.9"}, HELLO, result())
    recording = tmp_path / "run.jsonl"
    done = await dragoman.ask("claude", "Hi.", executable=program, record=recording, cwd=tmp_path)
    assert [notice.code for notice in notices(done.events)] == ["untested_version"]
    replayed = [dragoman.encode(event) for event in dragoman.convert(recording)]
    assert replayed == [dragoman.encode(event) for event in done.events]
