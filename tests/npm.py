"""Packages from npm, for the tests that drive real agents.

Packages run scripts of their own when they are installed, and some write to the user's home: qodercli 1.1.52 puts itself
first on PATH in .bashrc and .profile. So npm is given a home of its own, the user's settings of npm itself, and nothing
else of the environment."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

_PASSED = re.compile(
    r"PATH|TMPDIR|LANG|LC_.*|NODE_EXTRA_CA_CERTS|SSL_CERT_.*|.*_PROXY|NPM_CONFIG_.*", re.IGNORECASE
)


def install(packages: dict[str, str], directory: Path, cache: Path) -> str:
    """Installs packages in these versions into an empty directory. What npm complained about; nothing if it did not."""
    shutil.rmtree(directory, ignore_errors=True)
    home = directory / "home"
    home.mkdir(parents=True)
    # A package's own install script puts a native program in place; npm is about to want leave for such scripts.
    scripts = dict.fromkeys(packages, True)
    manifest = {"private": True, "dependencies": packages, "allowScripts": scripts}
    (directory / "package.json").write_text(json.dumps(manifest), "utf-8")
    done = subprocess.run(
        ["npm", "install", "--cache", str(cache), "--no-audit", "--no-fund", "--loglevel=error"],
        env=_environment(home),
        cwd=directory,
        capture_output=True,
        text=True,
    )
    return "" if done.returncode == 0 else done.stderr.strip() or f"npm exited with {done.returncode}"


def _environment(home: Path) -> dict[str, str]:
    settings = {"NPM_CONFIG_USERCONFIG": str(Path.home() / ".npmrc")}
    passed = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
    return {**settings, **passed, "HOME": str(home)}
