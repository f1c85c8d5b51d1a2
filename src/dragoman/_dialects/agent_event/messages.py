"""The events of the AgentEvent model, as its schema names them, and how a line of them is read.

Eight types are strict; the seven after them exist in the model's translation tables only, and are written where the
view is asked to be extended. Everything that is None is left out.
"""

from typing import Any, Final, Literal, get_args

from msgspec import Struct, field

from dragoman._model import events as ev
from dragoman._wire.published_items import Item, Items

DIALECT: Final = "agent-event"

SessionEndReason = Literal["completed", "failed", "cancelled", "timeout"]
FileChangeType = Literal["created", "modified", "deleted"]
ApprovalMode = Literal["ask", "askDangerous", "autoEdit", "autoAll"]
SandboxMode = Literal["none", "readOnly", "workspaceWrite", "fullAccess"]


class Part(Struct, omit_defaults=True, rename="camel"):
    """A part of an event."""


class TokenUsage(Part, kw_only=True):
    input_tokens: int
    output_tokens: int
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int


class SessionConfig(Part, kw_only=True):
    agent_type: str | None = None
    working_directory: str | None = None
    model: str | None = None
    approval_mode: ApprovalMode | None = None
    sandbox_mode: SandboxMode | None = None
    allowed_tools: list[str] | None = None
    blocked_tools: list[str] | None = None
    max_turns: int | None = None


class TodoItem(Part, kw_only=True):
    text: str
    completed: bool
    status: str | None = None


class AgentEvent(Item, kw_only=True, tag_field="type"):
    """What every event carries."""

    id: str = field(default_factory=str)
    session_id: str = field(default_factory=str)
    timestamp: str = field(default_factory=str)


class SessionStartedEvent(AgentEvent, kw_only=True, tag="sessionStarted"):
    agent_type: str
    config: SessionConfig | None = None


class TextChunkEvent(AgentEvent, kw_only=True, tag="textChunk"):
    content: str
    is_partial: bool = field(default_factory=bool)
    role: Literal["assistant", "user"] | None = None


def _no_arguments() -> dict[str, Any]:
    """Written even so: msgspec leaves out the `dict` that is made by default."""
    return {}


class ToolStartedEvent(AgentEvent, kw_only=True, tag="toolStarted"):
    tool_id: str
    tool_name: str
    arguments: dict[str, Any] = field(default_factory=_no_arguments)


class ToolProgressEvent(AgentEvent, kw_only=True, tag="toolProgress"):
    tool_id: str
    output: str | None = None
    progress: int | float | None = None


class ToolCompletedEvent(AgentEvent, kw_only=True, tag="toolCompleted"):
    tool_id: str
    success: bool
    result: Any = None
    error: str | None = None


class FileChangedEvent(AgentEvent, kw_only=True, tag="fileChanged"):
    file_path: str
    change_type: FileChangeType
    diff: str | None = None
    before: str | None = None
    after: str | None = None


class TurnCompletedEvent(AgentEvent, kw_only=True, tag="turnCompleted"):
    usage: TokenUsage | None = None
    duration_ms: int | None = None


class SessionEndedEvent(AgentEvent, kw_only=True, tag="sessionEnded"):
    reason: SessionEndReason
    error: str | None = None
    final_usage: TokenUsage | None = None


# --- extended ----------------------------------------------------------------------------------------------


class SystemEvent(AgentEvent, kw_only=True, tag="systemEvent"):
    """What the agent says of itself: `init`, `compact_boundary`, `status`, `hook_response` …"""

    subtype: str
    data: dict[str, Any] = field(default_factory=dict)


class RawDeltaEvent(AgentEvent, kw_only=True, tag="rawDelta"):
    kind: Literal["text", "thinking", "plan", "toolInput", "toolOutput"]
    content: str
    tool_id: str | None = None


class TurnStartedEvent(AgentEvent, kw_only=True, tag="turnStarted"):
    prompt: str | None = None


class ReasoningEvent(AgentEvent, kw_only=True, tag="reasoning"):
    content: str
    is_partial: bool = field(default_factory=bool)


class TodoListEvent(AgentEvent, kw_only=True, tag="todoList"):
    items: list[TodoItem]


class ErrorEvent(AgentEvent, kw_only=True, tag="error"):
    message: str
    severity: Literal["warning", "error"]
    code: str | None = None


class RetryEvent(AgentEvent, kw_only=True, tag="retry"):
    attempt: int | None = None
    max_attempts: int | None = None
    delay_ms: int | float | None = None
    message: str | None = None


StrictEvent = (
    SessionStartedEvent
    | TextChunkEvent
    | ToolStartedEvent
    | ToolProgressEvent
    | ToolCompletedEvent
    | FileChangedEvent
    | TurnCompletedEvent
    | SessionEndedEvent
)
ExtendedEvent = (
    SystemEvent | RawDeltaEvent | TurnStartedEvent | ReasoningEvent | TodoListEvent | ErrorEvent | RetryEvent
)
AnyAgentEvent = StrictEvent | ExtendedEvent

EXTENDED: Final[tuple[type[AgentEvent], ...]] = get_args(ExtendedEvent)
AGENT_TYPES: Final = ("claude", "codex", "gemini")
"""What `agentType` can be in the strict schema."""

SUBTYPES: Final[dict[type[ev.Event], str]] = {
    ev.SessionUpdated: "init",
    ev.SessionStatus: "status",
    ev.SessionMode: "mode",
    ev.SessionOptions: "options",
    ev.SessionCommands: "commands",
    ev.ContextCompacted: "compact_boundary",
    ev.Hook: "hook_response",
    ev.Auth: "auth_status",
    ev.RateLimit: "rate_limit",
    ev.Notice: "notice",
}
"""Which `subtype` of systemEvent a canonical event is: Claude's own word where it has one. `data` has the event's
own fields."""

ITEMS: Final[Items[AgentEvent]] = Items(AnyAgentEvent, tag="type", kept="agentEvent.items")
TYPES: Final = ITEMS.types
"""By their `type`."""
