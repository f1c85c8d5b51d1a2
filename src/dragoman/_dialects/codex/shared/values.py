"""What Codex writes the same way wherever it writes: counts, statuses, changes, results, errors.

Its three languages (exec, app-server, session files) differ in names and cases, not in these values. Pure and
total: a value is any JSON.
"""

import re
import shlex
from typing import Any, Final, Literal

from dragoman._dialects.codex.shared.content import only_text
from dragoman._model import events as ev
from dragoman._model import patches, toolnames
from dragoman._model.content import ContentBlock
from dragoman._model.errors import ErrorKind
from dragoman._model.usage import Usage
from dragoman._wire import fields
from dragoman._wire.content import text_and_blocks
from dragoman._wire.jsontext import Invalid, parse

STATUSES: Final[dict[str, ev.ToolStatus]] = {
    "completed": "completed",
    "success": "completed",
    "failed": "failed",
    "error": "failed",
    "declined": "declined",
    "skipped": "skipped",
    "cancelled": "cancelled",
    "interrupted": "cancelled",
}
"""What became of an item, by its own word; `in_progress` is not an end."""

Phase = Literal["proposed", "applied", "failed"]
"""Of a change to a file."""

_CHANGES: Final[dict[str, Any]] = {"add": "created", "delete": "deleted", "update": "modified"}

SHELLS: Final = frozenset(("shell", "exec_command", "local_shell", "shell_command", "container.exec", "bash"))
"""The names under which models have called the shell."""


# --- counts ------------------------------------------------------------------------------------------------


_COUNTED: Final = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
"""What Codex calls the counts, in the order of Usage."""


def usage_of(native: Any, names: tuple[str, ...] = _COUNTED) -> Usage | None:
    """The counts in a usage object, by their names there; None if it has none. Input includes cached, output includes
    reasoning tokens."""
    if not isinstance(native, dict):
        return None
    fresh, read, written, out, thought, total = map(native.get, names)
    if type(thought) is not int:
        thought = native.get("reasoning_tokens")  # the specification's name
    usage = Usage(
        input_tokens=fresh if type(fresh) is int else None,
        cache_read_tokens=read if type(read) is int else None,
        cache_write_tokens=written if type(written) is int else None,
        output_tokens=out if type(out) is int else None,
        reasoning_tokens=thought if type(thought) is int else None,
        total_tokens=total if type(total) is int else None,
    )
    return None if usage == _NOTHING else usage


_NOTHING: Final = Usage()


def rate_limit_of(native: Any) -> ev.RateLimit | None:
    """The event for `rate_limits`; None if all fields are null, as on most lines."""
    windows = [
        {"name": name, **window}
        for name in ("primary", "secondary")
        if (window := fields.mapping(native, name))
    ]
    plan, reached = fields.text(native, "plan_type"), fields.text(native, "rate_limit_reached_type")
    credits = fields.value(native, "credits")
    if not windows and plan is None and reached is None and credits is None:
        return None
    resets = next((window["resets_at"] for window in windows if fields.integer(window, "resets_at")), None)
    return ev.RateLimit(status=reached, resets_at=resets, windows=windows, credits=credits, plan=plan)


def milliseconds(duration: Any) -> float | None:
    """A duration from {secs, nanos}, as Rust writes it; None if it is none."""
    seconds, nanos = fields.integer(duration, "secs"), fields.integer(duration, "nanos")
    return None if seconds is None else seconds * 1000 + (nanos or 0) / 1_000_000


# --- errors and retries ------------------------------------------------------------------------------------

_RECONNECTING: Final = re.compile(
    r"(?:Reconnecting|Retrying)(?:\.\.\.|…)\s*(?:(\d+)/(\d+))?\s*(.*)", re.DOTALL | re.IGNORECASE
)
_HTTP_STATUS: Final = re.compile(r"\bstatus:? (\d{3})\b")
_UNAUTHORIZED: Final = re.compile(r"\bstatus:? 401\b")
_KEY_MISSING: Final = "Missing environment variable: `"


def retry_of(message: str) -> ev.Retry | None:
    """The retry in a message like `Reconnecting... 1/5 (why)`; None if it is no such message (capture
    exec_err_401)."""
    match = _RECONNECTING.match(message)
    if match is None:
        return None
    attempt, most, rest = match.groups()
    # To find the word first takes a tenth of what it takes to find that the expression fits nowhere.
    status = _HTTP_STATUS.search(rest) if "status" in rest else None
    reason = rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest
    return ev.Retry(
        attempt=int(attempt) if attempt else None,
        max_attempts=int(most) if most else None,
        reason=reason or None,
        status_code=int(status[1]) if status else None,
    )


def error_of(native: Any) -> ev.ErrorInfo | None:
    """An error from a text, {message} or {message, codex_error_info}; None for anything else."""
    if native is None:
        return None
    if isinstance(native, str):
        return ev.ErrorInfo(message=native, kind=_kind(native, None))
    message, code = fields.text(native, "message"), error_code(native)
    return None if message is None else ev.ErrorInfo(message=message, code=code, kind=_kind(message, code))


_UNKNOWN_THREAD: Final = re.compile(
    r"no rollout found for thread|invalid (?:thread|session) id|turn not found|was not found in the source thread"
)


def knows_no_session(message: str) -> bool:
    """Whether Codex says that it does not know the thread, or the turn in it, that it shall go on with."""
    return _UNKNOWN_THREAD.search(message) is not None


def _kind(message: str, code: str | None) -> ErrorKind | None:
    """Only the words have the status (capture exec_err_401): `unexpected status 401 Unauthorized`. Codex 0.166.0 misses an
    environment variable where the key of its model provider shall be in one (`env_key`)."""
    refused = code == "unauthorized" or ("401" in message and _UNAUTHORIZED.search(message) is not None)
    return "loginRequired" if refused or message.startswith(_KEY_MISSING) else None


def error_code(native: Any) -> str | None:
    """The code of an error: `codex_error_info` is a word, or an object whose one key is the word."""
    if not isinstance(native, dict):
        return None
    for key in ("codex_error_info", "codexErrorInfo", "code"):
        value = native.get(key)
        if isinstance(value, dict) and value:
            value = next(iter(value))
        if isinstance(value, str):
            return value
    return None


# --- tools -------------------------------------------------------------------------------------------------


def command_text(command: Any) -> str:
    """The command as one line; of `bash -lc "…"`, given as arguments or as a line, the script."""
    if isinstance(command, list):
        words = [str(word) for word in command]
        line = " ".join(words)
    else:
        line = command if isinstance(command, str) else ""
        if (plain := _SCRIPT.fullmatch(line)) is not None:
            return plain[plain.lastindex or 0]
        words = _words(line)
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else line


_SCRIPT: Final = re.compile(r"""[^\s'"\\]+ -lc (?:'([^']*)'|"([^"\\]*)"|([^\s'"\\]+))""")
"""How nearly all command lines of Codex look. To split one as a shell does took longer than all else about its item."""


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line) if " -lc " in line else []
    except ValueError:
        return []


def shell_started(
    call_id: str,
    command: Any,
    cwd: str | None,
    native_name: str | None = None,
    ext: dict[str, Any] | None = None,
) -> ev.ToolStarted:
    given = {"command": command} if cwd is None else {"command": command, "cwd": cwd}
    return ev.ToolStarted(
        call_id=call_id,
        name="shell",
        native_name=native_name,
        kind="execute",
        title=toolnames.one_line(command_text(command)) or None,
        input=given,
        ext={} if ext is None else ext,
    )


def mcp_started(
    call_id: str, server: str | None, tool: str | None, arguments: Any, ext: dict[str, Any] | None = None
) -> ev.ToolStarted:
    name = tool or "unknown"
    return ev.ToolStarted(
        call_id=call_id,
        name=name,
        native_name=f"mcp__{server}__{name}" if server is not None else None,
        kind="mcp",
        input=arguments,
        server=server,
        ext={} if ext is None else ext,
    )


def tool_started(call_id: str, name: str, namespace: str | None, given: Any) -> ev.ToolStarted:
    """The start of a tool, from the model's call. An MCP server's namespace is part of the tool's full
    name."""
    if namespace is not None and namespace.startswith("mcp__"):
        name = f"{namespace}__{name}"
    started = toolnames.tool_started(call_id, name, given)
    if name in SHELLS:
        started.name, started.native_name, started.kind = "shell", name, "execute"
        command = given.get("cmd", given.get("command")) if isinstance(given, dict) else given
        started.title = toolnames.one_line(command_text(command)) or None
    elif name == "apply_patch" and isinstance(given, str):
        started.locations = [ev.Location(path=path) for path in _PATCHED.findall(given)]
        started.title = ", ".join(place.path for place in started.locations) or None
    return started


_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)


def patch_started(
    call_id: str, changes: list[ev.FileChanged], native: Any, ext: dict[str, Any] | None = None
) -> ev.ToolStarted:
    paths = [change.path for change in changes]
    if len(paths) > 1:
        paths = list(dict.fromkeys(paths))
    return ev.ToolStarted(
        call_id=call_id,
        name="apply_patch",
        kind="edit",
        title=toolnames.one_line(", ".join(paths)) or None,
        input={"changes": native},
        locations=[ev.Location(path=path) for path in paths],
        ext={} if ext is None else ext,
    )


def changes_of(native: Any, call_id: str, phase: Phase = "applied") -> list[ev.FileChanged]:
    """The changes of a patch, from a list with paths (exec) or an object by path (files). A kind is a word,
    an object with a type, or, in older files, an object with one key."""
    if isinstance(native, dict):
        native = [{"path": path, "change": change} for path, change in native.items()]
    found: list[ev.FileChanged] = []
    for item in native if isinstance(native, list) else ():
        change = _change(item, call_id, phase)
        if change is not None:
            found.append(change)
    return found


def _change(item: Any, call_id: str, phase: Phase) -> ev.FileChanged | None:
    if not isinstance(item, dict):
        return None
    path, kind = item.get("path"), item.get("kind")
    if type(path) is str and type(kind) is str and len(item) == 2:  # exec says no more than that
        return ev.FileChanged(path=path, change=_CHANGES.get(kind, "modified"), call_id=call_id, phase=phase)
    path = fields.text(item, "path", "file_path")
    if path is None:
        return None
    kind = item.get("change", item.get("kind", "update"))
    detail = {**item, **kind} if isinstance(kind, dict) else item
    if isinstance(kind, dict):
        word = fields.text(kind, "type")
        if word is None and (word := next(iter(kind), "update")) in _CHANGES:
            detail = {**item, **fields.mapping(kind, word)}
        kind = word
    change: Any = _CHANGES.get(kind, "modified") if isinstance(kind, str) else "modified"
    move_to, diff = fields.text(detail, "move_path", "movePath"), fields.text(detail, "unified_diff", "diff")
    content = fields.text(detail, "content")
    if move_to is not None:
        change = "moved"
    before, after = (content, None) if change == "deleted" else (None, content)
    if diff is None and content is not None:
        diff = patches.between(path, before, after)
    elif diff is not None and diff.startswith("@@"):
        diff = f"--- a/{path.lstrip('/')}\n+++ b/{(move_to or path).lstrip('/')}\n{diff}"
    return ev.FileChanged(
        path=path,
        change=change,
        move_to=move_to,
        diff=diff,
        before=before,
        after=after,
        call_id=call_id,
        phase=phase,
    )


class Result:
    """Output, content and error of an MCP tool's result."""

    def __init__(self, native: Any, error: Any) -> None:
        content, self.failed = native, False
        self.structured: Any = None
        if isinstance(native, dict):
            content = native.get("content")
            self.structured = native.get("structured_content", native.get("structuredContent"))
            self.failed = native.get("isError") is True or native.get("is_error") is True
        self.output: str | None = only_text(content)
        self.content: list[ContentBlock] = []
        if self.output is None and content is not None:
            self.output, self.content = text_and_blocks(content)
        self.error = error_of(error)
        if self.error is None and self.failed:
            self.error = ev.ErrorInfo(message=self.output or "the tool failed")


def json_in(text: str | None) -> Any:
    """The value of an answer that is JSON; None if it is none."""
    value = parse(text.encode()) if text else None
    return None if isinstance(value, Invalid) else value
