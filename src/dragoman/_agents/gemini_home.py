"""A home for one run of Gemini CLI: the user's own, and beside it an extension that brings MCP servers and hooks.

It takes both only from settings, and none can be given on its command line. A file that GEMINI_CLI_SYSTEM_SETTINGS_PATH
names is left out unless it and all the folders above it belong to root (0.61.0). So GEMINI_CLI_HOME is a folder of the
run's own in which everything leads to the user's files, but for the folder of the extensions, which has one more.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dragoman._model.errors import UsageError
from dragoman._model.tools import SERVER
from dragoman._runtime import own_files
from dragoman._wire import fields

VARIABLE: Final = "GEMINI_CLI_HOME"
EXTENSION: Final = SERVER
"""The name of ours."""
_FOLDER: Final = ".gemini"
_KEPT: Final = ("tmp", "history")
"""Where sessions are kept: in the user's home, also if the CLI has not made these yet."""
_ABOUT: Final = b"The home of one run of Gemini CLI that Dragoman has started. It is removed with it.\n"

_COMMENT: Final = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""A string, which is kept; or a comment, as its settings may have them."""

Files = dict[str, bytes | Path]


def made(
    variables: Mapping[str, str], servers: Mapping[str, Any], hooks: Mapping[str, Any]
) -> tuple[str, Files]:
    """The folder, and what is in it: files by their content, links by where they lead. `variables` are those of the run,
    which name the user's home; `hooks` are as settings.json has them."""
    user = _user(variables)
    home = Path(own_files.new_folder())
    files: Files = {str(home / "about.txt"): _ABOUT}
    if (user / ".env").is_file():
        files[str(home / ".env")] = user / ".env"
    kept = {str(home / _FOLDER / name): user / _FOLDER / name for name in _KEPT}
    files |= kept | _linked(user / _FOLDER, home / _FOLDER, without="extensions")
    files |= _linked(user / _FOLDER / "extensions", home / _FOLDER / "extensions", without=EXTENSION)
    ours = home / _FOLDER / "extensions" / EXTENSION
    files[str(ours / "gemini-extension.json")] = _json(
        {"name": EXTENSION, "version": "1.0.0", "mcpServers": dict(servers)}
    )
    if hooks:
        files[str(ours / "hooks" / "hooks.json")] = _json({"hooks": dict(hooks)})
    return str(home), files


def check_hooks(variables: Mapping[str, str], cwd: str) -> None:
    """Raises UsageError where settings switch hooks off: it would go on without them."""
    for folder in (_user(variables), Path(cwd)):
        file = folder / _FOLDER / "settings.json"
        try:
            settings = json.loads(_COMMENT.sub(lambda found: found[1] or "", file.read_text("utf-8")))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise UsageError(f"gemini may have no hooks: {file} cannot be read ({error})") from error
        if fields.mapping(settings, "hooksConfig").get("enabled") is False:
            raise UsageError(f"gemini has no hooks: {file} switches them off (hooksConfig.enabled)")


def _user(variables: Mapping[str, str]) -> Path:
    return Path(variables.get(VARIABLE) or variables.get("HOME") or "~").expanduser()


def _linked(there: Path, here: Path, *, without: str) -> Files:
    names = sorted(os.listdir(there)) if there.is_dir() else []
    return {str(here / name): there / name for name in names if name != without}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
