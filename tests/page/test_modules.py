"""The page's modules that need no browser, by Node's own test runner."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_modules_in_node() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node 20 is needed")
    tests = sorted(map(str, HERE.glob("*.test.mjs")))
    assert tests
    done = subprocess.run([node, "--test", *tests], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
