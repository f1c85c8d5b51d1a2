"""The drawing of the house, checked: layers, purity, and the same files in every dialect's folder."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman._dialects import DIALECTS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "dragoman"

BREACHES = {
    "Layers": ("_model/usage.py", "import dragoman._wire.lines"),
    "The core does no I/O": ("_wire/lines.py", "import time"),
    "Vendors do not know each other": (
        "_dialects/claude/transcript/translate.py",
        "import dragoman._dialects.codex.app.messages",
    ),
    "Dialects of a vendor meet only in what they share": (
        "_dialects/claude/transcript/translate.py",
        "import dragoman._dialects.claude.stream.messages",
    ),
    "Projections and reports read events only": (
        "_projections/insights/turns.py",
        "import dragoman._dialects.insights.machine",
    ),
    "Only the runtime is asynchronous": ("_files/convert.py", "import asyncio"),
}
"""For each contract, a line that breaks it."""


def lint(source: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        "import sys; from importlinter.cli import lint_imports_command as m; sys.exit(m())",
    ]
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    environment = {"PYTHONPATH": str(source), "PATH": ""}
    return subprocess.run([*command, *config], capture_output=True, text=True, env=environment, cwd=source)


def test_the_contracts_are_kept() -> None:
    result = lint(ROOT / "src")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("contract", BREACHES)
def test_a_breach_is_noticed(contract: str, tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "dragoman", ignore=shutil.ignore_patterns("__pycache__"))
    file, line = BREACHES[contract]
    path = tmp_path / "dragoman" / file
    path.write_text(f"{path.read_text()}\n{line}\n")
    result = lint(tmp_path)
    assert result.returncode == 1
    broken = [row for row in result.stdout.splitlines() if " BROKEN" in row]
    assert len(broken) == 1
    assert broken[0].startswith(contract)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_the_same_rooms(dialect: str) -> None:
    files = {
        path.name for path in (PACKAGE / "_dialects" / DIALECTS[dialect].room.replace(".", "/")).iterdir()
    }
    assert {"__init__.py", "messages.py", "translate.py", "machine.py", "NOTES.md"} <= files
    assert ("shapes.py" in files) != DIALECTS[dialect].published


def test_no_drawers_full_of_odds_and_ends() -> None:
    banned = ("util", "helper", "manager", "base", "common", "misc")
    files = [
        path for path in PACKAGE.rglob("*.py") for word in path.stem.split("_") if word.startswith(banned)
    ]
    assert files == []
