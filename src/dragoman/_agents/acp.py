"""Agents that speak ACP: a row of acp_agents.toml becomes a record; any other one is `acp -- its command`."""

import os
import shutil
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._agents.acp_stores import KEPT
from dragoman._agents.agent import (
    FETCHERS,
    MODEL_KEYS,
    Agent,
    check_options,
    environment,
    nowhere,
    settings_shown,
)
from dragoman._dialects.acp.counting import UsageRule
from dragoman._dialects.acp.machine import Acp
from dragoman._dialects.acp.opening import Opening
from dragoman._model.capabilities import Capability
from dragoman._model.config import Approve, Sandbox, SessionConfig
from dragoman._model.errors import SpawnFailed, Unsupported, UsageError
from dragoman._model.sessions import UUID
from dragoman._policy.rules import Rule
from dragoman._runtime.plan import LaunchPlan, MissingFiles
from dragoman._wire.machine import StartOptions

TABLE: Final = Path(__file__).with_name("acp_agents.toml")
GENERIC: Final = "acp"

_ASKING: Final = ("default", "ask", "manual", "read-only")
_MODES: Final[Mapping[str, tuple[str, ...]]] = {
    "ask": _ASKING,
    "never": _ASKING,
    "edits": _ASKING,
    "dangerous": _ASKING,
    "all": ("default", "ask", "manual", "workspace-write"),
    "plan": ("plan", "read-only"),
}
"""What agents call the modes in which they ask, so that the policy answers, whose rules come first. Also where all is
allowed: codex-acp asks a model if it is not told to ask us, and in read-only its commands can change nothing."""

_MEANINGS: Final[Mapping[str, Approve]] = {
    **dict.fromkeys(("default", "ask", "manual"), "ask"),
    **dict.fromkeys(("autoEdit", "auto_edit", "acceptEdits", "accept-edits"), "edits"),
    **dict.fromkeys(("yolo", "bypassPermissions", "full-access"), "all"),
    "plan": "plan",
}
"""What agents' own modes mean in ours, where that is sure."""

LOGIN: Final = "log in with its own program, or choose one of its ways with native={'auth_method': ...}"

_IMPOSSIBLE: Final = {
    "output_schema": "Ask for it in the prompt",
    "allowed_tools": "Use approve=... or a handler",
    "blocked_tools": "Use approve=... or a handler",
}

_TOOL_LISTS: Final = frozenset(("includeTools", "excludeTools", "enabled_tools", "disabled_tools"))
"""What agents' own settings have to keep tools of a server from them."""

NATIVE_OPTIONS: Final = {
    "mode": "the session mode to begin in, by the agent's own name for it",
    "options": "session options to set, by id",
    "auth_method": "id of the way to sign in, of those that the agent offers",
    "replay": "if true, have the history of a resumed session played back",
}


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """One agent in the table."""

    title: str
    command: tuple[str, ...]
    install: str = ""
    vendor: str | None = None
    usage: UsageRule | None = None
    missing_files: MissingFiles = "error"
    lacks: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    untrusted_env: dict[str, str] = {}
    project_files: dict[str, str] = {}
    unheld: tuple[str, ...] = ()
    sandboxes: dict[Sandbox, str] = {}
    session_id: str = UUID
    asks: str | None = None
    tested: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    why: str = ""
    program: str = ""

    def command_of(self, executable: str) -> list[str]:
        """How `executable` is started: the program of the table, or the agent itself where the table fetches it."""
        program, *arguments = self.command
        if program in FETCHERS and Path(executable).stem != program:
            arguments = arguments[FETCHERS[program] - 1 :]
        return [executable, *arguments]

    @property
    def capabilities(self) -> frozenset[Capability]:
        return Acp.capabilities - {Capability(name) for name in self.lacks}


ANY: Final = Row("Any agent that speaks ACP", (sys.executable,))


@cache
def rows() -> dict[str, Row]:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return msgspec.convert(table, dict[str, Row])


def names() -> list[str]:
    return [GENERIC, *rows()]


def record(name: str) -> Agent:
    """The record of an agent of the table, or of `acp`. Raises KeyError."""
    if name == GENERIC:
        return _generic()
    row, kept = rows()[name], KEPT.get(name)
    return Agent(
        name=name,
        title=row.title,
        executable=row.command[0],
        fetched=row.command[0] in FETCHERS,
        program=row.program or (row.command[3] if row.command[0] == "uvx" else ""),
        vendor=row.vendor,
        dialects=("acp",),
        plan=lambda config, executable, dialect: plan(config, row, row.command_of(executable)),
        capabilities=row.capabilities,
        install=row.install or _install(row.command),
        login=LOGIN,
        tested_versions=row.tested,
        seen_versions=row.seen,
        why=row.why,
        session_dirs=kept.folders if kept is not None else nowhere,
        store=kept.store if kept is not None else None,
        session_id=row.session_id,
        native_options=NATIVE_OPTIONS,
        project_files=row.project_files,
        unheld=row.unheld,
        env_prefixes=_env_prefixes(name, row),
    )


def _generic() -> Agent:
    """Its command is all that follows `--`; the executable here is only there to be found."""
    row = ANY
    return Agent(
        name=GENERIC,
        title=row.title,
        executable=sys.executable,
        fetched=True,
        dialects=("acp",),
        plan=lambda config, executable, dialect: plan(config, row, _command(config)),
        capabilities=row.capabilities,
        why="its command is yours to give: dragoman run acp PROMPT -- COMMAND",
        native_options=NATIVE_OPTIONS,
        env_prefixes=_env_prefixes(GENERIC, row),
    )


def _env_prefixes(name: str, row: Row) -> tuple[str, ...]:
    """Its own variables begin with its name, as a rule; and it may work with anyone's models."""
    return (f"{name.upper().partition('-')[0]}_", *row.env, *MODEL_KEYS)


def _command(config: SessionConfig) -> list[str]:
    if not config.extra_args:
        raise UsageError("say how to start the agent: dragoman run acp PROMPT -- COMMAND [ARGUMENTS]")
    wanted = config.extra_args[0]
    found = shutil.which(wanted, path=environment(config).get("PATH", os.defpath))
    if found is None:
        raise SpawnFailed(f"there is no program {wanted!r} on PATH", agent=config.agent)
    return [os.path.abspath(found)]


def _install(command: tuple[str, ...]) -> str:
    """How to have a fetched agent without its runner."""
    install = {"npx": "npm install -g", "uvx": "uv tool install"}.get(command[0])
    return f"{install} {command[2]}" if install is not None else ""


# --- a run ---------------------------------------------------------------------------------------------------


def plan(config: SessionConfig, row: Row, command: list[str]) -> LaunchPlan:
    """How to start a session: `command` begins with an absolute path."""
    _check(config, row)
    opening = _opening(config, row)
    extra = config.extra_args[1:] if config.agent == GENERIC else config.extra_args
    return LaunchPlan(
        agent=config.agent,
        dialect="acp",
        argv=[*command, *extra],
        machine=Acp(config.agent),
        options=StartOptions(opening=opening),
        env={
            **environment(config, _env_prefixes(config.agent, row)),
            **({} if config.trusted else row.untrusted_env),
        },
        cwd=config.cwd,
        capabilities=row.capabilities,
        config=settings_shown(config),
        missing_files=row.missing_files,
        mode_meanings=_meanings(row),
        bounds=[_out_of(config.sandbox)] if config.sandbox in row.sandboxes else [],
    )


def _out_of(sandbox: Sandbox) -> Rule:
    """What is asked for where a mode is the sandbox would run outside of it (codex-acp)."""
    return Rule(effect="deny", name=f"sandbox={sandbox}", kind=["edit", "delete", "move", "execute"])


def _check(config: SessionConfig, row: Row) -> None:
    for name, instead in _IMPOSSIBLE.items():
        if getattr(config, name):
            raise Unsupported(config.agent, name, instead)
    if Capability.PERMISSIONS not in row.capabilities and config.approve != "all":
        raise Unsupported(
            config.agent,
            f"approve={config.approve}",
            "It asks nobody before it acts: use approve=all, where it can do no harm",
        )
    held = config.sandbox in ("read-only", "workspace")
    if held and config.sandbox not in row.sandboxes:
        raise Unsupported(
            config.agent,
            f"sandbox={config.sandbox}",
            "ACP has no word for a sandbox, and no mode of this agent is known to be one: use approve=plan or approve=ask, or "
            "start it within a sandbox of your own",
        )
    if held and "mode" in config.native:
        raise UsageError(
            f"{config.agent} has a mode for its sandbox: give sandbox or native['mode'], not both"
        )
    for name, server in config.mcp_servers.items():
        for key in _TOOL_LISTS & server.keys():
            raise Unsupported(
                config.agent,
                f"{key} of the MCP server {name}",
                "ACP has no word for it: leave it to a rule of the policy that denies tools of this server",
            )
    check_options(config, config.agent, NATIVE_OPTIONS)


def _opening(config: SessionConfig, row: Row) -> Opening:
    native = config.native
    mode = native.get("mode")
    words = _words(config.sandbox, row)
    return Opening(
        cwd=os.path.abspath(config.cwd or os.getcwd()),
        mcp_servers={name: _found(server, config) for name, server in config.mcp_servers.items()},
        directories=config.add_dirs,
        resume=config.resume,
        fork=config.fork,
        replay=bool(native.get("replay")),
        auth_method=native.get("auth_method"),
        words=words,
        modes=(str(mode),) if mode is not None else words.get(config.approve, ()),
        mode_required=mode is not None or config.approve == "plan" or config.sandbox in row.sandboxes,
        model=config.model,
        options=dict(native.get("options", {})),
        usage_rule=row.usage,
    )


def _words(sandbox: Sandbox, row: Row) -> Mapping[str, tuple[str, ...]]:
    """Our words for modes, and what the agent calls those that fit. Where a mode is the sandbox, it is all of them but
    `plan`, which may be stricter."""
    if sandbox not in row.sandboxes:
        return _MODES if row.asks is None else {**dict.fromkeys(_MODES, (row.asks,)), "plan": _MODES["plan"]}
    return {**dict.fromkeys(_MODES, (row.sandboxes[sandbox],)), "plan": _MODES["plan"]}


def _meanings(row: Row) -> Mapping[str, Approve]:
    """An agent with another mode to ask in may mean something else by our word: Kilo's `ask` answers questions and has
    no tools that change anything (7.7.7)."""
    if row.asks is None:
        return _MEANINGS
    return {**{mode: meaning for mode, meaning in _MEANINGS.items() if meaning != "ask"}, row.asks: "ask"}


def _found(server: Any, config: SessionConfig) -> Any:
    """Protocol 2 wants the absolute path of a server's program."""
    if not isinstance(server, dict) or not isinstance(server.get("command"), str):
        return server
    found = shutil.which(server["command"], path=environment(config).get("PATH", os.defpath))
    return {**server, "command": os.path.abspath(found)} if found is not None else server
