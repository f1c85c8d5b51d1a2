"""What single entries mean, where no memory is needed: stateless and total."""

import re
from typing import Any, Final

from dragoman._dialects.gemini.chat import messages as m
from dragoman._dialects.gemini.shared.content import blocks_of, is_answer, shown_change, text_of
from dragoman._model import events as ev
from dragoman._model.usage import Usage
from dragoman._wire import fields
from dragoman._wire.content import parts_of as native_parts

# --- content -----------------------------------------------------------------------------------------------


def thought_text(thought: m.Thought) -> str:
    """A thought as text, in the form in which the CLI sends it over ACP."""
    subject = f"**{thought.subject}**" if thought.subject else None
    return "\n".join(part for part in (subject, thought.description) if part)


LOOP: Final = "System: Potential loop detected"
SNAPSHOT: Final = "<state_snapshot>"

_WRITTEN: Final = ("<session_context>", "System: ", "[Function Response:", SNAPSHOT)
"""How texts begin that the CLI writes in the user's name."""

_DIRECTORY: Final = re.compile(r"\*\*Workspace Directories:\*\*\n\s*- (.+)")


def is_written(entry: m.Entry) -> bool:
    """Whether the CLI wrote an entry in the user's name."""
    return text_of(entry.content).startswith(_WRITTEN)


def directory_in(text: str) -> str | None:
    """The working directory in the context that opens a session; None if `text` is no such context."""
    match = _DIRECTORY.search(text) if text.startswith("<session_context>") else None
    return match[1] if match is not None else None


# --- tools -------------------------------------------------------------------------------------------------

_STATUS: Final[dict[str | None, ev.ToolStatus]] = {
    "success": "completed",
    "error": "failed",
    "cancelled": "cancelled",
}
"""By a call's status; one with another (scheduled, executing, awaiting_approval) has not ended."""
_DENIED: Final = ("Tool execution denied by policy", "Tool execution blocked:")
"""Errors of calls that a policy or a hook denied (captures plan_mode, hook_beforetool_deny); files have no code for it."""

_WRAPPED: Final = re.compile(r"<untrusted_context>\n(.*?)\n</untrusted_context>", re.DOTALL)
_SHELL: Final = re.compile(
    r"Output: (?P<output>.*?)"
    r"(?P<rest>(?:\n(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*)*)",
    re.DOTALL,
)
_EXIT: Final = re.compile(r"^Exit Code: (\d{1,3})$", re.MULTILINE)
_SHELL_TOOL: Final = "run_shell_command"


def tool_ended(call: m.ToolCall) -> ev.ToolEnded | None:
    """The end of a call, None if it has not ended. Its output is the model's answer without the warning
    around it."""
    status = _STATUS.get(call.status)
    if status is None:
        return None
    answer, error = _answer(call.result)
    if status == "failed" and (error or "").startswith(_DENIED):
        status = "declined"
    output, exit_code = _unwrapped(call.name, answer) if answer is not None else (error, None)
    display = call.resultDisplay
    return ev.ToolEnded(
        call_id=call.id,
        status=status,
        output=output,
        structured=display if isinstance(display, dict) and "fileDiff" not in display else None,
        content=blocks_of([part for part in native_parts(call.result) if not is_answer(part)]),
        error=None if status == "completed" else ev.ErrorInfo(message=error or output or "unknown error"),
        exit_code=exit_code,
    )


def call_of(native: dict[str, Any]) -> m.ToolCall:
    """The call in a bare functionCall (`id`, `name`, `args`), as history has it."""
    return m.ToolCall(
        id=fields.text(native, "id") or "", name=fields.text(native, "name") or "", args=native.get("args")
    )


def tool_ended_by_answer(answer: dict[str, Any], *, replay: bool) -> ev.ToolEnded:
    """The end of a call in a bare functionResponse (`id`, `name`, `response`), as history has it."""
    response = answer.get("response")
    output, error = fields.text(response, "output"), fields.text(response, "error")
    exit_code = None
    if output is not None:
        output, exit_code = _unwrapped(fields.text(answer, "name") or "", output)
    return ev.ToolEnded(
        call_id=fields.text(answer, "id") or "",
        status="completed" if error is None else "failed",
        output=output if error is None else error,
        error=ev.ErrorInfo(message=error) if error is not None else None,
        exit_code=exit_code,
        replay=replay,
    )


def _answer(result: Any) -> tuple[str | None, str | None]:
    """`output` and `error` of the functionResponse in a result."""
    for part in native_parts(result):
        response = part["functionResponse"].get("response") if is_answer(part) else None
        if isinstance(response, dict):
            return fields.text(response, "output"), fields.text(response, "error")
    return None, None


def _unwrapped(tool: str, answer: str) -> tuple[str, int | None]:
    """The output without the warning about foreign text (of a shell, an MCP server), which 0.45.2 has not; and
    the exit code of a shell command that failed."""
    text = _WRAPPED.sub(r"\1", answer)
    shell = _SHELL.fullmatch(text) if tool == _SHELL_TOOL else None
    if shell is None:
        return text, None
    code = _EXIT.search(shell["rest"])
    output = "" if shell["output"] == "(empty)" else shell["output"]
    return output, int(code[1]) if code is not None else None


def change_of(call: m.ToolCall) -> ev.FileChanged | None:
    """The file change of an edit, from the diff in `resultDisplay`; None if it has none."""
    return shown_change(call.resultDisplay, call.id, applied=call.status == "success")


# --- usage -------------------------------------------------------------------------------------------------


def usage_of(tokens: m.Tokens) -> Usage:
    known = tokens.output is not None or tokens.thoughts is not None
    return Usage(
        input_tokens=tokens.input + (tokens.tool or 0) if tokens.input is not None else None,
        cache_read_tokens=tokens.cached,
        output_tokens=(tokens.output or 0) + (tokens.thoughts or 0) if known else None,
        reasoning_tokens=tokens.thoughts,
        total_tokens=tokens.total,
    )
