"""The items that are tools: how they begin, and how they end. Stateless and total."""

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from dragoman._dialects.codex.app import items as i
from dragoman._dialects.codex.app.changes import paths
from dragoman._dialects.codex.shared import content
from dragoman._dialects.codex.shared import values as v
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.content import ImageBlock
from dragoman._wire import fields
from dragoman._wire.content import text_and_blocks

_SNAKE: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOOL_STATUS: Final[dict[str | None, ev.ToolStatus]] = {"failed": "failed", "declined": "declined"}


def snake(name: str) -> str:
    """A tool's name as the model has it: spawn_agent for spawnAgent."""
    return _SNAKE.sub("_", name).lower()


def _command_started(item: i.CommandExecution) -> ev.ToolStarted:
    told: dict[str, Any] = {"codex.itemType": "commandExecution"}
    if item.commandActions:
        told["codex.commandActions"] = item.commandActions
    if item.source is not None:
        told["codex.source"] = item.source
    return v.shell_started(item.id, item.command, item.cwd, ext=told)


def command_input(command: str | None, cwd: str | None) -> dict[str, Any]:
    return {key: value for key, value in (("command", command), ("cwd", cwd)) if value is not None}


def _command_ended(item: i.CommandExecution) -> ev.ToolEnded:
    return ev.ToolEnded(
        call_id=item.id,
        status="failed"
        if item.status is None and item.exitCode
        else _TOOL_STATUS.get(item.status, "completed"),
        output=item.aggregatedOutput,
        exit_code=item.exitCode,
        duration_ms=item.durationMs,
    )


def _change_started(item: i.FileChange) -> ev.ToolStarted:
    named = paths(item.changes)
    return ev.ToolStarted(
        call_id=item.id,
        name="apply_patch",
        kind="edit",
        title=toolnames.one_line(", ".join(named)) if named else None,
        input={"changes": item.changes or []},
        locations=[ev.Location(path=path) for path in named],
    )


def _change_ended(item: i.FileChange) -> ev.ToolEnded:
    return ev.ToolEnded(call_id=item.id, status=_TOOL_STATUS.get(item.status, "completed"))


def mcp_name(server: str, tool: str) -> str:
    return f"mcp__{server}__{tool}"


def _mcp_started(item: i.McpToolCall) -> ev.ToolStarted:
    return v.mcp_started(item.id, item.server, item.tool, item.arguments)


def _mcp_ended(item: i.McpToolCall) -> ev.ToolEnded:
    result = item.result or {}
    text, blocks = text_and_blocks(result.get("content"))
    failed = item.status == "failed" or item.error is not None
    message = fields.text(item.error, "message")
    return ev.ToolEnded(
        call_id=item.id,
        status="failed" if failed else "completed",
        output=text if item.result is not None else None,
        structured=result.get("structuredContent") or item.result,
        content=blocks,
        error=ev.ErrorInfo(message=message or text or "failed") if failed else None,
        duration_ms=item.durationMs,
    )


def _dynamic_started(item: i.DynamicToolCall) -> ev.ToolStarted:
    started = toolnames.tool_started(item.id, item.tool, item.arguments)
    if item.namespace:
        started.native_name = f"{item.namespace}.{item.tool}"
    return started


def _dynamic_ended(item: i.DynamicToolCall) -> ev.ToolEnded:
    text, blocks = content.read(item.contentItems)
    failed = item.status == "failed" or item.success is False
    return ev.ToolEnded(
        call_id=item.id,
        status="failed" if failed else "completed",
        output=text,
        content=blocks,
        error=ev.ErrorInfo(message=text or "failed") if failed else None,
        duration_ms=item.durationMs,
    )


def _function_started(item: i.FunctionCallOutput) -> ev.ToolStarted:
    return toolnames.tool_started(item.id, item.name or "function", None)


def _function_ended(item: i.FunctionCallOutput) -> ev.ToolEnded:
    text = item.output if isinstance(item.output, str) else msgspec.json.encode(item.output).decode()
    return ev.ToolEnded(call_id=item.id, status="completed", output=text)


def _collab_started(item: i.CollabAgentToolCall) -> ev.ToolStarted:
    given = {"prompt": item.prompt, "receivers": item.receiverThreadIds, "model": item.model}
    return toolnames.tool_started(
        item.id, snake(item.tool), {key: value for key, value in given.items() if value}
    )


def _collab_ended(item: i.CollabAgentToolCall) -> ev.ToolEnded:
    states = item.agentsStates or {}
    said = [text for state in states.values() if (text := fields.text(state, "message")) is not None]
    return ev.ToolEnded(
        call_id=item.id,
        status=_TOOL_STATUS.get(item.status, "completed"),
        output="\n".join(said) or None,
        structured=states or None,
    )


def _search_started(item: i.WebSearch) -> ev.ToolStarted:
    given = {"query": item.query, "action": item.action}
    return toolnames.tool_started(
        item.id, "web_search", {key: value for key, value in given.items() if value}
    )


def _search_ended(item: i.WebSearch) -> ev.ToolEnded:
    return ev.ToolEnded(call_id=item.id, status="completed", structured=item.results)


def _image_generated(item: i.ImageGeneration) -> ev.ToolEnded:
    failed = item.failure is not None or item.status == "failed"
    message = fields.text(item.failure, "message") or item.status or "failed"
    return ev.ToolEnded(
        call_id=item.id,
        status="failed" if failed else "completed",
        content=[ImageBlock(uri=item.savedPath)] if item.savedPath else [],
        error=ev.ErrorInfo(message=message) if failed else None,
    )


STARTS: Final[dict[type[Any], Callable[[Any], ev.ToolStarted]]] = {
    i.CommandExecution: _command_started,
    i.FileChange: _change_started,
    i.McpToolCall: _mcp_started,
    i.DynamicToolCall: _dynamic_started,
    i.FunctionCallOutput: _function_started,
    i.CollabAgentToolCall: _collab_started,
    i.WebSearch: _search_started,
    i.ImageView: lambda item: toolnames.tool_started(item.id, "view_image", {"path": item.path}),
    i.Sleep: lambda item: toolnames.tool_started(item.id, "sleep", {"durationMs": item.durationMs}),
    i.ImageGeneration: lambda item: toolnames.tool_started(
        item.id, "image_generation", {"prompt": item.revisedPrompt} if item.revisedPrompt else None
    ),
}

ENDS: Final[dict[type[Any], Callable[[Any], ev.ToolEnded]]] = {
    i.CommandExecution: _command_ended,
    i.FileChange: _change_ended,
    i.McpToolCall: _mcp_ended,
    i.DynamicToolCall: _dynamic_ended,
    i.FunctionCallOutput: _function_ended,
    i.CollabAgentToolCall: _collab_ended,
    i.WebSearch: _search_ended,
    i.ImageView: lambda item: ev.ToolEnded(call_id=item.id, status="completed"),
    i.Sleep: lambda item: ev.ToolEnded(call_id=item.id, status="completed", duration_ms=item.durationMs),
    i.ImageGeneration: _image_generated,
}
"""The items that are tools: how they begin, and how they end."""


def started(item: Any) -> ev.ToolStarted:
    """The beginning of an item that is a tool."""
    event = STARTS[type(item)](item)
    if not event.ext:
        event.ext = {"codex.itemType": item.__struct_config__.tag}
    return event
