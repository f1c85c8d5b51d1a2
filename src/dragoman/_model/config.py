"""How a session is to be opened: the same words for every agent.

`SessionConfig` is what every agent's plan reads. `Options` are the same fields as a caller may write them. What a
caller wrote becomes a SessionConfig in `configured` and nowhere else: there every value is checked.
"""

import difflib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from reprlib import Repr
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta, Struct, field, structs

from dragoman._model.errors import UsageError

Approve: TypeAlias = Literal["ask", "dangerous", "edits", "all", "plan", "never"]
"""ask: every tool that is not read-only. dangerous: only what can do harm. edits: file edits are allowed, the
rest is asked. all: nothing is asked. plan: look, do not touch. never: what would be asked is denied."""

Sandbox: TypeAlias = Literal["none", "read-only", "workspace", "full"]
"""What the agent's own sandbox lets it touch, where it has one: nothing (read-only), the folder that it works in
(workspace), or all (full). none: what the agent chooses by itself."""

InheritEnv: TypeAlias = bool | Literal["known"]

APPROVE_MODES: tuple[Approve, ...] = get_args(Approve)
SANDBOX_MODES: tuple[Sandbox, ...] = get_args(Sandbox)

# --- what a field may hold, and how that is called -----------------------------------------------------------

Name: TypeAlias = Annotated[str, Meta(min_length=1, description="a non-empty string")]
Place: TypeAlias = Annotated[str, Meta(min_length=1, description="a path")]
"""A path, also as an os.PathLike."""
Count: TypeAlias = Annotated[int, Meta(ge=1, description="a whole number from 1 on")]
CountFromZero: TypeAlias = Annotated[int, Meta(ge=0, description="a whole number from 0 on")]
Positive: TypeAlias = Annotated[
    float, Meta(gt=0, le=sys.float_info.max, description="a finite number above 0")
]
_Approval: TypeAlias = Annotated[
    Approve, Meta(description=f"one of {', '.join(APPROVE_MODES)}, or a function that decides")
]
_Inherited: TypeAlias = Annotated[InheritEnv, Meta(description="True, False or 'known'")]


class SessionConfig(Struct, kw_only=True, omit_defaults=True):
    """Everything that can be asked of a new session. Only `agent` is required."""

    agent: Name
    """Its name: claude, codex, gemini, demo, or one of those that `dragoman doctor` lists."""
    prompt: str | None = None
    """The first prompt; sent as soon as the session is open."""
    images: list[Place] = field(default_factory=list)
    """Image files to show with that prompt."""
    resume: Name | None = None
    """The session to go on with: its id, the beginning of that, its title, or LATEST for the last one of the folder."""
    resume_at: Name | None = None
    """Where in `resume` to go on: what `turn.ended.resume_at` said at the end of the last turn that is kept. Those after it
    are forgotten; with `fork`, by the copy only."""
    fork: bool = False
    """Go on in a copy of `resume`, not in the session itself."""
    cwd: Place | None = None
    """The folder that the agent works in; the current one, if absent."""
    add_dirs: list[Place] = field(default_factory=list)
    """Further folders that belong to the session as `cwd` does: to read, and to write as far as `approve` and `sandbox`
    let it write there."""
    model: Name | None = None
    """Which model the agent uses, by the agent's own name for it; its default, if absent."""
    approve: _Approval = "ask"
    """Who may do what: ask, dangerous, edits, all, plan or never."""
    policy: Place | None = None
    """A file of rules that come before the user's own and the project's."""
    trusted: bool | None = None
    """Whether the hooks, MCP servers, plugins and settings that the project in `cwd` brings take part. None: as the user
    has said with `dragoman trust`."""
    sandbox: Sandbox = "none"
    """What the agent's own sandbox lets it touch: none, read-only, workspace or full."""
    allowed_tools: list[str] = field(default_factory=list)
    """Tools that the agent uses without asking, by its own names for them."""
    blocked_tools: list[str] = field(default_factory=list)
    """Tools that the agent does not get, by its own names for them."""
    max_turns: Count | None = None
    """How often the model may answer within one turn."""
    max_cost_usd: Positive | None = None
    """What the run may cost, in dollars."""
    allow_unknown_cost: bool = False
    """Start even if `max_cost_usd` cannot be kept, because nobody knows what the model costs."""
    max_tokens: Count | None = None
    """How many tokens the run may use, cached ones included."""
    max_tool_calls: CountFromZero | None = None
    """How many tools the run may call."""
    timeout: Positive | None = None
    """Seconds for the whole run."""
    start_timeout: Positive | None = None
    """Seconds for the agent to answer what it is told first, where it has to answer: to open a session. 60, if absent, and
    300 where npx or uvx may have to fetch it."""
    idle_timeout: Positive | None = None
    """Seconds of silence while the agent works."""
    env: dict[str, str] = field(default_factory=dict)
    """Set for the agent, over what it inherits."""
    inherit_env: _Inherited = "known"
    """How much of our environment the agent sees beside `env`. "known": what every program needs (PATH, HOME,
    locale, proxies, where tools are) and what is meant for this agent (its record's `env_prefixes`), so that
    unrelated secrets stay here. True: everything. False: nothing."""
    mcp_servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """MCP servers by name, in the common form: command, args, env | type, url, headers."""
    output_schema: dict[str, Any] | None = None
    """JSON Schema that the final answer must satisfy."""
    dialect: Name | None = None
    """Which of its languages the agent shall speak; its first, if absent."""
    executable: Place | None = None
    """The program to start, if not the agent's own name on PATH."""
    extra_args: list[str] = field(default_factory=list)
    """Arguments appended as they are."""
    host: bool = True
    """Do what the agent asks its client to do, where it can ask: read and write files and run commands, within
    `cwd` and as far as `approve` allows."""
    serialize: bool = True
    """Wait while another run is at work in the session that is resumed: two at once lose what they write."""
    native: dict[str, Any] = field(default_factory=dict)
    """Options that only this agent has; its record documents them."""
    keep_lines: bool = False
    """Have events carry the agent's exact lines, as `convert --native` does."""
    record: Place | None = None
    """Where to write the recording: a file that is not there yet, or a pipe or a device."""
    overwrite: bool = False
    """Replace the file of `record` if there is one."""
    redact: bool = True
    """Keep keys, tokens and passwords out of the recording and of `stderr_tail`; docs/processes.md says what counts as
    one."""
    share: bool = False
    """Let other programs of this user on this machine watch and answer it: `dragoman web` lists it. Needs `record`."""


StrPath: TypeAlias = str | os.PathLike[str]
Words: TypeAlias = list[str] | tuple[str, ...]
"""Not any sequence of strings: a string is one too, and `blocked_tools="Bash"` would block B, a, s and h."""
StrPaths: TypeAlias = Words | list[StrPath] | tuple[StrPath, ...]


class Options(TypedDict, total=False):
    """What `open`, `connect` and `ask` take by name: the fields of SessionConfig, with paths as any os.PathLike,
    lists also as tuples and dicts as any mapping. `agent`, `prompt` and `approve` are parameters of their own."""

    images: StrPaths
    resume: str | None
    resume_at: str | None
    fork: bool
    cwd: StrPath | None
    add_dirs: StrPaths
    model: str | None
    policy: StrPath | None
    trusted: bool | None
    sandbox: Sandbox
    allowed_tools: Words
    blocked_tools: Words
    max_turns: int | None
    max_cost_usd: float | None
    allow_unknown_cost: bool
    max_tokens: int | None
    max_tool_calls: int | None
    timeout: float | None
    start_timeout: float | None
    idle_timeout: float | None
    env: Mapping[str, str]
    inherit_env: InheritEnv
    mcp_servers: Mapping[str, Mapping[str, Any]]
    output_schema: Mapping[str, Any] | None
    dialect: str | None
    executable: StrPath | None
    extra_args: Words
    host: bool
    serialize: bool
    native: Mapping[str, Any]
    keep_lines: bool
    record: StrPath | None
    overwrite: bool
    redact: bool
    share: bool


# --- from what was written to what is meant ------------------------------------------------------------------


def configured(agent: str | SessionConfig, options: Mapping[str, Any]) -> SessionConfig:
    """The configuration that a caller asks for: that of an agent's name, or a given one, with `options` over it.

    Raises UsageError for an option that there is not, for a value that a field cannot hold, and for values that
    make no sense together, whether they come from `options` or from the given configuration.
    """
    given = structs.asdict(agent) if isinstance(agent, SessionConfig) else {"agent": agent}
    given.update(options)
    for name in given.keys() - _KINDS.keys():
        raise UsageError(f"there is no option {name!r}{did_you_mean(str(name), _KINDS)}")
    config = SessionConfig(**{name: checked(name, value) for name, value in given.items()})
    for name in ("fork", "resume_at"):
        if getattr(config, name) and config.resume is None:
            raise UsageError(f"{name} needs resume: the session that is meant")
    if config.share and config.record is None:
        raise UsageError("share needs record: the file that others read while it grows")
    if config.images and config.prompt is None:
        raise UsageError("images go with the first prompt: give prompt too")
    return config


def checked(name: str, value: Any, called: str | None = None) -> Any:
    """`value` as the field `name` of SessionConfig keeps it: a path as str, a list, a dict. Raises UsageError with
    the field (or what it is `called`), what it may hold, and the value."""
    fitted = _fitted(called or name, value, _KINDS[name])
    if name == "mcp_servers":
        for server, settings in fitted.items():
            _check_server(f"{name}[{server!r}]", settings)
    if name in ("mcp_servers", "output_schema"):
        _check_json(name, fitted)
    return fitted


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that says that there is no `name`: the known one that is most like it."""
    close = difflib.get_close_matches(name.lower(), known, n=1)
    return f": did you mean {close[0]}?" if close else f"; there are: {', '.join(known)}"


_KINDS: Final[Mapping[str, Any]] = get_type_hints(SessionConfig, include_extras=True)

_WORDS: Final[Mapping[Any, str]] = {
    str: "a string",
    bool: "True or False",
    Sandbox: f"one of {', '.join(SANDBOX_MODES)}",
    list[str]: "a list of strings",
    list[Place]: "a list of paths",
    dict[str, str]: "a dict of strings",
    dict[str, Any]: "a dict",
    dict[str, dict[str, Any]]: "a dict of dicts",
}
"""How the kinds are called that do not say it themselves (`Meta.description`)."""

_short: Final = Repr()
_short.maxlevel = 2  # deeper in are the environments and headers of MCP servers, where keys are
_short.maxstring = _short.maxother = 60


def _fitted(place: str, value: Any, kind: Any) -> Any:
    """`value` as `kind` has it; `place` is where it stands, for the error."""
    kind, optional = _without_none(kind)
    if value is None and optional:
        return None
    if kind is Place and isinstance(value, os.PathLike):
        value = os.fspath(value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list and isinstance(value, list | tuple):
        return [_fitted(f"{place}[{n}]", item, inner[0]) for n, item in enumerate(value)]
    if origin is dict and isinstance(value, Mapping):
        return {
            _fitted(f"a key of {place}", key, str): _fitted(f"{place}[{key!r}]", item, inner[1])
            for key, item in value.items()
        }
    if origin not in (list, dict):
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            pass
    right = _WORDS.get(kind) or next(meta.description for meta in kind.__metadata__)
    if origin is list and isinstance(value, str):
        right += f", such as [{value!r}]"
    raise UsageError(f"{place} must be {right}{', or None' * optional}; not {_short.repr(value)}")


def _without_none(kind: Any) -> tuple[Any, bool]:
    """`kind` without None, and whether None was in it."""
    if get_origin(kind) not in (Union, UnionType) or NoneType not in get_args(kind):
        return kind, False
    [inner] = (each for each in get_args(kind) if each is not NoneType)
    return inner, True


_SERVER: Final[Mapping[str, Any]] = {
    "command": Name,
    "args": list[str],
    "env": dict[str, str],
    "url": Name,
    "headers": dict[str, str],
}
"""What is common to all agents in the description of an MCP server; whatever else stands there is the agent's."""


def _check_server(place: str, settings: Mapping[str, Any]) -> None:
    for key, kind in _SERVER.items():
        if key in settings:
            _fitted(f"{place}[{key!r}]", settings[key], kind)
    if "command" not in settings and "url" not in settings:
        raise UsageError(f"{place} must have a command or a url; it has: {', '.join(settings) or 'nothing'}")


def _check_json(name: str, value: Any) -> None:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{name} must be what JSON can hold; {error}") from error
