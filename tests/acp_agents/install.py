"""Install the pinned agents: `python -m tests.acp_agents.install`. What is there already is left alone."""

import shutil
import sys

from tests import npm
from tests.acp_agents.pins import FOLDER, Pin, pins


def install(pin: Pin) -> str:
    """What npm complained about; nothing if it is installed."""
    done = pin.directory / "installed"
    if done.exists():
        return ""
    complaint = npm.install(pin.packages, pin.directory, FOLDER / "npm")
    if not complaint and not pin.executable.exists():
        complaint = f"the package has no program {pin.executable.name}"
    if not complaint:
        done.touch()
    return complaint


if __name__ == "__main__":
    if not shutil.which("npm"):
        sys.exit("npm is needed to install the agents")
    failed = False
    for pin in pins():
        complaint = install(pin)
        failed = failed or bool(complaint)
        print(f"{pin}: failed, {complaint}" if complaint else f"{pin}: installed", flush=True)
    sys.exit(failed)
