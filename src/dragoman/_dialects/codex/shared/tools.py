"""The event messages that tell of tools: `exec_command_begin`, `patch_apply_end`, `mcp_tool_call_end` …"""

import base64
import binascii
from collections.abc import Callable
from typing import Any, ClassVar

from dragoman._dialects.codex.shared import values as v
from dragoman._dialects.codex.shared.turns import Turns
from dragoman._model import events as ev
from dragoman._wire import fields
from dragoman._wire.ledger import Ledger

Native = dict[str, Any]


class ToolEvents:
    """Reads the event messages about tools. `turns`: those of the current thread."""

    def __init__(self, ledger: Ledger, turns: Turns) -> None:
        self.turns = turns
        self._ledger = ledger

    def begin_tool(self, started: ev.ToolStarted) -> None:
        """Put the start of a tool, unless an earlier line had it."""
        if not self._ledger.tool_known(started.call_id):
            started.synthesized = True
            self.turns.put(started)

    def _command_begin(self, message: Native) -> None:
        self.turns.put(self._command(message))

    def _command(self, message: Native) -> ev.ToolStarted:
        return v.shell_started(call_of(message), message.get("command"), fields.text(message, "cwd"))

    def _command_output(self, message: Native) -> None:
        chunk = fields.text(message, "chunk") or ""
        try:
            output = base64.b64decode(chunk, validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            output = chunk
        self.turns.put(ev.Delta(kind="tool_output", text=output, call_id=call_of(message)))

    def _command_end(self, message: Native) -> None:
        self.begin_tool(self._command(message))
        output = fields.text(message, "aggregated_output")
        if output is None:
            output = (fields.text(message, "stdout") or "") + (fields.text(message, "stderr") or "")
        code = fields.integer(message, "exit_code")
        status = v.STATUSES.get(fields.text(message, "status") or "")
        self.turns.late(
            ev.ToolEnded(
                call_id=call_of(message),
                status=status or ("completed" if code in (0, None) else "failed"),
                output=output,
                exit_code=code,
                duration_ms=v.milliseconds(message.get("duration")),
            )
        )

    def _patch_begin(self, message: Native) -> None:
        native = message.get("changes")
        changes = v.changes_of(native, call_of(message))
        self.turns.put(v.patch_started(call_of(message), changes, native))
        self.change(changes, "proposed")

    def change(self, changes: list[ev.FileChanged], phase: Any) -> None:
        for change in changes:
            change.phase = phase
            self.turns.late(change)

    def _patch_end(self, message: Native) -> None:
        call_id, native = call_of(message), message.get("changes")
        changes = v.changes_of(native, call_id)
        self.begin_tool(v.patch_started(call_id, changes, native))
        ok = message.get("success") is not False
        status = v.STATUSES.get(fields.text(message, "status") or "") or ("completed" if ok else "failed")
        output = (fields.text(message, "stdout") or "") + (fields.text(message, "stderr") or "")
        self.change(changes, "applied" if status == "completed" else "failed")
        error = None if status == "completed" else ev.ErrorInfo(message=output or status)
        self.turns.late(ev.ToolEnded(call_id=call_id, status=status, output=output, error=error))

    def _mcp(self, message: Native) -> ev.ToolStarted:
        call = fields.mapping(message, "invocation")
        return v.mcp_started(
            call_of(message), fields.text(call, "server"), fields.text(call, "tool"), call.get("arguments")
        )

    def _mcp_begin(self, message: Native) -> None:
        self.turns.put(self._mcp(message))

    def _mcp_end(self, message: Native) -> None:
        self.begin_tool(self._mcp(message))
        native = fields.mapping(message, "result")
        result = v.Result(native.get("Ok", native), native.get("Err"))
        self.turns.late(
            ev.ToolEnded(
                call_id=call_of(message),
                status="completed" if result.error is None else "failed",
                output=result.output,
                structured=result.structured,
                content=result.content,
                error=result.error,
                duration_ms=v.milliseconds(message.get("duration")),
            )
        )

    def _search_begin(self, message: Native) -> None:
        self.turns.put(ev.ToolStarted(call_id=call_of(message), name="web_search", kind="browse"))

    def _search_end(self, message: Native) -> None:
        self.put_search(call_of(message), fields.text(message, "query"), message.get("action"))

    def put_search(self, call_id: str, query: str | None, action: Any) -> None:
        """Put a web search that has ended: its query is known only now."""
        given = {"query": query, "action": action}
        if self._ledger.tool_known(call_id):
            self.turns.late(ev.ToolUpdated(call_id=call_id, title=query, input=given))
        else:
            self.begin_tool(
                ev.ToolStarted(call_id=call_id, name="web_search", kind="browse", title=query, input=given)
            )
        self.turns.late(ev.ToolEnded(call_id=call_id, status="completed"))

    def _image_viewed(self, message: Native) -> None:
        self.put_image_view(call_of(message), fields.text(message, "path"))

    def put_image_view(self, call_id: str, path: str | None) -> None:
        self.begin_tool(
            ev.ToolStarted(
                call_id=call_id,
                name="view_image",
                kind="read",
                title=path,
                input={"path": path},
                locations=[ev.Location(path=path)] if path else [],
            )
        )
        self.turns.late(ev.ToolEnded(call_id=call_id, status="completed"))

    HANDLERS: ClassVar[dict[str, Callable[[Any, Native], None]]] = {
        "exec_command_begin": _command_begin,
        "exec_command_output_delta": _command_output,
        "exec_command_end": _command_end,
        "patch_apply_begin": _patch_begin,
        "patch_apply_end": _patch_end,
        "mcp_tool_call_begin": _mcp_begin,
        "mcp_tool_call_end": _mcp_end,
        "web_search_begin": _search_begin,
        "web_search_end": _search_end,
        "view_image_tool_call": _image_viewed,
    }
    """By the type of a message."""


def call_of(message: Native) -> str:
    return fields.text(message, "call_id", "id", "item_id") or ""
