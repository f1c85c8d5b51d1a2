"""A hundred megabytes, in any dialect: nothing is lost, and memory stays what it was unless the line itself is long.

These take minutes: only `make test-slow` runs them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults.fault_agent import AGENTS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it"),
]

MEGABYTE = 1 << 20


def flooded(folder: Path, dialect: str, fault: str) -> dict[str, Any]:
    script = str(Path(__file__).with_name("flooding.py"))
    done = subprocess.run(
        [sys.executable, script, str(folder), dialect, fault, "100000000"],
        capture_output=True,
        check=True,
        timeout=600,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["outcome"] == "completed"
    out, err, *_ = map(int, report["said"].split())
    assert (report["recorded"]["out"], report["recorded"]["err"]) == (out, err)
    assert out + err > 100_000_000
    return report


@pytest.mark.parametrize("fault", ["floods_stderr", "floods_stdout"])
@pytest.mark.parametrize("dialect", AGENTS)
def test_many_lines(tmp_path: Path, dialect: str, fault: str) -> None:
    assert flooded(tmp_path, dialect, fault)["memory"] < 64 * MEGABYTE


@pytest.mark.parametrize("dialect", AGENTS)
def test_one_line(tmp_path: Path, dialect: str) -> None:
    """It is read, recorded and understood whole, so there are some copies of it for a while."""
    assert flooded(tmp_path, dialect, "long_line")["memory"] < 700 * MEGABYTE
