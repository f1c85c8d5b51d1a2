"""What single lines mean, where no memory is needed: stateless and total."""

import re
from typing import Any, Final

from dragoman._dialects.gemini.qwen import messages as m
from dragoman._dialects.gemini.shared.content import blocks_of, is_answer, parts_of, text_of
from dragoman._model import events as ev
from dragoman._model.usage import Usage
from dragoman._wire import fields
from dragoman._wire.content import parts_of as native_parts

# --- tools -------------------------------------------------------------------------------------------------

_STATUS: Final[dict[str | None, ev.ToolStatus]] = {
    "success": "completed",
    "error": "failed",
    "cancelled": "cancelled",
}

_SHELL: Final = re.compile(
    r"Command: .*?\nDirectory: [^\n]*\nOutput: (?P<output>.*?)\nError: .*?\nExit Code: (?P<code>\S+)\n.*",
    re.DOTALL,
)
"""What the model is told of a command."""


CREATED: Final = "Successfully created"
"""How the answer begins of a write that made a new file: what is shown of it has an empty text before."""


def tool_ended(record: m.Record) -> ev.ToolEnded:
    """The end of a call, from the answer to the model and what a person is shown. One that was not begun since somebody or
    some rule refused it was declined."""
    result = record.toolCallResult or m.Result()
    answer: dict[str, Any] = next(
        (part.value for part in parts_of(record.message.parts) if part.kind == "answer"), {}
    )
    response = answer.get("response")
    said, error = fields.text(response, "output"), fields.text(response, "error")
    status = _STATUS.get(result.status, "failed" if error is not None else "completed")
    if result.errorType == "execution_denied" or (
        status == "cancelled" and result.executionStatus == "not_started"
    ):
        status = "declined"
    output, exit_code = _shell(result.resultDisplay, said if said is not None else error)
    display = result.resultDisplay
    return ev.ToolEnded(
        call_id=result.callId or fields.text(answer, "id") or "",
        status=status,
        output=output,
        structured=display if isinstance(display, dict) and "fileDiff" not in display else None,
        content=blocks_of([part for part in native_parts(record.message.parts) if not is_answer(part)]),
        error=None
        if status == "completed"
        else ev.ErrorInfo(message=output or error or "unknown error", code=result.errorType),
        exit_code=exit_code,
        duration_ms=result.durationMs,
    )


def _shell(display: Any, said: str | None) -> tuple[str | None, int | None]:
    """The output of a command and its exit code; of any other tool what it said."""
    if fields.text(display, "type") == "shell_result":
        return fields.text(display, "output"), fields.integer(display, "exitCode")
    told = _SHELL.fullmatch(said) if said is not None else None
    if told is None:
        return said, None
    output = "" if told["output"] == "(empty)" else told["output"]
    return output, int(told["code"]) if re.fullmatch(r"\d{1,3}", told["code"]) else None


# --- subagents ---------------------------------------------------------------------------------------------

SUBAGENT_TOOLS: Final = ("agent", "task")
"""`task` is what versions before 0.13 call it."""

PLAN_TOOL: Final = "todo_write"

_NOTED: Final = re.compile(r"<(task-id|status|result)>(.*?)</\1>", re.DOTALL)


def agent_of(call_id: str, input: Any) -> str:
    """What the subagent of a call is called in telemetry and in its own file."""
    return f"{fields.text(input, 'subagent_type') or 'fork'}-{call_id}"


def notification_of(text: str) -> dict[str, str]:
    """Which task in the background has ended (`task-id`), how (`status`) and with what (`result`)."""
    return dict(_NOTED.findall(text)) if text.startswith("<task-notification>") else {}


def plan_entries(input: Any) -> list[ev.PlanEntry]:
    """The entries in `todos`, the argument of todo_write."""
    known = ("pending", "in_progress", "completed")
    return [
        ev.PlanEntry(text=text, status=status)
        for item in fields.mappings(input, "todos")
        if (text := fields.text(item, "content")) is not None and (status := item.get("status")) in known
    ]


# --- usage -------------------------------------------------------------------------------------------------


def usage_of(tokens: m.Tokens) -> Usage:
    """The tokens of a call. OpenAI's candidates include the thoughts, Google's do not: the total has both."""
    prompt, said, total = tokens.promptTokenCount, tokens.candidatesTokenCount, tokens.totalTokenCount
    output = said
    if prompt is not None and said is not None and total is not None and total > prompt + said:
        output = total - prompt
    return Usage(
        input_tokens=prompt,
        cache_read_tokens=tokens.cachedContentTokenCount,
        output_tokens=output,
        reasoning_tokens=tokens.thoughtsTokenCount,
        total_tokens=total,
    )


def counted(event: dict[str, Any]) -> m.Tokens:
    """The tokens in telemetry of a call (`qwen-code.api_response`)."""
    return m.Tokens(
        promptTokenCount=fields.integer(event, "input_token_count"),
        candidatesTokenCount=fields.integer(event, "output_token_count"),
        thoughtsTokenCount=fields.integer(event, "thoughts_token_count"),
        cachedContentTokenCount=fields.integer(event, "cached_content_token_count"),
        totalTokenCount=fields.integer(event, "total_token_count"),
    )


def compacted(payload: Any) -> ev.ContextCompacted:
    """What `chat_compression` tells; the summary is the beginning of the history that it left."""
    info = fields.mapping(payload, "info")
    history = fields.mappings(payload, "compressedHistory")
    return ev.ContextCompacted(
        trigger="manual" if info.get("triggerReason") == "manual" else "auto",
        before_tokens=fields.integer(info, "originalTokenCount"),
        after_tokens=fields.integer(info, "newTokenCount"),
        summary=text_of(history[0].get("parts")) or None if history else None,
    )
