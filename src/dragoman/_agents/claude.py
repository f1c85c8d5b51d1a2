"""Claude Code: how SessionConfig becomes a command line, and where its sessions are."""

import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from dragoman._agents import claude_rules, claude_sandbox
from dragoman._agents.agent import Agent, check_options, environment, native_event, settings_shown
from dragoman._dialects.claude.stream import gate
from dragoman._dialects.claude.stream.machine import ClaudeStream
from dragoman._files import stores
from dragoman._model.capabilities import Capability
from dragoman._model.config import SessionConfig
from dragoman._model.errors import UsageError
from dragoman._model.toolnames import split_mcp
from dragoman._model.tools import SERVER
from dragoman._runtime.functions import Functions
from dragoman._runtime.plan import LaunchPlan
from dragoman._wire.machine import StartOptions

_STREAMING: Final = (
    "--print",
    "--verbose",
    *("--input-format", "stream-json"),
    *("--output-format", "stream-json"),
    "--include-partial-messages",
    "--include-hook-events",
    "--replay-user-messages",
)
"""Stream-json both ways with stdin held open: a one-shot loses its tail when the reader lags."""

_MODES: Final = {
    "ask": "default",
    "dangerous": "default",
    "edits": "default",
    "all": "default",
    "plan": "plan",
    "never": "default",
}
"""All but `plan` are asked for and answered by the policy, whose rules come first: in the CLI's own modes it asks nobody.
Its acceptEdits lets `rm` and `touch` pass as well; its bypassPermissions is refused to root."""

_OWN_MODES: Final = ("default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto")
"""What the native option permission_mode may be. Our gate has every call asked for in all of them."""
_ASKED: Final = "stdio"
"""Who is asked: us, or a tool of an MCP server. Before either the gate has denied what the policy denies."""

_VALUES: Final = {
    "system_prompt": "--system-prompt",
    "append_system_prompt": "--append-system-prompt",
    "fallback_model": "--fallback-model",
    "effort": "--effort",
    "setting_sources": "--setting-sources",
}
_LISTS: Final = {"tools": "--tools", "plugin_dirs": "--plugin-dir"}
_JSON: Final = {"settings": "--settings", "agents": "--agents"}
_SWITCHES: Final = {
    "bare": "--bare",
    "strict_mcp_config": "--strict-mcp-config",
    "no_persistence": "--no-session-persistence",
}

NATIVE_OPTIONS: Final = {
    **{name: f"{flag} TEXT" for name, flag in _VALUES.items()},
    **{name: f"{flag} for each item of the list" for name, flag in _LISTS.items()},
    **{name: f"{flag} JSON" for name, flag in _JSON.items()},
    **{name: f"{flag} if true" for name, flag in _SWITCHES.items()},
    "permission_mode": f"--permission-mode WORD: {', '.join(_OWN_MODES)}; what is asked the policy answers all the same",
    "permission_prompt_tool": "--permission-prompt-tool mcp__SERVER__TOOL: asked in place of the handler, after the policy",
    "file_checkpoints": "if true, keep what its tools for files change, for session.rewind_files",
    "hooks": "hook callbacks by event, as initialize takes them; they arrive as host.called hook_callback",
    "sdk_mcp_servers": "names of MCP servers that live in the client; they arrive as host.called mcp_message",
}

_HOOKS: Final = {
    name: name
    for name in (
        *(
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
        ),
        *("Stop", "SubagentStart", "SubagentStop", "PreCompact", "Notification"),
    )
}

_HIDDEN: Final = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")
"""Set inside a session of Claude Code itself; the CLI would take this run for a part of that one."""


_CHECKPOINTS: Final = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
_READ_MEMORY: Final = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD"
"""Without a project's settings its CLAUDE.md is not read either, unless its folder is an additional one and this is
set."""

ENV_PREFIXES: Final = ("ANTHROPIC_", "CLAUDE_")
_CLOUDS: Final = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_",),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_", "CLOUD_ML_", "VERTEX_"),
    "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_",),
}
"""Whose models it uses where these are set, and how that cloud's variables begin."""


def plan(config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
    """How to start a session."""
    _check(config)
    machine = ClaudeStream(config.agent)
    variables = _environment(config)
    new = str(uuid.uuid4()) if config.resume is None or config.fork else None
    return LaunchPlan(
        agent=config.agent,
        dialect=dialect,
        argv=[executable, *_STREAMING, *_session(config, new), *_flags(config), *config.extra_args],
        machine=machine,
        options=StartOptions(opening=_opening(config)),
        env=variables,
        cwd=config.cwd,
        capabilities=machine.capabilities
        - ({Capability.REWIND_FILES} if _CHECKPOINTS not in variables else set()),
        config=settings_shown(config),
        session=new,
        mode_meanings=claude_rules.MODES,
        granted=claude_rules.allowed(config.allowed_tools, "allowed_tools"),
        bounds=claude_sandbox.BOUNDS.get(config.sandbox, []),
        updates=claude_rules.suggested,
    )


def extended(config: SessionConfig, dialect: str, functions: Functions) -> SessionConfig:
    """Tools as an MCP server in the client, hooks as callbacks: it asks for both in its own stream."""
    gate.hooks(config.native.get("hooks"))
    native, hooks = dict(config.native), dict(config.native.get("hooks") or {})
    if functions.tools:
        native["sdk_mcp_servers"] = [*native.get("sdk_mcp_servers", ()), SERVER]
    for event, id in functions.hook_ids().items():
        name = native_event(config, event, _HOOKS)
        hooks[name] = [
            *hooks.get(name, ()),
            {"hookCallbackIds": [id], "timeout": functions.hooks.agent_waits},
        ]
    return structs.replace(config, native={**native, "hooks": hooks} if hooks else native)


def _check(config: SessionConfig) -> None:
    check_options(config, "claude", NATIVE_OPTIONS)
    claude_sandbox.check(config, _environment(config))
    _check_permission_words(config)
    gate.hooks(config.native.get("hooks"))


def _check_permission_words(config: SessionConfig) -> None:
    mode, tool = config.native.get("permission_mode"), config.native.get("permission_prompt_tool")
    if mode is not None and mode not in _OWN_MODES:
        raise UsageError(
            f"native['permission_mode'] must be one of {', '.join(_OWN_MODES)}; not {mode!r:.60}"
        )
    if mode is not None and config.approve == "plan":
        raise UsageError(
            "approve=plan is a permission mode of Claude Code: leave out native['permission_mode']"
        )
    if tool is not None and (not isinstance(tool, str) or split_mcp(tool)[0] is None):
        raise UsageError(f"native['permission_prompt_tool'] must be mcp__SERVER__TOOL; not {tool!r:.60}")


def _session(config: SessionConfig, new: str | None) -> list[str]:
    """A new session's id is chosen here, so that it is known before the CLI says anything."""
    flags = ["--resume", config.resume] if config.resume is not None else []
    flags += ["--resume-session-at", config.resume_at] if config.resume_at is not None else []
    flags += ["--fork-session"] if config.fork else []
    return flags + (["--session-id", new] if new is not None else [])


def _flags(config: SessionConfig) -> list[str]:
    native = config.native
    single: dict[str, Any] = {
        "--permission-mode": native.get("permission_mode") or _MODES[config.approve],
        "--permission-prompt-tool": native.get("permission_prompt_tool") or _ASKED,
        "--model": config.model,
        "--max-turns": config.max_turns,
        "--max-budget-usd": config.max_cost_usd,
        "--json-schema": None if config.output_schema is None else json.dumps(config.output_schema),
        "--mcp-config": _mcp_config(config),
    }
    several = {
        "--allowedTools": config.allowed_tools,
        "--disallowedTools": config.blocked_tools,
        "--add-dir": config.add_dirs,
    }
    single |= {flag: native.get(name) for name, flag in _VALUES.items()}
    documents = {**native, **claude_sandbox.settings(config)}
    single |= {flag: json.dumps(documents[name]) for name, flag in _JSON.items() if name in documents}
    several |= {flag: native.get(name) or [] for name, flag in _LISTS.items()}
    if not config.trusted:
        several["--add-dir"] = [*config.add_dirs, os.path.abspath(config.cwd or os.getcwd())]
    flags: list[str] = []
    for flag, value in single.items():
        flags += [flag, str(value)] if value is not None else []
    for flag, values in several.items():
        flags += [flag, *values] if values else []
    if not config.trusted:
        # What the project brings stays out: its settings with their hooks and variables, and the servers of .mcp.json.
        # A caller who names sources has chosen them.
        flags += [] if native.get("setting_sources") is not None else ["--setting-sources", "user"]
        flags += [] if native.get("strict_mcp_config") else ["--strict-mcp-config"]
    return flags + [flag for name, flag in _SWITCHES.items() if native.get(name)]


def _mcp_config(config: SessionConfig) -> str | None:
    own = {name: {"type": "sdk", "name": name} for name in config.native.get("sdk_mcp_servers", ())}
    servers = {**config.mcp_servers, **own}
    return json.dumps({"mcpServers": servers}) if servers else None


def _opening(config: SessionConfig) -> dict[str, Any]:
    opening: dict[str, Any] = {"hooks": config.native.get("hooks")}
    if config.native.get("sdk_mcp_servers"):
        opening["sdkMcpServers"] = list(config.native["sdk_mcp_servers"])
    return opening


def _environment(config: SessionConfig) -> dict[str, str]:
    settings = {**os.environ, **config.env}
    clouds = [prefix for name, prefixes in _CLOUDS.items() if settings.get(name) for prefix in prefixes]
    seen = environment(config, (*ENV_PREFIXES, *clouds))
    seen = seen if config.trusted else {_READ_MEMORY: "1", **seen}
    seen = {**seen, _CHECKPOINTS: "1"} if config.native.get("file_checkpoints") else seen
    return {name: value for name, value in seen.items() if name not in _HIDDEN}


def session_dirs(variables: Mapping[str, str]) -> list[Path]:
    home = variables.get("CLAUDE_CONFIG_DIR") or os.path.join(variables.get("HOME", "~"), ".claude")
    return [Path(home).expanduser() / "projects"]


AGENT = Agent(
    name="claude",
    title="Claude Code",
    executable="claude",
    dialects=("claude_stream",),
    plan=plan,
    extended=extended,
    capabilities=ClaudeStream.capabilities,
    install="npm install -g @anthropic-ai/claude-code",
    login="run `claude` and type /login, or set ANTHROPIC_API_KEY",
    tested_versions=("2.1.150", "2.1.197", "2.1.300", "2.1.325"),
    oldest="2.1.100",  # 2.0.50 has no --include-hook-events
    session_dirs=session_dirs,
    store=stores.CLAUDE,
    unwritten="it writes down no requests for titles, none of what a web search does on its side, no compaction, and of an"
    " answer that was interrupted only the first token",
    native_options=NATIVE_OPTIONS,
    project_files={
        ".claude/settings.json": "settings and hooks",
        ".claude/settings.local.json": "settings and hooks",
        ".mcp.json": "MCP servers",
        ".claude/skills": "skills",
        ".claude/commands": "commands",
        ".claude/agents": "subagents",
    },
    env_prefixes=ENV_PREFIXES,
)
