"""What single messages mean, where no memory is needed: stateless and total."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct, field

from dragoman._dialects.acp import messages as m
from dragoman._dialects.acp.content import said
from dragoman._model import events as ev
from dragoman._wire.jsonrpc import RpcError

CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000

_OUTCOMES: Final[dict[str | None, ev.TurnOutcome]] = {
    "end_turn": "completed",
    "max_tokens": "limited",
    "max_turn_requests": "limited",
    "refusal": "refused",
    "cancelled": "cancelled",
    "error": "failed",
}


def outcome_of(stop_reason: str | None) -> ev.TurnOutcome:
    """An agent that stops for a reason of its own has stopped by itself."""
    return _OUTCOMES.get(stop_reason, "completed")


def error_info(error: RpcError) -> ev.ErrorInfo:
    """A JSON-RPC error. Often only its data says what is wrong ("Internal error", {"details": …})."""
    data = error.data
    details = data.get("details") if isinstance(data, dict) else data
    extra = details if isinstance(details, str) and details not in error.message else None
    message = ": ".join(part for part in (error.message, extra) if part)
    return ev.ErrorInfo(message=message or "unknown error", code=str(error.code))


def rpc_error(native: Any) -> RpcError:
    """The error inside a state_update."""
    error = native if isinstance(native, dict) else {}
    code = error.get("code")
    return RpcError(
        code=code if type(code) is int else -32603,
        message=text(error, "message") or "the agent failed",
        data=error.get("data"),
    )


# --- initialize ----------------------------------------------------------------------------------------------


def agent_ready(result: Any) -> ev.AgentReady:
    """Protocol 1 prefixes its fields with `agent`, protocol 2 does not."""
    info = mapping(result, "agentInfo") or mapping(result, "info")
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return ev.AgentReady(
        protocol_version=version if type(version) in (str, int) else None,
        name=text(info, "name"),
        cli_version=text(info, "version"),
        capabilities=mapping(result, "agentCapabilities") or mapping(result, "capabilities"),
        auth_methods=items(result, "authMethods"),
        ext={"acp.agentInfo": info} if info else {},
    )


def ways_in(methods: list[Any]) -> str:
    """What a user can do to sign in, in words."""
    ways = []
    for method in methods:
        if isinstance(method, dict):
            name = text(method, "name") or text(method, "id") or text(method, "methodId") or "?"
            more = text(method, "description")
            ways.append(f"{name} ({more.strip()})" if more else name)
    return "; ".join(ways)


# --- sessions ------------------------------------------------------------------------------------------------


class Choices(Struct):
    """What can be chosen in a session, and what is."""

    options: list[Any] = field(default_factory=list)
    modes: list[ev.Mode] = field(default_factory=list)
    mode: str | None = None
    has_modes: bool = False
    """Modes of their own, to be set with session/set_mode."""
    models: list[Any] = field(default_factory=list)
    model: str | None = None
    effort: str | None = None


def choices_of(result: Any) -> Choices:
    """From the answer to session/new, load, resume or fork. Modes and models of their own are the older way,
    options with a category the newer one; many agents give both."""
    options = items(result, "configOptions")
    mode, model, effort = (option_in(options, category) for category in ("mode", "model", "thought_level"))
    old_modes, old_models = mapping(result, "modes"), mapping(result, "models")
    return Choices(
        options=options,
        modes=modes_of(items(old_modes, "availableModes")) or modes_of(values_of(mode)),
        mode=text(old_modes, "currentModeId") or text(mode, "currentValue"),
        has_modes=bool(old_modes),
        models=items(old_models, "availableModels") or list(values_of(model)),
        model=text(old_models, "currentModelId") or text(model, "currentValue"),
        effort=text(effort, "currentValue"),
    )


def option_in(options: list[Any], category: str) -> dict[str, Any]:
    """The option of a category; none is empty."""
    return next((item for item in options if isinstance(item, dict) and item.get("category") == category), {})


def option_id(option: dict[str, Any]) -> str | None:
    return text(option, "id") or text(option, "configId")


def values_of(option: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The values of a select, out of their groups."""
    for item in items(option, "options"):
        if isinstance(item, dict):
            yield from (inner for inner in items(item, "options") if isinstance(inner, dict))
            if "value" in item:
                yield item


def modes_of(native: Any) -> list[ev.Mode]:
    found = ((text(item, "id") or text(item, "value"), item) for item in native if isinstance(item, dict))
    return [ev.Mode(id=id, name=text(item, "name")) for id, item in found if id is not None]


def commands_of(native: list[Any] | None) -> list[ev.SlashCommand]:
    commands = []
    for item in native or []:
        if isinstance(item, dict):
            old, name = text(item, "id"), text(item, "name")
            input = mapping(item, "input")
            if (old or name) is not None:
                commands.append(
                    ev.SlashCommand(
                        name=(old or name or "").removeprefix("/"),
                        description=text(item, "description") or (name if old is not None else None),
                        hint=text(input, "hint") or None,
                    )
                )
    return commands


_PLAN_STATUS: Final = ("pending", "in_progress", "completed")


def plan_of(native: list[Any] | None) -> ev.PlanUpdated:
    """`text` (and `title`, `description`) are what older agents call an entry's content."""
    entries = []
    for item in native or []:
        entry = {"content": item} if isinstance(item, str) else item if isinstance(item, dict) else {}
        words = (text(entry, key) for key in ("content", "text", "title", "description"))
        status: Any = entry.get("status") if entry.get("status") in _PLAN_STATUS else "pending"
        if entry.get("status") == "cancelled":
            continue
        entries.append(
            ev.PlanEntry(
                text=next((word for word in words if word), ""),
                status=status,
                priority=text(entry, "priority"),
            )
        )
    return ev.PlanUpdated(entries=entries, ext={"acp.planEntries": native} if native else {})


def notice(update: m.NoticeGiven) -> ev.Event:
    message = ": ".join(part for part in (update.title, update.description) if part)
    if update.severity == "error":
        return ev.Error(message=message, scope="session")
    return ev.Notice(severity="warning" if update.severity == "warning" else "info", message=message)


def compacted(update: m.Compaction, summary: str | None, *, manual: bool) -> ev.ContextCompacted:
    told, _ = said(update.summary)
    return ev.ContextCompacted(
        trigger="manual" if manual else "auto",
        summary=told or summary or update.error,
        phase="started" if update.status == "in_progress" else update.status,
    )


# --- permissions ---------------------------------------------------------------------------------------------


def options_of(native: Any) -> list[ev.PermissionOption]:
    found = (
        (text(item, "optionId") or text(item, "id"), item) for item in native or [] if isinstance(item, dict)
    )
    return [
        ev.PermissionOption(id=id, name=text(item, "name"), kind=text(item, "kind"))
        for id, item in found
        if id is not None
    ]


# --- plain JSON ----------------------------------------------------------------------------------------------


def text(native: Any, key: str) -> str | None:
    value = native.get(key) if isinstance(native, dict) else None
    return value if isinstance(value, str) else None


def number(native: Any, key: str) -> int | None:
    value = native.get(key) if isinstance(native, dict) else None
    return value if type(value) is int else None


def mapping(native: Any, key: str) -> dict[str, Any]:
    value = native.get(key) if isinstance(native, dict) else None
    return value if isinstance(value, dict) else {}


def items(native: Any, key: str) -> list[Any]:
    value = native.get(key) if isinstance(native, dict) else None
    return value if isinstance(value, list) else []
