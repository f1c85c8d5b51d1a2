"""Items: the history of the paginated form, one `item_completed` for each thing that happened.

Most repeat what the model's own items beside them say (see responses), and say it better: with the true output,
the diff, the duration.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from dragoman._dialects.codex.rollout import translate
from dragoman._dialects.codex.shared import values as v
from dragoman._dialects.codex.shared.agents import Agents
from dragoman._dialects.codex.shared.content import joined_text, user_message
from dragoman._dialects.codex.shared.events import CoreEvents
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._wire import fields

Native = dict[str, Any]


class Items:
    """Reads items. `said`: the ids of messages that were put already, from an item or from a model's item."""

    def __init__(self, core: CoreEvents, agents: Agents, said: set[str]) -> None:
        self._core = core
        self._agents = agents
        self._put_ids = said

    def receive(self, item: Native) -> bool:
        """Take in an item. Returns whether this version knows its type."""
        handler = self._HANDLERS.get(fields.text(item, "type") or "")
        if handler is not None:
            handler(self, item)
        return handler is not None

    def _new(self, item: Native) -> bool:
        item_id = fields.text(item, "id")
        known = item_id is not None and item_id in self._put_ids
        if item_id is not None:
            self._put_ids.add(item_id)
        return not known

    # --- what is said ------------------------------------------------------------------------------------

    def _user(self, item: Native) -> None:
        if self._new(item):
            message = user_message(item.get("content"))
            message.message_id = fields.text(item, "id")
            self._core.turns.prompt(message)

    def _agent(self, item: Native) -> None:
        text = joined_text(item.get("content"))
        message = translate.assistant(text, fields.text(item, "phase"), fields.text(item, "id"))
        if message.kind == "text":
            self._core.turns.keep_answer(text)
        if self._new(item):
            self._core.turns.put(message)

    def _reasoning(self, item: Native) -> None:
        message = translate.thinking(
            fields.items(item, "summary_text"), fields.items(item, "raw_content"), fields.text(item, "id")
        )
        if self._new(item) and message is not None:
            self._core.turns.put(message)

    def _plan(self, item: Native) -> None:
        self._core.turns.put(
            ev.Message(
                role="assistant",
                kind="plan",
                text=fields.text(item, "text") or "",
                message_id=fields.text(item, "id"),
            )
        )

    # --- tools -------------------------------------------------------------------------------------------

    def _command(self, item: Native) -> None:
        self._core.begin_tool(translate.command(item))
        self._core.turns.late(translate.command_ended(item))

    def _change(self, item: Native) -> None:
        call_id, native = fields.text(item, "id") or "", item.get("changes")
        changes = v.changes_of(native, call_id)
        self._core.begin_tool(v.patch_started(call_id, changes, native))
        status = v.STATUSES.get(fields.text(item, "status") or "", "completed")
        output = (fields.text(item, "stdout") or "") + (fields.text(item, "stderr") or "")
        self._core.change(changes, "applied" if status == "completed" else "failed")
        error = None if status == "completed" else ev.ErrorInfo(message=output or status)
        self._core.turns.late(ev.ToolEnded(call_id=call_id, status=status, output=output, error=error))

    def _mcp(self, item: Native) -> None:
        call_id = fields.text(item, "id") or ""
        self._core.begin_tool(
            v.mcp_started(
                call_id, fields.text(item, "server"), fields.text(item, "tool"), item.get("arguments")
            )
        )
        result = v.Result(item.get("result"), item.get("error"))
        known = v.STATUSES.get(fields.text(item, "status") or "")
        self._core.turns.late(
            ev.ToolEnded(
                call_id=call_id,
                status=known or ("completed" if result.error is None else "failed"),
                output=result.output,
                structured=result.structured,
                content=result.content,
                error=result.error,
                duration_ms=v.milliseconds(item.get("duration")),
            )
        )

    def _search(self, item: Native) -> None:
        self._core.put_search(fields.text(item, "id") or "", fields.text(item, "query"), item.get("action"))

    def _image(self, item: Native) -> None:
        self._core.put_image_view(fields.text(item, "id") or "", translate.path_of(item.get("path")))

    # --- agents and reviews ------------------------------------------------------------------------------

    def _collab(self, item: Native) -> None:
        call_id, tool = fields.text(item, "id") or "", fields.text(item, "tool") or ""
        given = {"prompt": item.get("prompt"), "receiver_thread_ids": item.get("receiver_thread_ids")}
        self._core.begin_tool(toolnames.tool_started(call_id, tool, given))
        status = v.STATUSES.get(fields.text(item, "status") or "", "completed")
        states = item.get("agents_states") or None
        self._core.turns.late(ev.ToolEnded(call_id=call_id, status=status, structured=states))
        self._agents.on_call(call_id, tool, item)

    def _activity(self, item: Native) -> None:
        agent_id, kind = fields.text(item, "agent_thread_id"), fields.text(item, "kind")
        if agent_id is None:
            return
        if kind == "started":
            self._agents.begin_agent(agent_id, fields.text(item, "id"), fields.text(item, "agent_path"))
        elif kind == "completed":
            self._agents.end_agent(agent_id, kind, None)

    def _entered_review(self, item: Native) -> None:
        self._core.review("entered", fields.text(item, "user_facing_hint"))

    def _exited_review(self, item: Native) -> None:
        output = fields.mapping(item, "review_output")
        self._core.review("exited", fields.text(output, "overall_explanation"))

    _HANDLERS: ClassVar[dict[str, Callable[[Any, Native], None]]] = {
        "UserMessage": _user,
        "AgentMessage": _agent,
        "Reasoning": _reasoning,
        "Plan": _plan,
        "CommandExecution": _command,
        "FileChange": _change,
        "McpToolCall": _mcp,
        "WebSearch": _search,
        "ImageView": _image,
        "CollabAgentToolCall": _collab,
        "SubAgentActivity": _activity,
        "ContextCompaction": lambda self, item: self._core.compact(None),
        "EnteredReviewMode": _entered_review,
        "ExitedReviewMode": _exited_review,
    }
