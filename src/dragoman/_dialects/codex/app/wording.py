"""What we ask of Codex, in its own words: input, modes and settings."""

from typing import Any, Final

from dragoman._model import commands as c
from dragoman._model.content import (
    AudioBlock,
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)
from dragoman._model.errors import UsageError

POLICIES: Final = ("untrusted", "on-request", "never")
_MODES: Final[dict[str, dict[str, Any]]] = {
    **{policy: {"approvalPolicy": policy} for policy in POLICIES},
    "ask": {"approvalPolicy": "untrusted"},
    "edits": {"approvalPolicy": "untrusted"},
    "dangerous": {"approvalPolicy": "untrusted"},
    "all": {"approvalPolicy": "untrusted", "sandboxPolicy": {"type": "dangerFullAccess"}},
    "never": {"approvalPolicy": "never", "sandboxPolicy": {"type": "readOnly"}},
}
"""Codex's own `never` asks nobody and goes on; ours denies what would be asked: what may not be done must not work.
The other one is the option approvalPolicy."""
_COLLABORATION: Final = ("plan", "default")

OPTIONS: Final = (
    "effort",
    "summary",
    "cwd",
    "serviceTier",
    "personality",
    "approvalPolicy",
    "approvalsReviewer",
    "sandboxPolicy",
    "multiAgentMode",
)
"""What SetOption can set, beside `title`: the fields of thread/settings/update."""


FACTS: Final = {
    "models": "model/list",
    "account": "account/read",
    "rate_limit": "account/rateLimits/read",
    "mcp_servers": "mcpServerStatus/list",
    "skills": "skills/list",
}
"""What Refresh can ask for, and by which request."""


def mode_settings(mode: str, model: str | None) -> dict[str, Any]:
    """The settings that are a mode: approval and sandbox policy, or the collaboration mode (plan,
    default)."""
    if mode in _COLLABORATION:
        return {"collaborationMode": {"mode": mode, "settings": {"model": model or ""}}}
    if mode in _MODES:
        return _MODES[mode]
    raise UsageError(f"codex has no mode {mode!r}; it has: {', '.join((*_MODES, *_COLLABORATION))}")


def option_settings(option: str, value: Any) -> dict[str, Any]:
    if option not in OPTIONS:
        raise UsageError(f"codex has no option {option!r}; it has: {', '.join((*OPTIONS, 'title'))}")
    return {option: value}


_SOURCES: Final = ("cli", "vscode", "exec", "appServer", "unknown")
"""Whose threads are listed: all but those of subagents. If nothing is said, those of `codex exec` are left out."""
PAGE: Final = 100
"""How many threads are asked for at once."""


def about_stored(command: c.StoredSession) -> tuple[str, dict[str, Any]]:
    """Method and params of what is asked about threads that need not be loaded."""
    thread = {"threadId": command.session}
    if isinstance(command, c.ArchiveSession):
        return "thread/archive" if command.archived else "thread/unarchive", thread
    if isinstance(command, c.DeleteSession):
        return "thread/delete", thread
    if isinstance(command, c.RenameSession):
        return "thread/name/set", {**thread, "name": command.title}
    params: dict[str, Any] = {
        "sortKey": "updated_at",
        "limit": PAGE,
        "sourceKinds": list(_SOURCES),
        "modelProviders": [],
        "archived": command.archived,
    }
    params |= {"cwd": command.cwd} if command.cwd is not None else {}
    return "thread/list", params | ({"cursor": command.cursor} if command.cursor is not None else {})


def review_target(command: c.Review) -> dict[str, Any]:
    """The `target` of review/start. Raises UsageError if it is several."""
    targets: dict[str, dict[str, Any]] = {
        "text": {"type": "custom", "instructions": command.text},
        "base": {"type": "baseBranch", "branch": command.base},
        "commit": {"type": "commit", "sha": command.commit},
    }
    named = [target for name, target in targets.items() if getattr(command, name)]
    if len(named) > 1:
        raise UsageError("a review is of one thing: give base, commit or instructions")
    return named[0] if named else {"type": "uncommittedChanges"}


def input_of(text: str, blocks: list[ContentBlock]) -> list[dict[str, Any]]:
    """The `input` of turn/start and turn/steer."""
    said = [{"type": "text", "text": text}] if text or not blocks else []
    return said + [_input(block) for block in blocks]


def _input(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, (ImageBlock, AudioBlock)):
        kind = "image" if isinstance(block, ImageBlock) else "audio"
        if block.data is not None:
            mime = block.mime_type or ("image/png" if kind == "image" else "audio/wav")
            return {"type": kind, "url": f"data:{mime};base64,{block.data}"}
        if block.uri is not None and ("://" not in block.uri or block.uri.startswith("file://")):
            return {"type": f"local{kind.capitalize()}", "path": block.uri.removeprefix("file://")}
        if block.uri is not None:
            return {"type": kind, "url": block.uri}
    if isinstance(block, ResourceBlock) and block.text is not None:
        return {"type": "text", "text": block.text}
    if isinstance(block, ResourceLinkBlock):
        path = block.uri.removeprefix("file://")
        return {"type": "mention", "name": block.name or path.rsplit("/", 1)[-1], "path": path}
    raise UsageError(f"codex takes no content block of type {block.__struct_config__.tag} in a prompt")


def mcp_config(servers: dict[str, Any]) -> dict[str, Any]:
    """MCP servers of the common form as Codex's configuration has them: `headers` are `http_headers`."""
    renamed = {"headers": "http_headers"}
    return {
        name: {renamed.get(key, key): value for key, value in server.items() if key != "type"}
        for name, server in servers.items()
    }
