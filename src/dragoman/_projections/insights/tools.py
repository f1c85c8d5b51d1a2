"""What a tool call is called, is given and gives back, in each provider's words. Stateless and total."""

from typing import Any, Final

from dragoman._dialects.insights import messages as m
from dragoman._model import content as c
from dragoman._model import events as ev
from dragoman._projections.insights import content
from dragoman._wire.content import text_of_content

CODEX_NAMES: Final = {"shell": "Bash", "apply_patch": "FileChange"}
_ITEM: Final = "codex.itemType"
"""The native value of a call that is repeated each time it is told."""
SUBAGENT_TOOLS: Final = ("Task", "Agent")
"""The tools by which Claude starts subagents, old name and new."""

_STATUS: Final[dict[str, m.ToolCallStatus]] = {"completed": "completed", "failed": "failed"}


def kind_of(kind: ev.ToolKind) -> m.ToolKind:
    return "other" if kind == "switch_mode" else kind


def record(value: Any) -> dict[str, Any]:
    """A tool's input, which the model wants as an object."""
    if isinstance(value, dict):
        return value
    return {} if value is None else {"input": value}


def invocation(provider: m.Provider, event: ev.ToolStarted) -> m.ToolInvocationEvent:
    return m.ToolInvocationEvent(
        call_id=event.call_id,
        kind=kind_of(event.kind),
        tool_name=name_of(provider, event.native_name or event.name, event.title, event.kind),
        input=_input(provider, event),
        parent_call_id=event.parent,
        title=event.title,
        locations=[place.path for place in event.locations] if event.locations else None,
        model=event.model,
        extensions={_ITEM: event.ext[_ITEM]} if _ITEM in event.ext else None,
    )


def name_of(provider: m.Provider, name: str | None, title: str | None, kind: str) -> str:
    """ACP tools have no names: their title stands for it, else their kind."""
    if provider == "acp":
        return title or kind
    if provider == "codex" and name is not None:
        return CODEX_NAMES.get(name, name)
    return name or kind


def _input(provider: m.Provider, event: ev.ToolStarted) -> dict[str, Any]:
    given = record(event.input)
    if provider != "codex":
        return given
    if event.kind == "mcp" and event.server is not None:
        return {"server": event.server, "tool": event.name, "arguments": event.input}
    if event.name == "apply_patch":
        return _patch([place.path for place in event.locations], given.get("changes"))
    return given


def permission_input(
    provider: m.Provider, event: ev.PermissionRequested, call: m.ToolInvocationEvent | None
) -> dict[str, Any]:
    """What the tool is called for: as the call says where the request does not, else the place that is asked for.
    A patch of Codex is in its call alone."""
    given = record(event.input)
    if provider == "codex" and event.tool_name == "apply_patch":
        native = given.get("changes")
        given = _patch(_paths(native), native) if native and call is None else {}
    if not given and call is not None:
        return call.input
    if not given and event.blocked_path is not None:
        return {"file_path": event.blocked_path}
    return given


def _patch(paths: list[str], changes: Any) -> dict[str, Any]:
    first: dict[str, Any] = {"file_path": paths[0]} if paths else {}
    return {**first, **({"paths": paths} if len(paths) > 1 else {}), "changes": _changes(changes)}


def _paths(changes: Any) -> list[str]:
    """The files of a patch: a list of changes, or in the form of 2025 an object by path."""
    if isinstance(changes, dict):
        return list(changes)
    named = (
        [item.get("path") for item in changes if isinstance(item, dict)] if isinstance(changes, list) else []
    )
    return [path for path in named if isinstance(path, str)]


def _changes(native: Any) -> list[dict[str, Any]]:
    """The changes of a patch, each with path, kind, move_path and diff, as far as they are said."""
    changes = []
    for item in native if isinstance(native, list) else []:
        given = item if isinstance(item, dict) else {}
        kind = given.get("kind")
        inner = kind if isinstance(kind, dict) else {"type": kind}
        change = {
            "path": given.get("path"),
            "kind": inner.get("type"),
            "move_path": inner.get("move_path", given.get("move_path")),
            "diff": given.get("diff"),
        }
        changes.append({key: value for key, value in change.items() if value is not None})
    return changes


# --- results -----------------------------------------------------------------------------------------------


def completion(
    provider: m.Provider,
    event: ev.ToolEnded,
    call: m.ToolInvocationEvent | None,
    changes: list[ev.FileChanged],
) -> m.ToolCompletionEvent:
    output, blocks = event.structured if event.structured is not None else event.output, event.content
    if provider == "codex" and call is not None and call.kind == "execute":
        output = {"stdout": event.output or "", "stderr": "", "exit_code": event.exit_code}
        blocks = [c.TerminalBlock(output=event.output or "", exit_code=event.exit_code)]
    elif provider == "codex" and call is not None and call.tool_name == "FileChange":
        output = {"changes": call.input.get("changes", [])}
        blocks = [
            c.DiffBlock(path=change.path, before=change.before, after=change.after, patch=change.diff)
            for change in changes
        ]
    elif provider == "acp":
        output, blocks = _acp_output(event)
    if output is None and provider != "acp":
        output = _reason(provider, event, call)
    failed_exit = provider == "codex" and event.exit_code not in (0, None)
    extensions = (
        {f"{provider}.status": event.status} if event.status in ("declined", "skipped", "abandoned") else None
    )
    return m.ToolCompletionEvent(
        call_id=event.call_id,
        status=_STATUS.get(event.status, "cancelled"),
        output=output,
        is_error=event.status == "failed" or (failed_exit and event.status == "completed"),
        content=content.content_of(blocks) if blocks else None,
        locations=call.locations if call is not None else None,
        extensions=extensions,
    )


def _reason(provider: m.Provider, event: ev.ToolEnded, call: m.ToolInvocationEvent | None) -> Any:
    """Why it failed, as the output of a tool that has none: of Codex' MCP calls the error itself. A word that only
    repeats the status is no reason."""
    message = event.error.message if event.error is not None else None
    if message is None or message == event.status:
        return None
    return (
        {"message": message} if provider == "codex" and call is not None and call.kind == "mcp" else message
    )


def _acp_output(event: ev.ToolEnded) -> tuple[Any, list[c.ContentBlock]]:
    """The raw output, else the diffs and terminals that were shown; text is content. A raw output that is text is the
    event's output, which otherwise is the text of the content."""
    native = event.ext.get("acp.toolContent")
    shown = [
        item
        for item in (native if isinstance(native, list) else [])
        if isinstance(item, dict) and item.get("type") in ("diff", "terminal")
    ]
    text = text_of_content(native)
    output = event.structured
    if output is None and shown:
        output = shown[0] if len(shown) == 1 else shown
    if output is None and event.output != text:
        output = event.output
    return output, event.content or ([c.TextBlock(text=text)] if text else [])
