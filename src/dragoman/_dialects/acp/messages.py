"""The native messages of ACP that come often: everything that `session/update` can say, in both versions.

Requests and answers come seldom and stay plain JSON. Everything is optional, because an update that lacks a
field is still an update; in protocol 2 a field that is absent keeps its value and null clears it.
"""

from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec import json as msgjson

from dragoman._wire import fields
from dragoman._wire.jsontext import Ragged, Unknown, fit

UPDATE: Final = "session/update"


class Update(Struct, kw_only=True, gc=False, tag_field="sessionUpdate"):
    meta: dict[str, Any] | None = field(name="_meta", default=None)
    schema_version: Any = None
    """agentao says it everywhere."""


# --- what is said ------------------------------------------------------------------------------------------


class TextContent(Struct, gc=False, tag_field="type", tag="text"):
    text: Ragged = ""


class Chunk(Update):
    """A piece of a message. Without an id it belongs to what came just before."""

    content: TextContent | Unknown | list[Any] | str | None = None
    messageId: str | None = None


class UserChunk(Chunk, tag="user_message_chunk"):
    pass


class AgentChunk(Chunk, tag="agent_message_chunk"):
    pass


class ThoughtChunk(Chunk, tag="agent_thought_chunk"):
    pass


class Whole(Update):
    """All that a message says; what its chunks said before is replaced."""

    messageId: str | None = None
    content: list[Any] | UnsetType | None = UNSET


class UserMessage(Whole, tag="user_message"):
    pass


class AgentMessage(Whole, tag="agent_message"):
    pass


class AgentThought(Whole, tag="agent_thought"):
    pass


class Plan(Update, tag="plan"):
    entries: list[Any] | None = None


class PlanUpdate(Update, tag="plan_update"):
    plan: dict[str, Any] | None = None


# --- tools -------------------------------------------------------------------------------------------------


class ToolUpdate(Update, tag="tool_call_update"):
    toolCallId: str = ""
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: Any = UNSET
    locations: Any = UNSET
    rawInput: Any = UNSET
    rawOutput: Any = UNSET
    capabilities: Any = None
    toolCall: dict[str, Any] | None = None
    """The older shape: all of the above, one level down."""


class ToolCall(ToolUpdate, tag="tool_call"):
    pass


class ToolContentChunk(Update, tag="tool_call_content_chunk"):
    toolCallId: str = ""
    content: Any = None


class TerminalUpdate(Update, tag="terminal_update"):
    terminalId: str = ""
    command: str | None = None
    cwd: str | None = None
    output: dict[str, Any] | None = None
    exitStatus: dict[str, Any] | None = None
    size: Any = None
    capabilities: Any = None


class TerminalChunk(Update, tag="terminal_output_chunk"):
    terminalId: str = ""
    data: str = ""


# --- the session -------------------------------------------------------------------------------------------


class Commands(Update, tag="available_commands_update"):
    availableCommands: list[Any] | None = None


class ModeChanged(Update, tag="current_mode_update"):
    currentModeId: str | None = None


class OldModeChanged(Update, tag="mode_change"):
    """What drafts before version 1 called it."""

    currentModeId: str | None = None
    modeId: str | None = None


class OptionsChanged(Update, tag="config_option_update"):
    configOptions: list[Any] | None = None


class InfoChanged(Update, tag="session_info_update"):
    title: str | None = None
    updatedAt: str | None = None


class UsageChanged(Update, tag="usage_update"):
    used: int | None = None
    size: int | None = None
    cost: dict[str, Any] | None = None


class NoticeGiven(Update, tag="notice"):
    severity: str | None = None
    title: str | None = None
    description: str | None = None


class Compaction(Update, tag="compaction_update"):
    compactionId: str | None = None
    status: str | None = None
    summary: list[Any] | None = None
    error: str | None = None


class CompactionChunk(Update, tag="compaction_summary_chunk"):
    compactionId: str | None = None
    content: Any = None


class StateChanged(Update, tag="state_update"):
    state: str | None = None
    stopReason: str | None = None
    error: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    background: Any = None


AnyUpdate = (
    UserChunk | AgentChunk | ThoughtChunk | UserMessage | AgentMessage | AgentThought | Plan | PlanUpdate
    | ToolUpdate | ToolCall | ToolContentChunk | TerminalUpdate | TerminalChunk | Commands | ModeChanged
    | OldModeChanged | OptionsChanged | InfoChanged | UsageChanged | NoticeGiven | Compaction | CompactionChunk
    | StateChanged
)  # fmt: skip


class UpdateParams(Struct, gc=False):
    sessionId: str | None = None
    update: AnyUpdate | None = None
    """None for an update of a kind that this version does not know."""
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class UpdateLine(Struct, gc=False):
    method: Literal["session/update"]
    params: UpdateParams = field(default_factory=UpdateParams)


NAMES: Final = {kind: f"{UPDATE}/{kind.__struct_config__.tag}" for kind in get_args(AnyUpdate)}
"""What updates are called, by their type."""

BEGINNING: Final = b'{"jsonrpc":"2.0","method":"session/update",'
"""How nearly all agents begin the line of an update."""

decode_update: Final = msgjson.Decoder(UpdateLine).decode
"""The line of an update in its types, in one pass; raises REFUSED for one that does not fit. It takes 0.57 µs for a chunk
and 4.0 for a diff of 2 kB, where the peer's two passes, envelope and params, take 0.70 and 5.9."""


def update_of(params: Any) -> UpdateParams | Unknown:
    """An update from params as the peer gives them, typed or as far as they fit; Unknown with its kind."""
    fitted: UpdateParams = params if isinstance(params, UpdateParams) else fit(params, UpdateParams)
    return fitted if fitted.update is not None else Unknown({"type": kind_of(params)})


def tool_of(native: Any) -> ToolUpdate | None:
    """A tool call as requests and older updates carry it; None if it has no id."""
    try:
        tool = msgspec.convert(native, ToolUpdate)
    except msgspec.MsgspecError:  # one that does not fit, as far as it goes
        tool = fit(native, ToolUpdate)
    return tool if tool.toolCallId else None


def kind_of(params: Any) -> str:
    """What an update is called."""
    kind = fields.text(fields.value(params, "update"), "sessionUpdate")
    return f"{UPDATE}/{kind}" if kind is not None else UPDATE
