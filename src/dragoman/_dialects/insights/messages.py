"""The events of the InsightsEvent model, and how a line of them is read: 17 classes, told apart by the key `event`.

Everything that is None is left out, and so are `isError`, `isSynthetic` and `isResume` where they are false. Names
are camelCase, but for permission denials and the counts of single calls, which are snake_case as in the model.
"""

from itertools import repeat
from typing import Any, Final, Literal, get_args

from msgspec import Struct, field

from dragoman._wire.native_line import NativeLine
from dragoman._wire.published_items import Item, Items

DIALECT: Final = "insights"

Provider = Literal["claude", "codex", "gemini", "acp"]
ToolKind = Literal[
    "execute", "read", "edit", "delete", "move", "search", "fetch", "browse", "think", "ask", "memory", "mcp", "other",
]  # fmt: skip
TextKind = Literal["text", "thinking", "plan", "error"]
ToolCallStatus = Literal["completed", "failed", "cancelled"]
SessionStatus = Literal["compacting", "resuming", "interrupted", "ended", "error"]
CompactionTrigger = Literal["auto", "manual", "cleared"]
StreamDeltaKind = Literal[
    "text", "thinking", "toolInput", "messageStart", "messageStop", "blockStart", "blockStop"
]  # fmt: skip

PROVIDERS: Final[tuple[Provider, ...]] = get_args(Provider)
STATUSES: Final[tuple[SessionStatus, ...]] = get_args(SessionStatus)
QUESTION_TOOL: Final = "AskUserQuestion"
"""The tool that a permission_request names where the agent asks its user something."""


class Part(Struct, omit_defaults=True, rename="camel"):
    """A part of an event."""


# --- content -----------------------------------------------------------------------------------------------


class Content(Part, tag_field="type"):
    """A content block."""


class TextContent(Content, kw_only=True, tag="text"):
    text: str


class ThinkingContent(Content, kw_only=True, tag="thinking"):
    thinking: str
    signature: str | None = None


class ImageContent(Content, kw_only=True, tag="image"):
    data: str | None = None
    uri: str | None = None
    mime_type: str | None = None


class AudioContent(Content, kw_only=True, tag="audio"):
    data: str | None = None
    mime_type: str | None = None
    uri: str | None = None


class ResourceContent(Content, kw_only=True, tag="resource"):
    uri: str
    name: str
    contents: Any = None


class ResourceLinkContent(Content, kw_only=True, tag="resource_link"):
    uri: str
    name: str | None = None
    title: str | None = None
    mime_type: str | None = None
    size: int | None = None


class DiffContent(Content, kw_only=True, tag="diff"):
    file_path: str
    old_content: str | None = None
    new_content: str | None = None
    unified_diff: str | None = None


class TerminalContent(Content, kw_only=True, tag="terminal"):
    output: str
    stderr: str | None = None
    exit_code: int | None = None
    terminal_id: str | None = None


class UnknownContent(Content, kw_only=True, tag="unknown"):
    raw: Any


ContentBlock = (
    TextContent
    | ThinkingContent
    | ImageContent
    | AudioContent
    | ResourceContent
    | ResourceLinkContent
    | DiffContent
    | TerminalContent
    | UnknownContent
)

# --- parts -------------------------------------------------------------------------------------------------


class ImageData(Part, kw_only=True):
    media_type: str
    data: str


class McpServerInfo(Part, kw_only=True):
    name: str | None = None
    version: str | None = None


class McpServerStatus(Part, kw_only=True):
    name: str
    status: str | None = None
    server_info: McpServerInfo | None = None


class AccountInfo(Part, kw_only=True):
    email: str | None = None
    organization: str | None = None
    subscription_type: str | None = None
    token_source: str | None = None
    api_key_source: str | None = None


class ModelInfo(Part, kw_only=True):
    value: str
    display_name: str
    description: str


class SlashCommand(Part, gc=False):
    """Made by position, in half the time: an init has thirty of them."""

    name: str
    description: str
    argument_hint: str


class TokenUsage(Part, kw_only=True):
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None


class ModelTokenUsage(Part, kw_only=True):
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None
    cost_usd: int | float | None = None
    context_window: int | None = None
    web_search_requests: int | None = None


class PermissionDenial(Struct, omit_defaults=True):
    tool_name: str
    tool_use_id: str
    tool_input: Any = None


class PermissionSuggestion(Part, kw_only=True):
    type: str
    description: str
    tool_name: str | None = None
    directory: str | None = None
    mode: str | None = None


class RateLimitWindow(Part, kw_only=True):
    used_percent: int | float
    window_duration_mins: int | float | None = None
    resets_at: int | float | None = None


class RateLimitCredits(Part, kw_only=True):
    has_credits: bool | None = None
    unlimited: bool | None = None
    balance: Any = None


# --- events ------------------------------------------------------------------------------------------------


_ACP: "Final[repeat[Provider]]" = repeat("acp")
"""A default that is written out all the same, made without a call into Python."""


class InsightsEvent(Item, kw_only=True, tag_field="event"):
    """What every event carries."""

    id: str = field(default_factory=str)
    timestamp: str = field(default_factory=str)
    provider: Provider = field(default_factory=_ACP.__next__)
    session_id: str = field(default_factory=str)
    raw: dict[str, Any] | None = None
    extensions: dict[str, Any] | None = None


_raw_slot: Any = InsightsEvent.__dict__["raw"]


def _raw(item: InsightsEvent) -> dict[str, Any] | None:
    """The agent's line, parsed now if nobody wanted it before. Encoding writes it as it is, in projections/published."""
    raw: dict[str, Any] | NativeLine | None = _raw_slot.__get__(item)
    return raw.value if isinstance(raw, NativeLine) else raw


InsightsEvent.raw = property(_raw, _raw_slot.__set__)  # type: ignore[assignment]


class SessionInitEvent(InsightsEvent, kw_only=True, tag="session_init"):
    model: str | None = None
    reasoning_effort: str | None = None
    cwd: str | None = None
    available_tools: list[str] | None = None
    mcp_servers: list[McpServerStatus] | None = None
    permission_mode: str | None = None
    account: AccountInfo | None = None
    slash_commands: list[SlashCommand] | None = None
    available_models: list[ModelInfo] | None = None


class SessionStatusEvent(InsightsEvent, kw_only=True, tag="session_status"):
    status: SessionStatus
    message: str | None = None


class TextEvent(InsightsEvent, kw_only=True, tag="text"):
    text: str
    kind: TextKind
    parent_call_id: str | None = None
    model: str | None = None


class UserInputEvent(InsightsEvent, kw_only=True, tag="user_input"):
    text: str
    images: list[ImageData] | None = None
    is_synthetic: bool = False


class ToolInvocationEvent(InsightsEvent, kw_only=True, tag="tool_invocation"):
    call_id: str
    kind: ToolKind
    tool_name: str
    input: dict[str, Any]
    parent_call_id: str | None = None
    title: str | None = None
    locations: list[str] | None = None
    model: str | None = None


class ToolCompletionEvent(InsightsEvent, kw_only=True, tag="tool_completion"):
    call_id: str
    status: ToolCallStatus
    output: Any = None
    is_error: bool = False
    content: list[ContentBlock] | None = None
    locations: list[str] | None = None


class SubagentSpawnEvent(InsightsEvent, kw_only=True, tag="subagent_spawn"):
    call_id: str
    agent_type: str | None = None
    description: str | None = None
    is_resume: bool = False
    resume_agent_id: str | None = None


class SubagentCompleteEvent(InsightsEvent, kw_only=True, tag="subagent_complete"):
    call_id: str
    agent_id: str | None = None
    status: str | None = None
    summary: str | None = None


class TurnCompleteEvent(InsightsEvent, kw_only=True, tag="turn_complete"):
    is_error: bool = False
    subtype: str | None = None
    errors: list[str] | None = None
    result: str | None = None
    cost_usd: int | float | None = None
    duration_ms: int | float | None = None
    duration_api_ms: int | float | None = None
    num_turns: int | None = None
    usage: TokenUsage | None = None
    model_usage: dict[str, ModelTokenUsage] | None = None
    permission_denials: list[PermissionDenial] | None = None


class ContextCompactionEvent(InsightsEvent, kw_only=True, tag="context_compaction"):
    trigger: CompactionTrigger
    pre_tokens: int | None = None
    summary: str | None = None


class PermissionRequestEvent(InsightsEvent, kw_only=True, tag="permission_request"):
    request_id: str
    tool_name: str
    tool_kind: ToolKind
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    reason: str | None = None
    blocked_path: str | None = None
    suggestions: list[PermissionSuggestion] | None = None


class StreamDeltaEvent(InsightsEvent, kw_only=True, tag="stream_delta"):
    kind: StreamDeltaKind
    parent_call_id: str | None = None
    text_delta: str | None = None
    json_delta: str | None = None
    block_index: int | None = None
    call_id: str | None = None


class ConfigOptionsEvent(InsightsEvent, kw_only=True, tag="config_options"):
    config_options: list[Any]


class AvailableCommandsEvent(InsightsEvent, kw_only=True, tag="available_commands"):
    available_commands: list[Any]


class SessionModeEvent(InsightsEvent, kw_only=True, tag="session_mode"):
    current_mode_id: str
    available_modes: list[Any]


class UsageUpdateEvent(InsightsEvent, kw_only=True, tag="usage_update"):
    """Of one call to the model's API, not cumulative."""

    step_usage: dict[str, int]


class RateLimitUpdateEvent(InsightsEvent, kw_only=True, tag="rate_limit_update"):
    primary: RateLimitWindow | None = None
    secondary: RateLimitWindow | None = None
    credits: RateLimitCredits | None = None
    plan_type: str | None = None


AnyInsightsEvent = (
    SessionInitEvent
    | SessionStatusEvent
    | TextEvent
    | UserInputEvent
    | ToolInvocationEvent
    | ToolCompletionEvent
    | SubagentSpawnEvent
    | SubagentCompleteEvent
    | TurnCompleteEvent
    | ContextCompactionEvent
    | PermissionRequestEvent
    | StreamDeltaEvent
    | ConfigOptionsEvent
    | AvailableCommandsEvent
    | SessionModeEvent
    | UsageUpdateEvent
    | RateLimitUpdateEvent
)
ITEMS: Final[Items[InsightsEvent]] = Items(AnyInsightsEvent, tag="event", kept="insights.items")
TYPES: Final = ITEMS.types
"""By their `event`."""
