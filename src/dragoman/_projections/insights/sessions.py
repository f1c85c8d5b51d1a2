"""What is known of a session, as session_init tells it: all of it each time, so that the last one counts."""

from operator import attrgetter
from typing import Any, Final

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev

_SHOWN: Final = (
    "model",
    "effort",
    "cwd",
    "tools",
    "mcp_servers",
    "permission_mode",
    "account",
    "commands",
    "models",
)
_shown_of: Final = attrgetter(*_SHOWN)


def facts_of(event: ev.SessionFields) -> dict[str, Any]:
    """The facts that session_init has a place for."""
    return {name: value for name, value in zip(_SHOWN, _shown_of(event), strict=True) if value or value == ""}


def init(facts: dict[str, Any]) -> m.SessionInitEvent:
    return m.SessionInitEvent(
        model=facts.get("model"),
        reasoning_effort=facts.get("effort"),
        cwd=facts.get("cwd"),
        available_tools=facts.get("tools"),
        mcp_servers=[
            m.McpServerStatus(name=server.name, status=server.status, server_info=_info(server.server_info))
            for server in facts.get("mcp_servers", [])
        ]
        or None,
        permission_mode=facts.get("permission_mode"),
        account=_account(facts.get("account")),
        slash_commands=[
            m.SlashCommand(command.name, command.description or "", command.hint or "")
            for command in facts.get("commands", [])
        ]
        or None,
        available_models=[_model(item) for item in facts.get("models", [])] or None,
    )


def _info(native: dict[str, Any]) -> m.McpServerInfo | None:
    return m.McpServerInfo(name=_text(native, "name"), version=_text(native, "version")) if native else None


def _account(native: Any) -> m.AccountInfo | None:
    if not isinstance(native, dict):
        return None
    return m.AccountInfo(
        email=_text(native, "email"),
        organization=_text(native, "organization"),
        subscription_type=_text(native, "subscriptionType"),
        token_source=_text(native, "tokenSource"),
        api_key_source=_text(native, "apiKeySource"),
    )


def _model(native: Any) -> m.ModelInfo:
    """A model in whichever of its forms: Claude's value, ACP's modelId, Codex's id."""
    item = native if isinstance(native, dict) else {"value": str(native)}
    value = _text(item, "value") or _text(item, "modelId") or _text(item, "id") or _text(item, "model") or ""
    return m.ModelInfo(
        value=value,
        display_name=_text(item, "displayName") or _text(item, "name") or value,
        description=_text(item, "description") or "",
    )


def _text(native: dict[str, Any], key: str) -> str | None:
    value = native.get(key)
    return value if isinstance(value, str) else None
