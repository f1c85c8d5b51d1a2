"""The native messages of Claude Code's stream-json, as far as they mean something.

Fields that nothing is made of are not listed: the frame keeps the bytes. Everything is optional, because a
message that lacks a field is still a message.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Raw, Struct, field

from dragoman._dialects.claude.shared.usage import Counts, ModelCounts
from dragoman._wire.jsontext import Header, Invalid, Ragged, Reader, Unknown, decoder, parse, repaired, shape

Plain = dict[str, Any]
Counted = Annotated[Counts, shape(Plain)]
CountedModels = Annotated[dict[str, ModelCounts], shape(dict[str, Plain])]
"""Counts are read into types, since every message has some; what else is in them is looked at as in any plain JSON."""


class Native(Struct, kw_only=True, gc=False):
    """What every message may carry."""

    session_id: str | None = None
    uuid: str | None = None
    timestamp: str | None = None


class ApiMessage(Struct, gc=False):
    """A message of the Messages API; the CLI sends one content block a line. Content stays plain JSON: its
    blocks are the API's, of kinds that come and go (see _wire/content)."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: Any = None
    stop_reason: str | None = None
    usage: Counted | None = None


# --- the conversation --------------------------------------------------------------------------------------


class Assistant(Native, tag_field="type", tag="assistant"):
    message: ApiMessage = field(default_factory=ApiMessage)
    parent_tool_use_id: str | None = None
    request_id: str | None = None
    error: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None


class User(Native, tag_field="type", tag="user"):
    message: ApiMessage = field(default_factory=ApiMessage)
    parent_tool_use_id: str | None = None
    tool_use_result: Any = None
    tool_result_meta: list[dict[str, Any]] | None = None
    isReplay: bool | None = None
    isSynthetic: bool | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None

    def meta_of(self, call_id: Any) -> dict[str, Any]:
        """What `tool_result_meta` says of the result of this call."""
        for item in self.tool_result_meta or ():
            if item.get("id") == call_id:
                return item
        return {}


class Result(Native, tag_field="type", tag="result"):
    subtype: str | None = None
    status: str | None = None
    """The flat shape's word for subtype."""
    is_error: bool | None = None
    api_error_status: int | None = None
    duration_ms: int | float | None = None
    duration_api_ms: int | float | None = None
    num_turns: int | None = None
    result: str | None = None
    stop_reason: str | None = None
    terminal_reason: str | None = None
    total_cost_usd: int | float | None = None
    usage: Counted | None = None
    modelUsage: CountedModels | None = None
    model_usage_since_last_result: CountedModels | None = None
    permission_denials: list[dict[str, Any]] | None = None
    errors: list[str] | None = None
    error: Any = None
    structured_output: Any = None
    deferred_tool_use: dict[str, Any] | None = None
    origin: dict[str, Any] | None = None
    local_command: str | None = None
    user_message_uuids: list[str] | None = None
    """The user's messages that the turn took; from 2.1.300 on, where they had a uuid."""


# --- partial messages --------------------------------------------------------------------------------------


class MessageStart(Struct, gc=False, tag_field="type", tag="message_start"):
    message: ApiMessage = field(default_factory=ApiMessage)


class BlockStart(Struct, gc=False, tag_field="type", tag="content_block_start"):
    index: int = 0
    content_block: Any = None


class TextDelta(Struct, gc=False, tag_field="type", tag="text_delta"):
    text: Ragged = ""


class ThinkingDelta(Struct, gc=False, tag_field="type", tag="thinking_delta"):
    thinking: Ragged = ""


class InputDelta(Struct, gc=False, tag_field="type", tag="input_json_delta"):
    partial_json: Ragged = ""


class SignatureDelta(Struct, gc=False, tag_field="type", tag="signature_delta"):
    pass


class CitationsDelta(Struct, gc=False, tag_field="type", tag="citations_delta"):
    pass


class BlockDelta(Struct, gc=False, tag_field="type", tag="content_block_delta"):
    index: int = 0
    delta: TextDelta | ThinkingDelta | InputDelta | SignatureDelta | CitationsDelta | Unknown | None = None


class BlockStop(Struct, gc=False, tag_field="type", tag="content_block_stop"):
    index: int = 0


class MessageDelta(Struct, gc=False, tag_field="type", tag="message_delta"):
    usage: Counted | None = None


class MessageStop(Struct, gc=False, tag_field="type", tag="message_stop"):
    pass


class Ping(Struct, gc=False, tag_field="type", tag="ping"):
    pass


class ApiError(Struct, gc=False, tag_field="type", tag="error"):
    error: dict[str, Any] = field(default_factory=dict)


ApiEvent = (
    MessageStart
    | BlockStart
    | BlockDelta
    | BlockStop
    | MessageDelta
    | MessageStop
    | Ping
    | ApiError
    | Unknown
)


class StreamEvent(Native, tag_field="type", tag="stream_event"):
    event: ApiEvent | None = None
    parent_tool_use_id: str | None = None
    abandoned_blocks: dict[str, Any] | None = None


# --- the system --------------------------------------------------------------------------------------------


Names = Annotated[Raw, shape(list[str] | None)]
Objects = Annotated[Raw, shape(list[Plain] | None)]
Things = Annotated[Raw, shape(list[Any] | None)]
"""Lists that are the same in every session: left as they are, since most have been read before (see translate)."""
NONE: Final = Raw(b"null")


class Init(Native, tag_field="type", tag="system"):
    """The commonest of the system's messages, and the longest. So every message of the system is read as one first, and
    again as what its `subtype` says it is."""

    type: ClassVar[str] = "system"
    subtype: str = ""
    cwd: str | None = None
    tools: Names = NONE
    mcp_servers: Objects = NONE
    model: str | None = None
    permissionMode: str | None = None
    slash_commands: Names = NONE
    apiKeySource: str | None = None
    claude_code_version: str | None = None
    output_style: str | None = None
    agents: Things = NONE
    skills: Things = NONE
    plugins: Things = NONE
    betas: list[str] | None = None
    capabilities: list[str] | None = None
    user_message_uuids: list[str] | None = None


class Status(Native):
    status: str | None = None
    permissionMode: str | None = None
    compact_result: str | None = None
    compact_error: str | None = None


class ThinkingTokens(Native):
    estimated_tokens: int | None = None
    estimated_tokens_delta: int | None = None


class ApiRetry(Native):
    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: int | float | None = None
    error_status: int | None = None
    error: str | None = None


class CompactMetadata(Struct):
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None


class CompactBoundary(Native):
    compact_metadata: CompactMetadata = field(default_factory=CompactMetadata)


class HookReport(Native):
    """hook_started, hook_progress and hook_response."""

    subtype: str = ""
    hook_name: str | None = None
    hook_event: str | None = None
    output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    outcome: str | None = None


class Informational(Native):
    content: str | None = None
    level: str | None = None
    prevent_continuation: bool | None = None


class PermissionDenied(Native):
    tool_name: str | None = None
    tool_use_id: str | None = None
    decision_reason_type: str | None = None
    decision_reason: str | None = None
    message: str | None = None


class Task(Native):
    """task_started, task_progress, task_updated and task_notification."""

    subtype: str = ""
    task_id: str | None = None
    tool_use_id: str | None = None
    task_type: str | None = None
    description: str | None = None
    subagent_type: str | None = None
    status: str | None = None
    summary: str | None = None
    output_file: str | None = None
    last_tool_name: str | None = None
    is_backgrounded: bool | None = None
    usage: dict[str, Any] | None = None
    patch: dict[str, Any] | None = None


class ModelChange(Native):
    """model_fallback, model_refusal_fallback and model_refusal_no_fallback."""

    subtype: str = ""
    trigger: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None
    content: str | None = None


class SessionState(Native):
    state: str | None = None


class CommandsChanged(Native):
    commands: list[dict[str, Any]] | None = None


class TitleChanged(Native):
    title: str | None = None


class TasksChanged(Native):
    tasks: list[Any] | None = None


class SystemText(Native):
    """System messages that are there to be read: whichever field has the text."""

    subtype: str = ""
    content: str | None = None
    message: str | None = None
    text: str | None = None
    summary: str | None = None
    suggestion: str | None = None
    name: str | None = None
    status: str | None = None
    error: str | None = None
    reason: str | None = None


class Silent(Native):
    """Understood, and nothing to say."""


# --- other top-level messages ------------------------------------------------------------------------------


class ToolProgress(Native):
    tool_use_id: str | None = None
    parent_tool_use_id: str | None = None
    tool_name: str | None = None
    elapsed_time_seconds: int | float | None = None


class RateLimitEvent(Native, tag_field="type", tag="rate_limit_event"):
    rate_limit_info: dict[str, Any] = field(default_factory=dict)


class AuthStatus(Native):
    isAuthenticating: bool | None = None
    output: list[str] | None = None
    error: str | None = None


class CommandLifecycle(Native, tag_field="type", tag="command_lifecycle"):
    command_uuid: str | None = None
    state: str | None = None


class ConversationReset(Native):
    new_conversation_id: str | None = None
    trigger: str | None = None


class Goal(Native):
    """active_goal and autocompact_state: facts about the session that no event has a field for."""

    type: str = ""


# --- the control protocol, the same both ways --------------------------------------------------------------


class ControlRequest(Native, tag_field="type", tag="control_request"):
    request_id: str = ""
    request: dict[str, Any] = field(default_factory=dict)


class ControlAnswer(Struct, gc=False):
    subtype: str = ""
    request_id: str = ""
    response: Any = None
    error: str | None = None
    error_code: str | None = None


class ControlResponse(Native, tag_field="type", tag="control_response"):
    response: ControlAnswer = field(default_factory=ControlAnswer)


class ControlCancel(Native):
    request_id: str = ""


# --- flat shapes of older tools ----------------------------------------------------------------------------


class FlatMessage(Native):
    role: str | None = None
    content: Any = None
    model: str | None = None
    id: str | None = None
    partial: bool | None = None
    """A piece of a message that follows whole."""


class FlatToolUse(Native):
    id: str = ""
    name: str = ""
    input: Any = None


class FlatToolResult(Native):
    tool_use_id: str = ""
    content: Any = None
    is_error: bool | None = None


class FlatError(Native):
    error: Any = None
    message: str | None = None


TYPES: dict[str, type[Native]] = {
    "assistant": Assistant,
    "user": User,
    "result": Result,
    "stream_event": StreamEvent,
    "tool_progress": ToolProgress,
    "rate_limit_event": RateLimitEvent,
    "auth_status": AuthStatus,
    "command_lifecycle": CommandLifecycle,
    "conversation_reset": ConversationReset,
    "active_goal": Goal,
    "autocompact_state": Goal,
    "tool_use_summary": SystemText,
    "prompt_suggestion": SystemText,
    "transcript_mirror": Silent,
    "keep_alive": Silent,
    "control_request_progress": Silent,
    "control_request": ControlRequest,
    "control_response": ControlResponse,
    "control_cancel_request": ControlCancel,
    "init": Init,
    "message": FlatMessage,
    "tool_use": FlatToolUse,
    "tool_result": FlatToolResult,
    "error": FlatError,
}

SYSTEM_TYPES: dict[str, type[Native]] = {
    "init": Init,
    "status": Status,
    "thinking_tokens": ThinkingTokens,
    "api_retry": ApiRetry,
    "compact_boundary": CompactBoundary,
    "hook_started": HookReport,
    "hook_progress": HookReport,
    "hook_response": HookReport,
    "informational": Informational,
    "permission_denied": PermissionDenied,
    "task_started": Task,
    "task_progress": Task,
    "task_updated": Task,
    "task_notification": Task,
    "model_fallback": ModelChange,
    "model_refusal_fallback": ModelChange,
    "model_refusal_no_fallback": ModelChange,
    "session_state_changed": SessionState,
    "session_title_changed": TitleChanged,
    "commands_changed": CommandsChanged,
    "background_tasks_changed": TasksChanged,
    "conversation_reset": ConversationReset,
    "context_cleared": ConversationReset,
    "local_command_output": SystemText,
    "notification": SystemText,
    "plugin_install": SystemText,
    "files_persisted": SystemText,
    "memory_recall": SystemText,
    "session_writes_lost": SystemText,
    "worker_shutting_down": SystemText,
    "elicitation_complete": Silent,
    "control_request_progress": Silent,
    "ui_invalidate": Silent,
}


def choose(header: Header | Init) -> type[Native] | None:
    """What a message is read as; None if this version does not know it."""
    return SYSTEM_TYPES.get(header.subtype) if header.type == "system" else TYPES.get(header.type)


COMMON = (
    StreamEvent
    | Assistant
    | User
    | Result
    | Init
    | ControlRequest
    | ControlResponse
    | RateLimitEvent
    | CommandLifecycle
)

READER: Reader[Header | Init, Native] = Reader(Header, choose, COMMON, Init)
decode_common: Final = msgspec.json.Decoder(COMMON).decode
"""Raises what jsontext.REFUSED names for any other line."""


def decode_system(subtype: str, line: bytes) -> Native:
    """A message of the system that is no init. Raises what jsontext.REFUSED names if it cannot be read as such."""
    wanted = SYSTEM_TYPES.get(subtype)
    if wanted is None:
        raise msgspec.ValidationError(subtype)
    message: Native = decoder(wanted).decode(line)
    return message


def read(line: bytes) -> Sequence[Native | Unknown | Invalid]:
    """The messages on a line: one, except that `--output-format json --verbose` prints them all as an array."""
    message = READER.read(line)
    if type(message) is Invalid and line.lstrip().startswith(b"["):
        items = parse(line)
        if isinstance(items, list):
            return [READER.read(msgspec.json.encode(repaired(item))) for item in items]
    return (message,)


class _Name(Header):
    event: Any = None


_name = msgspec.json.Decoder(_Name)


def native_type(line: bytes) -> str | None:
    """What a line is called, for those that say nothing else."""
    try:
        header = _name.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    inner = header.event.get("type") if isinstance(header.event, dict) else None
    return "/".join(part for part in (header.type, header.subtype, inner) if part)
