"""The native lines of Claude Code's session files, as far as they mean something.

Fields that nothing is made of are not listed: the frame keeps the bytes. Everything is optional, because a
line that lacks a field is still a line.
"""

from typing import Any, Final

from msgspec import Struct, field

from dragoman._wire.jsontext import Reader


class Line(Struct, kw_only=True, gc=False):
    """What every line may carry."""

    type: str = ""
    sessionId: str | None = None
    timestamp: str | None = None


class Entry(Line):
    """A line of the conversation's tree. `parentUuid` is not followed: parallel tools branch the tree, and a
    walk from the leaf would lose siblings. File order has them all."""

    uuid: str | None = None
    parentUuid: str | None = None
    isSidechain: bool | None = None
    agentId: str | None = None
    cwd: str | None = None
    version: str | None = None
    forkedFrom: Any = None
    """Where the entry was copied from, in files that say so."""


class ApiMessage(Struct, gc=False):
    """A message of the Messages API; the CLI writes one content block a line."""

    id: str | None = None
    model: str | None = None
    content: Any = None
    stop_reason: str | None = None
    usage: Any = None


class User(Entry):
    message: ApiMessage = field(default_factory=ApiMessage)
    promptId: str | None = None
    permissionMode: str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isVisibleInTranscriptOnly: bool | None = None
    toolUseResult: Any = None
    toolEndsTurn: bool | None = None
    toolDenialKind: str | None = None
    permissionDecision: Any = None


class Assistant(Entry):
    message: ApiMessage = field(default_factory=ApiMessage)
    requestId: str | None = None
    error: str | None = None
    isApiErrorMessage: bool | None = None
    apiErrorStatus: int | None = None
    apiBlockIndex: int | None = None
    attributionAgent: str | None = None
    effort: str | None = None


class Attachment(Entry):
    attachment: dict[str, Any] = field(default_factory=dict)


class Progress(Entry):
    """A running tool's sign of life, in versions before 2.1.197; for subagents it names agent and call."""

    data: dict[str, Any] = field(default_factory=dict)
    parentToolUseID: str | None = None


# --- system ------------------------------------------------------------------------------------------------


class CompactMetadata(Struct, gc=False):
    trigger: str | None = None
    preTokens: int | None = None
    postTokens: int | None = None
    tokensSaved: int | None = None


class CompactBoundary(Entry):
    compactMetadata: CompactMetadata = field(default_factory=CompactMetadata)


class MicrocompactBoundary(Entry):
    microcompactMetadata: CompactMetadata = field(default_factory=CompactMetadata)


class SystemText(Entry):
    """What the CLI tells the user: informational, model_fallback and the like."""

    subtype: str = ""
    content: str | None = None
    level: str | None = None
    preventContinuation: bool | None = None


class LocalCommand(Entry):
    content: str | None = None


class Refusal(Entry):
    content: str | None = None
    apiRefusalCategory: str | None = None
    apiRefusalExplanation: str | None = None


class ApiFailure(Entry):
    """A request failed and is tried again."""

    error: Any = None
    retryInMs: float | None = None
    retryAttempt: int | None = None
    maxRetries: int | None = None


class StopHooks(Entry):
    hookErrors: list[Any] = field(default_factory=list)
    preventedContinuation: bool | None = None
    stopReason: str | None = None


class TurnDuration(Entry):
    durationMs: float | None = None


# --- lines outside the tree ----------------------------------------------------------------------------------


class Title(Line):
    customTitle: str | None = None
    agentName: str | None = None
    aiTitle: str | None = None


class Summary(Line):
    """What a conversation was about: the one that `leafUuid` is in, which may be another file's."""

    summary: str | None = None
    leafUuid: str | None = None


class ModeLine(Line):
    mode: str | None = None
    permissionMode: str | None = None


class CostState(Line):
    totalCostUSD: float | None = None
    modelUsage: dict[str, Any] = field(default_factory=dict)


class AgentMeta(Line):
    """A subagent's `.meta.json`. It has no `type`, and does not name the agent: the file's name does."""

    toolUseId: str | None = None
    agentType: str | None = None
    description: str | None = None


class Silent(Line):
    """Understood, and nothing to say."""


ENTRIES: Final[dict[str, type[Line]]] = {
    "user": User,
    "assistant": Assistant,
    "attachment": Attachment,
    "system": SystemText,
    "progress": Progress,
}

TYPES: Final[dict[str, type[Line]]] = {
    **ENTRIES,
    "custom-title": Title,
    "agent-name": Title,
    "ai-title": Title,
    "summary": Summary,
    "mode": ModeLine,
    "permission-mode": ModeLine,
    "cost-state": CostState,
    **dict.fromkeys(
        (
            "agent-color",
            "agent-setting",
            "api-request",
            "api-request-blob",
            "api-request-shape",
            "atis-latch",
            "bridge-session",
            "content-replacement",
            "file-history-snapshot",
            "last-prompt",
            "pr-link",
            "queue-operation",
            "tag",
            "tools-used",
            "worktree-state",
        ),
        Silent,
    ),
}

SYSTEM_TYPES: Final[dict[str, type[Line]]] = {
    "compact_boundary": CompactBoundary,
    "microcompact_boundary": MicrocompactBoundary,
    "local_command": LocalCommand,
    "api_error": ApiFailure,
    "model_refusal_no_fallback": Refusal,
    "stop_hook_summary": StopHooks,
    "turn_duration": TurnDuration,
    **dict.fromkeys(
        (
            "away_summary",
            "informational",
            "memory_saved",
            "model_consent_fallback",
            "model_fallback",
            "model_refusal_fallback",
            "notification",
            "permission_retry",
            "scheduled_task_fire",
        ),
        SystemText,
    ),
}


class Header(Struct):
    type: str = ""
    subtype: str = ""
    toolUseId: str = ""


def choose(header: Header) -> type[Line] | None:
    """What a line is read as; None if this version does not know it."""
    if header.type == "system":
        return SYSTEM_TYPES.get(header.subtype)
    if not header.type and header.toolUseId:
        return AgentMeta
    return TYPES.get(header.type)


READER: Final[Reader[Header, Line]] = Reader(Header, choose)
