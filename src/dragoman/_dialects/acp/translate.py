"""What single messages mean, where no memory is needed: stateless and total."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct, field

from dragoman._dialects.acp import messages as m
from dragoman._model import events as ev
from dragoman._model.errors import ErrorKind
from dragoman._model.sessions import SessionInfo
from dragoman._wire import fields
from dragoman._wire.content import text_of_content
from dragoman._wire.jsonrpc import INTERNAL_ERROR, RpcError

CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000
_KINDS: Final[dict[int, ErrorKind]] = {AUTH_REQUIRED: "loginRequired", 401: "loginRequired"}
"""Causes by the code of an error; Gemini CLI has the API's status there (tests/real/test_failures)."""

_OUTCOMES: Final[dict[str | None, ev.TurnOutcome]] = {
    "end_turn": "completed",
    "max_tokens": "limited",
    "max_turn_requests": "limited",
    "refusal": "refused",
    "cancelled": "cancelled",
    "error": "failed",
}


def outcome_of(stop_reason: str | None) -> ev.TurnOutcome:
    """The outcome of a turn by its `stopReason`; one that is unknown counts as completed."""
    return _OUTCOMES.get(stop_reason, "completed")


def error_info(error: RpcError) -> ev.ErrorInfo:
    """An error from a JSON-RPC error. Its `data` often has the only useful words ("Internal error",
    {"details": …})."""
    data = error.data
    details = fields.value(data, "details") if isinstance(data, dict) else data
    extra = details if isinstance(details, str) and details not in error.message else None
    message = ": ".join(part for part in (error.message, extra) if part)
    return ev.ErrorInfo(message=message or "unknown error", code=str(error.code), kind=_KINDS.get(error.code))


def rpc_error(native: Any) -> RpcError:
    """The `error` of a state_update as a JSON-RPC error."""
    code = fields.integer(native, "code")
    return RpcError(
        code=code if code is not None else INTERNAL_ERROR,
        message=fields.text(native, "message") or "the agent failed",
        data=fields.value(native, "data"),
    )


# --- initialize ----------------------------------------------------------------------------------------------


def agent_ready(result: Any) -> ev.AgentReady:
    """The event for the answer to initialize. Protocol 1 prefixes its fields with `agent`, protocol 2 does
    not."""
    info = fields.mapping(result, "agentInfo") or fields.mapping(result, "info")
    version = fields.value(result, "protocolVersion")
    return ev.AgentReady(
        protocol_version=version if type(version) in (str, int) else None,
        name=fields.text(info, "name"),
        cli_version=fields.text(info, "version"),
        capabilities=fields.mapping(result, "agentCapabilities") or fields.mapping(result, "capabilities"),
        auth_methods=fields.items(result, "authMethods"),
        ext={"acp.agentInfo": info} if info else {},
    )


def ways_in(methods: list[Any]) -> str:
    """The agent's `authMethods` as a text for people."""
    ways = []
    for method in methods:
        if isinstance(method, dict):
            name = (
                fields.text(method, "name")
                or fields.text(method, "id")
                or fields.text(method, "methodId")
                or "?"
            )
            more = fields.text(method, "description")
            ways.append(f"{name} ({more.strip()})" if more else name)
    return "; ".join(ways)


# --- sessions ------------------------------------------------------------------------------------------------


class Choices(Struct):
    """The options, modes and models of a session, and the current ones."""

    options: list[Any] = field(default_factory=list)
    modes: list[ev.Mode] = field(default_factory=list)
    mode: str | None = None
    has_modes: bool = False
    """Modes of their own, to be set with session/set_mode."""
    models: list[Any] = field(default_factory=list)
    model: str | None = None
    effort: str | None = None


def choices_of(result: Any) -> Choices:
    """The choices in the answer to session/new, load, resume or fork. Modes and models of their own are the
    older way, options with a category the newer one; many agents have both."""
    options = fields.items(result, "configOptions")
    mode, model, effort = (option_in(options, category) for category in ("mode", "model", "thought_level"))
    old_modes, old_models = fields.mapping(result, "modes"), fields.mapping(result, "models")
    return Choices(
        options=options,
        modes=modes_of(fields.items(old_modes, "availableModes")) or modes_of(values_of(mode)),
        mode=fields.text(old_modes, "currentModeId") or fields.text(mode, "currentValue"),
        has_modes=bool(old_modes),
        models=fields.items(old_models, "availableModels") or list(values_of(model)),
        model=fields.text(old_models, "currentModelId") or fields.text(model, "currentValue"),
        effort=fields.text(effort, "currentValue"),
    )


def option_in(options: list[Any], category: str) -> dict[str, Any]:
    """The option of a category; an empty object if there is none."""
    return next((item for item in options if fields.value(item, "category") == category), {})


def option_id(option: dict[str, Any]) -> str | None:
    return fields.text(option, "id") or fields.text(option, "configId")


def values_of(option: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The values of a select, out of their groups."""
    for item in fields.mappings(option, "options"):
        yield from fields.mappings(item, "options")
        if "value" in item:
            yield item


def modes_of(native: Any) -> list[ev.Mode]:
    found = (
        (fields.text(item, "id") or fields.text(item, "value"), item)
        for item in native
        if isinstance(item, dict)
    )
    return [ev.Mode(id=id, name=fields.text(item, "name")) for id, item in found if id is not None]


def commands_of(native: list[Any] | None) -> list[ev.SlashCommand]:
    commands = []
    for item in native or []:
        if isinstance(item, dict):
            name, about = fields.text(item, "name"), fields.text(item, "description")
            old = fields.text(item, "id") if "id" in item else None
            hint = fields.text(item["input"], "hint") if "input" in item else None
            if (old or name) is not None:
                commands.append(
                    ev.SlashCommand(
                        name=(old or name or "").removeprefix("/"),
                        description=about or (name if old is not None else None),
                        hint=hint or None,
                    )
                )
    return commands


_PLAN_STATUS: Final = ("pending", "in_progress", "completed")


def plan_of(native: list[Any] | None) -> ev.PlanUpdated:
    """The event for a plan's `entries`. Older agents have an entry's text in `text`, `title` or
    `description`."""
    entries = []
    for item in native or []:
        entry = {"content": item} if isinstance(item, str) else item if isinstance(item, dict) else {}
        words = (fields.text(entry, key) for key in ("content", "text", "title", "description"))
        status: Any = entry.get("status") if entry.get("status") in _PLAN_STATUS else "pending"
        if entry.get("status") == "cancelled":
            continue
        entries.append(
            ev.PlanEntry(
                text=next((word for word in words if word), ""),
                status=status,
                priority=fields.text(entry, "priority"),
            )
        )
    return ev.PlanUpdated(entries=entries, ext={"acp.planEntries": native} if native else {})


def notice(update: m.NoticeGiven) -> ev.Event:
    message = ": ".join(part for part in (update.title, update.description) if part)
    if update.severity == "error":
        return ev.Error(message=message, scope="session")
    return ev.Notice(severity="warning" if update.severity == "warning" else "info", message=message)


def compaction_event(update: m.Compaction, summary: str | None, *, manual: bool) -> ev.ContextCompacted:
    return ev.ContextCompacted(
        trigger="manual" if manual else "auto",
        summary=text_of_content(update.summary) or summary or update.error,
        phase="started" if update.status == "in_progress" else update.status,
    )


# --- permissions ---------------------------------------------------------------------------------------------


def options_of(native: Any) -> list[ev.PermissionOption]:
    found = (
        (fields.text(item, "optionId") or fields.text(item, "id"), item)
        for item in native or []
        if isinstance(item, dict)
    )
    return [
        ev.PermissionOption(id=id, name=fields.text(item, "name"), kind=fields.text(item, "kind"))
        for id, item in found
        if id is not None
    ]


# --- sessions that are kept ----------------------------------------------------------------------------------


def sessions_in(agent: str, result: Any) -> tuple[list[SessionInfo], str | None]:
    """The sessions in the answer to session/list, and its nextCursor."""
    infos = [
        SessionInfo(
            agent=agent,
            id=id,
            title=fields.text(session, "title") or None,
            cwd=fields.text(session, "cwd"),
            updated=fields.time(session, "updatedAt"),
        )
        for session in fields.mappings(result, "sessions")
        if (id := fields.text(session, "sessionId"))
    ]
    return infos, fields.text(result, "nextCursor")
