"""The fixtures, as pytest finds them: by the entry point of an installed package."""

import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from tests.golden import CAPTURES

RECORDING = CAPTURES / "claude_stream" / "2.1.325" / "drift_text" / "frames.jsonl"

TESTS = """
from dragoman import blocking

def test_fake(fake_agent):
    agent = fake_agent(["Hello."])
    assert blocking.ask(agent, "hi").text == "Hello."
    assert agent.prompts == ["hi"]

def test_replay(replay_agent):
    assert blocking.ask(replay_agent("run.jsonl"), "Say hello.").text == "Hello there."

def test_left(replay_agent):
    with blocking.open(replay_agent("run.jsonl")):
        pass
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", *words, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)


def test_pytest_finds_the_fixtures(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TESTS)
    shutil.copy(RECORDING, tmp_path / "run.jsonl")
    done = run(tmp_path)
    assert "3 passed, 1 error" in done.stdout
    assert "ERROR test_mine.py::test_left - Failed: the test ended before this was sent" in done.stdout
    assert '"content":"Say hello."' in done.stdout


def test_who_does_not_use_them_imports_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_other():\n"
        "    ours = {name for name in sys.modules if name.partition('.')[0] == 'dragoman'}\n"
        "    assert ours == {'dragoman', 'dragoman._version', 'dragoman._pytest_plugin'}\n"
        "    assert 'msgspec' not in sys.modules\n"
    )
    done = run(tmp_path)
    assert "1 passed" in done.stdout, done.stdout


def test_the_entry_point() -> None:
    found = [point.value for point in entry_points(group="pytest11") if point.name == "dragoman"]
    assert found == ["dragoman._pytest_plugin"]
