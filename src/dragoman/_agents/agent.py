"""The record of an agent: what it is called, what it can do, and how a run of it is planned."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct, field, structs

from dragoman._files.stores import Store
from dragoman._model.capabilities import Capability
from dragoman._model.config import SessionConfig
from dragoman._model.errors import Unsupported, UsageError
from dragoman._model.sessions import UUID
from dragoman._model.tools import SERVER
from dragoman._runtime.functions import Functions
from dragoman._runtime.plan import LaunchPlan
from dragoman._wire.redaction import is_secret_name

Planner = Callable[[SessionConfig, str, str], LaunchPlan]
"""Called with the configuration, the absolute path of the executable, and the dialect to speak."""


Join = Callable[[str, str], str]


def prompt_first(prompt: str, piped: str) -> str:
    """As Claude Code joins them, and opencode."""
    return f"{prompt}\n{piped}"


FETCHERS: Final = {"npx": 3, "uvx": 4}
"""Programs that fetch an agent, and how many words that takes: `npx -y PACKAGE`, `uvx --from PACKAGE PROGRAM`."""

Extender = Callable[[SessionConfig, str, Functions], SessionConfig]
"""Called with the configuration, the dialect to speak, and the caller's functions; the configuration with them in it."""


def with_tools(config: SessionConfig, functions: Functions, **settings: Any) -> SessionConfig:
    """For agents that start MCP servers: one that leads back to the caller's functions, with `settings` of the agent's."""
    functions.settings = settings
    if not functions.tools:
        return config
    return structs.replace(config, mcp_servers={**config.mcp_servers, SERVER: functions.server()})


def without_hooks(config: SessionConfig, dialect: str, functions: Functions) -> SessionConfig:
    """For agents that have no hooks, or none that a client could give them."""
    if functions.hooks.events:
        raise Unsupported(config.agent, f"hooks in {dialect}", "No hook can be given to it for one run")
    return with_tools(config, functions)


def native_event(config: SessionConfig, event: str, known: Mapping[str, str]) -> str:
    """What an agent calls an event. Raises UsageError if it has none such."""
    if event in known:
        return known[event]
    raise UsageError(f"{config.agent} has no hook {event!r}; it has: {', '.join(known)}")


def nowhere(environment: Mapping[str, str]) -> list[Path]:
    """For agents that keep no sessions on disk."""
    return []


class Agent(Struct, frozen=True, kw_only=True):
    """A program that speaks one or more dialects."""

    name: str
    title: str
    executable: str
    """Its name on PATH."""
    dialects: tuple[str, ...]
    """The first is the one to drive it with."""
    plan: Planner
    extended: Extender = without_hooks
    """How it is given the caller's functions, as tools and hooks."""
    capabilities: frozenset[Capability] = frozenset()
    install: str = ""
    """How to get it, in one line."""
    login: str = ""
    """How to log in to it, as the end of a sentence."""
    fetched: bool = False
    """The executable is a runner (npx, uvx) that fetches the agent: it being there says nothing about the agent."""
    program: str = ""
    """What a fetched agent's own program is called, if that is on PATH as well; "" if nobody knows."""
    vendor: str | None = None
    """The agent that it is at heart, where it is another one's adapter or descendant."""
    tested_versions: tuple[str, ...] = ()
    oldest: str | None = None
    """The oldest version that takes what it is told at the start, where one that does not is known."""
    seen_versions: tuple[str, ...] = ()
    """Versions that started and did no turn."""
    why: str = ""
    """What kept them from it, or it from being tried; or why it is not fetched."""
    version_args: tuple[str, ...] = ("--version",)
    session_dirs: Callable[[Mapping[str, str]], list[Path]] = nowhere
    """Where its session files are, in a given environment."""
    store: Store | None = None
    """How they are read, where that can be done from outside."""
    origins: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    """Where in `ext` a session says which one it came of, and what it is to that one, fork or subagent; the last counts."""
    unwritten: str = ""
    """What of its usage it never writes down, as the end of a sentence; "" if nobody knows (docs/usage.md)."""
    session_id: str = UUID
    """What a whole session id looks like: a regular expression."""
    native_options: dict[str, str] = field(default_factory=dict)
    """The keys of SessionConfig.native that it knows, and what they do."""
    project_files: Mapping[str, str] = field(default_factory=dict)
    """What a project can bring that runs code, by the file or folder: hooks, MCP servers, plugins."""
    unheld: tuple[str, ...] = ()
    """Those of them that nothing keeps it from running: where one is there, it is not started in a folder that is not
    trusted."""
    env_prefixes: tuple[str, ...] = ()
    """How the variables begin that are meant for it: settings, and the keys of its models."""
    join: Join = prompt_first
    """A prompt and what is piped in beside it as one, in the way of its own command line."""

    @property
    def state(self) -> str:
        """What is known of it in a word: tested, starts, or not tried."""
        if self.tested_versions:
            return "tested"
        return "starts" if self.seen_versions else "not tried"


REPLAY: Final = "replay:"
"""How the name of an agent begins that is a recording."""


class StandIn:
    """What plays an agent in place of one: for a test (see dragoman.testing). It is given where an agent is named."""

    record: Agent
    """Whom it plays, and how."""
    options: Mapping[str, Any] = {}
    """What holds where the caller says nothing."""


AnyAgent: TypeAlias = str | Agent | StandIn | SessionConfig
"""An agent's name or record, what plays one, or a configuration that says which."""


# --- what a configuration may ask, and what may be told of it -----------------------------------------------


def check_options(config: SessionConfig, speaker: str, options: Mapping[str, str]) -> None:
    """Refuse native options that this agent does not have."""
    unknown = sorted(config.native.keys() - options.keys())
    if unknown:
        known = ", ".join(options) or "none"
        raise UsageError(f"{speaker} has no native option {unknown[0]!r}; it has: {known}")


_ARGUMENT: Final = 120_000
"""Bytes that one word of a command line may have everywhere: Linux stops at 131,071."""


def check_argument(text: str, what: str, instead: str) -> None:
    """Refuse a text that is too long for a word of a command line. `what` begins the sentence, `instead` is the dialect
    that takes it."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > _ARGUMENT:
        raise UsageError(
            f"{what} as an argument, which may have {_ARGUMENT} bytes; this one has {size}: use the dialect {instead}"
        )


def settings_shown(config: SessionConfig) -> dict[str, Any]:
    """What run.started may say: no environment, and no secrets that came with MCP servers."""
    said: dict[str, Any] = msgspec.to_builtins(config)
    for name in ("env", "prompt"):
        said.pop(name, None)
    if config.mcp_servers:
        said["mcp_servers"] = sorted(config.mcp_servers)
    return said


# --- what it sees of the environment -------------------------------------------------------------------------

_NAMES: Final = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "FORCE_COLOR", "CI", "EDITOR", "VISUAL", "PAGER"),
        *("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "SSH_AGENT_PID"),
        *("GPG_TTY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"),
        *(
            "LD_LIBRARY_PATH",
            "DYLD_LIBRARY_PATH",
            "PKG_CONFIG_PATH",
            "VIRTUAL_ENV",
            "PYENV_ROOT",
            "UV_CACHE_DIR",
        ),
        *(
            "JAVA_HOME",
            "GOPATH",
            "GOROOT",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "PNPM_HOME",
            "BUN_INSTALL",
            "DENO_DIR",
        ),
    )
)
_PREFIXES: Final = ("LC_", "XDG_", "NODE_", "NVM_", "CONDA_")

MODEL_KEYS: Final = (
    *("ANTHROPIC_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "GOOGLE_", "OPENROUTER_", "MISTRAL_", "DEEPSEEK_"),
    *("GROQ_", "XAI_", "DASHSCOPE_", "MOONSHOT_", "HF_", "OLLAMA_"),
)
"""For agents that work with anyone's models."""


def environment(config: SessionConfig, prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """All that the agent shall see of the environment; `prefixes` are its record's `env_prefixes`."""
    if config.inherit_env == "known":
        inherited = {name: value for name, value in os.environ.items() if _known(name, prefixes)}
    else:
        inherited = dict(os.environ) if config.inherit_env else {}
    return {**inherited, **config.env}


def _known(name: str, prefixes: tuple[str, ...]) -> bool:
    if name.upper() in _NAMES or name.startswith(prefixes):
        return True
    return name.startswith(_PREFIXES) and not is_secret_name(name)  # such as NODE_AUTH_TOKEN
