"""What single lines mean, where no memory is needed: stateless and total."""

import re
from collections.abc import Callable
from typing import Any, Final

from dragoman._dialects.claude.shared.results import exit_code
from dragoman._dialects.claude.shared.usage import model_usage_of
from dragoman._dialects.claude.transcript import messages as m
from dragoman._model import events as ev
from dragoman._model.content import ContentBlock, ImageBlock, ResourceBlock
from dragoman._model.events import Event
from dragoman._model.usage import Usage, added
from dragoman._wire import fields
from dragoman._wire.content import blocks_of, text_and_blocks

# --- texts of user entries: a person's words, a command, a command's output, or the CLI in their name --------

INTERRUPTED: Final = "[Request interrupted by user"
"""How the CLI writes that a turn was stopped (captures interrupt_tool, kill_sigint_stream)."""

_NAME: Final = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_SHELL: Final = re.compile(r"\s*<bash-input>(.*)</bash-input>\s*", re.DOTALL)
_OUTPUT: Final = re.compile(r"<((?:local-command|bash)-(?:stdout|stderr))>(.*?)</\1>", re.DOTALL)


def typed_text(text: str) -> str:
    """The text that the person typed: commands are stored in tags (capture slash_various)."""
    if (shell := _SHELL.fullmatch(text)) is not None:
        return f"!{shell[1]}"
    if not text.lstrip().startswith(("<command-name>", "<command-message>")):
        return text
    name, arguments = _NAME.search(text), _ARGUMENTS.search(text)
    if name is None:
        return text
    return f"{name[1]} {arguments[1]}".rstrip() if arguments else name[1]


def output_of(text: str) -> str | None:
    """The output of a command, out of its tags; None if `text` is none."""
    if not text.lstrip().startswith(("<local-command-std", "<bash-std")):
        return None
    return "\n".join(match[2] for match in _OUTPUT.finditer(text) if match[2])


# --- what is said ------------------------------------------------------------------------------------------


def user_message(content: Any, *, synthetic: bool = False) -> ev.Message:
    """A user entry's `content` as a message."""
    text, blocks = text_and_blocks(content)
    return ev.Message(role="user", text=text or None, blocks=blocks, synthetic=synthetic)


def assistant_block(block: Any, *, failed: bool = False) -> ev.Message:
    """A message from one block of an answer that is no tool call. Redacted thinking has no text, only its
    data."""
    kind = block.get("type") if isinstance(block, dict) else "text"
    if kind in ("thinking", "redacted_thinking"):
        text = fields.text(block, "thinking") or ""
        blocks = blocks_of([block]) if kind == "redacted_thinking" else []
        return ev.Message(role="assistant", kind="thinking", text=text, blocks=blocks)
    text, blocks = text_and_blocks([block])
    return ev.Message(
        role="assistant", kind="error" if failed else "text", text=None if blocks else text, blocks=blocks
    )


# --- tools -------------------------------------------------------------------------------------------------

_REJECTED: Final = "User rejected tool use"
_STOPPED: Final = "this call was stopped while running, not refused before it ran"
_DENIALS: Final = (
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this tool use was denied",
    "The user doesn't want to proceed with this tool use",
    "This command requires approval",
)
"""How a denied tool answers in versions that do not say toolDenialKind (2.1.197, capture perm_denied_default)."""


def tool_ended(call_id: str, block: dict[str, Any], entry: m.User, structured: Any) -> ev.ToolEnded:
    text, blocks = text_and_blocks(block.get("content"))
    status = tool_status(fields.flag(block, "is_error"), text, entry, structured)
    return ev.ToolEnded(
        call_id=call_id,
        status=status,
        output=text,
        structured=structured,
        content=blocks,
        error=None if status == "completed" else ev.ErrorInfo(message=text, code=entry.toolDenialKind),
        exit_code=exit_code(text) if status == "failed" else None,
    )


def server_tool_ended(call_id: str, content: Any) -> ev.ToolEnded:
    """The end of a tool that the API runs itself, such as its web search."""
    code = fields.text(content, "error_code")
    return ev.ToolEnded(
        call_id=call_id,
        status="completed" if code is None else "failed",
        structured=content,
        error=None if code is None else ev.ErrorInfo(message=code, code=code),
    )


def tool_status(is_error: bool, text: str, entry: m.User, structured: Any) -> ev.ToolStatus:
    """What an interrupt stopped has the words and the kind of what a user refused; 2.1.325 corrects itself where the call
    was at work."""
    if fields.flag(structured, "interrupted") or (is_error and _STOPPED in text):
        return "cancelled"
    if not is_error:
        return "completed"
    if entry.toolDenialKind is not None:
        return "cancelled" if entry.toolDenialKind == "interrupted" else "declined"
    if structured == _REJECTED or text.startswith(_DENIALS):
        return "declined"
    return "failed"


# --- system ------------------------------------------------------------------------------------------------


def compaction(line: m.CompactBoundary) -> list[Event]:
    data = line.compactMetadata
    return [
        ev.ContextCompacted(
            trigger="manual" if data.trigger == "manual" else "auto",
            before_tokens=data.preTokens,
            after_tokens=data.postTokens,
        )
    ]


def microcompaction(line: m.MicrocompactBoundary) -> list[Event]:
    data = line.microcompactMetadata
    known = data.preTokens is not None and data.tokensSaved is not None
    after = (data.preTokens or 0) - (data.tokensSaved or 0) if known else None
    return [ev.ContextCompacted(before_tokens=data.preTokens, after_tokens=after, phase="micro")]


def system_text(line: m.SystemText) -> list[Event]:
    code = line.level if line.subtype == "informational" else line.subtype
    severity: Any = "warning" if line.level in ("warning", "error") else "info"
    return [ev.Notice(severity=severity, message=line.content or "", code=code)]


def refusal(line: m.Refusal) -> list[Event]:
    said = line.content or line.apiRefusalExplanation or "the model refused to answer"
    return [ev.Error(severity="warning", message=said, code=line.apiRefusalCategory or "refusal")]


def retry(line: m.ApiFailure) -> list[Event]:
    return [
        ev.Retry(
            attempt=line.retryAttempt,
            max_attempts=line.maxRetries,
            delay_ms=line.retryInMs,
            reason=fields.text(line.error, "formatted", "message"),
            status_code=fields.integer(line.error, "status"),
        )
    ]


def stop_hooks(line: m.StopHooks) -> list[Event]:
    errors = "\n".join(map(str, line.hookErrors))
    outcome = "error" if errors else "blocked" if line.preventedContinuation else "success"
    output = errors or line.stopReason or None
    return [ev.Hook(name="Stop", event="Stop", phase="ended", output=output, outcome=outcome)]


# --- attachments -------------------------------------------------------------------------------------------

_HOOKS: Final[dict[str, str | None]] = {
    "async_hook_response": "success",
    "hook_additional_context": None,
    "hook_blocking_error": "blocked",
    "hook_cancelled": "cancelled",
    "hook_deferred_tool": "deferred",
    "hook_error_during_execution": "error",
    "hook_non_blocking_error": "error",
    "hook_permission_decision": None,
    "hook_stopped_continuation": "stopped",
    "hook_success": "success",
    "hook_system_message": None,
}
"""Attachments that are a hook's, and what came of it."""

_FILES: Final = frozenset(
    ("at_mention_reference", "document", "file", "image", "mcp_resource", "pdf_reference")
)
"""Attachments that bring content along. Only interactive sessions have them; no capture does."""

_SILENT: Final = frozenset(
    (
        "agent_listing_delta", "auto_mode", "auto_mode_exit", "budget_usd", "command_permissions",
        "compact_file_reference", "critical_system_reminder", "date", "date_change", "deferred_tools_delta",
        "diagnostics", "directory", "directory_added", "edited_image_file", "edited_text_file", "environment",
        "invoked_skills", "mcp_instructions_delta", "memory_update", "model", "nested_memory",
        "opened_file_in_ide", "output_style", "plan_file_reference", "plan_mode", "plan_mode_exit",
        "plan_mode_reentry", "prompt_snapshot", "relevant_memories", "remote_session_change",
        "selected_lines_in_diff", "selected_lines_in_ide", "session_context", "silent_turn_reminder",
        "skill_listing", "structured_output", "task_reminder", "todo_reminder", "token_usage",
        "tool_search_usage_reminder", "total_tokens_reminder", "unknown_command_fallback",
    )
)  # fmt: skip
"""Context for the model that is nobody's words, or a fact that the machine keeps."""


def attachment(native: dict[str, Any]) -> list[Event]:
    kind = fields.text(native, "type") or ""
    if kind in _HOOKS:
        return [_hook(native, _HOOKS[kind])]
    if kind == "queued_command":
        return [user_message(native.get("prompt"), synthetic=native.get("commandMode") != "prompt")]
    if kind == "max_turns_reached":
        said = f"reached the maximum number of turns ({native.get('maxTurns')})"
        return [ev.Notice(severity="warning", message=said, code=kind)]
    if kind in _FILES:
        return [ev.Message(role="user", blocks=[_file(native)], synthetic=True)]
    return [] if kind in _SILENT else [ev.NativeUnknown(native_type=f"attachment/{kind}")]


def _hook(native: dict[str, Any], outcome: str | None) -> ev.Hook:
    error = native.get("blockingError")
    said = (native.get(key) for key in ("stdout", "stderr", "content", "message", "decision"))
    text = next((text for text in map(_lines, (*said, error)) if text), None)
    return ev.Hook(
        name=fields.text(native, "hookName"),
        event=fields.text(native, "hookEvent"),
        phase="ended",
        output=text,
        stderr=_lines(native.get("stderr")) or None,
        exit_code=fields.integer(native, "exitCode"),
        outcome=outcome,
    )


def _lines(said: Any) -> str:
    """A hook's output as text: a string, a list of lines, or an error that wraps it."""
    if isinstance(said, dict):
        said = fields.text(said, "blockingError") or ""
    return "\n".join(map(str, said)) if isinstance(said, list) else said if isinstance(said, str) else ""


def _file(native: dict[str, Any]) -> ContentBlock:
    content = native.get("content")
    inner = content.get("file", content) if isinstance(content, dict) else native
    inner = inner if isinstance(inner, dict) else native
    name = fields.text(native, "filename", "displayPath", "path", "uri") or fields.text(inner, "filePath")
    if (data := fields.text(inner, "base64", "data")) is not None:
        return ImageBlock(mime_type=fields.text(inner, "type", "mediaType"), data=data, uri=name)
    return ResourceBlock(
        uri=name, name=fields.text(native, "displayPath"), text=fields.text(inner, "content", "text")
    )


# --- costs -------------------------------------------------------------------------------------------------


def session_cost(line: m.CostState) -> ev.UsageUpdated:
    """The event for a cost line: totals of the session so far, with subagents and the CLI's own requests."""
    usage: Usage | None = None
    for native in line.modelUsage.values():
        if isinstance(native, dict):
            usage = added(usage or Usage(), model_usage_of(native))
    model = next(iter(line.modelUsage)) if len(line.modelUsage) == 1 else None
    return ev.UsageUpdated(scope="session", usage=usage, model=model, cost_usd=line.totalCostUSD)


SIMPLE: Final[dict[type[m.Line], Callable[[Any], list[Event]]]] = {
    m.ApiFailure: retry,
    m.CompactBoundary: compaction,
    m.MicrocompactBoundary: microcompaction,
    m.Refusal: refusal,
    m.Silent: lambda line: [],
    m.StopHooks: stop_hooks,
    m.SystemText: system_text,
    m.TurnDuration: lambda line: [],
}


# -----------------------------------------------------------------------------------------------------------


def native_type(line: m.Line) -> str:
    """What a line is called in NOTES.md."""
    subtype = getattr(line, "subtype", None)
    if isinstance(line, m.Attachment):
        subtype = fields.text(line.attachment, "type")
    return f"{line.type}/{subtype}" if subtype else line.type or "agent-meta"
