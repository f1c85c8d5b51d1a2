"""What a tool call is called, is given and gives back, in each provider's words. Stateless and total."""

from typing import Any, Final

from dragoman._dialects.insights import messages as m
from dragoman._model import content as c
from dragoman._model import events as ev
from dragoman._projections.insights import content

CODEX_NAMES: Final = {"shell": "Bash", "apply_patch": "FileChange"}
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
        locations=[place.path for place in event.locations] or None,
        model=event.model,
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
        paths = [place.path for place in event.locations]
        changes = _changes(given.get("changes"))
        first: dict[str, Any] = {"file_path": paths[0]} if paths else {}
        return {**first, **({"paths": paths} if len(paths) > 1 else {}), "changes": changes}
    return given


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
    if output is None and event.error is not None:
        output = event.error.message
    failed_exit = provider == "codex" and event.exit_code not in (0, None)
    extensions = (
        {f"{provider}.status": event.status} if event.status in ("declined", "skipped", "abandoned") else None
    )
    return m.ToolCompletionEvent(
        call_id=event.call_id,
        status=_STATUS.get(event.status, "cancelled"),
        output=output,
        is_error=event.status == "failed" or (failed_exit and event.status == "completed"),
        content=content.content_of(blocks) or None,
        extensions=extensions,
    )


def _acp_output(event: ev.ToolEnded) -> tuple[Any, list[c.ContentBlock]]:
    """The raw output, else the diffs and terminals that were shown; text is content."""
    native = event.ext.get("acp.toolContent")
    shown = [
        item
        for item in (native if isinstance(native, list) else [])
        if isinstance(item, dict) and item.get("type") in ("diff", "terminal")
    ]
    output = event.structured
    if output is None and shown:
        output = shown[0] if len(shown) == 1 else shown
    blocks = event.content
    if not blocks and event.output is not None and native:
        blocks = [c.TextBlock(text=event.output)]
    return output, blocks
