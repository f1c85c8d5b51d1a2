"""The model's own items: what was sent to it and what it answered, as the Responses API words it.

In both forms of the file they stand beside the lines that tell the history. A call is told by the model's item
alone; messages are told by whichever line comes first.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final

from dragoman._dialects.codex.rollout import translate
from dragoman._dialects.codex.shared.content import Answer, joined_text, user_message
from dragoman._dialects.codex.shared.events import CoreEvents, plan_entries
from dragoman._model import events as ev
from dragoman._wire import fields
from dragoman._wire.ledger import Ledger

Native = dict[str, Any]

SILENT: Final = frozenset(
    (
        "additional_tools", "compaction", "compaction_summary", "context_compaction", "ghost_snapshot",
        "other", "tool_search_call", "tool_search_output",
    )
)  # fmt: skip


class Responses:
    """Reads the model's items. `said`: the ids of messages that were put already."""

    def __init__(self, ledger: Ledger, core: CoreEvents, said: set[str]) -> None:
        self._ledger = ledger
        self._core = core
        self._put_ids = said
        self._shells: set[str] = set()
        """Calls that may go on in the background."""

    def receive(self, item: Native) -> bool:
        """Take in an item. Returns whether this version knows its type."""
        kind = fields.text(item, "type") or ""
        handler = self._HANDLERS.get(kind)
        if handler is not None:
            handler(self, item)
        return handler is not None or kind in SILENT

    def replay(self, item: Native) -> None:
        """Put a message of the thread that this one was forked from. Calls of that thread are left out."""
        role, text = fields.text(item, "role"), joined_text(item.get("content"))
        if item.get("type") != "message" or role not in ("user", "assistant"):
            return
        own = role == "assistant" or translate.is_users_own(item, text)
        self._core.turns.late(
            ev.Message(
                role="user" if role == "user" else "assistant",
                text=text,
                message_id=fields.text(item, "id"),
                synthetic=not own,
                replay=True,
            )
        )

    # --- what is said ------------------------------------------------------------------------------------

    def _message(self, item: Native) -> None:
        role, item_id = fields.text(item, "role"), fields.text(item, "id")
        text = joined_text(item.get("content"))
        if role == "assistant":
            self._answer(text, item, item_id)
        elif role == "user" and not translate.is_users_own(item, text):
            message = user_message(item.get("content"))
            message.synthetic, message.message_id = True, item_id
            self._core.turns.late(message)

    def _answer(self, text: str, item: Native, item_id: str | None) -> None:
        told = item_id in self._put_ids or self._core.last_text == text
        self._core.last_text = None
        if item_id is not None:
            self._put_ids.add(item_id)
        if not told:
            message = translate.assistant(text, fields.text(item, "phase"), item_id)
            if message.kind == "text":
                self._core.turns.keep_answer(text)
            self._core.turns.put(message)

    def _reasoning(self, item: Native) -> None:
        item_id, summary = fields.text(item, "id"), fields.items(item, "summary")
        parts = {joined_text(part) for part in summary}
        told = item_id in self._put_ids or (bool(parts) and parts <= self._core.thoughts)
        self._core.thoughts.clear()
        if item_id is not None:
            self._put_ids.add(item_id)
        message = translate.thinking(summary, fields.items(item, "content"), item_id)
        if not told and message is not None:
            self._core.turns.put(message)

    def _between_agents(self, item: Native) -> None:
        message = translate.between_agents(item)
        if self._core.turns.open and not self._core.turns.has_prompt:
            self._core.turns.prompt(message)
        else:
            self._core.turns.late(message)

    # --- tools -------------------------------------------------------------------------------------------

    def _call(self, item: Native) -> None:
        started = translate.call_started(item)
        if started.name == "shell":
            self._shells.add(started.call_id)
        self._core.turns.put(started)
        if started.name == "update_plan" and isinstance(started.input, dict):
            self._core.turns.put(ev.PlanUpdated(entries=plan_entries(started.input)))

    def _output(self, item: Native) -> None:
        """End a call with the model's answer, unless an item ended it already."""
        call_id = fields.text(item, "call_id") or ""
        if self._ledger.tool_known(call_id) and not self._ledger.tool_open(call_id):
            return
        answer = Answer(item.get("output"))
        if answer.runs_on and call_id in self._shells:
            self._core.turns.late(ev.ToolUpdated(call_id=call_id, output=answer.output))
            return
        self._shells.discard(call_id)
        failed = answer.status != "completed"
        self._core.turns.late(
            ev.ToolEnded(
                call_id=call_id,
                status=answer.status,
                output=answer.output,
                content=answer.content,
                error=ev.ErrorInfo(message=answer.output or answer.status) if failed else None,
                exit_code=answer.exit_code,
            )
        )

    def _search(self, item: Native) -> None:
        call_id, action = fields.text(item, "id") or "", item.get("action")
        if not self._ledger.tool_known(call_id):
            self._core.put_search(call_id, fields.text(action, "query", "url"), action)

    def _image(self, item: Native) -> None:
        started, ended = translate.image_made(item)
        self._core.turns.put(started)
        self._core.turns.late(ended)

    _HANDLERS: ClassVar[dict[str, Callable[[Any, Native], None]]] = {
        "message": _message,
        "reasoning": _reasoning,
        "agent_message": _between_agents,
        "function_call": _call,
        "custom_tool_call": _call,
        "local_shell_call": _call,
        "function_call_output": _output,
        "custom_tool_call_output": _output,
        "web_search_call": _search,
        "image_generation_call": _image,
    }
