"""What single lines and items mean, where no memory is needed: stateless and total."""

import json
import re
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from dragoman._dialects.codex.rollout.messages import Line
from dragoman._dialects.codex.shared import values as v
from dragoman._dialects.codex.shared.content import joined_text
from dragoman._model import events as ev
from dragoman._model.content import ImageBlock, ThinkingBlock
from dragoman._wire import fields

Native = dict[str, Any]

_HISTORY: Final = {
    "history_mode": "codex.historyMode",
    "history_base": "codex.historyBase",
    "forked_from_id": "codex.forkedFrom",
    "parent_thread_id": "codex.parentThread",
    "source": "codex.source",
    "originator": "codex.originator",
    "agent_nickname": "codex.agentNickname",
    "git": "codex.git",
}
"""Where a thread comes from. With a history_base, what came before is in another thread's file."""


def session(meta: Native) -> ev.SessionStarted:
    ext = {name: meta[key] for key, name in _HISTORY.items() if meta.get(key) not in (None, {}, "")}
    return ev.SessionStarted(
        cwd=fields.text(meta, "cwd"),
        cli_version=fields.text(meta, "cli_version"),
        resumed="history_base" in meta or fields.text(meta, "forked_from_id") is not None,
        ext=ext,
    )


def context(turn: Native) -> ev.SessionStarted:
    """The facts in a turn_context; only those that changed become an event."""
    mode = fields.mapping(turn, "collaboration_mode")
    return ev.SessionStarted(
        model=fields.text(turn, "model"),
        effort=fields.text(turn, "effort")
        or fields.text(fields.mapping(mode, "settings"), "reasoning_effort"),
        cwd=fields.text(turn, "cwd"),
        permission_mode=fields.text(turn, "approval_policy"),
        mode=fields.text(mode, "mode"),
    )


def is_subagent(meta: Native) -> bool:
    return fields.text(meta, "parent_thread_id") is not None or "subagent" in fields.mapping(meta, "source")


def ancestors(meta: Native) -> set[str]:
    """The threads that one comes of, by its session_meta: the one it was forked from, the one that spawned it."""
    spawn = fields.mapping(fields.mapping(fields.mapping(meta, "source"), "subagent"), "thread_spawn")
    named = (
        fields.text(meta, "forked_from_id"),
        fields.text(meta, "parent_thread_id"),
        fields.text(spawn, "parent_thread_id"),
    )
    return {thread for thread in named if thread is not None}


def begins_turn(line: Line) -> bool:
    """Whether a line says which turn those after it are of."""
    if line.type == "event_msg":
        return fields.text(line.payload, "type") in ("task_started", "turn_started")
    return line.type == "turn_context"


_DATED: Final = re.compile(r"([0-9a-f]{8}-[0-9a-f]{4})-7[0-9a-f]{3}-")
"""A UUID of version 7: its first 48 bits are the time at which it was made."""


def is_older(turn: str | None, thread: str | None) -> bool:
    """Whether a turn began before its thread, as its id and the thread's tell: then it is another thread's."""
    began, made = _DATED.match(turn or ""), _DATED.match(thread or "")
    return began is not None and made is not None and began[1] < made[1]


# --- messages ----------------------------------------------------------------------------------------------

_WRAPPED: Final = (
    "<environment_context>", "<user_instructions>", "<turn_aborted>", "<user_shell_command>", "<skill>",
    "<subagent_notification>", "<user_action>", "# AGENTS.md instructions", "<permissions instructions>",
)  # fmt: skip
"""How texts begin that stand in the user's name but are none of theirs."""


def is_users_own(item: Native, said: str) -> bool:
    """Whether a user's item has the user's own words, by `content_item_kinds` or, in older versions, by its
    beginning. An event of its own repeats those words."""
    kinds = fields.mapping(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
    if isinstance(kinds, list):
        return any(isinstance(kind, str) and kind.startswith("user.") for kind in kinds)
    return not said.lstrip().startswith(_WRAPPED)


def assistant(text: str, phase: str | None, message_id: str | None) -> ev.Message:
    kind: ev.MessageKind = "commentary" if phase == "commentary" else "text"
    return ev.Message(role="assistant", kind=kind, text=text, message_id=message_id)


def thinking(summary: list[Any], raw: list[Any], message_id: str | None) -> ev.Message | None:
    """A message from the parts of reasoning: its summary, else the whole; None if both are empty. With both,
    its blocks have all parts."""
    parts, whole = [joined_text(part) for part in summary], [joined_text(part) for part in raw]
    text = "\n".join(parts) or "\n".join(whole)
    if not text:
        return None
    both = any(parts) and any(whole)
    return ev.Message(
        role="assistant",
        kind="thinking",
        text=text,
        blocks=[ThinkingBlock(text=part) for part in (*parts, *whole)] if both else [],
        message_id=message_id,
    )


def between_agents(item: Native) -> ev.Message:
    """The message of another agent of the team (capture app_subagent_v2)."""
    ext = {
        f"codex.{key}": said
        for key in ("author", "recipient")
        if (said := fields.text(item, key)) is not None
    }
    return ev.Message(role="user", text=joined_text(item.get("content")), synthetic=True, ext=ext)


# --- tools -------------------------------------------------------------------------------------------------


def call_started(item: Native) -> ev.ToolStarted:
    """The start of a tool, from the model's call."""
    call_id, given = fields.text(item, "call_id", "id") or "", item.get("input")
    if item.get("type") == "local_shell_call":
        return v.tool_started(call_id, "local_shell", None, item.get("action"))
    if item.get("type") == "function_call":
        given = arguments(item.get("arguments"))
    return v.tool_started(
        call_id, fields.text(item, "name") or "unknown", fields.text(item, "namespace"), given
    )


def arguments(native: Any) -> Any:
    """A call's arguments: the JSON in their text, or the text where it is none (capture
    exec_odd_tool_calls)."""
    if not isinstance(native, str):
        return native
    try:
        return json.loads(native)
    except (ValueError, RecursionError):
        return native


def image_made(item: Native) -> tuple[ev.ToolStarted, ev.ToolEnded]:
    call_id, prompt = fields.text(item, "id") or "", fields.text(item, "revised_prompt")
    data = fields.text(item, "result")
    return (
        ev.ToolStarted(
            call_id=call_id, name="image_generation", title=prompt, input={"prompt": prompt}, synthesized=True
        ),
        ev.ToolEnded(
            call_id=call_id,
            status=v.STATUSES.get(fields.text(item, "status") or "", "completed"),
            content=[ImageBlock(data=data)] if data else [],
        ),
    )


def command(item: Native) -> ev.ToolStarted:
    return v.shell_started(fields.text(item, "id") or "", item.get("command"), path_of(item.get("cwd")))


def command_ended(item: Native) -> ev.ToolEnded:
    code = fields.integer(item, "exit_code")
    known = v.STATUSES.get(fields.text(item, "status") or "")
    status = known or ("completed" if code in (0, None) else "failed")
    return ev.ToolEnded(
        call_id=fields.text(item, "id") or "",
        status=status,
        output=fields.text(item, "aggregated_output"),
        exit_code=code,
        error=None if status == "completed" else ev.ErrorInfo(message=_why(code, status)),
        duration_ms=v.milliseconds(item.get("duration")),
    )


def _why(code: int | None, status: str) -> str:
    return status if code is None else f"exit code {code}"


def path_of(native: Any) -> str | None:
    """The path in a field: of a file: URI in items, as it is elsewhere."""
    if not isinstance(native, str) or not native.startswith("file:"):
        return native if isinstance(native, str) else None
    try:
        return unquote(urlsplit(native).path)
    except ValueError:
        return native


def native_type(line: Line) -> str:
    """The name of a line in NOTES.md."""
    kind = fields.text(line.payload, "type")
    item = fields.text(fields.mapping(line.payload, "item"), "type")
    return "/".join(part for part in (line.type, kind, item) if part)
