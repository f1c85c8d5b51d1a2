"""How a conversation is opened: initialize in the shapes of both versions, then a session and its settings."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from dragoman._dialects.acp import translate as t
from dragoman._dialects.acp.counting import UsageRule
from dragoman._dialects.acp.sessions import Agreement, Session
from dragoman._model.errors import UsageError
from dragoman._version import __version__
from dragoman._wire import fields

INITIALIZE: Final = "dragoman-initialize"
RETRY: Final = "dragoman-initialize-1"
AUTHENTICATE: Final = "dragoman-authenticate"
OPEN: Final = "dragoman-open"
SETTING: Final = "dragoman-set-"
"""Ids of the opening requests: an error that answers one of them is an error of the opening."""

_INFO: Final = {"name": "dragoman", "title": "Dragoman", "version": __version__}


Ask = tuple[str, dict[str, Any]]
"""A method and its params."""


class Opening(Struct, kw_only=True):
    """The settings of the first session."""

    cwd: str = ""
    mcp_servers: dict[str, Any] = field(default_factory=dict)
    """In the common form: command, args, env | type, url, headers."""
    directories: list[str] = field(default_factory=list)
    resume: str | None = None
    fork: bool = False
    replay: bool = False
    """Have the history of `resume` played back."""
    auth_method: str | None = None
    words: Mapping[str, tuple[str, ...]] = {}
    """Our words for modes, and what agents call those that fit."""
    modes: tuple[str, ...] = ()
    """The first of these that the agent has."""
    mode_required: bool = False
    model: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    usage_rule: UsageRule | None = None
    """How the agent counts; by its own name, if not given."""


def initialize(offers: frozenset[str], version: int = 2) -> dict[str, Any]:
    """The params of initialize. With version 2 they carry both shapes: an agent of either answers with its own
    (seen with eight agents); the shape of version 1 alone is for one that refuses."""
    elicitation: dict[str, Any] = {"form": {}, "url": {}}
    old = {
        "protocolVersion": version,
        "clientInfo": _INFO,
        "clientCapabilities": {
            "fs": {"readTextFile": "fs" in offers, "writeTextFile": "fs" in offers},
            "terminal": "terminal" in offers,
            "auth": {"terminal": True},
            "elicitation": elicitation,
            "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
            "_meta": {"terminal_output": True, "terminal-auth": True},
        },
    }
    new = {"info": _INFO, "capabilities": {"auth": {"terminal": {}}, "elicitation": elicitation}}
    return {**old, **new} if version > 1 else old


def session(opening: Opening, agreement: Agreement) -> Ask:
    """Method and params of the request that opens a session. What the agent cannot do is not checked: its
    refusal is then a part of the recording."""
    params: dict[str, Any] = {
        "cwd": opening.cwd,
        "mcpServers": [
            _server(name, server, agreement.version) for name, server in opening.mcp_servers.items()
        ],
    }
    if opening.directories:
        params["additionalDirectories"] = opening.directories
    if opening.resume is None:
        return "session/new", params
    params["sessionId"] = opening.resume
    if opening.fork:
        return "session/fork", params
    if agreement.version >= 2:
        return "session/resume", params | ({"replayFrom": {"type": "start"}} if opening.replay else {})
    quietly = agreement.offers("sessionCapabilities", "resume")
    noisily = agreement.offers("loadSession") or not quietly
    return "session/load" if noisily and (opening.replay or not quietly) else "session/resume", params


_BASELINE: Final = ("list", "resume", "close")
"""What every agent of protocol 2 can do with sessions."""


def can(agreement: Agreement, what: str) -> bool:
    """Whether the agent has session/`what`, by the name that its capabilities have for it."""
    if agreement.version >= 2 and what in _BASELINE:
        return True
    return agreement.offers("sessionCapabilities", what) or agreement.offers("session", what)


def can_resume(agreement: Agreement) -> bool:
    return agreement.offers("loadSession") or can(agreement, "resume")


def can_add_directories(agreement: Agreement) -> bool:
    """Whether the agent takes `additionalDirectories`."""
    return can(agreement, "additionalDirectories")


def _server(name: str, native: Any, version: int) -> dict[str, Any]:
    """An MCP server in ACP's form: a list of named values in place of a mapping, and in protocol 2 always a
    `type`."""
    server = fields.as_mapping(native)
    if "url" in server:
        headers = _name_value_pairs(server.get("headers"))
        return {"type": server.get("type", "http"), "name": name, "url": server["url"], "headers": headers}
    stdio = {
        "name": name,
        "command": str(server.get("command", "")),
        "args": [str(arg) for arg in server.get("args") or []],
        "env": _name_value_pairs(server.get("env")),
    }
    return {"type": "stdio", **stdio} if version >= 2 else stdio


def _name_value_pairs(values: Any) -> list[dict[str, str]]:
    if isinstance(values, list):
        return values
    return [{"name": str(name), "value": str(value)} for name, value in (values or {}).items()]


# --- settings ------------------------------------------------------------------------------------------------


def settings(opening: Opening, session: Session, version: int) -> list[Ask]:
    """The requests that set mode, model and options of a new session, where they differ from what it has."""
    requests = []
    wanted = next((id for mode in opening.modes if (id := mode_id(session, mode)) is not None), None)
    if wanted is None and opening.mode_required:
        wanted = opening.modes[0]
    if wanted is not None and wanted != session.choices.mode:
        requests.append(set_mode(session, wanted, version))
    if opening.model is not None and opening.model != session.choices.model:
        requests.append(set_model(session, opening.model, version))
    return requests + [set_option(session, name, value, version) for name, value in opening.options.items()]


def mode_id(session: Session, mode: str) -> str | None:
    """The id of a mode, by its id, by the end of its id where ids are urls (copilot), or by its name; None if
    the session has no such mode."""
    for known in session.choices.modes:
        names = (known.id, known.id.rpartition("#")[2], known.name)
        if mode in names or mode.casefold() == (known.name or "").casefold():
            return known.id
    return None


def fitting_mode(session: Session, mode: str, words: Mapping[str, tuple[str, ...]]) -> str | None:
    """The id of a mode, by the agent's name for it or by one of our own; None if the session has none that fits."""
    names = (mode, *words.get(mode, ()))
    return next((id for name in names if (id := mode_id(session, name)) is not None), None)


def known_mode(session: Session, mode: str, words: Mapping[str, tuple[str, ...]]) -> str:
    """The id of a mode, by the agent's name for it or by one of our own. Raises UsageError if the session has no such
    mode."""
    id = fitting_mode(session, mode, words)
    if id is None:
        modes = ", ".join(known.id for known in session.choices.modes) or "none"
        raise UsageError(f"this agent has no mode {mode!r}; it has: {modes}")
    return id


def known_option(session: Session, option: str) -> str:
    """The id of an option. Raises UsageError if the session has no such option."""
    known = [t.option_id(item) for item in session.choices.options if isinstance(item, dict)]
    if option not in known:
        names = ", ".join(name for name in known if name is not None) or "none"
        raise UsageError(f"this agent has no option {option!r}; it has: {names}")
    return option


def set_mode(session: Session, id: str, version: int) -> Ask:
    """The request that sets a mode. Protocol 2 has no modes, only an option of that category; some agents of
    protocol 1 have only that, too."""
    option = t.option_id(t.option_in(session.choices.options, "mode"))
    if version >= 2 or (option is not None and not session.choices.has_modes):
        return set_option(session, option or "mode", id, version)
    return "session/set_mode", {"sessionId": session.id, "modeId": id}


def set_model(session: Session, model: str, version: int) -> Ask:
    """The request that sets a model: the option of category model, if it has this value; else
    session/set_model, the older way (codex-acp has both, with different names)."""
    option = t.option_in(session.choices.options, "model")
    old = any(fields.text(known, "modelId") == model for known in session.choices.models)
    if version >= 2 or (option and not (old and all(v.get("value") != model for v in t.values_of(option)))):
        return set_option(session, t.option_id(option) or "model", model, version)
    return "session/set_model", {"sessionId": session.id, "modelId": model}


def set_option(session: Session, option: str, value: Any, version: int) -> Ask:
    params: dict[str, Any] = {"sessionId": session.id, "configId": option}
    if isinstance(value, bool):
        params |= {"type": "boolean", "value": value}
    else:
        params |= ({"type": "id"} if version >= 2 else {}) | {"value": str(value)}
    return "session/set_config_option", params


def authenticate(method: str, version: int) -> Ask:
    return "auth/login" if version >= 2 else "authenticate", {"methodId": method}
