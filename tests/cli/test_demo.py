"""`dragoman demo`, and the program behind it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from dragoman._agents import AGENTS
from dragoman.testing import _demo_agent
from tests.cli.fake_program import Invoke, dragoman


def test_demo(tmp_path: Path) -> None:
    process = dragoman("demo", "--fast", env=os.environ | {"TMPDIR": str(tmp_path)})
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err == b""
    text = out.decode()
    assert "script without a model" in text
    assert "AssertionError: the mean of 2, 4, 6 is 4, not 6" in text
    assert "allowed by policy (no terminal to ask at, and this is a demo)" in text
    assert "ok: the mean of 2, 4, 6 is 4" in text
    assert "✓ replayed from the recording: the same events, and every rule holds" in text
    (file,) = tmp_path.glob("*/mean.py")
    assert _demo_agent.OLD not in file.read_text()
    done = subprocess.run([sys.executable, file.parent / "test_mean.py"], cwd=file.parent, check=False)
    assert done.returncode == 0


def test_the_broken_code_is_broken(tmp_path: Path) -> None:
    _demo_agent.prepare(tmp_path)
    done = subprocess.run(
        [sys.executable, "test_mean.py"], cwd=tmp_path, stderr=subprocess.PIPE, check=False, timeout=60
    )
    assert b"is 4, not 6" in done.stderr


def test_elsewhere_it_touches_nothing(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("run", "demo", "hi", "--option", "pace=0", "--cwd", tmp_path)
    assert done.exit_code == 0
    assert "I am a script, not a model" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_denial_is_respected(invoke: Invoke, tmp_path: Path) -> None:
    _demo_agent.prepare(tmp_path)
    done = invoke("run", "demo", "hi", "--option", "pace=0", "--cwd", tmp_path)
    assert done.exit_code == 0
    assert "Then I leave mean.py as it is." in done.stdout
    assert (tmp_path / "mean.py").read_text() == _demo_agent.BROKEN


def test_two_runs_say_the_same(invoke: Invoke, tmp_path: Path) -> None:
    """But for times, what follows from them, and the id of the session."""

    def said() -> list[dict[str, object]]:
        _demo_agent.prepare(tmp_path)
        done = invoke(
            "run", "demo", "go", "--json", "--approve", "all", "--option", "pace=0", "--cwd", tmp_path
        )
        text = re.sub("demo-[0-9a-f]{8}", "demo-session", done.stdout)
        events = [json.loads(line) for line in text.splitlines()]
        clock = ("time", "at", "pid", "duration_ms", "api_duration_ms")
        return [{key: value for key, value in event.items() if key not in clock} for event in events]

    assert said() == said()


def test_the_record_says_what_the_program_is() -> None:
    done = subprocess.run(
        [AGENTS["demo"].executable, *AGENTS["demo"].version_args], capture_output=True, check=True, timeout=60
    )
    assert done.stdout.decode().startswith(_demo_agent.VERSION)
    assert AGENTS["demo"].tested_versions == (_demo_agent.VERSION,)
