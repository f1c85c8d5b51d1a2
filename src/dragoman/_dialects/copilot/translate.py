"""What single lines mean, where no memory is needed: stateless and total."""

import re
from typing import Any, Final, Literal

from dragoman._model import events as ev
from dragoman._model import patches, toolnames
from dragoman._model.content import ContentBlock, ImageBlock, ResourceBlock, TextBlock, UnknownBlock
from dragoman._model.usage import ModelUsage, Usage, of_model
from dragoman._wire import fields
from dragoman._wire.content import blocks_of

Data = dict[str, Any]

# --- messages ----------------------------------------------------------------------------------------------


def attachments(data: Data) -> list[ContentBlock]:
    """What the user gave with a message: files and folders by their paths, images by their bytes."""
    return [_attachment(native) for native in fields.mappings(data, "attachments")]


def _attachment(native: Data) -> ContentBlock:
    path, mime = fields.text(native, "path", "filePath"), fields.text(native, "mimeType")
    if path is not None:
        return ResourceBlock(
            uri=path,
            name=fields.text(native, "displayName"),
            mime_type=mime,
            text=fields.text(native, "text"),
        )
    content = fields.text(native, "data")
    if content is not None and (mime or "").startswith("image/"):
        return ImageBlock(mime_type=mime, data=content)
    return UnknownBlock(native=native)


def is_written(data: Data) -> bool:
    """Whether the CLI wrote a user's message: what a person says names no `source`."""
    return fields.text(data, "source") not in (None, "user") or fields.flag(data, "isAutopilotContinuation")


def notice(data: Data, severity: Literal["info", "warning"]) -> ev.Notice:
    return ev.Notice(
        severity=severity,
        message=fields.text(data, "message") or "",
        code=fields.text(data, "infoType", "warningType"),
    )


# --- tools -------------------------------------------------------------------------------------------------

_SHELL_END: Final = re.compile(r"\n?<shellId: [^>\n]* completed with exit code -?\d+>\s*\Z")
"""What follows a command's output, for the model."""

_REFUSED: Final[dict[str | None, ev.ToolStatus]] = {
    "denied": "declined",
    "rejected": "declined",
    "cancelled": "cancelled",
    "aborted": "cancelled",
}
"""By the code of a failed call's error; with another it failed."""

_CHANGES: Final[dict[str | None, Literal["created", "modified", "deleted"]]] = {
    "create": "created",
    "edit": "modified",
    "delete": "deleted",
}


def tool_started(data: Data, name: str | None) -> ev.ToolStarted:
    """The beginning of a call, from `toolRequests` or tool.execution_start."""
    id = fields.text(data, "toolCallId") or ""
    started = toolnames.tool_started(id, name or "", data.get("arguments"))
    server = fields.text(data, "mcpServerName")
    if server is not None:
        started.server, started.kind = server, "mcp"
        started.name = fields.text(data, "mcpToolName") or started.name
    return started


def tool_ended(data: Data) -> ev.ToolEnded:
    """The end of a call. A command that ended by itself is a call that succeeded, whatever its exit code."""
    result, error = fields.mapping(data, "result"), fields.mapping(data, "error")
    done, code = fields.flag(data, "success"), fields.text(error, "code")
    output, said = fields.text(result, "content"), fields.text(error, "message")
    exit_code = fields.integer(fields.mapping(data, "shellExecution"), "exitCode")
    if output is not None and exit_code is not None:
        output = _SHELL_END.sub("", output)
    return ev.ToolEnded(
        call_id=fields.text(data, "toolCallId") or "",
        status="completed" if done else _REFUSED.get(code, "failed"),
        output=output if output is not None else said,
        structured=result.get("structuredContent"),
        content=[block for block in blocks_of(result.get("contents")) if not isinstance(block, TextBlock)],
        error=None if done else ev.ErrorInfo(message=said or output or "unknown error", code=code),
        exit_code=exit_code,
    )


def changes_of(data: Data, arguments: Any) -> list[ev.FileChanged]:
    """What a call did to files: `fileEdits`, with the diff in `detailedContent`, of each its part. A new file's text is that
    of the arguments."""
    edits = fields.mappings(data, "fileEdits")
    diff = (fields.text(fields.mapping(data, "result"), "detailedContent") or "").lstrip("\n")
    changes = []
    for edit in edits:
        path, change = fields.text(edit, "path"), _CHANGES.get(fields.text(edit, "kind"))
        if path is None or change is None:
            continue
        changed = ev.FileChanged(
            path=path,
            change=change,
            diff=(diff if len(edits) == 1 else _part(diff, path)) or None,
            call_id=fields.text(data, "toolCallId"),
            phase="applied" if fields.flag(data, "success") else "failed",
        )
        text = fields.text(arguments, "file_text") if change == "created" and len(edits) == 1 else None
        if text is not None:
            changed.after, changed.diff = text, patches.between(path, None, text)
        changes.append(changed)
    return changes


def _part(diff: str, path: str) -> str:
    """The part of a diff that is about one file."""
    parts = ("diff --git " + part for part in ("\n" + diff).split("\ndiff --git ")[1:])
    return next((part for part in parts if part.partition("\n")[0].endswith(path)), "")


# --- permissions -------------------------------------------------------------------------------------------

_INPUTS: Final = ("fullCommandText", "fileName", "path", "url", "args", "toolName")
"""What a request is about, by its kind."""

_KINDS: Final[dict[str | None, ev.ToolKind]] = {
    "shell": "execute",
    "write": "edit",
    "read": "read",
    "url": "fetch",
    "mcp": "mcp",
    "memory": "memory",
}


def permission_requested(data: Data) -> ev.PermissionRequested:
    request = fields.mapping(data, "permissionRequest")
    kind = fields.text(request, "kind")
    return ev.PermissionRequested(
        request_id=fields.text(data, "requestId") or "",
        call_id=fields.text(request, "toolCallId"),
        tool_name=fields.text(request, "toolName") or kind,
        kind=_KINDS.get(kind, "other"),
        input={name: request[name] for name in _INPUTS if name in request},
        title=fields.text(request, "intention"),
        reason=fields.text(request, "warning"),
        cwd=fields.text(request, "resolvedWorkingDirectory"),
    )


_OUTCOMES: Final[dict[str, Literal["allowed", "denied", "cancelled"]]] = {
    "approved": "allowed",
    "denied": "denied",
}
"""By the first word of `result.kind`."""


def permission_resolved(data: Data) -> ev.PermissionResolved:
    """The answer. A person gave it unless `decisionSource` or the kind says that the CLI did."""
    result = fields.mapping(data, "result")
    kind = fields.text(result, "kind") or ""
    source = fields.text(data, "decisionSource")
    by_person = source == "human_response" or (
        source is None and "rules" not in kind and "not-request" not in kind
    )
    return ev.PermissionResolved(
        request_id=fields.text(data, "requestId") or "",
        outcome=_OUTCOMES.get(kind.partition("-")[0], "cancelled"),
        by="client" if by_person else "agent",
        rule=None if by_person else kind,
        message=fields.text(result, "feedback", "reason"),
    )


# --- usage -------------------------------------------------------------------------------------------------


def usage_of(native: Data) -> Usage:
    """The tokens of one call: input includes what was cached, output what was reasoned."""
    return Usage(
        input_tokens=fields.integer(native, "inputTokens"),
        cache_read_tokens=fields.integer(native, "cacheReadTokens"),
        cache_write_tokens=fields.integer(native, "cacheWriteTokens"),
        output_tokens=fields.integer(native, "outputTokens"),
        reasoning_tokens=fields.integer(native, "reasoningTokens"),
    )


def key_of(native: Data) -> str | None:
    """What a call is called: by the session that made it and its number there, which a copy keeps."""
    accounting = fields.mapping(native, "accounting")
    session, number = fields.text(accounting, "sourceSessionId"), fields.integer(accounting, "sequence")
    if session is not None and number is not None:
        return f"{session}/{number}"
    return fields.text(native, "apiCallId", "requestId")


def totals_of(data: Data) -> dict[str, ModelUsage]:
    """What each model has used so far, from `modelMetrics` of a shutdown."""
    metrics = fields.mapping(data, "modelMetrics")
    return {
        model: of_model(used)
        for model in metrics
        if (used := usage_of(fields.mapping(fields.mapping(metrics, model), "usage")))
    }


def compacted(data: Data) -> ev.ContextCompacted:
    return ev.ContextCompacted(
        trigger="manual" if data.get("trigger") == "manual" else "auto",
        before_tokens=fields.integer(data, "preCompactionTokens"),
        after_tokens=fields.integer(data, "postCompactionTokens"),
        summary=fields.text(data, "summaryContent"),
    )


def truncated(data: Data) -> ev.ContextCompacted:
    """What was left out of the context, without a summary."""
    return ev.ContextCompacted(
        before_tokens=fields.integer(data, "preTruncationTokensInMessages"),
        after_tokens=fields.integer(data, "postTruncationTokensInMessages"),
    )
