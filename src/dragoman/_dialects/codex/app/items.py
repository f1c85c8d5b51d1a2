"""The items of a thread: messages, reasoning, and what the agent does. They begin, may grow, and complete.

Fields that nothing is made of are not listed: the frame keeps the bytes. An item of a type that is not here
becomes `Unknown`.
"""

from typing import Any

from msgspec import Struct, field

from dragoman._wire.jsontext import Unknown


class Item(Struct, kw_only=True, gc=False, tag_field="type"):
    """What every item carries."""

    id: str = ""


# --- what is said ------------------------------------------------------------------------------------------


class UserMessage(Item, tag="userMessage"):
    clientId: str | None = None
    content: list[dict[str, Any]] | None = None


class HookPrompt(Item, tag="hookPrompt"):
    fragments: list[dict[str, Any]] | None = None


class AgentMessage(Item, tag="agentMessage"):
    text: str = ""
    phase: str | None = None
    """commentary, partial_answer or final_answer; absent where the model does not say."""


class Plan(Item, tag="plan"):
    text: str = ""


class Reasoning(Item, tag="reasoning"):
    summary: list[str] | None = None
    content: list[str] | None = None


# --- what is done ------------------------------------------------------------------------------------------


class CommandExecution(Item, tag="commandExecution"):
    command: str = ""
    cwd: str | None = None
    processId: str | None = None
    source: str | None = None
    status: str | None = None
    commandActions: list[dict[str, Any]] | None = None
    aggregatedOutput: str | None = None
    exitCode: int | None = None
    durationMs: float | None = None


class FileChange(Item, tag="fileChange"):
    changes: list[dict[str, Any]] | None = None
    status: str | None = None


class McpToolCall(Item, tag="mcpToolCall"):
    server: str = ""
    tool: str = ""
    arguments: Any = None
    status: str | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    durationMs: float | None = None


class DynamicToolCall(Item, tag="dynamicToolCall"):
    namespace: str | None = None
    tool: str = ""
    arguments: Any = None
    status: str | None = None
    contentItems: list[dict[str, Any]] | None = None
    success: bool | None = None
    durationMs: float | None = None


class FunctionCallOutput(Item, tag="functionCallOutput"):
    name: str = ""
    namespace: str | None = None
    output: Any = None


class CollabAgentToolCall(Item, tag="collabAgentToolCall"):
    tool: str = ""
    status: str | None = None
    receiverThreadIds: list[str] | None = None
    prompt: str | None = None
    model: str | None = None
    agentsStates: dict[str, dict[str, Any]] | None = None


class SubAgentActivity(Item, tag="subAgentActivity"):
    kind: str = ""
    """started, interacted, interrupted or completed."""
    agentThreadId: str | None = None
    agentPath: str | None = None
    model: str | None = None


class WebSearch(Item, tag="webSearch"):
    query: str = ""
    action: dict[str, Any] | None = None
    results: list[Any] | None = None


class ImageView(Item, tag="imageView"):
    path: str = ""


class Sleep(Item, tag="sleep"):
    durationMs: float | None = None


class ImageGeneration(Item, tag="imageGeneration"):
    status: str | None = None
    revisedPrompt: str | None = None
    savedPath: str | None = None
    failure: dict[str, Any] | None = None


# --- what becomes of the thread ----------------------------------------------------------------------------


class EnteredReviewMode(Item, tag="enteredReviewMode"):
    review: str = ""


class ExitedReviewMode(Item, tag="exitedReviewMode"):
    review: str = ""


class ContextCompaction(Item, tag="contextCompaction"):
    pass


ThreadItem = (
    UserMessage | HookPrompt | AgentMessage | Plan | Reasoning | CommandExecution | FileChange | McpToolCall
    | DynamicToolCall | FunctionCallOutput | CollabAgentToolCall | SubAgentActivity | WebSearch | ImageView
    | Sleep | ImageGeneration | EnteredReviewMode | ExitedReviewMode | ContextCompaction | Unknown
)  # fmt: skip


class Turn(Struct, kw_only=True, gc=False):
    id: str | None = None
    items: list[ThreadItem] = field(default_factory=list)
    status: str | None = None
    error: dict[str, Any] | None = None
    durationMs: float | None = None
