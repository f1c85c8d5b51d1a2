"""What the agent asks, as permission_request; and the limits it tells of. Stateless and total."""

from typing import Any

from dragoman._dialects.insights import messages as m
from dragoman._model import events as ev


def suggestions(native: list[Any]) -> list[m.PermissionSuggestion] | None:
    """What could be allowed for longer than once."""
    return [_suggestion(item) for item in native if isinstance(item, dict)] or None


def _suggestion(native: dict[str, Any]) -> m.PermissionSuggestion:
    kind, mode = _text(native, "type") or "unknown", _text(native, "mode")
    rules, directories = _items(native, "rules"), _items(native, "directories")
    rule = rules[0] if rules and isinstance(rules[0], dict) else {}
    tool = _text(native, "toolName") or _text(rule, "toolName")
    folder = next((item for item in directories if isinstance(item, str)), None)
    directory = _text(native, "directory") or folder
    pattern = _text(rule, "ruleContent")
    about = f"{tool}({pattern})" if tool and pattern else tool or directory or mode or ""
    described = " ".join(part for part in (_text(native, "behavior"), kind, about) if part)
    return m.PermissionSuggestion(
        type=kind,
        description=_text(native, "description") or described,
        tool_name=tool,
        directory=directory,
        mode=mode,
    )


def question_input(event: ev.QuestionAsked) -> dict[str, Any]:
    """A question as the input of the tool that Claude and Codex ask with; a form or a page in its own words."""
    if event.questions:
        return {"questions": event.questions}
    given = {"message": event.message, "schema": event.schema, "url": event.url}
    return {key: value for key, value in given.items() if value is not None}


# --- limits ------------------------------------------------------------------------------------------------


def rate_limit(event: ev.RateLimit) -> m.RateLimitUpdateEvent | None:
    """Only windows that say how much of them is used; other limits have no place in the model."""
    named = [item for item in event.windows if isinstance(item, dict)]
    primary, secondary = (_window(named, name) for name in ("primary", "secondary"))
    if primary is None and secondary is None:
        return None
    return m.RateLimitUpdateEvent(
        primary=primary, secondary=secondary, credits=_credits(event.credits), plan_type=event.plan
    )


def _window(windows: list[dict[str, Any]], name: str) -> m.RateLimitWindow | None:
    native = next((item for item in windows if item.get("name") == name), {})
    used = _number(native, "usedPercent", "used_percent")
    if used is None:
        return None
    return m.RateLimitWindow(
        used_percent=used,
        window_duration_mins=_number(native, "windowDurationMins", "window_minutes"),
        resets_at=_number(native, "resetsAt", "resets_at"),
    )


def _credits(native: Any) -> m.RateLimitCredits | None:
    if not isinstance(native, dict):
        return None
    has, unlimited = (
        next((native[key] for key in keys if isinstance(native.get(key), bool)), None)
        for keys in (("hasCredits", "has_credits"), ("unlimited",))
    )
    return m.RateLimitCredits(has_credits=has, unlimited=unlimited, balance=native.get("balance"))


def _text(native: dict[str, Any], key: str) -> str | None:
    value = native.get(key)
    return value if isinstance(value, str) and value else None


def _items(native: dict[str, Any], key: str) -> list[Any]:
    value = native.get(key)
    return value if isinstance(value, list) else []


def _number(native: dict[str, Any], *keys: str) -> int | float | None:
    return next((native[key] for key in keys if type(native.get(key)) in (int, float)), None)
