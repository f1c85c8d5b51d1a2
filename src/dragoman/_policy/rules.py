"""Rules: who may do what, in a file that a person can read.

    [[rule]]
    name = "look at the history"
    kind = "execute"
    command = ["git log", "git diff", "git status"]
    effect = "allow"

First match wins. Every condition that a rule names must hold; of a list, one member is enough. A rule that allows
by `command`, `path` or `host` must be sure: *every* command of the line begins with one of its prefixes and nothing is
hidden in it; *every* path lies where it says. A rule that denies or asks needs to find only one; where a command's name
is hidden, it may be the one, and somebody is asked.
"""

import fnmatch
import json
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct, field

from dragoman._model.events import ToolKind
from dragoman._policy import inputs, looking, places, shell
from dragoman._policy.permission import Effect, PermissionRequest

LOOKING: Final = "looking"
"""In `command`: every command only looks, by the table of looking.toml."""
NONE: Final = "none"
"""In `command`: the call names no command."""


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
    """inside, outside (of the working directory), secret, protected, build, public, or a glob below the working directory
    or from `/`."""
    command: list[str] | str = field(default_factory=list)
    """What a command begins with, word by word; looking (it only looks), or none (no command is named)."""
    line: list[str] | str = field(default_factory=list)
    """A command line to the letter, all of it."""
    env: dict[str, str] = field(default_factory=dict)
    """With `line`: exactly the variables that it is given."""
    cwd: str | None = None
    """Exactly the folder where it runs, or where the session works."""
    input: str | None = None
    """The whole input, to the letter, as JSON with its keys in order."""
    server: list[str] | str = field(default_factory=list)
    """Glob of the MCP server's name."""
    host: list[str] | str = field(default_factory=list)
    """Glob of the host in the tool's url."""
    message: str | None = None
    """Told to the agent with a denial."""


def effect_on(rule: Rule, request: PermissionRequest) -> Effect | None:
    """What a rule says of a call; None if it is about something else. A rule that denies a command says "ask" of a line in
    which a name is hidden."""
    if not _others(rule, request):
        return None
    if not rule.command or _command(rule, request):
        return rule.effect
    return "ask" if rule.effect != "allow" and request.line.hidden else None


def matches(rule: Rule, request: PermissionRequest) -> bool:
    """Whether a rule is about a call."""
    return _others(rule, request) and (not rule.command or _command(rule, request))


def _others(rule: Rule, request: PermissionRequest) -> bool:
    """All conditions but `command`."""
    return (
        _glob(rule.agent, request.agent)
        and (not rule.kind or _kind(rule, request))
        and _glob(rule.tool, request.tool)
        and _glob(rule.server, request.server)
        and (not rule.host or _host(rule, request))
        and (not rule.line or _line(rule, request))
        and (rule.cwd is None or rule.cwd == request.runs_in)
        and (rule.input is None or rule.input == exact_input(request))
        and (not rule.path or _path(rule, request))
    )


def exact_input(request: PermissionRequest) -> str:
    """The input of a call as a rule has it."""
    return json.dumps(request.input, sort_keys=True, ensure_ascii=True, default=str)


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else value


def _glob(patterns: list[str] | str, value: str | None) -> bool:
    wanted = _several(patterns)
    return not wanted or (value is not None and any(fnmatch.fnmatchcase(value, glob) for glob in wanted))


def _kind(rule: Rule, request: PermissionRequest) -> bool:
    """What the agent calls it counts for a rule that denies or asks, beside what it is."""
    wanted = _several(rule.kind)
    return request.kind in wanted or (rule.effect != "allow" and request.event.kind in wanted)


def _host(rule: Rule, request: PermissionRequest) -> bool:
    if rule.effect == "allow":
        known = request.known_hosts
        return bool(known) and request.command is None and all(_glob(rule.host, host) for host in known or ())
    in_commands = (host for host in inputs.hosts({"url": request.command or ""}) if host is not None)
    return any(_glob(rule.host, host) for host in (*request.hosts, *in_commands))


# --- commands -------------------------------------------------------------------------------------------


def _line(rule: Rule, request: PermissionRequest) -> bool:
    same = request.command in _several(rule.line)
    return same and (rule.effect != "allow" or (request.env == rule.env and request.is_plain_command))


def _command(rule: Rule, request: PermissionRequest) -> bool:
    wanted = _several(rule.command)
    if NONE in wanted and request.command is None:
        return True
    if LOOKING in wanted and looking.only_looks(request.line, request.roots, request.runs_in):
        return True
    prefixes = [shell.words(prefix) for prefix in wanted if prefix not in (NONE, LOOKING)]
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
    wanted = _several(rule.path)
    if rule.effect == "allow":
        return (
            request.placed
            and request.command is None
            and all(
                any(places.lies(path, place, request.roots) for place in wanted) for path in request.paths
            )
        )
    words = list(dict.fromkeys(_words_like_paths(request)))
    if request.names_too_much or places.too_many(words):
        return True
    if any(
        _lies(path, place, request) for path in (*request.paths, *request.written_paths) for place in wanted
    ):
        return True
    bases = looking.folders(request.line, request.runs_in) or [request.runs_in]
    return any(places.may_lie(word, place, request.roots, bases) for word in words for place in wanted)


def _lies(path: str, place: str, request: PermissionRequest) -> bool:
    if places.is_glob(path):
        return places.may_lie(path, place, request.roots, [request.here])
    return places.lies(path, place, request.roots)


def _words_like_paths(request: PermissionRequest) -> Iterator[str]:
    """Words that may be files, in a command and under any key of the input: enough for a rule that denies."""
    for word in (*request.line.files, *inputs.mentioned(request.input)):
        yield word
        if ":" in word:
            yield from (part for part in word.split(":") if part)
