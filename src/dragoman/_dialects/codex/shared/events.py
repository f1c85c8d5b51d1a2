"""Codex's own event messages (`task_started`, `exec_command_begin`, `agent_message` …).

They are what its session files hold (`event_msg`), and what it spoke before it had items: as `codex/event/*`
notifications, and as `{"id", "msg"}` in `codex exec --json` of 2025. A message is any JSON object with a type.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final

from dragoman._dialects.codex.shared import values as v
from dragoman._dialects.codex.shared.content import user_message
from dragoman._dialects.codex.shared.tools import ToolEvents, call_of
from dragoman._dialects.codex.shared.turns import Turns
from dragoman._model import events as ev
from dragoman._wire import fields
from dragoman._wire.ledger import Ledger
from dragoman._wire.textblocks import Growing

Native = dict[str, Any]

SILENT: Final = frozenset(
    (
        "agent_reasoning_section_break", "get_history_entry_response", "list_custom_prompts_response",
        "list_skills_response", "mcp_list_tools_response", "mcp_startup_complete", "mcp_startup_update",
        "raw_response_item", "realtime_conversation_closed", "realtime_conversation_realtime",
        "realtime_conversation_started", "shutdown_complete", "skills_update_available",
        "terminal_interaction", "turn_diff", "undo_started",
    )
)  # fmt: skip
"""Understood, nothing to say: each repeats what other messages tell, or is an answer that nobody awaits."""

_PLAN: Final[dict[str, Any]] = {"in_progress": "in_progress", "completed": "completed"}


class CoreEvents(ToolEvents):
    """Reads the event messages of one thread after the other. `turns`: those of the current thread."""

    def __init__(self, ledger: Ledger, turns: Turns, growing: Growing) -> None:
        super().__init__(ledger, turns)
        self.compacted = False
        """A `compacted` line has just said so."""
        self.last_text: str | None = None
        """The last answer, for dialects in which another line repeats it."""
        self.thoughts: set[str] = set()
        self._growing = growing
        self._blocks: dict[str, int] = {}
        """The numbers of the texts that are being said: these messages have no ids."""
        self._count = 0

    def receive(self, message: Native) -> bool:
        """Take in a message. Returns whether this version knows its type."""
        kind = fields.text(message, "type") or ""
        handler = self.HANDLERS.get(kind)
        if handler is not None:
            handler(self, message)
        return handler is not None or kind in SILENT

    # --- turns -------------------------------------------------------------------------------------------

    def _task_started(self, message: Native) -> None:
        self.turns.expect(fields.text(message, "turn_id"))

    def _task_complete(self, message: Native) -> None:
        error = v.error_of(message.get("error"))
        self.turns.end(
            ev.TurnEnded(
                outcome="failed" if error is not None else "completed",
                reason=error.code if error is not None else None,
                text=fields.text(message, "last_agent_message"),
                error=error,
                duration_ms=fields.integer(message, "duration_ms"),
            )
        )

    def _turn_aborted(self, message: Native) -> None:
        reason = fields.text(message, "reason")
        self.turns.end(
            ev.TurnEnded(
                outcome="limited" if reason == "budget_limited" else "cancelled",
                reason=reason,
                duration_ms=fields.integer(message, "duration_ms"),
            )
        )

    def _user_message(self, message: Native) -> None:
        images = [
            {"type": "image", "url": image}
            for key in ("images", "local_images")
            for image in fields.items(message, key)
            if isinstance(image, str)
        ]
        said: list[Any] = [{"type": "text", "text": fields.text(message, "message") or ""}]
        self.turns.prompt(user_message(said + images))

    # --- what is said ------------------------------------------------------------------------------------

    def _agent_message(self, message: Native) -> None:
        text = fields.text(message, "message") or ""
        self.last_text = text
        commentary = fields.text(message, "phase") == "commentary"
        if not commentary:
            self.turns.keep_answer(text)
        self._finish(
            "text", ev.Message(role="assistant", kind="commentary" if commentary else "text", text=text)
        )

    def _thought(self, message: Native, which: str) -> None:
        text = fields.text(message, "text") or ""
        self.thoughts.add(text)
        self._finish(which, ev.Message(role="assistant", kind="thinking", text=text))

    def _piece(self, which: str, message: Native) -> None:
        self.turns.go_on()
        if which not in self._blocks:
            self._count += 1
            self._blocks[which] = self._count
        self._growing.piece(
            ev.Delta(
                kind="text" if which == "text" else "thinking",
                text=fields.text(message, "delta") or "",
                block=self._blocks[which],
            )
        )

    def _finish(self, which: str, said: ev.Message) -> None:
        said.block = self._blocks.pop(which, None)
        if said.block is None:
            self.turns.put(said)
        else:
            self.turns.go_on()
            self._growing.finish(said)

    # --- counts and settings -----------------------------------------------------------------------------

    def _token_count(self, message: Native) -> None:
        info, turns = fields.mapping(message, "info"), self.turns
        total = v.usage_of(info.get("total_token_usage") or message)
        last = v.usage_of(info.get("last_token_usage"))
        if total is not None:
            turns.count(total, last)
            call = turns.calls.count(total, last)
            if call is not None:
                turns.call(call)
        if turns.calls.copied:
            return
        if total is not None:
            turns.of_session(
                ev.UsageUpdated(
                    scope="session",
                    usage=total,
                    context_used=last.total_tokens if last is not None else None,
                    context_window=fields.integer(info, "model_context_window"),
                )
            )
        limit = v.rate_limit_of(message.get("rate_limits"))
        if limit is not None:
            turns.of_session(limit)

    def _session_configured(self, message: Native) -> None:
        session = fields.text(message, "thread_id", "session_id")
        if session is not None:
            self._ledger.name_session(session)
        self._settings({"thread_settings": {**message, "effort": message.get("reasoning_effort")}})

    def _settings(self, message: Native) -> None:
        settings = fields.mapping(message, "thread_settings")
        mode, calls = fields.mapping(settings, "collaboration_mode"), self.turns.calls
        calls.model = fields.text(settings, "model") or calls.model
        calls.service_tier = fields.text(settings, "service_tier")
        self.turns.of_session(
            ev.SessionStarted(
                model=fields.text(settings, "model"),
                effort=fields.text(settings, "effort")
                or fields.text(fields.mapping(mode, "settings"), "reasoning_effort"),
                cwd=fields.text(settings, "cwd"),
                permission_mode=fields.text(settings, "approval_policy"),
                mode=fields.text(mode, "mode"),
            )
        )

    def _renamed(self, message: Native) -> None:
        self.turns.of_session(ev.SessionUpdated(title=fields.text(message, "thread_name")))

    # --- requests ----------------------------------------------------------------------------------------

    def _command_approval(self, message: Native) -> None:
        self._put_permission(message, "shell", "execute", {"command": message.get("command")})

    def _patch_approval(self, message: Native) -> None:
        self._put_permission(message, "apply_patch", "edit", {"changes": message.get("changes")})

    def _put_permission(self, message: Native, name: str, kind: ev.ToolKind, given: Native) -> None:
        call_id = call_of(message)
        self.turns.put(
            ev.PermissionRequested(
                request_id=fields.text(message, "approval_id") or call_id,
                call_id=call_id,
                tool_name=name,
                kind=kind,
                input=given,
                reason=fields.text(message, "reason"),
                blocked_path=fields.text(message, "grant_root"),
            )
        )

    # --- everything else ---------------------------------------------------------------------------------

    def _plan(self, message: Native) -> None:
        entries = plan_entries(message)
        self.turns.put(ev.PlanUpdated(entries=entries))

    def _context_compacted(self, message: Native) -> None:
        self.compact(None)

    def compact(self, summary: str | None) -> None:
        """Put a compaction once: a line with the summary is followed by an event or an item without it."""
        if summary is None and self.compacted:
            self.compacted = False
            return
        self.compacted = summary is not None
        # A turn that has no prompt was started for this alone (capture app_thread_mgmt).
        manual = self.turns.open and not self.turns.has_prompt
        self.turns.put(ev.ContextCompacted(trigger="manual" if manual else "auto", summary=summary))

    def _review(self, phase: str, message: Native) -> None:
        self.review(phase, fields.text(message, "user_facing_hint"))

    def review(self, phase: str, hint: str | None) -> None:
        self._ledger.put(ev.SessionStatus(status=f"{phase}_review", message=hint))

    def _error(self, message: Native) -> None:
        error = v.error_of(message)
        if error is not None:
            self._ledger.put(ev.Error(message=error.message, code=error.code))

    def _stream_error(self, message: Native) -> None:
        said = fields.text(message, "message") or ""
        self._ledger.put(
            v.retry_of(said) or ev.Error(message=said, code=v.error_code(message), will_retry=True)
        )

    def _notice(self, message: Native, code: str | None) -> None:
        said = " ".join(
            part for key in ("message", "summary", "details") if (part := fields.text(message, key))
        )
        severity: Any = "info" if code in (None, "undo") else "warning"
        self._ledger.put(ev.Notice(severity=severity, message=said, code=code))

    def _rolled_back(self, message: Native) -> None:
        turns = fields.integer(message, "num_turns")
        self.turns.rebase()
        self._ledger.put(ev.SessionStatus(status="rolled_back", message=f"{turns} turns taken back"))

    HANDLERS: ClassVar[dict[str, Callable[[Any, Native], None]]] = {
        **ToolEvents.HANDLERS,
        "task_started": _task_started,
        "turn_started": _task_started,
        "task_complete": _task_complete,
        "turn_complete": _task_complete,
        "turn_aborted": _turn_aborted,
        "user_message": _user_message,
        "agent_message": _agent_message,
        "agent_message_delta": lambda self, m: self._piece("text", m),
        "agent_reasoning": lambda self, m: self._thought(m, "reasoning"),
        "agent_reasoning_delta": lambda self, m: self._piece("reasoning", m),
        "agent_reasoning_raw_content": lambda self, m: self._thought(m, "raw"),
        "agent_reasoning_raw_content_delta": lambda self, m: self._piece("raw", m),
        "token_count": _token_count,
        "session_configured": _session_configured,
        "thread_settings_applied": _settings,
        "thread_name_updated": _renamed,
        "plan_update": _plan,
        "exec_approval_request": _command_approval,
        "apply_patch_approval_request": _patch_approval,
        "context_compacted": _context_compacted,
        "entered_review_mode": lambda self, m: self._review("entered", m),
        "exited_review_mode": lambda self, m: self._review("exited", m),
        "error": _error,
        "stream_error": _stream_error,
        "warning": lambda self, m: self._notice(m, "warning"),
        "background_event": lambda self, m: self._notice(m, None),
        "deprecation_notice": lambda self, m: self._notice(m, "deprecation"),
        "thread_rolled_back": _rolled_back,
        "undo_completed": lambda self, m: self._notice(m, "undo"),
    }


def plan_entries(native: Any) -> list[ev.PlanEntry]:
    """The steps in `plan`, the argument of update_plan: [{step, status}]."""
    return [
        ev.PlanEntry(
            text=fields.text(step, "step", "text") or "",
            status=_PLAN.get(fields.text(step, "status") or "", "pending"),
        )
        for step in fields.mappings(native, "plan")
    ]
