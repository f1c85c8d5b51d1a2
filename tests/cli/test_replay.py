"""`dragoman replay`."""

import json
from pathlib import Path

import pytest

from dragoman._cli.commands.replay import paced
from dragoman._model.events import Notice
from tests.cli.fake_program import Invoke


def test_text(invoke: Invoke, recording: Path) -> None:
    done = invoke("replay", recording)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert "● edit_file mean.py" in done.stdout
    assert "  │ +    return sum(values) / len(values)" in done.stdout
    assert done.stdout.count("Fixed: `mean` now divides") == 1
    assert "✓ completed" in done.stdout
    assert "\x1b" not in done.stdout


def test_json_is_what_convert_says(invoke: Invoke, recording: Path) -> None:
    done = invoke("replay", "--json", recording)
    assert done.exit_code == 0
    assert done.stdout == invoke("convert", recording).stdout
    assert all(json.loads(line)["type"] for line in done.stdout.splitlines())


def test_speed_or_at_once(invoke: Invoke, recording: Path) -> None:
    assert invoke("replay", "--speed", "2", "--at-once", recording).exit_code == 2
    assert invoke("replay", "--speed", "0", recording).exit_code == 2
    assert invoke("replay", "--speed", "100000", recording).exit_code == 0


def test_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events come when they are due, and not later for what came late."""
    now = 100.0
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(round(seconds, 6))
        now += seconds

    monkeypatch.setattr("time.monotonic", lambda: now)
    monkeypatch.setattr("time.sleep", sleep)
    events = [Notice(at=0.0), Notice(at=1.0), Notice(at=1.0), Notice(at=3.0), Notice()]
    assert list(paced(events, 2.0)) == events
    assert slept == [0.5, 1.0]
    slept.clear()
    assert list(paced(events, None)) == events
    assert slept == []


def test_missing_file(invoke: Invoke) -> None:
    done = invoke("replay", "nowhere")
    assert done.exit_code == 2
    assert "there is no file" in done.stderr
