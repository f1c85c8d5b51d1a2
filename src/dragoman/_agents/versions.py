"""Which version of an agent is installed, as far as its files tell without starting it."""

import json
import os
import re
from pathlib import Path

from dragoman._model.versions import standing
from dragoman._policy.config_files import text_of

_NUMBER = re.compile(r"\d+")
_LEVELS = 4
"""How many folders above a program its package may begin."""


def installed_version(executable: str) -> str | None:
    """The version in the package.json that npm installed the program with; None for any other program."""
    program = Path(os.path.realpath(executable))
    if "node_modules" not in program.parts:
        return None
    for folder in program.parents[:_LEVELS]:
        if folder.name == "node_modules":
            return None
        try:
            package = json.loads(text_of(folder / "package.json"))
        except (OSError, ValueError, RecursionError):
            continue
        version = package.get("version") if isinstance(package, dict) else None
        if isinstance(version, str) and _NUMBER.match(version):
            return version
    return None


def is_older(version: str | None, than: str) -> bool:
    """Whether a version is known, and older than another one."""
    return version is not None and standing(version, [than]) == "older"
