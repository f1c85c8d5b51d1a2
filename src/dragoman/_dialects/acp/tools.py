"""Tool calls: created on first sight, filled in by updates, ended by a status or by the ledger."""

import re
from collections.abc import Iterable
from typing import Any, Final, Literal, get_args

from msgspec import UNSET, Struct, structs

from dragoman._dialects.acp import messages as m
from dragoman._dialects.acp.changes import in_full
from dragoman._dialects.acp.showing import Shown, shown_in
from dragoman._dialects.acp.terminals import Terminal, Terminals
from dragoman._dialects.acp.texts import parent_of
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.content import ContentBlock, TerminalBlock
from dragoman._wire import fields
from dragoman._wire.content import parts_of
from dragoman._wire.ledger import Ledger

_KINDS: Final[dict[str | None, ev.ToolKind]] = {
    kind: kind for kind in get_args(ev.ToolKind) if kind != "other"
}
"""Kinds that say something, in the agent's words and in ours."""
_ENDS: Final[dict[str | None, ev.ToolStatus]] = {
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}

_TITLE, _INPUT, _LOCATIONS, _CONTENT, _RESULT, _RESPONSE, _STATUS = (1 << n for n in range(7))
"""What an update may change of a call, added up where it changes several: a set of their names takes twice as long."""
_TOLD_AT_START: Final = _TITLE | _INPUT | _LOCATIONS
_TOLD_AT_END: Final = _CONTENT | _RESULT
ENDED_KEPT: Final = 32
"""Calls that are kept after their end: the last. What is said of an older one is told by itself alone."""
_PREFIXED: Final = re.compile(r"([A-Za-z][\w.-]*?)__.+")
_WORD: Final = re.compile(r"[A-Za-z][\w-]*")
_ODD: Final = re.compile(r"[^\w-]")
_OUTPUTS: Final = ("output", "stdout", "formatted_output", "aggregated_output", "text", "content", "error")


class Call(Struct, gc=False):
    """A tool call as all updates so far left it."""

    id: str
    parent: str | None = None
    name: str = ""
    server: str | None = None
    """The MCP server, split off the name."""
    own_name: str = ""
    """The name without it."""
    kind: ev.ToolKind = "other"
    title: str | None = None
    input: Any = None
    locations: list[ev.Location] | None = None
    shown: Shown | None = None
    """Its content, once there was some."""
    result: Any = None
    response: Any = None
    """What claude-agent-acp says of the result in `_meta`: its tools' own structure."""
    changes: list[ev.FileChanged] | None = None
    proposed: list[ev.FileChanged] | None = None
    """The changes for which a permission was asked last."""
    written: list[ev.FileChanged] | None = None
    """What it had its client write."""


class Tools:
    """The calls of one session: live ones, or those of its history."""

    def __init__(self, ledger: Ledger, servers: Iterable[str] = (), *, replay: bool = False) -> None:
        self.terminals = Terminals(ledger, replay=replay)
        self._servers = servers
        """Names of the MCP servers that the session was given."""
        self._ledger = ledger
        self._replay = replay
        self._open: dict[str, Call] = {}
        """The calls that have not ended, by id; and those among them that the ledger ended, until somebody asks."""
        self._ended: dict[str, Call] = {}
        """The last that have, since something may yet be said of them."""
        self._missing: set[str] = set()
        """Files that were to be read, and were not there."""

    def open(self) -> list[Call]:
        """The calls that have not ended."""
        self._settle()
        return [call for call in self._open.values() if self._ledger.tool_open(call.id)]

    def find(self, call_id: str | None) -> Call | None:
        """The call with this id, if it is open or ended not long ago."""
        if call_id is None:
            return None
        return self._open.get(call_id) or self._ended.get(call_id)

    def _settle(self) -> None:
        """Put away the calls that the ledger ended: with their turn."""
        for call in list(self._open.values()):
            if not self._ledger.tool_open(call.id, replay=self._replay):
                self._put_away(call)

    def _put_away(self, call: Call) -> None:
        """A call has ended: it is kept while it is one of the last, and then forgotten."""
        ended = self._ended
        self._open.pop(call.id, None)
        ended[call.id] = call
        if len(ended) > ENDED_KEPT:
            oldest = next(iter(ended))
            del ended[oldest]
            if oldest in self.terminals.of_calls:
                self.terminals.forget(oldest)

    def at(self, path: str | None) -> str | None:
        """The id of the open call with this path among its locations; None if there is not exactly one."""
        ids = [
            call.id
            for call in self._open.values()
            if any(place.path == path for place in call.locations or ()) and self._ledger.tool_open(call.id)
        ]
        return ids[0] if len(ids) == 1 else None

    def running(self, command: str | None) -> str | None:
        """The id of the open call that runs this command, by its input or its title, which may be quoted;
        None if there is not exactly one."""
        ids = [
            call.id
            for call in self._open.values()
            if command in (fields.text(call.input, "command"), (call.title or "").strip("`"))
            and call.kind == "execute"
            and self._ledger.tool_open(call.id)
        ]
        return ids[0] if len(ids) == 1 else None

    def host_did(self, method: str, params: Any, result: Any, *, failed: bool) -> None:
        """The client did what the agent had asked of it: a file that it wrote has changed, whether or not the agent says so
        (opencode 1.17.11 does not). What a call says of it itself counts for more."""
        path = fields.text(params, "path")
        if path is None:
            return
        if method == "fs/read_text_file" and (failed or not fields.text(result, "content")):
            self._missing.add(path)
        if method != "fs/write_text_file" or failed:
            return
        edits = [call for call in self.open() if call.kind == "edit"]
        call = self.find(self.at(path)) or (edits[0] if len(edits) == 1 else None)
        change = ev.FileChanged(
            path=path,
            change="created" if path in self._missing else "modified",
            after=fields.text(params, "content"),
            call_id=call.id if call is not None else None,
            phase="applied",
            parent=call.parent if call is not None else None,
        )
        self._missing.discard(path)
        if call is None:
            self._ledger.put(change)
        else:
            call.written = [*(call.written or ()), change]

    def flush(self) -> None:
        """Put what calls had written that have not ended and will not."""
        for call in self.open():
            self._put_written(call)

    def abandon(self) -> None:
        """End the calls that the history left open."""
        for call in self._open.values():
            if self._ledger.tool_open(call.id, replay=self._replay):
                self._ledger.put(
                    ev.ToolEnded(
                        call_id=call.id,
                        status="abandoned",
                        parent=call.parent,
                        replay=self._replay,
                        synthesized=True,
                    )
                )

    # --- updates -----------------------------------------------------------------------------------------

    def see(self, update: m.ToolUpdate, known: bool, null_clears: bool = False) -> Call:
        """Take in an update of a call; the first one, while it is not `known`, starts it. Returns the call."""
        call = self._known(update) if known else self._made(update, update.title)
        changed, status = _take(call, update, null_clears), update.status
        ending = _ENDS.get(status)
        if not known:
            self._start(call, status)
            changed &= ~_TOLD_AT_START
        elif status is not None and ending is None:
            changed |= _STATUS
        if ending is not None:
            changed &= ~_TOLD_AT_END
        if changed:
            self._put_update(call, changed, status)
        if call.shown is not None and call.shown.terminals:
            self._tie(call.shown, call)
        if update.meta:
            self.terminals.read_meta(update.meta, call.id)
        if ending is not None:
            self._end(call, ending)
        return call

    def grow(self, chunk: m.ToolContentChunk) -> None:
        """Add one piece of content to a call."""
        update = m.ToolUpdate(toolCallId=chunk.toolCallId)
        if self._ledger.tool_known(chunk.toolCallId, replay=self._replay):
            call = self._known(update)
        else:
            call = self._made(update)
            self._start(call, None)
        if call.shown is None:
            call.shown = shown_in([chunk.content], call.id)
        else:
            call.shown.add(chunk.content, call.id)
        call.changes = call.shown.changes or call.changes
        self._put_update(call, _CONTENT, None)
        self._tie(call.shown, call)

    def ask(self, update: m.ToolUpdate) -> Call:
        """Take in the call of a permission request: often the first line about it, sometimes with other
        titles. Returns the call."""
        call = self.find(update.toolCallId)
        if call is None:
            call = self.see(update, self._ledger.tool_known(update.toolCallId, replay=self._replay))
        else:
            call.changes = shown_in(parts_of(update.content or None), call.id).changes or call.changes
            if not call.input and update.rawInput not in (UNSET, None, {}):
                call.input = update.rawInput
                self._put_update(call, _INPUT, None)
        if call.changes and call.changes != call.proposed:
            call.proposed = list(call.changes)
            self._put_changes(call, "proposed")
        return call

    def _known(self, update: m.ToolUpdate) -> Call:
        """The call of an update that is not its first."""
        call = self.find(update.toolCallId)
        if call is None:  # it is not kept any more
            call = self._made(update)
            self._settle()
        return call

    def _made(self, update: m.ToolUpdate, title: str | None = None) -> Call:
        """A call of which this is the first update, or the first after it was forgotten."""
        id, name = update.toolCallId, _name(update)
        server, own_name = self._parted(name) if self._servers else toolnames.split_mcp(name)
        kind = "mcp" if server is not None else _KINDS.get(update.kind) or toolnames.kind_of(name)
        parent = parent_of(update) if update.meta else None
        call = self._open[id] = Call(id, parent, name, server, own_name, kind, title)
        return call

    def _parted(self, name: str) -> tuple[str | None, str]:
        """The MCP server of a tool, None if it has none, and the tool's own name. OpenCode writes
        `<server>_<tool>`."""
        for server in self._servers:
            prefix = _ODD.sub("_", server) + "_"
            if name.startswith(prefix):
                return server, name.removeprefix(prefix)
        return toolnames.split_mcp(name)

    # --- events ------------------------------------------------------------------------------------------

    def _start(self, call: Call, status: str | None) -> None:
        self._ledger.put(
            ev.ToolStarted(
                call_id=call.id,
                name=call.own_name,
                native_name=call.name if call.server is not None else None,
                kind=call.kind,
                title=call.title,
                input=call.input,
                locations=call.locations or (toolnames.locations_of(call.input) if call.input else []),
                server=call.server,
                parent=call.parent,
                replay=self._replay,
                ext={"acp.status": status} if status is not None else {},
            )
        )

    def _put_update(self, call: Call, told: int, status: str | None) -> None:
        """Put what changed of a call."""
        shown = call.shown if told & _CONTENT else None
        ext: dict[str, Any] = {"acp.status": status} if told & _STATUS else {}
        if shown is not None:
            ext["acp.toolContent"] = shown.native
        self._ledger.put(
            ev.ToolUpdated(
                call_id=call.id,
                title=call.title if told & _TITLE else None,
                input=call.input if told & _INPUT else None,
                locations=call.locations or [] if told & _LOCATIONS else [],
                output=shown.text or None if shown is not None else None,
                content=[*shown.blocks] if shown is not None and not shown.is_plain else [],
                structured=_structured(call) if told & (_RESULT | _RESPONSE) else None,
                parent=call.parent,
                replay=self._replay,
                ext=ext,
            )
        )

    def _tie(self, shown: Shown, call: Call) -> None:
        for terminal_id in shown.terminals:
            self.terminals.tie(terminal_id, call.id)

    def _end(self, call: Call, status: ev.ToolStatus) -> None:
        if call.changes and status != "cancelled" and self._ledger.tool_open(call.id, replay=self._replay):
            self._put_changes(call, "applied" if status == "completed" else "failed")
        if call.written:
            self._put_written(call)
        shown = call.shown
        if call.result is None and call.id not in self.terminals.of_calls:  # what it shows is all there is
            output, structured, exit_code = (
                shown.text or None if shown is not None else None,
                call.response,
                None,
            )
        else:
            terminals = self.terminals.of(call.id)
            output, structured = _output(call, terminals), _structured(call)
            exit_code = _exit_code(call.result, terminals)
        blocks: list[ContentBlock] = []
        if shown is not None and not shown.is_plain:
            blocks = self._filled(shown.blocks) if shown.terminals else [*shown.blocks]
        self._ledger.put(
            ev.ToolEnded(
                call_id=call.id,
                status=status,
                output=output,
                structured=structured,
                content=blocks,
                error=_error(call.result, output) if status == "failed" else None,
                exit_code=exit_code,
                parent=call.parent,
                replay=self._replay,
                ext={"acp.toolContent": shown.native} if shown is not None else {},
            )
        )
        self._put_away(call)

    def _put_written(self, call: Call) -> None:
        told = {change.path for change in call.changes or ()}
        for change in call.written or ():
            if change.path not in told:
                self._ledger.put(change)
        call.written = None

    def _put_changes(self, call: Call, phase: Literal["proposed", "applied", "failed"]) -> None:
        """Put the changes of a call. They are copied as they are: to read a diff is to make it."""
        for change in call.changes or ():
            told = structs.replace(change, phase=phase, parent=call.parent, replay=self._replay)
            if phase == "failed":
                told.diff = told.before = told.after = None
            self._ledger.put(told)

    # --- results -----------------------------------------------------------------------------------------

    def _filled(self, blocks: list[ContentBlock]) -> list[ContentBlock]:
        """Blocks of a call, those that are terminals with their output."""
        return [self._terminal(block) if isinstance(block, TerminalBlock) else block for block in blocks]

    def _terminal(self, block: TerminalBlock) -> TerminalBlock:
        if block.terminal_id is None:
            return block
        terminal = self.terminals.find(block.terminal_id)
        return TerminalBlock(
            terminal_id=block.terminal_id, output=terminal.output or None, exit_code=terminal.exit_code
        )


def _output(call: Call, terminals: list[Terminal]) -> str | None:
    """The result as text: `rawOutput` if it is a string (content may be dressed up for showing), else the
    text of the content, else the output of its terminals, else the text inside `rawOutput`."""
    result = call.result
    if isinstance(result, str) and result:
        return result
    if call.shown is not None and call.shown.text:
        return call.shown.text
    if terminals:
        outputs = [terminal.output for terminal in terminals if terminal.output]
        if outputs:
            return "\n".join(outputs)
    if not isinstance(result, dict):
        return None
    found = next((found for key in _OUTPUTS if (found := fields.text(result, key))), None)
    return found or _mcp_output(result)


def _exit_code(result: Any, terminals: list[Terminal]) -> int | None:
    for terminal in terminals:
        if terminal.exit_code is not None:
            return terminal.exit_code
    if not isinstance(result, dict):
        return None
    code = fields.integer(result, "exit_code", "exitCode")
    return code if code is not None else fields.integer(result.get("metadata"), "exit")  # opencode


def _mcp_output(result: Any) -> str | None:
    """The text of an MCP result as codex-acp passes it on, `result.content`; else the message of its
    `error`."""
    said = [fields.text(block, "text") for block in fields.items(fields.mapping(result, "result"), "content")]
    return "\n".join(filter(None, said)) or fields.text(fields.mapping(result, "error"), "message")


def _error(result: Any, output: str | None) -> ev.ErrorInfo | None:
    """What the agent says of a failure: the output, else `message` and `code` of rawOutput (copilot, capture
    shell_reject); None if it says nothing."""
    message = output or fields.text(result, "message")
    return (
        ev.ErrorInfo(message=message, code=None if output else fields.text(result, "code"))
        if message
        else None
    )


def _structured(call: Call) -> Any:
    """`rawOutput` where it is more than text, else the `toolResponse` of claude-agent-acp."""
    return call.response if call.result is None or isinstance(call.result, str) else call.result


def _take(call: Call, update: m.ToolUpdate, null_clears: bool) -> int:
    """Copy an update's fields to a call. Returns what changed."""
    changed = 0
    title, given, content, result = update.title, update.rawInput, update.content, update.rawOutput
    if title is not None and title != call.title:
        call.title = title
        changed = _TITLE
    if given is not UNSET and given is not None and given != call.input:
        call.input = given
        changed |= _INPUT
    if update.locations:
        locations = _locations(update.locations)
        if locations and locations != call.locations:
            call.locations = locations
            changed |= _LOCATIONS
    if content is not UNSET and (content is not None or null_clears):
        parts, before = content if type(content) is list else parts_of(content), call.shown
        if parts != (before.native if before is not None else []):
            call.shown = shown = shown_in(parts, call.id) if parts else None
            if shown is not None and shown.changes:
                call.changes = in_full(shown.changes, call.changes) if call.changes else shown.changes
            changed |= _CONTENT
    if result is not UNSET and result is not None and result != call.result:
        call.result = result
        changed |= _RESULT
    if update.meta:
        response = fields.mapping(update.meta, "claudeCode").get("toolResponse")
        if response is not None and response != call.response:
            call.response = response
            changed |= _RESPONSE
    return changed


def _name(update: m.ToolUpdate) -> str:
    """The tool's name, from where the agent has it: a field, `_meta`, the id (gemini), the first title
    (opencode); else its kind."""
    meta = update.meta
    if meta:
        server, tool = fields.text(update.rawInput, "server"), fields.text(update.rawInput, "tool")
        if meta.get("is_mcp_tool_call") and server and tool:  # codex-acp has it in the input alone
            return f"mcp__{server}__{tool}"
    said = update.name
    if meta and not said:
        said = fields.text(fields.mapping(meta, "claudeCode"), "toolName") or fields.text(meta, "toolName")
    if said:
        return said
    prefix = _PREFIXED.fullmatch(update.toolCallId) if "__" in update.toolCallId else None
    if prefix is not None:
        return prefix[1]
    title = update.title
    if title and " " not in title and _WORD.fullmatch(title):
        about = update.rawInput.values() if isinstance(update.rawInput, dict) else ()
        if title not in about:
            return title
    return update.kind or title or "tool"


def _locations(native: Any) -> list[ev.Location]:
    """The `locations` of a call: objects with path and line, or bare paths."""
    found = []
    for item in native if isinstance(native, list) else []:
        path = item if isinstance(item, str) else fields.text(item, "path")
        if path:
            found.append(ev.Location(path=path, line=fields.integer(item, "line")))
    return found
