"""A tool call that wants a permission, and what is decided of it: the same for every agent."""

import os
import shlex
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final, Literal

from msgspec import Struct

from dragoman._model import toolnames
from dragoman._model.commands import Answer, By
from dragoman._model.events import PermissionOption, PermissionRequested, ToolKind
from dragoman._policy import inputs, places, shell
from dragoman._policy.shell import ShellLine

Effect = Literal["allow", "deny", "ask"]

_TITLED: Final = frozenset(("run_shell_command",))
"""Tools of Gemini CLI that come over ACP without their input: the title is the command, to the letter."""
_GLOBBING: Final = frozenset(("Glob", "glob", "GlobTool", "find_files", "file_search"))
"""Search tools whose pattern is one of files."""
_SHELLS: Final = ("sh", "bash", "zsh", "/bin/sh", "/bin/bash", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh")
"""What Codex names beside its command: by which shell it is run."""
_UNSURE: Final[frozenset[ToolKind]] = frozenset(("execute", "delete", "mcp", "other"))
"""Kinds that promise nothing: a command in the input does not belie them."""
_POWERSHELL: Final = frozenset(("PowerShell", "powershell", "pwsh", "cmd"))
"""Tools whose command lines are none of a POSIX shell: nobody reads them here."""
_HARMLESS_VARIABLES: Final = frozenset(
    [
        "TERM",
        "COLORTERM",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "LINES",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LC_MESSAGES",
        "TZ",
        "CI",
        "DEBIAN_FRONTEND",
        "PYTHONUNBUFFERED",
        "PYTHONIOENCODING",
        "GEMINI_CLI",
        "CLAUDECODE",
    ]
)
"""Variables that change how something is shown, and never what runs."""
_COMMAND_KEYS: Final = frozenset(
    (*inputs.COMMAND_KEYS[:2], *inputs.DIRECTORIES, "args", "env", "description", "timeout", "timeout_ms", "reason", "justification",
     "outputByteLimit", "sessionId", "run_in_background", "is_background", "yield_time_ms", "max_output_tokens", "login")
)  # fmt: skip
"""Keys beside a command that do not change what it does, or that are looked at for themselves."""
_PAGERS: Final = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


class Decision(Struct, frozen=True):
    """What was decided of a call, by whom, and by which rule."""

    effect: Effect
    rule: str | None = None
    message: str | None = None
    """Told to the agent with a denial."""
    by: By = "policy"

    def answer(self) -> Answer | None:
        """The answer that it amounts to; None if somebody must be asked."""
        if self.effect == "ask":
            return None
        return Answer(decision=self.effect, by=self.by, rule=self.rule, message=self.message)


class PermissionRequest:
    """A tool call that wants a permission, as rules and handlers see it. `event` is what the agent said."""

    def __init__(
        self,
        event: PermissionRequested,
        cwd: str | None = None,
        files: Iterable[str] = (),
        *,
        add_dirs: Iterable[str] = (),
        unasked: bool = False,
    ) -> None:
        self.event: PermissionRequested = event
        """As the agent asked."""
        self.id: str = event.request_id
        self.agent: str = event.agent
        self.session: str | None = event.session
        """The agent's own id of the session that asks."""
        self.server: str | None
        """The MCP server that the tool is of."""
        self.tool: str
        """The tool's name, without its MCP server."""
        self.server, self.tool = toolnames.split_mcp(event.tool_name or "")
        self.title: str | None = event.title
        """What the agent calls the call, for a person to read. It may say anything: decide by the rest."""
        self.reason: str | None = event.reason
        """Why the agent asks, in its own words."""
        self.options: list[PermissionOption] = event.options
        """The answers that the agent offers, where it does; `Answer(option=…)` chooses one."""
        self.unasked: bool = unasked
        """It is here because every call is, not because the agent found it worth a question."""
        self.cwd: str = os.path.abspath(cwd or os.curdir)
        """Where the session works."""
        self.roots: tuple[str, ...] = (self.cwd, *add_dirs)
        """All the folders that belong to the session, that one first: `inside` is in one of them."""
        self._files = tuple(files)

    def __repr__(self) -> str:
        return f"PermissionRequest(tool={self.tool!r}, kind={self.kind!r}, input={self.input!r})"

    @property
    def here(self) -> str:
        """Where the agent stands: relative paths are meant from there. It is where the session works, unless a `cd` of the
        agent's shell has led it elsewhere."""
        return places.written_path(self.event.cwd, self.cwd) if self.event.cwd is not None else self.cwd

    @cached_property
    def input(self) -> dict[str, Any]:
        """The tool's input, verbatim; {} where the agent tells none or it is no object."""
        given = self.event.input
        if given is None and self.tool in _TITLED:
            given = {"command": self.event.title}
        return given if isinstance(given, dict) else {}

    @cached_property
    def kind(self) -> ToolKind:
        """What sort of tool it is: read, edit, execute … as the agent names it, unless a command in its input shows that
        it runs one."""
        return self.event.kind if self._given is None or self.event.kind in _UNSURE else "execute"

    # --- commands ----------------------------------------------------------------------------------------

    @cached_property
    def _given(self) -> str | list[Any] | None:
        """The command as the input has it."""
        if self.event.kind == "edit" and toolnames.kind_of(self.event.tool_name or "") == "edit":
            return None  # such as Codex' apply_patch, whose patch is called a command in some versions
        for key in inputs.COMMAND_KEYS:
            value = self.input.get(key)
            if (isinstance(value, str) and value) or (isinstance(value, list) and value):
                return value
        return None

    @cached_property
    def _argv(self) -> list[str] | None:
        """The command as a program and its arguments, where it is given so."""
        given, args = self._given, self.input.get("args")
        if isinstance(given, list):
            return [str(word) for word in given]
        if isinstance(given, str) and isinstance(args, list) and args:
            return [given, *map(str, args)]
        return None

    @cached_property
    def command(self) -> str | None:
        """The command line, where the tool runs one; what `bash -lc '…'` runs, where it is wrapped so."""
        if self._given is None:
            return None
        return shell.script(shlex.join(self._argv) if self._argv is not None else str(self._given))

    @property
    def is_plain_command(self) -> bool:
        """It names a command, and nothing beside it of which nobody knows what it does."""
        return self._given is not None and self.input.keys() <= _COMMAND_KEYS

    @cached_property
    def env(self) -> dict[str, str]:
        """The variables that the command is given, beside those of the session."""
        return inputs.environment(self.input)

    @property
    def changed_env(self) -> dict[str, str]:
        """Those of them that may change what runs."""
        return {name: value for name, value in self.env.items() if not _harmless(name, value)}

    @cached_property
    def runs_in(self) -> str:
        """Where the command runs: where the agent stands, unless the input says another place."""
        named = inputs.directory(self.input) if self._given is not None else None
        return places.written_path(named, self.here) if named is not None else self.here

    @cached_property
    def line(self) -> ShellLine:
        """The command line taken apart, as far as that can be done: for rules that deny."""
        if self.command is None:
            return ShellLine()
        if self.tool in _POWERSHELL:
            return ShellLine(commands=[[self.command]], hidden=True)
        first, *others = [shell.read(text) for text in dict.fromkeys((self.command, *self._other_commands))]
        if not others and not self.changed_env:
            return first
        # Which of several runs, nobody knows; a rule that denies finds them all.
        return ShellLine(
            commands=[words for line in (first, *others) for words in line.commands],
            hidden=any(line.hidden for line in (first, *others)),
            files=[file for line in (first, *others) for file in line.files],
        )

    @property
    def _other_commands(self) -> Iterator[str]:
        """Whatever else in the input may be a command, beside the one that `command` is."""
        for key in inputs.COMMAND_KEYS:
            value = self.input.get(key)
            if key == "commands" and isinstance(value, list):
                yield from (shell.script(str(item)) for item in value)
            elif value is not self._given and isinstance(value, list) and value:
                yield shell.script(shlex.join(map(str, value)))
            elif value is not self._given and isinstance(value, str) and value not in ("", *_SHELLS):
                yield shell.script(value)

    @property
    def commands(self) -> list[list[str]] | None:
        """Every command that runs, word by word; [] for a tool that runs none. None if the line is not fully
        understood, or if no command can be seen where one must be: then nobody can be sure of it."""
        if self.command is None:
            return None if self.kind == "execute" else []
        if not self.line.sure or not self.line.commands:
            return None
        return [list(words) for words in self.line.commands]

    # --- files and hosts -----------------------------------------------------------------------------------

    @cached_property
    def _named(self) -> list[str]:
        """The files that it names, as they are written."""
        globs = self.tool in _GLOBBING or (self.kind == "search" and self.tool not in toolnames.KINDS)
        given = self.input
        if self._given is not None:  # where a command runs is no file that it is about
            given = {key: value for key, value in given.items() if key not in inputs.DIRECTORIES}
        named = [*inputs.files(given, globs=globs), *self._files]
        if self.event.blocked_path is not None:
            named.append(self.event.blocked_path)
        if not named and toolnames.KINDS.get(self.tool) == "search" and self.kind == "search":
            named.append(".")  # a search tool that names no place searches where the session works
        return named

    @cached_property
    def paths(self) -> list[str]:
        """The files that it names, absolute and with links followed: a link must not lead out of a rule."""
        return list(dict.fromkeys(map(self.resolved, self._named[: places.MOST_NAMES])))

    @property
    def names_too_much(self) -> bool:
        """It names more files than are looked up: `paths` are the first of them."""
        return places.too_many(self._named)

    def resolved(self, path: str) -> str:
        """A path as `paths` has it."""
        return places.real_path(path, self.here) or places.written_path(path, self.here)

    @cached_property
    def written_paths(self) -> list[str]:
        """The same as they are written."""
        return list(
            dict.fromkeys(places.written_path(path, self.here) for path in self._named[: places.MOST_NAMES])
        )

    @cached_property
    def placed(self) -> bool:
        """It names files, and it can be told where each of them lies."""
        return (
            bool(self._named)
            and not self.names_too_much
            and all(
                places.real_path(path, self.here) is not None and not places.is_glob(path.split("/")[0])
                for path in self._named
            )
        )

    @property
    def hosts(self) -> list[str]:
        """The hosts of the addresses that it names."""
        return [host for host in self._hosts if host is not None]

    @property
    def known_hosts(self) -> list[str] | None:
        """The same; None where an address is named whose host cannot be told."""
        return None if None in self._hosts else self.hosts

    @cached_property
    def _hosts(self) -> list[str | None]:
        return inputs.hosts(
            {key: value for key, value in self.input.items() if key not in inputs.COMMAND_KEYS}
        )


def _harmless(name: str, value: str) -> bool:
    return name in _HARMLESS_VARIABLES or _PAGERS.get(name) == value
