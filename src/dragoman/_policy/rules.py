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
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

from dragoman._model import toolnames
from dragoman._model.events import PermissionRequested, ToolKind
from dragoman._policy import shellwords

Effect = Literal["allow", "deny", "ask"]

_TITLED: Final = frozenset(("run_shell_command",))
"""Tools of Gemini CLI that come over ACP without their input: the title is the command, to the letter."""

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


class Asked(Struct, frozen=True):
    """What a rule is asked about."""

    agent: str
    tool: str
    kind: ToolKind
    input: Any
    cwd: str
    server: str | None = None
    blocked_path: str | None = None
    files: tuple[str, ...] = ()
    """What the call is known to be about, beside what its input names."""

    @classmethod
    def of(cls, request: PermissionRequested, cwd: str | None, files: Iterable[str] = ()) -> "Asked":
        server, tool = toolnames.split_mcp(request.tool_name or "")
        given = request.input
        if given is None and tool in _TITLED:
            given = {"command": request.title}
        return cls(
            agent=request.agent,
            tool=tool,
            kind=request.kind,
            input=given,
            cwd=os.path.abspath(cwd or os.curdir),
            server=server,
            blocked_path=request.blocked_path,
            files=tuple(files),
        )

    @property
    def command(self) -> str | None:
        """The shell command, where the tool runs one."""
        given = self.input if isinstance(self.input, dict) else {}
        command, args = given.get("command") or given.get("cmd"), given.get("args")
        if isinstance(command, list):
            return shellwords.script(shlex.join(map(str, command)))
        if isinstance(command, str) and isinstance(args, list):
            return shellwords.script(shlex.join((command, *map(str, args))))
        return shellwords.script(command) if isinstance(command, str) else None

    @property
    def paths(self) -> list[str]:
        """The files that it names, absolute and with links followed: a link must not lead out of a rule."""
        named = [*(location.path for location in toolnames.locations_of(self.input)), *self.files]
        if self.blocked_path is not None:
            named.append(self.blocked_path)
        return list(dict.fromkeys(_real(path, self.cwd) for path in named))

    @property
    def inside(self) -> bool:
        """It names no file outside the working directory."""
        return all(_lies(path, "inside", self.cwd) for path in self.paths)

    @property
    def url_host(self) -> str | None:
        given = self.input if isinstance(self.input, dict) else {}
        url = given.get("url")
        try:
            return urlsplit(url).hostname if isinstance(url, str) else None
        except ValueError:
            return None


def _real(path: str, cwd: str) -> str:
    """Absolute, with links followed; a name that no file can have stays as it is."""
    whole = os.path.join(cwd, os.path.expanduser(path))
    try:
        return os.path.realpath(whole)
    except ValueError:  # a NUL, or half of a character
        return os.path.normpath(whole)


def first(rules: Iterable[Rule], asked: Asked) -> Rule | None:
    """The first rule that is about this."""
    return next((rule for rule in rules if matches(rule, asked)), None)


def matches(rule: Rule, asked: Asked) -> bool:
    return (
        _glob(rule.agent, asked.agent)
        and (not rule.kind or asked.kind in _several(rule.kind))
        and _glob(rule.tool, asked.tool)
        and _glob(rule.server, asked.server)
        and _glob(rule.host, asked.url_host)
        and (not rule.command or _command(rule, asked))
        and (not rule.line or asked.command in _several(rule.line))
        and (not rule.path or _path(rule, asked))
    )


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else value


def _glob(patterns: list[str] | str, value: str | None) -> bool:
    wanted = _several(patterns)
    return not wanted or (value is not None and any(fnmatch.fnmatchcase(value, glob) for glob in wanted))


# --- commands -------------------------------------------------------------------------------------------


def _command(rule: Rule, asked: Asked) -> bool:
    text = asked.command
    if text is None:
        return False
    line = shellwords.parsed(text)
    prefixes = [shellwords.words(prefix) for prefix in _several(rule.command)]
    if rule.effect == "allow":
        sure = bool(line.commands) and not line.opaque
        return sure and all(any(_begins(words, prefix) for prefix in prefixes) for words in line.commands)
    return any(_begins(_bare(words), prefix) for words in line.commands for prefix in prefixes)


def _begins(words: list[str], prefix: list[str]) -> bool:
    return words[: len(prefix)] == prefix


def _bare(words: list[str]) -> list[str]:
    """The command without the folder it lies in: /bin/rm is rm for a rule that denies it."""
    return [words[0].rsplit("/", 1)[-1], *words[1:]]


# --- paths ----------------------------------------------------------------------------------------------


def _path(rule: Rule, asked: Asked) -> bool:
    wanted, paths = _several(rule.path), asked.paths
    if rule.effect == "allow":
        return bool(paths) and all(any(_lies(path, place, asked.cwd) for place in wanted) for path in paths)
    found = [*paths, *_words_like_paths(asked)]
    return any(_lies(path, place, asked.cwd) for path in found for place in wanted)


def _words_like_paths(asked: Asked) -> Iterator[str]:
    """Words of a command that may be files: enough for a rule that denies."""
    for words in shellwords.parsed(asked.command).commands if asked.command is not None else ():
        for word in words[1:]:
            name = word.split("=", 1)[-1].lstrip("@")
            if name and not name.startswith("-"):
                yield _real(name, asked.cwd)


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
