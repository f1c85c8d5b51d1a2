"""Install the pinned agents into .cache/agents, and the Python package that the tests talk with into .cache/peers:
`python -m tests.real.install`. What is there already is left alone."""

import os
import shutil
import subprocess
import sys
import tempfile

from tests import npm
from tests.real.pins import CACHE, CHECKOUT, LIBRARY, LIBRARY_FOLDER, Pin, pins

ATTEMPTS = 2


def works(pin: Pin) -> bool:
    """It starts and says its version: an install that was cut short leaves a file that does neither."""
    if not pin.executable.exists():
        return False
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "TMPDIR": home}
        said = subprocess.run(
            [pin.executable, "--version"], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
    return said.returncode == 0 and pin.version in said.stdout


def ensure(pin: Pin) -> bool:
    state, complaint = "present", ""
    for _ in range(ATTEMPTS):
        if works(pin):
            break
        state = "installed"
        complaint = npm.install({pin.package: pin.version}, pin.directory, CACHE / "npm")
    ready = state == "present" or works(pin)
    where = pin.executable.relative_to(CHECKOUT)
    print(f"{pin}: {state}, {where}" if ready else f"{pin}: failed, {complaint}", flush=True)
    return ready


def ensure_library() -> bool:
    """Beside the project's own packages, not among them: nothing of ours depends on it."""
    state, complaint = "present", ""
    if not _imports():
        shutil.rmtree(LIBRARY_FOLDER, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run([*pip, "--target", LIBRARY_FOLDER, LIBRARY], capture_output=True, text=True)
        state, complaint = "installed", done.stderr.strip()
    ready = state == "present" or _imports()
    where = LIBRARY_FOLDER.relative_to(CHECKOUT)
    print(f"{LIBRARY}: {state}, {where}" if ready else f"{LIBRARY}: failed, {complaint}", flush=True)
    return ready


def _imports() -> bool:
    env = {"PYTHONPATH": str(LIBRARY_FOLDER)}
    tried = subprocess.run([sys.executable, "-c", "import acp"], env=env, capture_output=True)
    return tried.returncode == 0


if __name__ == "__main__":
    if not shutil.which("npm"):
        sys.exit("npm is needed to install the agents")
    ready = [ensure_library(), *map(ensure, pins())]
    sys.exit(not all(ready))
