"""Install the pinned agents: `python -m tests.acp_agents.install`. What is there already is left alone.

Packages run scripts of their own when they are installed, and some write to the user's home: qodercli 1.1.52 puts itself
first on PATH in .bashrc and .profile. So npm is given a home of its own, and only the user's settings of npm itself."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.acp_agents.pins import FOLDER, Pin, pins


def install(pin: Pin) -> str:
    """What npm complained about; nothing if it is installed."""
    done = pin.directory / "installed"
    if done.exists():
        return ""
    shutil.rmtree(pin.directory, ignore_errors=True)
    home = pin.directory / "home"
    home.mkdir(parents=True)
    package = {
        "private": True,
        "dependencies": pin.packages,
        "allowScripts": dict.fromkeys(pin.packages, True),
    }
    (pin.directory / "package.json").write_text(json.dumps(package), "utf-8")
    settings = os.environ.get("NPM_CONFIG_USERCONFIG", str(Path.home() / ".npmrc"))
    env = {**os.environ, "HOME": str(home), "NPM_CONFIG_USERCONFIG": settings}
    npm = ["npm", "install", "--prefix", str(pin.directory), "--cache", str(FOLDER / "npm")]
    quietly = ["--no-audit", "--no-fund", "--loglevel=error"]
    ran = subprocess.run([*npm, *quietly], env=env, cwd=pin.directory, capture_output=True, text=True)
    if ran.returncode != 0 or not pin.executable.exists():
        return ran.stderr.strip() or f"npm exited with {ran.returncode}"
    done.touch()
    return ""


if __name__ == "__main__":
    if not shutil.which("npm"):
        sys.exit("npm is needed to install the agents")
    failed = False
    for pin in pins():
        complaint = install(pin)
        failed = failed or bool(complaint)
        print(f"{pin}: failed, {complaint}" if complaint else f"{pin}: installed", flush=True)
    sys.exit(failed)
