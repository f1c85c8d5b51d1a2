"""The native messages of Codex app-server: what it notifies of, by method, and what it asks for.

Everything is optional, because a message that lacks a field is still a message; fields that nothing is made of
are not listed. Requests and answers are few and stay plain JSON.
"""

from typing import Any, Final, Union

import msgspec
from msgspec import Struct, defstruct, field

from dragoman._dialects.codex.app.items import ThreadItem, Turn
from dragoman._wire.jsontext import Ragged, fit, repaired


class Params(Struct, kw_only=True, gc=False):
    """What almost every notification names."""

    threadId: str | None = None
    turnId: str | None = None


class TurnNews(Params):
    turn: Turn = field(default_factory=Turn)


class ItemNews(Params):
    item: ThreadItem | None = None


class DeltaNews(Params):
    itemId: str = ""
    delta: Ragged = ""
    summaryIndex: int | None = None
    contentIndex: int | None = None


class TerminalNews(Params):
    itemId: str = ""
    processId: str | None = None
    stdin: str | None = None


class PatchNews(Params):
    itemId: str = ""
    changes: list[dict[str, Any]] | None = None


class ProgressNews(Params):
    itemId: str = ""
    message: str | None = None


class PlanNews(Params):
    explanation: str | None = None
    plan: list[dict[str, Any]] | None = None


class DiffNews(Params):
    diff: str | None = None


class UsageNews(Params):
    tokenUsage: dict[str, Any] | None = None


class ThreadNews(Params):
    thread: dict[str, Any] | None = None


class StatusNews(Params):
    status: dict[str, Any] | None = None


class SettingsNews(Params):
    threadSettings: dict[str, Any] | None = None


class NameNews(Params):
    threadName: str | None = None


class GoalNews(Params):
    goal: dict[str, Any] | None = None


class ResolvedNews(Params):
    requestId: str | int | None = None


class ErrorNews(Params):
    error: dict[str, Any] | None = None
    willRetry: bool | None = None


class TextNews(Params):
    """Notifications whose content is text."""

    message: str | None = None
    summary: str | None = None
    details: str | None = None
    text: str | None = None
    role: str | None = None
    reason: Any = None


class HookNews(Params):
    run: dict[str, Any] | None = None


class ReviewNews(Params):
    reviewId: str | None = None
    targetItemId: str | None = None
    action: Any = None
    review: dict[str, Any] | None = None
    decisionSource: Any = None


class RerouteNews(Params):
    fromModel: str | None = None
    toModel: str | None = None
    reason: Any = None


class McpNews(Params):
    name: str | None = None
    status: str | None = None
    error: str | None = None
    success: bool | None = None


class LimitsNews(Params):
    rateLimits: dict[str, Any] | None = None


class AuthNews(Params):
    authMode: str | None = None
    planType: str | None = None
    success: bool | None = None
    status: str | None = None
    error: str | None = None
    message: str | None = None
    provider: str | None = None
    name: str | None = None


NOTIFICATIONS: Final[dict[str, type[Params]]] = {
    "thread/started": ThreadNews,
    "thread/status/changed": StatusNews,
    "thread/settings/updated": SettingsNews,
    "thread/name/updated": NameNews,
    "thread/tokenUsage/updated": UsageNews,
    "thread/goal/updated": GoalNews,
    "thread/goal/cleared": Params,
    "thread/compacted": Params,
    "thread/reverted": Params,
    "thread/archived": Params,
    "thread/unarchived": Params,
    "thread/closed": Params,
    "thread/deleted": Params,
    "turn/started": TurnNews,
    "turn/completed": TurnNews,
    "turn/plan/updated": PlanNews,
    "turn/diff/updated": DiffNews,
    "turn/moderationMetadata": Params,
    "item/started": ItemNews,
    "item/completed": ItemNews,
    "item/agentMessage/delta": DeltaNews,
    "item/plan/delta": DeltaNews,
    "item/reasoning/summaryTextDelta": DeltaNews,
    "item/reasoning/textDelta": DeltaNews,
    "item/reasoning/summaryPartAdded": Params,
    "item/commandExecution/outputDelta": DeltaNews,
    "item/commandExecution/terminalInteraction": TerminalNews,
    "item/fileChange/outputDelta": DeltaNews,
    "item/fileChange/patchUpdated": PatchNews,
    "item/mcpToolCall/progress": ProgressNews,
    "item/autoApprovalReview/started": ReviewNews,
    "item/autoApprovalReview/completed": ReviewNews,
    "autoApprovalReview/strictReviewRequired": Params,
    "serverRequest/resolved": ResolvedNews,
    "error": ErrorNews,
    "warning": TextNews,
    "guardianWarning": TextNews,
    "configWarning": TextNews,
    "deprecationNotice": TextNews,
    "windows/worldWritableWarning": Params,
    "hook/started": HookNews,
    "hook/completed": HookNews,
    "model/rerouted": RerouteNews,
    "model/verification": Params,
    "model/safetyBuffering/updated": Params,
    "modelProvider/authRecoveryStarted": AuthNews,
    "modelProvider/authRecoveryCompleted": AuthNews,
    "account/updated": AuthNews,
    "account/login/completed": AuthNews,
    "account/gatewayOAuth/changed": AuthNews,
    "account/rateLimits/updated": LimitsNews,
    "mcpServer/startupStatus/updated": McpNews,
    "mcpServer/oauthLogin/completed": AuthNews,
    "thread/realtime/transcript/done": TextNews,
    "thread/realtime/error": TextNews,
    **dict.fromkeys(
        (
            "app/list/updated",
            "command/exec/outputDelta",
            "externalAgentConfig/import/completed",
            "externalAgentConfig/import/progress",
            "fs/changed",
            "fuzzyFileSearch/sessionCompleted",
            "fuzzyFileSearch/sessionUpdated",
            "mcpServer/event/stream/notification",
            "process/exited",
            "process/outputDelta",
            "project/changed",
            "rawResponse/completed",
            "rawResponseItem/completed",
            "remoteControl/status/changed",
            "skills/changed",
            "thread/attachment/updated",
            "thread/environment/connected",
            "thread/environment/disconnected",
            "thread/prediction/updated",
            "thread/project/updated",
            "thread/queue/changed",
            "thread/readState/changed",
            "thread/realtime/closed",
            "thread/realtime/item/completed",
            "thread/realtime/item/started",
            "thread/realtime/item/transcript/delta",
            "thread/realtime/itemAdded",
            "thread/realtime/outputAudio/delta",
            "thread/realtime/sdp",
            "thread/realtime/started",
            "thread/realtime/transcript/delta",
            "windowsSandbox/setupCompleted",
        ),
        Params,
    ),
}
"""Every notification that 0.166.0 knows. Those that nothing is said for become `native.known`."""


NOTE_BEGINS: Final = b'{"method":'
"""How Codex begins a line that is no answer."""

OLDER: Final = "codex/event"
"""How the methods begin of the protocol's first version, which its last CLIs sent beside the second's (0.100.0)."""

REQUESTS: Final = frozenset(
    (
        "account/chatgptAuthTokens/refresh",
        "applyPatchApproval",
        "attestation/generate",
        "currentTime/read",
        "execCommandApproval",
        "item/commandExecution/requestApproval",
        "item/fileChange/requestApproval",
        "item/permissions/requestApproval",
        "item/tool/call",
        "item/tool/requestUserInput",
        "mcpServer/elicitation/request",
    )
)
"""Everything that 0.166.0 asks its client for."""


def _note(method: str, params: Any, absent: Any, id: tuple[Any, ...]) -> type[Struct]:
    return defstruct(
        "Note",
        [("params", params, absent), ("id", *id), ("emittedAtMs", int | None, None)],
        tag_field="method",
        tag=method,
        namespace={"method": method},
        kw_only=True,
        gc=False,
    )


NOTES: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(
    Union[
        *(
            _note(name, kind, field(default_factory=kind), (None, None))
            for name, kind in NOTIFICATIONS.items()
        ),
        *(_note(name, Any, None, (int | str,)) for name in REQUESTS),
    ]
)
"""Reads a notification at once, with its params, in half the time that its fields and then its params take; a request as
well, which has an `id` and plain params. Whatever it refuses is read that way."""


def fitted(method: str, params: Any) -> Any:
    """The params of a notification that were not read as their type, as far as they fit it; None if the method is
    unknown."""
    wanted = NOTIFICATIONS.get(method)
    return fit(params, wanted) if wanted is not None else None


def turns(native: Any) -> list[Turn]:
    """The turns in an answer's `turns`."""
    given = native if isinstance(native, list) else []
    return [_turn(turn) for turn in given if isinstance(turn, dict)]


def _turn(native: dict[str, Any]) -> Turn:
    try:
        return msgspec.convert(native, Turn)
    except msgspec.ValidationError:
        turn: Turn = fit(repaired(native), Turn)
        return turn
