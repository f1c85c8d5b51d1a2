"""Install the other tools that count usage: `python -m tests.usage_peers.install`. What is there already is left alone."""

import shutil
import subprocess
import sys

from tests import npm
from tests.real.pins import CACHE

FOLDER = CACHE / "usage_peers"
CCUSAGE, AGENTSVIEW = "20.0.24", "0.46.1"
"""ccusage is a shim: its program is in a package for the platform, of the same version, that npm installs with it."""
PROGRAMS = {
    "ccusage": FOLDER / f"ccusage-{CCUSAGE}" / "node_modules" / ".bin" / "ccusage",
    "agentsview": FOLDER / f"agentsview-{AGENTSVIEW}" / "bin" / "agentsview",
}


def ccusage() -> str:
    """What went wrong; nothing if it is installed."""
    return npm.install({"ccusage": CCUSAGE}, FOLDER / f"ccusage-{CCUSAGE}", FOLDER / "npm")


def agentsview() -> str:
    """In a folder of its own, not among the project's packages."""
    folder = FOLDER / f"agentsview-{AGENTSVIEW}"
    shutil.rmtree(folder, ignore_errors=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", folder], [*pip, f"agentsview=={AGENTSVIEW}"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip()
    return ""


if __name__ == "__main__":
    if not shutil.which("npm"):
        sys.exit("npm is needed to install ccusage")
    for name, install in (("ccusage", ccusage), ("agentsview", agentsview)):
        complaint = "" if PROGRAMS[name].exists() else install()
        said = "installed" if PROGRAMS[name].exists() else f"failed, {complaint}"
        print(f"{name}: {said}", flush=True)
    sys.exit(not all(program.exists() for program in PROGRAMS.values()))
