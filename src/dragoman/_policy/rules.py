"""Rules: who may do what, in a file that a person can read.

    [[rule]]
    name = "look at the history"
    kind = "execute"
    command = ["git log", "git diff", "git status"]
    effect = "allow"

First match wins. Every condition that a rule names must hold; of a list, one member is enough. A rule that allows
by `command` or `path` must be sure: *every* command of the line begins with one of its prefixes and nothing is
hidden in it; *every* path lies where it says. A rule that denies or asks needs to find only one.
"""

import fnmatch
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from dragoman._model.events import ToolKind
from dragoman._policy import shellwords
from dragoman._policy.permission import Effect, PermissionRequest, real_path

SECRETS: Final = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd",
    "credentials", "credentials.json", "credentials.toml", "secrets.*", "*.secret", "service-account*.json",
    "known_hosts", "authorized_keys", "shadow", "gshadow", ".bash_history", ".zsh_history",
)  # fmt: skip
SECRET_FOLDERS: Final = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".config/gcloud",
    ".password-store",
)
"""Files and folders that hold secrets on most machines: what `path = "secret"` means."""


class Rule(Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One rule. A condition that is empty holds for everything."""

    effect: Effect
    name: str | None = None
    agent: list[str] | str = field(default_factory=list)
    """Glob of the agent's name."""
    kind: list[ToolKind] | ToolKind = field(default_factory=list)
    tool: list[str] | str = field(default_factory=list)
    """Glob of the tool's name."""
    path: list[str] | str = field(default_factory=list)
    """inside, outside (of the working directory), secret, or a glob below the working directory or from `/`."""
    command: list[str] | str = field(default_factory=list)
    """What a command begins with, word by word."""
    line: list[str] | str = field(default_factory=list)
    """A command line to the letter, all of it."""
    server: list[str] | str = field(default_factory=list)
    """Glob of the MCP server's name."""
    host: list[str] | str = field(default_factory=list)
    """Glob of the host in the tool's url."""
    message: str | None = None
    """Told to the agent with a denial."""


def first(rules: Iterable[Rule], request: PermissionRequest) -> Rule | None:
    """The first rule that is about this."""
    return next((rule for rule in rules if matches(rule, request)), None)


def matches(rule: Rule, request: PermissionRequest) -> bool:
    return (
        _glob(rule.agent, request.agent)
        and (not rule.kind or request.kind in _several(rule.kind))
        and _glob(rule.tool, request.tool)
        and _glob(rule.server, request.server)
        and (not rule.host or any(_glob(rule.host, host) for host in request.hosts))
        and (not rule.command or _command(rule, request))
        and (not rule.line or request.command in _several(rule.line))
        and (not rule.path or _path(rule, request))
    )


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else value


def _glob(patterns: list[str] | str, value: str | None) -> bool:
    wanted = _several(patterns)
    return not wanted or (value is not None and any(fnmatch.fnmatchcase(value, glob) for glob in wanted))


# --- commands -------------------------------------------------------------------------------------------


def _command(rule: Rule, request: PermissionRequest) -> bool:
    prefixes = [shellwords.words(prefix) for prefix in _several(rule.command)]
    if rule.effect == "allow":
        sure = request.commands
        return bool(sure) and all(any(_begins(words, prefix) for prefix in prefixes) for words in sure or ())
    return any(_begins(_bare(words), prefix) for words in request.line.commands for prefix in prefixes)


def _begins(words: list[str], prefix: list[str]) -> bool:
    return words[: len(prefix)] == prefix


def _bare(words: list[str]) -> list[str]:
    """The command without the folder it lies in: /bin/rm is rm for a rule that denies it."""
    return [words[0].rsplit("/", 1)[-1], *words[1:]]


# --- paths ----------------------------------------------------------------------------------------------


def _path(rule: Rule, request: PermissionRequest) -> bool:
    wanted, paths = _several(rule.path), request.paths
    if rule.effect == "allow":
        return bool(paths) and all(any(_lies(path, place, request.cwd) for place in wanted) for path in paths)
    found = [*paths, *_words_like_paths(request)]
    return any(_lies(path, place, request.cwd) for path in found for place in wanted)


def _words_like_paths(request: PermissionRequest) -> Iterator[str]:
    """Words of a command that may be files: enough for a rule that denies."""
    for words in request.line.commands:
        for word in words[1:]:
            name = word.split("=", 1)[-1].lstrip("@")
            if name and not name.startswith("-"):
                yield real_path(name, request.cwd)


def lies_inside(request: PermissionRequest) -> bool:
    """Whether it names no file outside the working directory."""
    return all(_lies(path, "inside", request.cwd) for path in request.paths)


def _lies(path: str, place: str, cwd: str) -> bool:
    if place == "inside":
        return Path(path).is_relative_to(os.path.realpath(cwd))
    if place == "outside":
        return not Path(path).is_relative_to(os.path.realpath(cwd))
    if place == "secret":
        return is_secret(path)
    pattern = os.path.expanduser(place)
    if not os.path.isabs(pattern):
        pattern = os.path.join(os.path.realpath(cwd), pattern)
    return _under(path, pattern)


def is_secret(path: str) -> bool:
    name = os.path.basename(path)
    folders = f"{os.path.dirname(path)}/"
    return any(fnmatch.fnmatchcase(name, glob) for glob in SECRETS) or any(
        f"/{folder}/" in folders for folder in SECRET_FOLDERS
    )


def _under(path: str, pattern: str) -> bool:
    """`*` stays within one folder, `**` does not."""
    return _parts(path.split("/"), pattern.split("/"))


def _parts(path: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_parts(path[start:], pattern[1:]) for start in range(len(path) + 1))
    return bool(path) and fnmatch.fnmatchcase(path[0], pattern[0]) and _parts(path[1:], pattern[1:])
