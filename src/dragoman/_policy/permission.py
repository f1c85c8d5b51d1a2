"""A tool call that wants a permission, and what is decided of it: the same for every agent."""

import os
import shlex
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from dragoman._model import toolnames
from dragoman._model.commands import Answer, By
from dragoman._model.events import PermissionOption, PermissionRequested, ToolKind
from dragoman._policy import shellwords

Effect = Literal["allow", "deny", "ask"]

_TITLED: Final = frozenset(("run_shell_command",))
"""Tools of Gemini CLI that come over ACP without their input: the title is the command, to the letter."""


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

    def __init__(self, event: PermissionRequested, cwd: str | None = None, files: Iterable[str] = ()) -> None:
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
        self.kind: ToolKind = event.kind
        """What sort of tool it is, as the agent names it: read, edit, execute … The command in `commands` counts for
        more."""
        self.title: str | None = event.title
        """What the agent calls the call, for a person to read. It may say anything: decide by the rest."""
        self.reason: str | None = event.reason
        """Why the agent asks, in its own words."""
        self.options: list[PermissionOption] = event.options
        """The answers that the agent offers, where it does; `Answer(option=…)` chooses one."""
        self.cwd: str = os.path.abspath(cwd or os.curdir)
        """Where the session works."""
        self._files = tuple(files)

    def __repr__(self) -> str:
        return f"PermissionRequest(tool={self.tool!r}, kind={self.kind!r}, input={self.input!r})"

    @cached_property
    def input(self) -> dict[str, Any]:
        """The tool's input, verbatim; {} where the agent tells none or it is no object."""
        given = self.event.input
        if given is None and self.tool in _TITLED:
            given = {"command": self.event.title}
        return given if isinstance(given, dict) else {}

    @cached_property
    def command(self) -> str | None:
        """The command line, where the tool runs one; what `bash -lc '…'` runs, where it is wrapped so."""
        command, args = self.input.get("command") or self.input.get("cmd"), self.input.get("args")
        if isinstance(command, list):
            return shellwords.script(shlex.join(map(str, command)))
        if isinstance(command, str) and isinstance(args, list):
            return shellwords.script(shlex.join((command, *map(str, args))))
        return shellwords.script(command) if isinstance(command, str) else None

    @cached_property
    def line(self) -> shellwords.Line:
        """The command line taken apart, as far as that can be done: for rules that deny."""
        return shellwords.parsed(self.command) if self.command is not None else shellwords.Line()

    @property
    def commands(self) -> list[list[str]] | None:
        """Every command that runs, word by word; [] for a tool that runs none. None if the line is not fully
        understood, or if no command can be seen where one must be: then nobody can be sure of it."""
        if self.command is None:
            return None if self.kind == "execute" else []
        if self.line.opaque or not self.line.commands:
            return None
        return [list(words) for words in self.line.commands]

    @cached_property
    def paths(self) -> list[str]:
        """The files that it names, absolute and with links followed: a link must not lead out of a rule."""
        named = [*(location.path for location in toolnames.locations_of(self.input)), *self._files]
        if self.event.blocked_path is not None:
            named.append(self.event.blocked_path)
        return list(dict.fromkeys(real_path(path, self.cwd) for path in named))

    @property
    def hosts(self) -> list[str]:
        """The hosts of the urls that it names."""
        url = self.input.get("url")
        try:
            host = urlsplit(url).hostname if isinstance(url, str) else None
        except ValueError:
            host = None
        return [host] if host is not None else []


def real_path(path: str, cwd: str) -> str:
    """Absolute, with links followed; a name that no file can have stays as it is."""
    whole = os.path.join(cwd, os.path.expanduser(path))
    try:
        return os.path.realpath(whole)
    except ValueError:  # a NUL, or half of a character
        return os.path.normpath(whole)
