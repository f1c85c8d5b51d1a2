"""Gemini CLI: over ACP as any other agent of that protocol, or one process for each turn with stream-json."""

import glob
import os
import shlex
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from dragoman._agents import acp, gemini_home, gemini_rules, gemini_sandbox
from dragoman._agents.agent import (
    Agent,
    check_argument,
    check_options,
    environment,
    native_event,
    settings_shown,
    with_tools,
)
from dragoman._dialects import machine_for
from dragoman._files import images, stores
from dragoman._model.capabilities import Capability
from dragoman._model.config import Approve, SessionConfig
from dragoman._model.errors import Unsupported, UsageError
from dragoman._model.tools import SERVER
from dragoman._policy import trust
from dragoman._policy.rules import Rule
from dragoman._runtime import own_files
from dragoman._runtime.functions import Functions
from dragoman._runtime.plan import LaunchPlan, Step

ENV_PREFIXES: Final = ("GEMINI_", "GOOGLE_", "CODE_ASSIST_")

PROJECT_FILES: Final = {
    ".gemini/settings.json": "settings, hooks and MCP servers",
    ".gemini/.env": "variables",
    ".env": "variables",
    ".gemini/extensions": "extensions",
}
"""What a project can bring that Gemini CLI would run or read."""
_TRUST: Final = "GEMINI_CLI_TRUST_WORKSPACE"
_ENVIRONMENT: Final = {
    "GEMINI_CLI_NO_RELAUNCH": "true",
    _TRUST: "true",
    "GEMINI_PTY_INFO": "child_process",
    "NO_COLOR": "1",
}
"""Unless the environment says otherwise. Without the first a parent process ignores every signal but SIGKILL;
without the second a folder that nobody has trusted in a terminal ends the run; with a pseudo-terminal the output
of commands is lost over ACP."""

_POLICY: Final = Path(__file__).with_name("gemini_policy.toml")

_ACP_STOP: Final[tuple[Step, ...]] = (("interrupt", 5.0), ("eof", 5.0), ("SIGTERM", 3.0), ("SIGKILL", 3.0))
_STREAM_STOP: Final[tuple[Step, ...]] = (("SIGTERM", 5.0), ("SIGKILL", 3.0))

_APPROVAL: Final[dict[Approve, str]] = {
    "ask": "default",
    "dangerous": "default",
    "never": "default",
    "edits": "auto_edit",
    "all": "yolo",
    "plan": "plan",
}
"""Without a client to ask, stream-json does not even offer the model what would be asked."""

_LISTS: Final = {
    "extensions": "--extensions",
    "policies": "--policy",
    "allowed_mcp_servers": "--allowed-mcp-server-names",
}

_OWN_OPTIONS: Final = {
    **{name: f"{flag} for each item of the list" for name, flag in _LISTS.items()},
    "debug": "--debug if true",
    "sandbox_image": "GEMINI_SANDBOX_IMAGE: the image of its container, beside sandbox",
}

_STREAM_OPTIONS: Final = {
    "hooks": "hooks by event, as settings.json has them, for this run; only in gemini_stream"
}
NATIVE_OPTIONS: Final = {**acp.NATIVE_OPTIONS, **_OWN_OPTIONS, **_STREAM_OPTIONS}

_HOOKS: Final = {
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
    "UserPromptSubmit": "BeforeAgent",
    "Stop": "AfterAgent",
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
    "PreCompact": "PreCompress",
    "Notification": "Notification",
}
"""Its events, by the names that the others have for them."""

_LACKS: Final = frozenset(
    (
        Capability.FORK,
        Capability.LIVE_FORK,
        Capability.SET_OPTION,
        Capability.COMPACT,
        Capability.COST,
        Capability.QUESTIONS,
        Capability.LIST_SESSIONS,
        Capability.DELETE,
    )
)
"""What ACP has a word for and Gemini CLI answers with "Method not found", or never says."""

_IMPOSSIBLE: Final = {
    "output_schema": "Ask for it in the prompt",
    "fork": "It can only go on with a session",
}


def plan(config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
    """How to start a session."""
    for name, instead in _IMPOSSIBLE.items():
        if getattr(config, name):
            raise Unsupported("gemini", name, instead)
    gemini_sandbox.check(config)
    return _stream_plan(config, executable) if dialect == "gemini_stream" else _acp_plan(config, executable)


def _acp_plan(config: SessionConfig, executable: str) -> LaunchPlan:
    """Everything but the tools that need no permission can be said in the protocol."""
    gemini_sandbox.refuse_over_acp(config)
    variables = _environment(config)
    if brought := _held_back(config):
        if config.mcp_servers:
            raise UsageError(
                f"gemini starts no MCP servers in a folder that is not trusted and brings {brought}: leave out mcp_servers "
                "and tools, or trust it with `dragoman trust`"
            )
        variables[_TRUST] = "false"
    if config.resume is not None and _just_begun(config.resume, variables):
        raise UsageError(
            f"Gemini CLI would empty the session {config.resume}, because it began in this very minute: "
            "resume it in the next one, or with the dialect gemini_stream"
        )
    native = {name: value for name, value in config.native.items() if name not in _OWN_OPTIONS}
    common = structs.replace(
        config,
        native=native,
        allowed_tools=[],
        blocked_tools=[],
        add_dirs=[],
        mcp_servers=gemini_rules.servers(config.mcp_servers),
    )
    kept_out = gemini_rules.policy(config)
    asking = [] if config.approve == "plan" else ["--policy", str(_POLICY)]
    words = [*_flags(config), *gemini_rules.flags(kept_out), *asking]
    made = acp.plan(common, acp.rows()["gemini"], [executable, "--acp", *words])
    return structs.replace(
        made,
        env=variables,
        files=kept_out,
        capabilities=made.capabilities - _LACKS,
        stop=_ACP_STOP,
        shows_all=bool(asking),
        unheld=tuple(PROJECT_FILES) if variables[_TRUST] == "true" else (),
        granted=[
            Rule(effect="allow", name="allowed_tools", agent="gemini", tool=glob.escape(tool))
            for tool in config.allowed_tools
        ]
        + gemini_rules.trusted(config.mcp_servers),
        config=settings_shown(config),
    )


def _just_begun(session: str, variables: Mapping[str, str]) -> bool:
    """CLI 0.61.0 writes an empty history to a file that is named by the minute when it loads a session over ACP; in
    the minute in which the session began, that is the file with its history."""
    name = f"session-{datetime.now(UTC):%Y-%m-%dT%H-%M}-{session[:8]}.jsonl"
    return any(list(folder.glob(f"*/chats/{name}")) for folder in session_dirs(variables))


def _stream_plan(config: SessionConfig, executable: str) -> LaunchPlan:
    """One turn, its prompt on the command line; the next one resumes the session by its id. Its stdout is a file:
    the CLI exits without waiting for what a pipe has not taken (capture big_text_slow_norelaunch)."""
    if not config.prompt:
        raise UsageError("gemini_stream takes its prompt when it starts: give prompt=..., or use acp")
    check_argument(config.prompt, "gemini_stream takes its prompt", "acp")
    check_options(config, "gemini_stream", {**_OWN_OPTIONS, **_STREAM_OPTIONS})
    if brought := _held_back(config):
        # Without a person at it the CLI does not run at all in a folder that it is told not to trust.
        raise UsageError(
            f"gemini_stream does not work in a folder that is not trusted and brings {brought}: use acp, or trust it with "
            "`dragoman trust`"
        )
    argv = [executable, "--output-format", "stream-json", "--approval-mode", _APPROVAL[config.approve]]
    argv += ["--resume", config.resume] if config.resume is not None else []
    pictures, kept_out = _pictures(config), gemini_rules.policy(config)
    files: gemini_home.Files = {**pictures, **kept_out}
    argv += gemini_rules.flags(kept_out)
    variables = _environment(config)
    if config.mcp_servers or config.native.get("hooks"):
        if config.native.get("hooks"):
            gemini_home.check_hooks(variables, config.cwd or os.getcwd())
        variables[gemini_home.VARIABLE], home = gemini_home.made(
            variables, config.mcp_servers, config.native.get("hooks") or {}
        )
        files |= home
        if config.native.get("extensions"):
            argv += _several("--extensions", [gemini_home.EXTENSION])
    argv += _several("--include-directories", dict.fromkeys(map(os.path.dirname, pictures)))
    if gemini_sandbox.asked_for(config):
        mounts: gemini_sandbox.Mounts = {
            **dict.fromkeys(_places(config, config.native.get("policies") or ()), "ro"),
            **dict.fromkeys(map(os.path.dirname, files), "ro"),
            **dict.fromkeys(config.add_dirs, "rw"),
        }
        variables = gemini_sandbox.environment(config, variables, _ENVIRONMENT, mounts)
        gemini_sandbox.refuse_with_the_users_home(config, executable)
        argv += ["--sandbox"]
    machine = machine_for("gemini_stream", config.agent)
    return LaunchPlan(
        agent=config.agent,
        dialect=machine.dialect,
        argv=[
            *argv,
            *_flags(config),
            *config.extra_args,
            f"--prompt={' @'.join((config.prompt, *pictures))}",
        ],
        machine=machine,
        files=files,
        env=variables,
        cwd=config.cwd,
        capabilities=machine.capabilities,
        one_shot=True,
        spool=True,
        stop=_STREAM_STOP,
        config=settings_shown(config),
    )


def extended(config: SessionConfig, dialect: str, functions: Functions) -> SessionConfig:
    """Tools as an MCP server; hooks as commands, where it calls any."""
    if dialect == "acp":
        if functions.hooks.events:
            raise Unsupported(
                "gemini", "hooks in acp", "It calls none there (0.61.0): use the dialect gemini_stream"
            )
        return with_tools(config, functions)
    config = with_tools(config, functions, timeout=_milliseconds(functions.agent_waits))
    hooks = dict(config.native.get("hooks") or {})
    for event, command in functions.hook_commands().items():
        name = native_event(config, event, _HOOKS)
        timeout = _milliseconds(functions.hooks.agent_waits)
        hook = {"type": "command", "command": shlex.join(command), "timeout": timeout}
        hooks[name] = [*hooks.get(name, ()), {"matcher": "*", "hooks": [hook]}]
    # With nobody to ask, the model is not even offered what would be asked for.
    allowed = [] if config.approve == "plan" else [f"mcp_{SERVER}_{tool.name}" for tool in functions.tools]
    return structs.replace(
        config,
        allowed_tools=[*config.allowed_tools, *allowed],
        native={**config.native, "hooks": hooks} if hooks else config.native,
    )


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _pictures(config: SessionConfig) -> dict[str, bytes]:
    """Copies of the images, by path. The CLI takes a file that the prompt names with an @, but only one of its folders
    that no ignore file leaves out, and it says nothing where it takes none."""
    folder = own_files.new_folder()
    return {
        os.path.join(folder, f"image-{number}{Path(file).suffix.lower()}"): images.read(file)
        for number, file in enumerate(config.images, 1)
    }


def _places(config: SessionConfig, files: Iterable[Any]) -> list[str]:
    """The absolute paths of files that are named as from where it works."""
    return [os.path.abspath(os.path.join(config.cwd or ".", str(file))) for file in files]


def _flags(config: SessionConfig) -> list[str]:
    """What is said the same way in both dialects."""
    flags = ["--model", config.model] if config.model is not None else []
    flags += _several("--include-directories", config.add_dirs)
    flags += _several("--allowed-tools", config.allowed_tools)
    for name, flag in _LISTS.items():
        flags += _several(flag, config.native.get(name))
    return [*flags, "--debug"] if config.native.get("debug") else flags


def _several(flag: str, values: Any) -> list[str]:
    """A flag before each value: one before all of them would swallow what follows."""
    return [part for value in values or () for part in (flag, str(value))]


def _environment(config: SessionConfig) -> dict[str, str]:
    return {**_ENVIRONMENT, **environment(config, ENV_PREFIXES)}


def _held_back(config: SessionConfig) -> str:
    """What the project brings and must not run, by its files; empty where there is nothing such."""
    folder = config.cwd or os.getcwd()
    return "" if config.trusted else ", ".join(trust.brought(folder, PROJECT_FILES))


def join(prompt: str, piped: str) -> str:
    """As its own `--prompt` does it."""
    return f"{piped}\n\n{prompt}"


def session_dirs(variables: Mapping[str, str]) -> list[Path]:
    home = variables.get("GEMINI_CLI_HOME") or variables.get("HOME", "~")
    return [Path(os.path.join(home, ".gemini", "tmp")).expanduser()]


AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    executable="gemini",
    dialects=("acp", "gemini_stream"),
    plan=plan,
    extended=extended,
    capabilities=acp.rows()["gemini"].capabilities - _LACKS,
    install="npm install -g @google/gemini-cli",
    login="run `gemini` and choose how to log in, or set GEMINI_API_KEY",
    tested_versions=("0.45.2", "0.61.0"),
    session_dirs=session_dirs,
    store=stores.GEMINI,
    unwritten="it writes down none of its own requests (loops, summaries, the choice of a model), and no answer that was"
    " interrupted",
    native_options=NATIVE_OPTIONS,
    project_files=PROJECT_FILES,
    env_prefixes=ENV_PREFIXES,
    join=join,
)
