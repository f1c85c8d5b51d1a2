"""What single messages mean, where no memory is needed: stateless and total."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from dragoman._dialects.codex.app import items as i
from dragoman._dialects.codex.app import messages as m
from dragoman._dialects.codex.shared import values as v
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._model.sessions import SessionInfo
from dragoman._wire import fields


def ext(**values: Any) -> dict[str, Any]:
    """An event's `ext` of native values, those that are not empty, each as `codex.<name>`."""
    return {f"codex.{name}": value for name, value in values.items() if value not in _EMPTY}


_EMPTY: Final[tuple[Any, ...]] = (None, [], {})


# --- notifications -----------------------------------------------------------------------------------------

_STATUS: Final = {"idle": "idle", "systemError": "error", "notLoaded": "unloaded"}
_ATTEMPT: Final = re.compile(r"Reconnecting\D*(\d+)/(\d+)")


def status(params: m.StatusNews) -> list[Event]:
    given = params.status or {}
    kind, flags = given.get("type"), given.get("activeFlags")
    if kind == "active":
        told = {} if flags in _EMPTY else {"codex.activeFlags": flags}
        return [ev.SessionStatus(status="requires_action" if flags else "running", ext=told)]
    return [ev.SessionStatus(status=_STATUS.get(str(kind), str(kind)))]


def plan(params: m.PlanNews) -> list[Event]:
    entries = [
        ev.PlanEntry(
            text=str(step.get("step", "")), status=_PLAN_STATUS.get(str(step.get("status")), "pending")
        )
        for step in params.plan or []
    ]
    return [ev.PlanUpdated(entries=entries, ext=ext(explanation=params.explanation))]


_PLAN_STATUS: Final[dict[str, Any]] = {"inProgress": "in_progress", "completed": "completed"}


def goal(params: m.GoalNews) -> list[Event]:
    given = params.goal or {}
    said = fields.text(given, "objective")
    return [ev.SessionStatus(status=f"goal_{given.get('status', 'updated')}", message=said)]


def error(params: m.ErrorNews) -> list[Event]:
    """The event for an `error` notification: a retry if `willRetry`, else an error. The last one is the
    turn's own error."""
    info, details = error_info(params.error), fields.text(params.error, "additionalDetails")
    attempt = _ATTEMPT.search(info.message)
    if params.willRetry:
        return [
            ev.Retry(
                attempt=int(attempt[1]) if attempt else None,
                max_attempts=int(attempt[2]) if attempt else None,
                reason=details if details is not None else info.message,
                status_code=_http_status(fields.value(params.error, "codexErrorInfo")),
            )
        ]
    text = f"{info.message}\n{details}" if details is not None else info.message
    return [ev.Error(message=text, code=info.code)]


def error_info(native: Any) -> ev.ErrorInfo:
    """The error of a turn; its code is Codex's own name for it."""
    return v.error_of(native) or ev.ErrorInfo(message="unknown error", code=v.error_code(native))


def _http_status(info: Any) -> int | None:
    inner = next(iter(fields.as_mapping(info).values()), None)
    return fields.integer(inner, "httpStatusCode")


def _notice(code: str | None, severity: Any = "warning") -> Callable[[m.TextNews], list[Event]]:
    def make(params: m.TextNews) -> list[Event]:
        said = "\n".join(text for text in (params.message or params.summary, params.details) if text)
        return [ev.Notice(severity=severity, message=said, code=code)]

    return make


def _fixed_notice(message: str, code: str) -> Callable[[m.Params], list[Event]]:
    return lambda params: [ev.Notice(severity="warning", message=message, code=code)]


def _thread_mark(status: str) -> Callable[[m.Params], list[Event]]:
    return lambda params: [ev.SessionStatus(status=status)]


def hook(params: m.HookNews) -> list[Event]:
    run = params.run or {}
    texts = [str(entry.get("text", "")) for entry in fields.mappings(run, "entries")]
    state = fields.text(run, "status")
    return [
        ev.Hook(
            name=fields.text(run, "id"),
            event=fields.text(run, "eventName"),
            phase="started" if state == "running" else "ended",
            output="\n".join(texts) or fields.text(run, "statusMessage"),
            outcome=None if state == "running" else state,
        )
    ]


def rate_limit(params: m.LimitsNews) -> list[Event]:
    """The event for `rateLimits`, none if it is empty: one comes with every answer of the model, mostly with
    nothing in it (all captures)."""
    given = params.rateLimits or {}
    said = [*map(given.get, _LIMITS_TOLD)]
    if said == _NO_LIMIT:
        return []
    windows = [
        {"name": name, **window}
        for name, window in zip(_WINDOWS, said, strict=False)
        if isinstance(window, dict)
    ]
    reached, plan, credits = said[len(_WINDOWS) :]
    if not windows and reached is None and plan is None and credits is None:
        return []
    resets = [window["resetsAt"] for window in windows if isinstance(window.get("resetsAt"), (int, float))]
    return [
        ev.RateLimit(
            status=str(reached) if reached is not None else None,
            resets_at=min(resets) if resets else None,
            windows=windows,
            credits=credits,
            plan=plan if isinstance(plan, str) else None,
        )
    ]


_WINDOWS: Final = ("primary", "secondary", "individualLimit")
_LIMITS_TOLD: Final = (*_WINDOWS, "rateLimitReachedType", "planType", "credits")
_NO_LIMIT: Final = [None] * len(_LIMITS_TOLD)


def auth(params: m.AuthNews) -> list[Event]:
    """The event for the account, a login, or a provider's recovery after a refused key."""
    state = params.status or params.authMode
    if params.success is not None:
        state = "ready" if params.success else "failed"
    words = (params.name or params.provider, params.error or params.message or params.planType)
    return [ev.Auth(status=state or "changed", message=": ".join(word for word in words if word) or None)]


def approval_review(params: m.ReviewNews) -> list[Event]:
    """The events for a permission that Codex's own reviewer settled."""
    review, request_id = params.review or {}, params.reviewId or params.targetItemId or ""
    outcome = _REVIEWS.get(str(review.get("status")), "cancelled")
    return [
        ev.PermissionRequested(
            request_id=request_id,
            call_id=params.targetItemId,
            tool_name=fields.text(params.action, "type"),
            input=params.action,
            synthesized=True,
        ),
        ev.PermissionResolved(
            request_id=request_id, outcome=outcome, by="agent", message=fields.text(review, "rationale")
        ),
    ]


_REVIEWS: Final[dict[str, Any]] = {"approved": "allowed", "denied": "denied", "timedOut": "expired"}


def transcript(params: m.TextNews) -> list[Event]:
    """The message of a realtime conversation."""
    role: Any = "user" if params.role == "user" else "assistant"
    return [ev.Message(role=role, text=params.text or "")]


def sessions_in(agent: str, result: Any) -> tuple[list[SessionInfo], str | None]:
    """The threads in the answer to thread/list, and its nextCursor. Codex keeps seconds only: of two threads the one with
    the later id (UUIDv7) is the later."""
    threads = [thread for thread in fields.mappings(result, "data") if fields.text(thread, "id")]
    threads.sort(key=lambda thread: fields.text(thread, "id") or "", reverse=True)
    infos = [
        SessionInfo(
            agent=agent,
            id=fields.text(thread, "id") or "",
            title=fields.text(thread, "name") or None,
            prompt=fields.text(thread, "preview") or None,
            cwd=fields.text(thread, "cwd"),
            created=_time(fields.number(thread, "createdAt")),
            updated=_time(fields.number(thread, "updatedAt", "createdAt")),
            model=fields.text(thread, "model"),
            archived="archived_sessions" in (fields.text(thread, "path") or ""),
        )
        for thread in threads
    ]
    return infos, fields.text(result, "nextCursor")


def _time(seconds: float | None) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None
    except (ValueError, OverflowError, OSError):
        return None


SIMPLE: Final[dict[str, Callable[[Any], list[Event]]]] = {
    "thread/status/changed": status,
    "thread/goal/updated": goal,
    "thread/goal/cleared": _thread_mark("goal_cleared"),
    "thread/archived": _thread_mark("archived"),
    "thread/unarchived": _thread_mark("unarchived"),
    "thread/closed": _thread_mark("ended"),
    "thread/deleted": _thread_mark("deleted"),
    "turn/plan/updated": plan,
    "item/autoApprovalReview/completed": approval_review,
    "autoApprovalReview/strictReviewRequired": _fixed_notice(
        "every action of this turn is reviewed first", "strict_review"
    ),
    "warning": _notice(None),
    "guardianWarning": _notice("guardian"),
    "configWarning": _notice("config"),
    "deprecationNotice": _notice("deprecation", "info"),
    "windows/worldWritableWarning": _fixed_notice(
        "some directories can be written by everyone", "world_writable"
    ),
    "hook/started": hook,
    "hook/completed": hook,
    "modelProvider/authRecoveryStarted": auth,
    "modelProvider/authRecoveryCompleted": auth,
    "account/updated": auth,
    "account/login/completed": auth,
    "account/gatewayOAuth/changed": auth,
    "account/rateLimits/updated": rate_limit,
    "mcpServer/oauthLogin/completed": auth,
    "thread/realtime/transcript/done": transcript,
    "thread/realtime/error": lambda params: [ev.Error(message=params.message or "realtime error")],
}
"""The notifications that mean the same whenever they come."""

# --- threads and turns -------------------------------------------------------------------------------------


def session_facts(answer: dict[str, Any]) -> ev.SessionStarted:
    """The facts in the answer to thread/start, /resume or /fork; thread/started has only its `thread`."""
    thread = fields.mapping(answer, "thread")
    effort = answer.get("reasoningEffort") or thread.get("reasoningEffort")
    return ev.SessionStarted(
        model=_text(answer.get("model")) or _text(thread.get("model")),
        effort=_text(effort),
        cwd=_text(answer.get("cwd")) or _text(thread.get("cwd")),
        permission_mode=_policy(answer.get("approvalPolicy")),
        cli_version=_text(thread.get("cliVersion")),
        title=_text(thread.get("name")),
        ext=ext(
            effortLevel=effort,
            sandbox=answer.get("sandbox"),
            forkedFromId=thread.get("forkedFromId"),
            path=thread.get("path"),
        ),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def settings_facts(settings: dict[str, Any]) -> ev.SessionStarted:
    return ev.SessionStarted(
        model=fields.text(settings, "model"),
        effort=fields.text(settings, "effort"),
        cwd=fields.text(settings, "cwd"),
        permission_mode=_policy(settings.get("approvalPolicy")),
    )


def _policy(policy: Any) -> str | None:
    return next(iter(policy), None) if isinstance(policy, dict) else _text(policy)


def servers_of(native: list[Any]) -> list[ev.McpServer]:
    """MCP servers, as the answer to mcpServerStatus/list has them."""
    return [
        ev.McpServer(
            name=name,
            status=fields.text(item, "runtimeStatus"),
            error=fields.text(item, "toolsError"),
            server_info=_said(fields.mapping(item, "serverInfo")),
            tools=sorted(fields.mapping(item, "tools")),
        )
        for item in native
        if (name := fields.text(item, "name")) is not None
    ]


def _said(native: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in native.items() if value is not None}


def skills_of(native: list[Any]) -> list[ev.Skill]:
    """Skills that are switched on, as the answer to skills/list has them, folder by folder."""
    return [
        ev.Skill(name=name, description=fields.text(item, "description"), path=fields.text(item, "path"))
        for folder in native
        for item in fields.mappings(folder, "skills")
        if (name := fields.text(item, "name")) is not None and item.get("enabled") is not False
    ]


ANSWERS: Final[dict[str, Callable[[dict[str, Any]], ev.SessionStarted]]] = {
    "model/list": lambda answer: ev.SessionStarted(models=fields.items(answer, "data")),
    "account/read": lambda answer: ev.SessionStarted(account=fields.mapping(answer, "account")),
    "mcpServerStatus/list": lambda answer: ev.SessionStarted(
        mcp_servers=servers_of(fields.items(answer, "data"))
    ),
    "skills/list": lambda answer: ev.SessionStarted(skills=skills_of(fields.items(answer, "data"))),
}
"""What the answers to questions about Codex say of a session."""


_LIMITS: Final = frozenset(("contextWindowExceeded", "sessionBudgetExceeded"))
_REFUSALS: Final = frozenset(("cyberPolicy", "misalignmentPolicyViolation"))


def outcome_of(turn: i.Turn) -> ev.TurnOutcome:
    if turn.status == "completed":
        return "completed"
    if turn.status == "interrupted":
        return "cancelled"
    if turn.status == "failed":
        code = error_info(turn.error).code
        return "limited" if code in _LIMITS else "refused" if code in _REFUSALS else "failed"
    return "truncated"


COUNTS: Final = (
    "inputTokens",
    "cachedInputTokens",
    "cacheWriteInputTokens",
    "outputTokens",
    "reasoningOutputTokens",
    "totalTokens",
)
"""What app-server calls the counts, in the order of Usage."""
