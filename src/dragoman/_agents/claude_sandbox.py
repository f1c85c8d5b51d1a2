"""The sandbox of Claude Code, which its settings ask for: bubblewrap on Linux, Seatbelt on macOS.

It holds commands. The tools that change files work outside of it, and the policy keeps them within the same bounds. MCP
servers and hooks are in neither.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dragoman._model.config import Sandbox, SessionConfig
from dragoman._model.errors import Unsupported, UsageError
from dragoman._model.events import ToolKind
from dragoman._policy.config_files import text_of
from dragoman._policy.rules import Rule
from dragoman._wire import fields

_PROGRAMS: Final = {"bwrap": "bubblewrap", "socat": "socat"}
"""What it needs on Linux, and the packages that have it."""

_HELD: Final = {
    "enabled": True,
    "failIfUnavailable": True,
    "allowUnsandboxedCommands": False,
    "autoAllowBashIfSandboxed": False,
}
"""Without the second it works unheld where it cannot start; without the third a command may ask to be let out."""

_EDITS: Final[list[ToolKind]] = ["edit", "delete", "move"]
_WORKTREES: Final = ["EnterWorktree", "ExitWorktree"]

BOUNDS: Final[dict[Sandbox, list[Rule]]] = {
    "read-only": [
        Rule(effect="deny", name="sandbox=read-only", kind=_EDITS),
        Rule(effect="deny", name="sandbox=read-only", tool=_WORKTREES),
    ],
    "workspace": [Rule(effect="deny", name="sandbox=workspace", kind=_EDITS, path="outside")],
}
"""What the policy denies, since the sandbox does not hold it."""

_PROJECT_SETTINGS: Final = (".claude/settings.json", ".claude/settings.local.json")


def check(config: SessionConfig, variables: Mapping[str, str]) -> None:
    """Raise Unsupported where the sandbox would not hold."""
    if config.sandbox not in BOUNDS:
        return
    what, path = f"sandbox={config.sandbox}", variables.get("PATH", os.defpath)
    missing = [package for name, package in _PROGRAMS.items() if shutil.which(name, path=path) is None]
    if sys.platform == "linux" and missing:
        raise Unsupported("claude", what, f"Its sandbox needs {' and '.join(missing)}: install that")
    for where, settings in _settings_in_force(config, variables):
        if fields.items(fields.value(settings, "sandbox"), "excludedCommands"):
            raise Unsupported(
                "claude", what, f"{where} lets commands out of it: remove sandbox.excludedCommands there"
            )


def settings(config: SessionConfig) -> dict[str, Any]:
    """The native option `settings`, with the sandbox in it; nothing where none is asked for."""
    if config.sandbox not in BOUNDS:
        return {}
    own = config.native.get("settings") or {}
    if not isinstance(own, dict):
        raise UsageError(
            f"native['settings'] must be a dict beside sandbox={config.sandbox}; not {own!r:.60}"
        )
    sandbox = {**fields.as_mapping(own.get("sandbox")), **_HELD}
    if config.sandbox == "read-only":
        # Of "/" alone 2.1.197 makes nothing; of the folders it makes a sandbox in which no command starts.
        folders = [os.path.abspath(config.cwd or os.getcwd()), *config.add_dirs]
        sandbox["filesystem"] = {"denyWrite": ["/", *folders]}
    return {"settings": {**own, "sandbox": sandbox}}


def _settings_in_force(config: SessionConfig, variables: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """The settings that the CLI reads beside ours, and where they stand."""
    yield "native['settings']", config.native.get("settings")
    home = variables.get("CLAUDE_CONFIG_DIR") or os.path.join(variables.get("HOME", "~"), ".claude")
    files = [Path(home).expanduser() / "settings.json"]
    if config.trusted or config.native.get("setting_sources") is not None:
        files += [Path(config.cwd or ".") / name for name in _PROJECT_SETTINGS]
    for file in files:
        try:
            yield str(file), json.loads(text_of(file))
        except (OSError, ValueError, RecursionError):  # none, or one that it does not read either
            continue
