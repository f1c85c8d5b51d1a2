"""Tool calls as actions: each begins, may change, and ends under one id."""

from typing import Any, Final

from msgspec import Struct, field

from dragoman._model import events as ev
from dragoman._projections.untether.engines import Engine
from dragoman._projections.untether.model import Action, ActionEvent, ActionKind, Level, Phase
from dragoman._projections.untether.titles import Compat, Shown, shown_call

PREVIEW: Final = 500
"""Characters of a tool's output that its action keeps."""

_CHANGES: Final = {"created": "add", "deleted": "delete"}
"""Codex's words for changes; all others are updates."""

_KINDS: Final[dict[ev.ToolKind, ActionKind]] = {
    "execute": "command",
    "edit": "file_change",
    "delete": "file_change",
    "move": "file_change",
    "fetch": "web_search",
    "browse": "web_search",
}
"""What a call is by the kind that its agent gave it."""


class Ids:
    """Hands out each id once."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def unique(self, id: str) -> str:
        """`id`, with a number behind it if it is taken."""
        times = self._given[id] = self._given.get(id, 0) + 1
        return id if times == 1 else self.unique(f"{id}#{times}")

    def numbered(self, prefix: str, first: int = 1) -> str:
        """The next of a series."""
        place = self._given[prefix] = self._given.get(prefix, first - 1) + 1
        return self.unique(f"{prefix}{place}")


class Call(Struct):
    """A call as it stands."""

    id: str
    call_id: str
    name: str
    """The agent's own name for the tool."""
    tool: str
    """The same without its server."""
    server: str | None
    patch: bool
    input: Any
    parent: str | None
    orphan: bool
    """Only its result was seen."""
    kind: ev.ToolKind
    title: str | None
    """What the agent itself calls it: in ACP a tool has often no other name."""
    place: str | None
    paths: dict[str, str] = field(default_factory=dict)
    """What a patch does to which file."""
    shown: bool = False
    """Its start was told, or would be if it were not silent."""
    silent: bool = False
    """Only its end is told."""


class Calls:
    """The calls of a run. `live` and `compat` choose how they are titled."""

    def __init__(self, engine: Engine, ids: Ids, *, live: bool, compat: Compat | None) -> None:
        self.cwd: str | None = None
        self._engine = engine
        self._ids = ids
        self._live = live
        self._compat = compat
        self._open: dict[tuple[str | None, str], Call] = {}

    def on_start(self, event: ev.ToolStarted) -> list[ActionEvent]:
        if event.ext.get("codex.itemType") == "collab_tool_call" and not self._live:
            return []  # the published runner has no word for it
        call = Call(
            id=self._ids.unique(event.call_id),
            call_id=event.call_id,
            name=event.native_name or event.name or "tool",
            tool=event.name,
            server=event.server,
            patch=self._engine.name == "codex" and event.name == "apply_patch",
            input=event.input,
            parent=event.parent,
            orphan=event.synthesized and event.input is None,
            kind=event.kind,
            title=event.title if event.dialect == "acp" else None,
            place=event.locations[0].path if event.locations else None,
        )
        call.paths = {place.path: "update" for place in event.locations} if call.patch else {}
        call.silent = call.patch or (event.synthesized and not self._live)
        self._open[event.session, event.call_id] = call
        return self._begin(call) if call.input else []

    def on_update(self, event: ev.ToolUpdated) -> list[ActionEvent]:
        """The start of a call that was held until more is known of it, or what has changed."""
        call = self._open.get((event.session, event.call_id))
        if call is None or event.late:
            return []
        before = self._action(call)
        call.input = call.input if event.input is None else event.input
        call.title = event.title or call.title if event.dialect == "acp" else None
        call.place = event.locations[0].path if event.locations else call.place
        if not call.shown:
            return self._begin(call)
        after = self._action(call)
        told = not call.silent and call.tool != "web_search"  # its query is said when it is over
        return [self._event(after, "updated")] if told and after != before else []

    def on_delta(self, event: ev.Delta) -> list[ActionEvent]:
        """Codex exec repeats a command as it grows, and each repetition is an update; an output that comes in
        pieces is not, there may be thousands of them."""
        call = self._open.get((event.session, event.call_id or ""))
        if call is None:
            return []
        if not call.shown:
            return self._begin(call)
        repeated = event.dialect == "codex_exec" and not call.silent
        return [self._event(self._action(call), "updated")] if repeated else []

    def on_change(self, event: ev.FileChanged) -> None:
        call = self._open.get((event.session, event.call_id or ""))
        if call is not None and call.patch:
            call.paths[event.path] = _CHANGES.get(event.change, "update")

    def on_request(self, session: str | None, call_id: str | None) -> list[ActionEvent]:
        """A permission is asked for the call: now it must be seen."""
        call = self._open.get((session, call_id or ""))
        return self._begin(call) if call is not None and not call.shown else []

    def on_end(self, event: ev.ToolEnded) -> list[ActionEvent]:
        call = self._open.pop((event.session, event.call_id), None)
        if call is None or (call.orphan and not self._live and self._engine.orphans == "drop"):
            return []
        start = self._begin(call) if not call.shown else []
        ok = event.status == "completed" and (event.exit_code in (0, None) or not self._engine.exits)
        action = self._action(call, event)
        return [*start, self._event(action, "completed", ok)]

    # ---------------------------------------------------------------------------------------------------

    def _begin(self, call: Call) -> list[ActionEvent]:
        call.shown = True
        return [] if call.silent else [self._event(self._action(call), "started")]

    def _action(self, call: Call, ended: ev.ToolEnded | None = None) -> Action:
        look = self._look(call)
        if self._engine.name == "codex":
            return Action(call.id, look.kind, look.title or call.name, self._codex_detail(call, ended))
        keys = self._engine.call_keys
        detail: dict[str, Any] = {keys.name: call.name, keys.input: call.input}
        if keys.id:
            detail[keys.id] = call.call_id
        if call.parent is not None:
            detail["parent_tool_use_id"] = call.parent
        if look.path is not None:
            detail["changes"] = [{"path": look.path, "kind": "update"}]
        if ended is not None:
            detail |= self._result(ended)
        return Action(call.id, look.kind, look.title, detail)

    def _look(self, call: Call) -> Shown:
        if call.orphan and not self._live and self._engine.orphans == "anonymous":
            return Shown("tool", "tool result")
        if self._engine.name == "codex":
            if call.patch:
                return Shown("file_change", ", ".join(call.paths) or call.name)
            if call.server is not None:
                return Shown("tool", f"{call.server}.{call.tool}")
            if call.tool == "web_search":
                return Shown("web_search", _query(call) or call.tool)
        if call.title:
            kind = _KINDS.get(call.kind, "tool")
            return Shown(kind, call.title, call.place if kind == "file_change" else None)
        name = call.tool if call.tool == "shell" else call.name  # by whichever name the model called it
        return shown_call(self._engine, name, call.input, live=self._live, compat=self._compat, cwd=self.cwd)

    def _result(self, ended: ev.ToolEnded) -> dict[str, Any]:
        output, failed = ended.output, ended.status != "completed"
        if self._engine.preview == "result":
            text = output or ""
            return {
                "tool_use_id": ended.call_id,
                "result_preview": text[:PREVIEW],
                "result_len": len(text),
                "is_error": failed,
            }
        detail: dict[str, Any] = {} if output is None else {"output_preview": output[:PREVIEW]}
        if self._live and ended.error is not None:
            detail["error"] = ended.error.message
        return detail

    def _codex_detail(self, call: Call, ended: ev.ToolEnded | None) -> dict[str, Any]:
        status = ended.status if ended is not None else "in_progress"
        if call.patch:
            changes = [{"path": path, "kind": kind} for path, kind in call.paths.items()]
            return {"changes": changes, "status": status, "error": None}
        if call.server is not None:
            detail = {"server": call.server, "tool": call.tool, "status": status, "arguments": call.input}
            if ended is not None:
                blocks = len(ended.content) or (1 if ended.output else 0)
                structured = ended.structured is not None
                detail["result_summary"] = {"content_blocks": blocks, "has_structured": structured}
                detail["error_message"] = ended.error.message if ended.error is not None else None
            return detail
        if call.tool == "web_search":
            return {"query": _query(call)}
        return {"exit_code": ended.exit_code if ended is not None else None, "status": status}

    def _event(self, action: Action, phase: Phase, ok: bool | None = None) -> ActionEvent:
        return ActionEvent(engine=self._engine.name, action=action, phase=phase, ok=ok)


def _query(call: Call) -> str:
    query = call.input.get("query") if isinstance(call.input, dict) else None
    return query if isinstance(query, str) else ""


def note(
    engine: Engine,
    id: str,
    title: str,
    phase: Phase = "completed",
    *,
    kind: ActionKind = "note",
    ok: bool | None = None,
    message: str | None = None,
    level: Level | None = None,
    detail: dict[str, Any] | None = None,
) -> ActionEvent:
    """An action that is no tool call; one that is over went well if nothing else is said."""
    done = True if ok is None and phase == "completed" else ok
    action = Action(id, kind, title or kind, detail or {})
    return ActionEvent(engine=engine.name, action=action, phase=phase, ok=done, message=message, level=level)
