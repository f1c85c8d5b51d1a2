"""What the type checkers say of right and wrong uses: an error on each line that is marked, and on no other."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
USES = sorted(HERE.glob("right_*.py")) + sorted(HERE.glob("wrong_*.py"))

Reported = dict[str, set[int]]
"""Lines with an error, by the name of the file."""


def marked() -> Reported:
    return {
        path.name: {
            number for number, line in enumerate(path.read_text().splitlines(), 1) if line.endswith("# error")
        }
        for path in USES
    }


def mypy(cache: Path) -> Reported:
    done = _run(
        "mypy", "--strict", "--no-error-summary", "--hide-error-context", f"--cache-dir={cache}", *USES
    )
    found: Reported = {path.name: set() for path in USES}
    for line in done.splitlines():
        if match := re.match(r"(.+?):(\d+): error: ", line):
            found[Path(match[1]).name].add(int(match[2]))
    return found


def pyright(cache: Path) -> Reported:
    said = json.loads(_run("pyright", "--outputjson", *USES))
    found: Reported = {path.name: set() for path in USES}
    for item in said["generalDiagnostics"]:
        if item["severity"] == "error":
            found[Path(item["file"]).name].add(item["range"]["start"]["line"] + 1)
    return found


def _run(module: str, *args: str | Path) -> str:
    """pyright asks the first python on PATH where packages are."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    done = subprocess.run(
        [sys.executable, "-m", module, *args],
        capture_output=True,
        text=True,
        cwd=HERE.parent.parent,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_type_checkers_refuse_what_is_wrong_and_nothing_else(
    checker: Callable[[Path], Reported], tmp_path: Path
) -> None:
    if importlib.util.find_spec(checker.__name__) is None:
        pytest.skip(f"{checker.__name__} is not installed")
    assert checker(tmp_path) == marked()


def test_there_are_marks_in_what_is_wrong_only() -> None:
    assert {name for name, lines in marked().items() if lines} == {
        path.name for path in USES if path.name.startswith("wrong_")
    }
