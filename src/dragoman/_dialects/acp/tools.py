"""Tool calls: created on first sight, filled in by updates, ended by a status or by the ledger."""

import re
from collections.abc import Iterable
from typing import Any, Final, get_args

from msgspec import UNSET, Struct, field

from dragoman._dialects.acp import messages as m
from dragoman._dialects.acp.changes import changes_in, in_full
from dragoman._dialects.acp.terminals import Terminals
from dragoman._dialects.acp.texts import parent_of
from dragoman._model import events as ev
from dragoman._model import toolnames
from dragoman._model.content import ContentBlock, TerminalBlock, text_of
from dragoman._wire import fields
from dragoman._wire.content import blocks_of, parts_of, plain
from dragoman._wire.ledger import Ledger

KINDS: Final[frozenset[str]] = frozenset(get_args(ev.ToolKind))
_ENDS: Final[dict[str | None, ev.ToolStatus]] = {
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}
_PREFIXED: Final = re.compile(r"([A-Za-z][\w.-]*?)__.+")
_WORD: Final = re.compile(r"[A-Za-z][\w-]*")
_ODD: Final = re.compile(r"[^\w-]")
_OUTPUTS: Final = ("output", "stdout", "formatted_output", "aggregated_output", "text", "content", "error")


class Call(Struct):
    """A tool call as all updates so far left it."""

    id: str
    parent: str | None = None
    name: str = ""
    kind: ev.ToolKind = "other"
    title: str | None = None
    input: Any = None
    locations: list[ev.Location] = field(default_factory=list)
    content: list[Any] = field(default_factory=list)
    """In the agent's own form."""
    result: Any = None
    response: Any = None
    """What claude-agent-acp says of the result in `_meta`: its tools' own structure."""
    changes: list[ev.FileChanged] = field(default_factory=list)
    proposed: bool = False
    written: list[ev.FileChanged] = field(default_factory=list)
    """What it had its client write."""


class Tools:
    """The calls of one session: live ones, or those of its history."""

    def __init__(self, ledger: Ledger, servers: Iterable[str] = (), *, replay: bool = False) -> None:
        self.terminals = Terminals(ledger, replay=replay)
        self._servers = servers
        """Names of the MCP servers that the session was given."""
        self._ledger = ledger
        self._replay = replay
        self._calls: dict[str, Call] = {}
        self._missing: set[str] = set()
        """Files that were to be read, and were not there."""

    def open(self) -> list[Call]:
        """The calls that have not ended."""
        return [call for call in self._calls.values() if self._ledger.tool_open(call.id)]

    def find(self, call_id: str | None) -> Call | None:
        return self._calls.get(call_id) if call_id is not None else None

    def at(self, path: str | None) -> str | None:
        """The id of the open call with this path among its locations; None if there is not exactly one."""
        ids = [
            call.id
            for call in self._calls.values()
            if any(place.path == path for place in call.locations) and self._ledger.tool_open(call.id)
        ]
        return ids[0] if len(ids) == 1 else None

    def running(self, command: str | None) -> str | None:
        """The id of the open call that runs this command, by its input or its title, which may be quoted;
        None if there is not exactly one."""
        ids = [
            call.id
            for call in self._calls.values()
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
            call.written.append(change)

    def flush(self) -> None:
        """Put what calls had written that have not ended and will not."""
        for call in self.open():
            self._put_written(call)

    def abandon(self) -> None:
        """End the calls that the history left open."""
        for call in self._calls.values():
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

    def see(self, update: m.ToolUpdate, *, null_clears: bool = False) -> Call:
        """Take in an update of a call; the first one starts it. Returns the call."""
        call, new = self._call(update)
        changed = _take(call, update, null_clears)
        ending = _ENDS.get(update.status)
        if new:
            self._start(call, update.status)
            changed -= {"title", "input", "locations"}
        if changed or (not new and update.status is not None and ending is None):
            self._put_update(call, changed, None if new else update.status, ending)
        self._tie(call)
        self.terminals.read_meta(update.meta or {}, call.id)
        if ending is not None:
            self._end(call, ending)
        return call

    def grow(self, chunk: m.ToolContentChunk) -> None:
        """Add one piece of content to a call."""
        call, new = self._call(m.ToolUpdate(toolCallId=chunk.toolCallId))
        if new:
            self._start(call, None)
        call.content = [*call.content, chunk.content]
        call.changes = changes_in(call.content, call.id) or call.changes
        self._put_update(call, {"content"}, None, None)
        self._tie(call)

    def ask(self, update: m.ToolUpdate) -> Call:
        """Take in the call of a permission request: often the first line about it, sometimes with other
        titles. Returns the call."""
        call = self.find(update.toolCallId)
        if call is None:
            call = self.see(update)
        else:
            call.changes = changes_in(parts_of(update.content or None), call.id) or call.changes
            if not call.input and update.rawInput not in (UNSET, None, {}):
                call.input = update.rawInput
                self._put_update(call, {"input"}, None, None)
        if call.changes and not call.proposed:
            call.proposed = True
            self._put_changes(call, "proposed")
        return call

    def _call(self, update: m.ToolUpdate) -> tuple[Call, bool]:
        call = self._calls.get(update.toolCallId)
        if call is not None:
            return call, False
        call = self._calls[update.toolCallId] = Call(update.toolCallId, parent_of(update))
        call.name = _name(update)
        call.kind = "mcp" if self._parted(call.name)[0] is not None else _kind(update.kind, call.name)
        return call, True

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
        server, name = self._parted(call.name)
        self._ledger.put(
            ev.ToolStarted(
                call_id=call.id,
                name=name,
                native_name=call.name if server is not None else None,
                kind=call.kind,
                title=call.title,
                input=call.input,
                locations=call.locations or toolnames.locations_of(call.input),
                server=server,
                parent=call.parent,
                replay=self._replay,
                ext={"acp.status": status} if status is not None else {},
            )
        )

    def _put_update(
        self, call: Call, changed: set[str], status: str | None, ending: ev.ToolStatus | None
    ) -> None:
        """Put what changed, except content and result of a call that ends with the same line: the end has
        them."""
        told = changed - {"content", "result"} if ending is not None else changed
        if not told and ending is not None:
            return
        blocks = blocks_of(call.content) if "content" in told else []
        ext: dict[str, Any] = {"acp.status": status} if status is not None and ending is None else {}
        if blocks:
            ext["acp.toolContent"] = call.content
        self._ledger.put(
            ev.ToolUpdated(
                call_id=call.id,
                title=call.title if "title" in told else None,
                input=call.input if "input" in told else None,
                locations=call.locations if "locations" in told else [],
                output=text_of(blocks) or None,
                content=[] if plain(blocks) else blocks,
                structured=_structured(call) if told & {"result", "response"} else None,
                parent=call.parent,
                replay=self._replay,
                ext=ext,
            )
        )

    def _tie(self, call: Call) -> None:
        for item in call.content:
            terminal_id = fields.text(item, "terminalId")
            if terminal_id is not None:
                self.terminals.tie(terminal_id, call.id)

    def _end(self, call: Call, status: ev.ToolStatus) -> None:
        if status != "cancelled" and self._ledger.tool_open(call.id, replay=self._replay):
            self._put_changes(call, "applied" if status == "completed" else "failed")
        self._put_written(call)
        blocks = [self._filled(block) for block in blocks_of(call.content)]
        output = self._output(call, blocks)
        self._ledger.put(
            ev.ToolEnded(
                call_id=call.id,
                status=status,
                output=output,
                structured=_structured(call),
                content=[] if plain(blocks) else blocks,
                error=_error(call.result, output) if status == "failed" else None,
                exit_code=self._exit_code(call),
                parent=call.parent,
                replay=self._replay,
                ext={"acp.toolContent": call.content} if call.content else {},
            )
        )

    def _put_written(self, call: Call) -> None:
        told = {change.path for change in call.changes}
        for change in call.written:
            if change.path not in told:
                self._ledger.put(change)
        call.written = []

    def _put_changes(self, call: Call, phase: Any) -> None:
        for change in call.changes:
            failed = phase == "failed"
            self._ledger.put(
                ev.FileChanged(
                    path=change.path,
                    change=change.change,
                    move_to=change.move_to,
                    diff=None if failed else change.diff,
                    before=None if failed else change.before,
                    after=None if failed else change.after,
                    call_id=call.id,
                    phase=phase,
                    parent=call.parent,
                    replay=self._replay,
                )
            )

    # --- results -----------------------------------------------------------------------------------------

    def _filled(self, block: ContentBlock) -> ContentBlock:
        if isinstance(block, TerminalBlock) and block.terminal_id is not None:
            terminal = self.terminals.find(block.terminal_id)
            return TerminalBlock(
                terminal_id=block.terminal_id,
                output=terminal.output or None,
                exit_code=terminal.exit_code,
            )
        return block

    def _output(self, call: Call, blocks: list[ContentBlock]) -> str | None:
        """The result as text: `rawOutput` if it is a string (content may be dressed up for showing), else the
        text of the content, else the output of its terminals, else the text inside `rawOutput`."""
        if isinstance(call.result, str) and call.result:
            return call.result
        shown = text_of(blocks)
        if shown:
            return shown
        outputs = [terminal.output for terminal in self.terminals.of(call.id) if terminal.output]
        if outputs:
            return "\n".join(outputs)
        found = next((found for key in _OUTPUTS if (found := fields.text(call.result, key))), None)
        return found or _mcp_output(call.result)

    def _exit_code(self, call: Call) -> int | None:
        codes = [terminal.exit_code for terminal in self.terminals.of(call.id)]
        codes.append(fields.integer(call.result, "exit_code", "exitCode"))
        codes.append(fields.integer(fields.mapping(call.result, "metadata"), "exit"))  # opencode
        return next((code for code in codes if code is not None), None)


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


def _take(call: Call, update: m.ToolUpdate, null_clears: bool) -> set[str]:
    """Copy an update's fields to a call. Returns the names of those that changed."""
    changed = set()
    if update.title is not None and update.title != call.title:
        call.title = update.title
        changed.add("title")
    if update.rawInput not in (UNSET, None) and update.rawInput != call.input:
        call.input = update.rawInput
        changed.add("input")
    locations = _locations(update.locations)
    if locations and locations != call.locations:
        call.locations = locations
        changed.add("locations")
    if update.content is not UNSET and (update.content is not None or null_clears):
        content = parts_of(update.content)
        if content != call.content:
            call.content = content
            call.changes = in_full(changes_in(content, call.id), call.changes) or call.changes
            changed.add("content")
    if update.rawOutput not in (UNSET, None) and update.rawOutput != call.result:
        call.result = update.rawOutput
        changed.add("result")
    response = fields.mapping(update.meta, "claudeCode").get("toolResponse")
    if response is not None and response != call.response:
        call.response = response
        changed.add("response")
    return changed


def _name(update: m.ToolUpdate) -> str:
    """The tool's name, from where the agent has it: a field, `_meta`, the id (gemini), the first title
    (opencode); else its kind."""
    meta = update.meta or {}
    server, tool = fields.text(update.rawInput, "server"), fields.text(update.rawInput, "tool")
    if meta.get("is_mcp_tool_call") and server and tool:  # codex-acp has it in the input alone
        return f"mcp__{server}__{tool}"
    prefix = _PREFIXED.fullmatch(update.toolCallId)
    said = (
        update.name
        or fields.text(fields.mapping(meta, "claudeCode"), "toolName")
        or fields.text(meta, "toolName")
    )
    if said:
        return said
    if prefix is not None:
        return prefix[1]
    about = update.rawInput.values() if isinstance(update.rawInput, dict) else ()
    if update.title and _WORD.fullmatch(update.title) and update.title not in about:
        return update.title
    return update.kind or update.title or "tool"


def _kind(said: str | None, name: str) -> ev.ToolKind:
    known: Any = said if said in KINDS and said != "other" else None
    return known or toolnames.kind_of(name)


def _locations(native: Any) -> list[ev.Location]:
    """The `locations` of a call: objects with path and line, or bare paths."""
    found = []
    for item in native if isinstance(native, list) else []:
        path = item if isinstance(item, str) else fields.text(item, "path")
        if path:
            found.append(ev.Location(path=path, line=fields.integer(item, "line")))
    return found
