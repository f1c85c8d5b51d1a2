"""What single events mean, where no memory is needed: stateless and total."""

import re
from typing import Any, Final

from dragoman._dialects.gemini.stream import messages as m
from dragoman._model import events as ev
from dragoman._model import patches, toolnames
from dragoman._model.errors import ErrorKind
from dragoman._model.usage import ModelUsage, Usage
from dragoman._wire import fields
from dragoman._wire.jsontext import parse

# --- tools -------------------------------------------------------------------------------------------------

_ID: Final = re.compile(r"(?P<name>.+?)__.+", re.DOTALL)
"""`<name>__<name>_<milliseconds>_<index>`, or `<name>__<the model's own id>` (capture dup_call_ids)."""

_DECLINED: Final = ("policy_violation", "stop_execution")
"""Error types that say: the tool was not allowed to run (capture hook_beforetool_deny)."""

_EXIT: Final = re.compile(r"Command exited with code: (\d{1,3})")
"""All that is said of a command that printed nothing (capture tool_errors)."""


def name_of(call_id: str) -> str:
    """A tool's name, from its call's id."""
    match = _ID.fullmatch(call_id)
    return match["name"] if match is not None else "unknown"


_TOOL_STATUS: Final[dict[str | None, ev.ToolStatus]] = {
    None: "completed",
    "success": "completed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
}
"""Any other word means that it failed."""


def tool_ended(
    call_id: str, kind: ev.ToolKind, result: m.ToolResult | m.ToolCall, output: Any
) -> ev.ToolEnded:
    """The end of a call. A shell command that failed has status `success` all the same; its output has the
    exit code (capture tool_errors)."""
    text = output if isinstance(output, str) else None
    ended = ev.ToolEnded(
        call_id=call_id,
        status=_TOOL_STATUS.get(result.status, "failed"),
        output=text,
        structured=None if text is not None else output,
    )
    if result.error is not None:
        ended.ext = {"gemini.error": result.error}
        ended.error = error_info(result.error)
    if ended.error is not None and ended.error.code in _DECLINED:
        ended.status = "declined"
    elif ended.error is not None and result.status is None:
        ended.status = "failed"
    if kind == "execute" and text is not None and (code := _EXIT.fullmatch(text)) is not None:
        ended.exit_code = int(code[1])
    return ended


def call_of(message: m.ToolCall) -> tuple[str | None, str | None, Any]:
    """Id, name and input of a call: the fields' names differ between versions."""
    inner = message.value or {}
    call_id = message.tool_id or message.id or fields.text(inner, "callId") or fields.text(inner, "id")
    name = message.tool_name or message.name or fields.text(inner, "name")
    inputs = (message.parameters, message.args, inner.get("args"))
    return call_id, name, next((input for input in inputs if input is not None), None)


def change_of(call_id: str, input: Any, *, failed: bool) -> ev.FileChanged | None:
    """The change that an edit's input asks for: results do not have one. Whether a written file is new is in
    the session file alone (see the report enrich)."""
    found = toolnames.locations_of(input)
    if not found:
        return None
    path, old, new = found[0].path, fields.text(input, "old_string"), fields.text(input, "new_string")
    return ev.FileChanged(
        path=path,
        change="created" if old == "" else "modified",
        diff=None if failed or new is None else patches.between(path, old or None, new),
        after=None if failed else fields.text(input, "content"),
        call_id=call_id,
        phase="failed" if failed else "applied",
    )


# --- how a turn ended --------------------------------------------------------------------------------------

_SAID: Final[tuple[tuple[str, ev.TurnOutcome], ...]] = (
    ("Loop detected", "limited"),
    ("Maximum session turns exceeded", "limited"),
    ("Agent execution blocked", "refused"),
)
"""What `error` events say of the result that follows. It says `success` after the first and the last
(captures loop_text, hook_beforeagent_deny)."""

_TYPES: Final[dict[str | None, ev.TurnOutcome]] = {
    "FatalTurnLimitedError": "limited",
    "FatalCancellationError": "cancelled",
}
"""By the type of a result's error (capture max_turns)."""

_STATUSES: Final = (400, 401, 403, 404, 408, 409, 413, 429, 499, 500, 501, 502, 503, 504)
_HTTP: Final = {status % 256: str(status) for status in _STATUSES}
"""HTTP statuses by exit code: the CLI exits with the status, of which 8 bits are left (captures err_400 …)."""


NOT_BEGUN: Final[dict[int | None, tuple[ErrorKind, str]]] = {
    41: ("loginRequired", "no way to log in is chosen"),
    42: ("sessionNotFound", "there is no session to go on with"),
}
"""Causes by what the CLI exits with before it has written anything to stdout. 42 is said of any input that it does not
take: where it was to go on with a session, it is that."""


def outcome_of(result: m.Result, failures: list[m.Failure], exit_code: int | None) -> ev.TurnOutcome:
    """The outcome of a turn, by the result, the `error` events before it, and the exit code where it is
    known."""
    info = error_info(result.error)
    told = [
        outcome for failure in failures for start, outcome in _SAID if words_of(failure).startswith(start)
    ]
    if result.status in ("cancelled", "canceled"):
        return "cancelled"
    if info is not None and info.code in _TYPES:
        return _TYPES[info.code]
    if told:
        return told[-1]
    failed = result.status != "success" or any(is_error(failure) for failure in failures)
    return "failed" if failed or exit_code else "completed"


def reason_of(result: m.Result) -> str | None:
    """The type of the result's error, or else its status."""
    info = error_info(result.error)
    return info.code if info is not None and info.code not in (None, "unknown") else result.status


def is_error(failure: m.Failure) -> bool:
    """Whether an `error` event is more than a warning; older versions have no severity."""
    return failure.severity != "warning"


def failure_of(result: m.Result, failures: list[m.Failure], exit_code: int | None) -> ev.ErrorInfo:
    """The error of a turn that failed. The result of an empty answer has none of its own (capture
    err_empty)."""
    error = error_info(result.error)
    said = [words_of(failure) for failure in failures]
    status = f"the turn ended with status {result.status}, exit code {exit_code}"
    message = error.message if error is not None else (said or [status])[-1]
    code = _HTTP.get(exit_code or 0) or _http_code(message) or (error.code if error is not None else None)
    kind: ErrorKind | None = "loginRequired" if code == "401" else None
    return ev.ErrorInfo(message=message, code=None if code == "unknown" else code, kind=kind)


def error_event(failure: m.Failure) -> ev.Error:
    return ev.Error(severity="error" if is_error(failure) else "warning", message=words_of(failure))


def error_info(native: Any) -> ev.ErrorInfo | None:
    """An error from a text, or from an object with `message` and `type` or `code`; None for anything else."""
    if isinstance(native, str):
        return ev.ErrorInfo(message=native)
    if not isinstance(native, dict):
        return None
    code = native.get("type", native.get("code"))
    return ev.ErrorInfo(
        message=fields.text(native, "message") or "unknown error",
        code=str(code) if isinstance(code, (str, int)) else None,
    )


def words_of(failure: m.Failure) -> str:
    """The message of an `error` event; older versions have it one level down."""
    inner = error_info(failure.error)
    return failure.message or (inner.message if inner is not None else "unknown error")


_API_ERROR: Final = re.compile(r"\[API Error: (\{.*\})\]", re.DOTALL)


def _http_code(message: str) -> str | None:
    """The HTTP status in an API's answer that the message repeats; None if there is none."""
    match = _API_ERROR.search(message)
    answer = parse(match[1].encode("utf-8", "replace")) if match is not None else None
    code = fields.integer(fields.mapping(answer, "error"), "code")
    return str(code) if code is not None else None


# --- what it took ------------------------------------------------------------------------------------------


def usage_of(stats: dict[str, Any] | None) -> Usage | None:
    """The counts in `stats`. Input includes cached tokens. Thoughts are counted beside the output, by
    0.61.0 in the total alone (capture text)."""
    return _count(stats, Usage()) if stats else None


def models_of(stats: dict[str, Any] | None) -> dict[str, ModelUsage]:
    models = fields.mapping(stats, "models")
    return {name: _count(item, ModelUsage()) for name, item in models.items() if isinstance(item, dict)}


def _count(native: dict[str, Any], usage: Any) -> Any:
    usage.input_tokens = fields.integer(native, "input_tokens")
    usage.cache_read_tokens = fields.integer(native, "cached", "cache_tokens")
    usage.output_tokens = fields.integer(native, "output_tokens")
    usage.reasoning_tokens = fields.integer(native, "thought_tokens")
    usage.total_tokens = fields.integer(native, "total_tokens")
    if None not in (usage.input_tokens, usage.output_tokens, usage.total_tokens):
        usage.output_tokens = max(usage.output_tokens, usage.total_tokens - usage.input_tokens)
    return usage


# -----------------------------------------------------------------------------------------------------------


def thought_text(thought: m.Thought) -> str:
    native = thought.value if thought.value is not None else thought.content
    if not isinstance(native, dict):
        return native if isinstance(native, str) else ""
    subject = fields.text(native, "subject")
    said = fields.text(native, "description") or fields.text(native, "text")
    return "\n".join(part for part in (f"**{subject}**" if subject else None, said) if part)
