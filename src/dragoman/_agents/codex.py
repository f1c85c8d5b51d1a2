"""Codex: how SessionConfig becomes the parameters of a thread, or the command line of one turn."""

import json
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from dragoman._agents.agent import (
    Agent,
    check_argument,
    check_options,
    environment,
    native_event,
    settings_shown,
    with_tools,
)
from dragoman._agents.versions import installed_version, is_older
from dragoman._dialects import machine_for
from dragoman._dialects.codex.app.machine import CodexApp
from dragoman._dialects.codex.app.wording import POLICIES, mcp_config
from dragoman._files import images, stores
from dragoman._model.capabilities import Capability
from dragoman._model.config import Approve, Sandbox, SessionConfig
from dragoman._model.errors import Unsupported, UsageError
from dragoman._model.toolnames import split_mcp
from dragoman._policy import trust
from dragoman._runtime import own_files
from dragoman._runtime.functions import Functions
from dragoman._runtime.plan import LaunchPlan, Step
from dragoman._wire.machine import StartOptions

APP_STOP: Final[tuple[Step, ...]] = (("interrupt", 5.0), ("eof", 5.0), ("SIGTERM", 3.0), ("SIGKILL", 3.0))
"""SIGINT would leave the commands that it runs behind; the end of its input does not."""
EXEC_STOP: Final[tuple[Step, ...]] = (("SIGINT", 5.0), ("SIGKILL", 3.0))
"""Here it is SIGTERM that leaves them behind."""

EXEC_SINCE: Final = "0.150.0"
"""The oldest version that was seen to have `codex exec fork`, and to call hooks in `codex exec`; 0.135.0 does neither."""
_SINCE: Final = {Capability.DELETE: "0.150.0"}
"""The oldest versions that were seen to have some capabilities; 0.135.0 has not."""

ENV_PREFIXES: Final = ("OPENAI_", "CODEX_", "AZURE_OPENAI_", "RUST_")
"""A model provider of config.toml with a key of its own needs `env`, or inherit_env=True."""

_POLICIES: Final[dict[Approve, tuple[str, str]]] = {
    "ask": ("untrusted", "workspace-write"),
    "edits": ("untrusted", "workspace-write"),
    "dangerous": ("untrusted", "workspace-write"),
    "all": ("untrusted", "danger-full-access"),
    "plan": ("never", "read-only"),
    "never": ("untrusted", "read-only"),
}
"""When Codex asks, and where it may write if the configuration does not say. With `untrusted` it asks for all but what
only looks, so that the policy decides, whose rules come first. With `never` it asks nobody: what the sandbox does not
allow fails."""

_EXEC_SANDBOX: Final[dict[Approve, str]] = {
    **{mode: sandbox for mode, (_, sandbox) in _POLICIES.items()},
    "ask": "read-only",
    "dangerous": "read-only",
}
"""`codex exec` asks nobody: what would be asked must not work."""

_SANDBOX: Final = {"read-only": "read-only", "workspace": "workspace-write", "full": "danger-full-access"}

_HELD: Final[dict[Approve, tuple[Sandbox, ...]]] = {
    "all": ("read-only", "workspace"),
    "edits": ("read-only",),
    "dangerous": ("read-only",),
}
"""Sandboxes that hold only if nobody is asked: what is approved Codex runs outside of its sandbox."""

_THREAD_OPTIONS: Final = {
    "model_provider": "modelProvider",
    "base_instructions": "baseInstructions",
    "developer_instructions": "developerInstructions",
    "service_tier": "serviceTier",
    "personality": "personality",
    "approvals_reviewer": "approvalsReviewer",
}
_NEW_THREAD_OPTIONS: Final = {"ephemeral": "ephemeral", "dynamic_tools": "dynamicTools"}
_APP_ONLY: Final = frozenset(
    ("approval_policy", "base_instructions", "dynamic_tools", "approvals_reviewer", "personality")
)
"""What `codex exec` has no word for. It works with `never`, whatever config.toml says (0.166.0)."""
_TURN_OPTIONS: Final = {"effort": "effort", "summary": "summary"}

_OFF: Final[dict[str, dict[str, Any]]] = {
    "shell": {"features": {"shell_tool": False}},
    "exec_command": {"features": {"shell_tool": False}},
    "web_search": {"web_search": "disabled"},
}
"""Tools of its own that its settings turn off, by our name and by its. apply_patch, view_image and the others stay in 0.166.0
whatever the settings say."""

NATIVE_OPTIONS: Final = {
    **{
        name: f"{field} of thread/start, thread/resume and thread/fork"
        for name, field in _THREAD_OPTIONS.items()
    },
    **{name: f"{field} of thread/start" for name, field in _NEW_THREAD_OPTIONS.items()},
    **{name: f"{field} of turn/start; it stays" for name, field in _TURN_OPTIONS.items()},
    "approval_policy": "approvalPolicy of thread/start, thread/resume and thread/fork: untrusted, on-request or never",
    "output_last_message": "--output-last-message FILE of codex exec: where its final answer is written",
    "config": "keys of config.toml, over what is there",
}


_UNSEEN_HOOKS: Final = "bypass_hook_trust"
"""Hooks that nobody has looked at yet do not run without this, and it would go on without them."""
_HOOKS: Final = {
    name: name
    for name in (
        *(
            "PreToolUse",
            "PostToolUse",
            "UserPromptSubmit",
            "SessionStart",
            "Stop",
            "SubagentStart",
            "SubagentStop",
        ),
        *("PreCompact", "PostCompact"),
    )
}


def extended(config: SessionConfig, dialect: str, functions: Functions) -> SessionConfig:
    """Tools as an MCP server, hooks as commands in its settings. Where it asks nobody, a call would fail that needs to be
    asked for."""
    settings: dict[str, Any] = {"tool_timeout_sec": functions.agent_waits}
    if config.approve != "plan" and (dialect == "codex_exec" or _held(config)):
        settings["default_tools_approval_mode"] = "approve"
    config = with_tools(config, functions, **settings)
    if not functions.hooks.events:
        return config
    over = dict(config.native.get("config") or {})
    hooks = dict(over.get("hooks") or {})
    for event, command in functions.hook_commands().items():
        name = native_event(config, event, _HOOKS)
        hook = {
            "type": "command",
            "command": shlex.join(command),
            "timeout": int(functions.hooks.agent_waits),
        }
        hooks[name] = [*hooks.get(name, ()), {"hooks": [hook]}]
    over |= {"hooks": hooks, "features": {**over.get("features", {}), "hooks": True}, _UNSEEN_HOOKS: True}
    return structs.replace(config, native={**config.native, "config": over})


def plan(config: SessionConfig, executable: str, dialect: str) -> LaunchPlan:
    """How to start a session."""
    _check(config)
    version, program = installed_version(executable), native_binary(executable)
    if dialect == "codex_exec":
        if is_older(version, EXEC_SINCE):
            _check_old_exec(config)
        return _exec_plan(config, program)
    made = _app_plan(config, program)
    lacks = {capability for capability, since in _SINCE.items() if is_older(version, since)}
    return structs.replace(made, capabilities=made.capabilities - lacks)


def _check_old_exec(config: SessionConfig) -> None:
    asked_for = {"fork": config.fork, "hooks": "hooks" in (config.native.get("config") or {})}
    for name in (name for name, asked in asked_for.items() if asked):
        raise Unsupported(
            "codex", f"{name} in codex_exec before {EXEC_SINCE}", "Use the dialect codex_app instead"
        )


def _check(config: SessionConfig) -> None:
    check_options(config, "codex", NATIVE_OPTIONS)
    if config.policy is not None and _held(config):
        raise Unsupported(
            "codex",
            f"policy with approve={config.approve} and sandbox={config.sandbox}",
            "To keep the sandbox it asks nobody, so no rule could be obeyed",
        )
    if "approval_policy" in config.native:
        _check_approval_policy(config, config.native["approval_policy"])


def _check_approval_policy(config: SessionConfig, word: Any) -> None:
    """Its own word for when it asks may be looser than ours, where nothing that was asked for depends on it."""
    if word not in POLICIES:
        raise UsageError(
            f"native['approval_policy'] must be one of {', '.join(POLICIES)}; not {word!r:.60} (Codex has no on-failure any more)"
        )
    what = f"approval_policy={word}"
    if config.approve == "plan" or _held(config):
        beside = "approve=plan" if config.approve == "plan" else f"sandbox={config.sandbox}"
        raise Unsupported("codex", f"{what} with {beside}", "There it must ask nobody: leave one of them out")
    if config.policy is not None and word != "untrusted":
        raise Unsupported(
            "codex",
            f"policy with {what}",
            "Then it runs unasked what its sandbox lets it, whatever a rule says",
        )


# --- app-server --------------------------------------------------------------------------------------------


def _app_plan(config: SessionConfig, program: str) -> LaunchPlan:
    machine = CodexApp(config.agent)
    return LaunchPlan(
        agent=config.agent,
        dialect=machine.dialect,
        argv=[program, "app-server", *config.extra_args],
        machine=machine,
        options=StartOptions(opening=_opening(config)),
        env=environment(config, ENV_PREFIXES),
        cwd=config.cwd,
        capabilities=machine.capabilities,
        stop=APP_STOP,
        mode_meanings={"untrusted": "ask", "default": "ask"},
        config=settings_shown(config),
    )


def _held(config: SessionConfig) -> bool:
    return config.sandbox in _HELD.get(config.approve, ())


def _opening(config: SessionConfig) -> dict[str, Any]:
    policy, sandbox = _POLICIES[config.approve]
    if config.approve != "plan":  # which only looks, wherever it could write
        sandbox = _SANDBOX.get(config.sandbox, sandbox)
    native = config.native
    params: dict[str, Any] = {
        "cwd": os.path.abspath(config.cwd) if config.cwd is not None else None,
        "model": config.model,
        "approvalPolicy": native.get("approval_policy") or ("never" if _held(config) else policy),
        "sandbox": sandbox,
        "config": _settings(config) or None,
        **{field: native.get(name) for name, field in _THREAD_OPTIONS.items()},
    }
    if config.resume is None:
        method = "thread/start"
        params |= {field: native.get(name) for name, field in _NEW_THREAD_OPTIONS.items()}
    else:
        method = "thread/fork" if config.fork else "thread/resume"
        params |= {"threadId": config.resume, "excludeTurns": True}
        params |= {"lastTurnId": config.resume_at} if config.fork else {}
    first = {field: native[name] for name, field in _TURN_OPTIONS.items() if name in native}
    every = {"outputSchema": config.output_schema} if config.output_schema is not None else {}
    if "output_last_message" in native:
        raise Unsupported("codex", "output_last_message in codex_app", "Use codex_exec, or the result's text")
    opening = {
        "method": method,
        "params": {name: value for name, value in params.items() if value is not None},
        "first_turn": first,
        "turn": every,
    }
    opening |= {"rewind": config.resume_at} if config.resume_at is not None else {}
    return {**opening, "mode": "plan"} if config.approve == "plan" else opening


def _settings(config: SessionConfig) -> dict[str, Any]:
    """What is set over config.toml."""
    settings: dict[str, Any] = dict(config.native.get("config") or {})
    servers = {name: dict(server) for name, server in mcp_config(config.mcp_servers).items()}
    for list_name, tools in (
        ("enabled_tools", config.allowed_tools),
        ("disabled_tools", config.blocked_tools),
    ):
        for tool in tools:
            if list_name == "disabled_tools" and tool in _OFF:
                settings = _over(settings, _OFF[tool])
                continue
            server, name = split_mcp(tool)
            if server is None or server not in servers:
                raise Unsupported(
                    "codex",
                    f"allowing or blocking the tool {tool}",
                    "It can only choose among the tools of mcp_servers (mcp__SERVER__TOOL), and block shell and web_search",
                )
            servers[server].setdefault(list_name, []).append(name)
    if servers:
        settings["mcp_servers"] = {**settings.get("mcp_servers", {}), **servers}
    if config.add_dirs:
        # The flag --add-dir is only of exec.
        written = settings.get("sandbox_workspace_write", {})
        roots = [*written.get("writable_roots", []), *config.add_dirs]
        settings["sandbox_workspace_write"] = {**written, "writable_roots": roots}
    return {**settings, "projects": {**settings.get("projects", {}), **_trust(config)}}


def _over(settings: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with others over them, table by table."""
    return {
        **settings,
        **{
            key: {**settings.get(key, {}), **value} if isinstance(value, dict) else value
            for key, value in more.items()
        },
    }


def _trust(config: SessionConfig) -> dict[str, Any]:
    """Whether .codex/ of the project counts. If nothing is said, Codex trusts a folder as soon as it may write there."""
    here = os.path.abspath(config.cwd or os.getcwd())
    level = {"trust_level": "trusted" if config.trusted else "untrusted"}
    return dict.fromkeys((here, os.path.realpath(here), trust.project_of(here)), level)


# --- exec --------------------------------------------------------------------------------------------------


def _exec_plan(config: SessionConfig, program: str) -> LaunchPlan:
    """One turn, its prompt on the command line. With stdin open it would wait for more of it."""
    if config.prompt is None:
        raise UsageError("codex exec takes its prompt when it starts: give prompt=..., or use codex_app")
    check_argument(config.prompt, "codex exec takes its prompt", "codex_app")
    machine = machine_for("codex_exec", config.agent)
    schema = _schema_file(config)
    return LaunchPlan(
        agent=config.agent,
        dialect="codex_exec",
        argv=[program, *_exec_args(config, schema), *config.extra_args, *_exec_prompt(config)],
        machine=machine,
        files=schema,
        env=environment(config, ENV_PREFIXES),
        cwd=config.cwd,
        capabilities=machine.capabilities,
        one_shot=True,
        stop=EXEC_STOP,
        config={**settings_shown(config), "prompt": config.prompt},
    )


def _schema_file(config: SessionConfig) -> dict[str, bytes]:
    """The schema as the file that `--output-schema` wants, by its path; nothing where none is asked for."""
    if config.output_schema is None:
        return {}
    return {os.path.join(own_files.new_folder(), "schema.json"): json.dumps(config.output_schema).encode()}


def _exec_args(config: SessionConfig, schema: Iterable[str]) -> list[str]:
    args = ["exec", "--json", "--skip-git-repo-check"]
    args += [word for path in schema for word in ("--output-schema", path)]
    args += [f"--image={_uncut(file)}" for file in config.images]
    if (file := config.native.get("output_last_message")) is not None:
        args += ["--output-last-message", _place(file)]
    asked_for = config.sandbox if config.approve not in ("plan", "never") else "none"
    args += ["--sandbox", _SANDBOX.get(asked_for, _EXEC_SANDBOX[config.approve])]
    if config.model is not None:
        args += ["--model", config.model]
    native = config.native
    settings = {
        **_settings(config),
        "model_provider": native.get("model_provider"),
        "developer_instructions": native.get("developer_instructions"),
        "model_reasoning_effort": native.get("effort"),
        "model_reasoning_summary": native.get("summary"),
    }
    if unsaid := native.keys() & _APP_ONLY:
        raise Unsupported("codex", f"{sorted(unsaid)[0]} in codex_exec", "Use the dialect codex_app instead")
    if settings.pop(_UNSEEN_HOOKS, False):  # as a setting it does nothing here (0.166.0)
        args += ["--dangerously-bypass-hook-trust"]
    for key, value in settings.items():
        args += ["--config", f"{key}={_toml(value)}"] if value is not None else []
    return [*args, "--ephemeral"] if native.get("ephemeral") else args


def _place(file: Any) -> str:
    """The absolute path of a file in a folder that is there: where Codex cannot write, its turn completes all the same."""
    if not isinstance(file, str) or not os.path.isdir(os.path.dirname(os.path.abspath(file))):
        raise UsageError(
            f"native['output_last_message'] must be a file in a folder that is there; not {file!r:.60}"
        )
    return os.path.abspath(file)


def _uncut(file: str) -> str:
    """An image file, if it can be named in a list of them."""
    images.read(file)
    if "," in file:
        raise UsageError(f"codex exec would take {file} for two files: give it a name without a comma")
    return file


def _exec_prompt(config: SessionConfig) -> list[str]:
    """A prompt may begin with a dash."""
    assert config.prompt is not None
    if config.resume is None:
        return ["--", config.prompt]
    return ["fork" if config.fork else "resume", config.resume, "--", config.prompt]


def _toml(value: Any) -> str:
    """A value as TOML writes it on one line. Its strings may be escaped as JSON escapes them."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


# --- where things are --------------------------------------------------------------------------------------

_SYSTEMS: Final = {"linux": "unknown-linux-musl", "darwin": "apple-darwin"}
_PROCESSORS: Final = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


def native_binary(executable: str) -> str:
    """The program behind the script that npm installs, which costs a quarter of a second; else as given."""
    script = Path(executable).resolve()
    if script.suffix != ".js":
        return executable
    package = script.parent.parent
    triple = f"{_PROCESSORS.get(platform.machine().lower(), '*')}-{_SYSTEMS.get(sys.platform, '*')}"
    vendors = (package, *package.parent.glob("codex-*"), *package.glob("node_modules/@openai/codex-*"))
    for vendor in vendors:
        for layout in ("bin/codex", "codex/codex"):
            for found in sorted(vendor.glob(f"vendor/{triple}/{layout}")):
                if os.access(found, os.X_OK):
                    return str(found)
    return executable


def join(prompt: str, piped: str) -> str:
    """As `codex exec` does it."""
    whole = piped if piped.endswith("\n") else f"{piped}\n"
    return f"{prompt}\n\n<stdin>\n{whole}</stdin>"


def session_dirs(variables: Mapping[str, str]) -> list[Path]:
    home = variables.get("CODEX_HOME") or os.path.join(variables.get("HOME", "~"), ".codex")
    return [Path(home).expanduser() / "sessions"]


AGENT = Agent(
    name="codex",
    title="Codex CLI",
    executable="codex",
    dialects=("codex_app", "codex_exec"),
    plan=plan,
    extended=extended,
    capabilities=CodexApp.capabilities,
    install="npm install -g @openai/codex",
    login="run `codex login`, or pipe a key into `codex login --with-api-key`",
    tested_versions=("0.135.0", "0.150.0", "0.166.0"),
    session_dirs=session_dirs,
    store=stores.CODEX,
    origins={
        ("codex.forkedFrom",): "fork",
        ("codex.source", "subagent", "thread_spawn", "parent_thread_id"): "subagent",
        ("codex.parentThread",): "subagent",
    },
    unwritten="it writes down no answer that was interrupted",
    native_options=NATIVE_OPTIONS,
    project_files={".codex": "settings, hooks, rules and MCP servers"},
    env_prefixes=ENV_PREFIXES,
    join=join,
)
