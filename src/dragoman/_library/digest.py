"""What a unit tells, as rows: its sessions, turns, texts, tools, changes, permissions and model calls, and its events in
compressed blocks. Pure: the same events give the same rows, here and on any machine."""

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final

import msgspec
from backports import zstd
from msgspec import Struct, field

from dragoman._library.calls import TURN, Calls, Sighting
from dragoman._model import events as ev
from dragoman._model.events import Event
from dragoman._reports.diffs import counted, diff_of, diff_rows
from dragoman._reports.moments import moment
from dragoman._wire import event_json

BLOCK: Final = 500
"""Events in a block."""
PIECE: Final = 16_000
"""Characters of a text that are one row of `said`; the next piece begins a little before the end of the last."""
OVERLAP: Final = 200
LEVEL: Final = 3
PROMPT: Final = 500

Role = str


def session_key(agent: str, native_id: str) -> str:
    """The library's own id of a session: its first characters do not repeat, as those of an agent's ids may."""
    return blake2b(f"{agent}\0{native_id}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Part(Struct):
    """What a unit tells of one session. The columns of `part` after its unit."""

    session: str
    agent: str
    native_id: str
    kind: str
    cwd: str | None = None
    title: str | None = None
    prompt: str | None = None
    model: str | None = None
    cli_version: str | None = None
    created: float | None = None
    updated: float | None = None
    outcome: str | None = None
    turns: int = 0
    tools: int = 0
    messages: int = 0
    files: int = 0
    added: int = 0
    removed: int = 0
    errors: int = 0
    cost: float | None = None
    parent: str | None = None
    """The session that it came of, or that it works for, by that one's key."""
    relation: str | None = None
    """How: fork, subagent."""
    flags: str = ""


class Block(Struct):
    first: int
    last: int
    first_turn: int
    digest: bytes
    data: bytes


class Digest(Struct):
    """The rows of a unit, without the unit."""

    parts: dict[str, Part] = field(default_factory=dict)
    """By the agent's own id."""
    turns: list[list[Any]] = field(default_factory=list)
    said: list[tuple[Any, ...]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """The tokens of each of these, with blanks between them, where they were looked for already."""
    tools: list[list[Any]] = field(default_factory=list)
    changes: list[tuple[Any, ...]] = field(default_factory=list)
    permissions: list[list[Any]] = field(default_factory=list)
    calls: list[Sighting] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    events: int = 0
    problem: str | None = None
    """Why it is not all there: cut, of an unknown version, without an end."""


def digested(
    events: Iterable[Event], *, agent: str, kind: str, nameless: str, origins: Mapping[tuple[str, ...], str]
) -> Digest:
    """The rows of a unit. `agent`: whose it is at heart; `kind`: disk or recording; `nameless`: what a session is called
    that never had a name; `origins`: those of the agent's record."""
    reader = _Reader(agent, kind, nameless, origins)
    for event in events:
        reader.take(event)
    return reader.finish()


class _Reader:
    def __init__(self, agent: str, kind: str, nameless: str, origins: Mapping[tuple[str, ...], str]) -> None:
        self._agent, self._kind, self._nameless, self._origins = agent, kind, nameless, origins
        self._out = Digest()
        self._part: Part | None = None
        self._calls = Calls()
        self._lines: list[bytes] = []
        self._first, self._first_turn = 1, 0
        self._turns: dict[int, list[Any]] = {}
        self._tools: dict[tuple[str | None, str], list[Any]] = {}
        self._paths: dict[tuple[str | None, str], str] = {}
        """Of the file that a tool was given."""
        self._permissions: dict[str, list[Any]] = {}
        self._files: set[tuple[str, str]] = set()
        self._unknown = 0
        self._begun: float | None = None
        """The first time that the unit tells: what is older was copied into it, as Claude does in a fork."""

    def take(self, event: Event) -> None:
        self._keep(event)
        if self._begun is None:
            self._begun = moment(event)
        handler = _HANDLERS.get(type(event))
        if handler is None:
            return
        part = self._of(event.session)
        at = moment(event)
        if at is not None and not event.replay:
            part.created = at if part.created is None else min(part.created, at)
            part.updated = at if part.updated is None else max(part.updated, at)
        handler(self, part, event, at)

    def finish(self) -> Digest:
        out = self._out
        self._close_block()
        out.turns = list(self._turns.values())
        out.tools = list(self._tools.values())
        out.permissions = list(self._permissions.values())
        out.calls = self._calls.all()
        for call in out.calls:
            part = self._by_key(call.session)
            part.model = part.model or call.model
            if call.flags == TURN:
                part.flags = "its agent tells of turns, not of calls"
        for session, _ in self._files:
            self._by_key(session).files += 1
        if self._unknown:
            out.problem = out.problem or f"lines that were not understood: {self._unknown}"
        return out

    # --- events as they were ------------------------------------------------------------------------------

    def _keep(self, event: Event) -> None:
        if not self._lines:
            self._first, self._first_turn = event.seq, event.turn
        self._lines.append(event_json.encode(event))
        self._out.events = event.seq
        if len(self._lines) == BLOCK:
            self._close_block()

    def _close_block(self) -> None:
        if self._lines:
            content = b"\n".join(self._lines)
            mark, last = blake2b(content, digest_size=8).digest(), self._out.events
            self._out.blocks.append(
                Block(self._first, last, self._first_turn, mark, zstd.compress(content, LEVEL))
            )
            self._lines = []

    # --- sessions -----------------------------------------------------------------------------------------

    def _of(self, session: str | None) -> Part:
        """The part of a session. What was said before it had a name is the first one's."""
        if self._part is not None and self._part.native_id == session:
            return self._part
        parts = self._out.parts
        name = session or next(iter(parts), None) or self._nameless
        part = parts.get(name)
        if part is None:
            part = parts[name] = Part(session_key(self._agent, name), self._agent, name, self._kind)
        self._part = part
        return part

    def _by_key(self, key: str) -> Part:
        return next(part for part in self._out.parts.values() if part.session == key)

    def _facts(self, part: Part, event: ev.SessionFields, at: float | None) -> None:
        part.cwd = part.cwd or event.cwd
        part.model = event.model or part.model
        part.cli_version = event.cli_version or part.cli_version
        part.title = _plain(event.title) or part.title
        for path, relation in self._origins.items():
            origin = _at(event.ext, path)
            if origin is not None and origin != part.native_id:
                part.parent, part.relation = session_key(self._agent, origin), relation

    # --- turns --------------------------------------------------------------------------------------------

    def _turn_started(self, part: Part, event: ev.TurnStarted, at: float | None) -> None:
        if event.replay:
            return
        part.turns += 1
        prompt = _plain(event.prompt)
        self._turns[event.turn] = [part.session, event.turn, event.seq, at, prompt, None, None, None, None]
        if part.prompt is None and prompt:
            part.prompt = prompt[:PROMPT]

    def _turn_ended(self, part: Part, event: ev.TurnEnded, at: float | None) -> None:
        if event.replay:
            return
        part.outcome = event.outcome
        if event.cost_usd is not None:
            part.cost = (part.cost or 0.0) + event.cost_usd
        self._calls.take_turn(event, part.native_id, part.session, at)
        row = self._turns.get(event.turn)
        if row is not None:
            row[5:8] = event.outcome, event.duration_ms, at
            _pay(row, event.cost_usd)

    # --- what was said ------------------------------------------------------------------------------------

    def _message(self, part: Part, event: ev.Message, at: float | None) -> None:
        if event.replay or event.echo:
            return
        part.messages += 1
        role = "thinking" if event.kind == "thinking" else event.role
        self._say(part, event, at, role, event.text)
        if part.prompt is None and role == "user" and not event.synthetic and event.text:
            part.prompt = _plain(event.text[:PROMPT])

    def _say(
        self,
        part: Part,
        event: Event,
        at: float | None,
        role: Role,
        text: str | None,
        tool: str | None = None,
        path: str | None = None,
    ) -> None:
        if not text:
            return
        text = _plain(text) or ""
        for piece, start in enumerate(range(0, max(len(text) - OVERLAP, 1), PIECE - OVERLAP)):
            body = text[start : start + PIECE]
            self._out.said.append((event.seq, piece, part.session, event.turn, at, role, tool, path, body))

    # --- tools --------------------------------------------------------------------------------------------

    def _tool_started(self, part: Part, event: ev.ToolStarted, at: float | None) -> None:
        if event.replay:
            return
        part.tools += 1
        path = _plain(event.locations[0].path) if event.locations else None
        if path is not None:
            self._paths[event.session, event.call_id] = path
        title, name = _plain(event.title), event.name
        self._tools[event.session, event.call_id] = [
            event.seq, part.session, event.turn, at, event.call_id, name, event.kind, title, event.parent,
            None, None, None, None,
        ]  # fmt: skip
        self._say(part, event, at, "input", _text_of(event.input), name, path)

    def _tool_ended(self, part: Part, event: ev.ToolEnded, at: float | None) -> None:
        call = event.session, event.call_id
        row = self._tools.get(call)
        if row is None or event.replay:
            return
        row[9:] = [event.status, event.exit_code, event.duration_ms, event.seq]
        self._say(part, event, at, "output", event.output, row[5], self._paths.get(call))

    def _file_changed(self, part: Part, event: ev.FileChanged, at: float | None) -> None:
        if event.replay or event.phase != "applied":
            return
        added, removed = counted(diff_rows(diff_of(event)))
        part.added, part.removed = part.added + added, part.removed + removed
        self._files.add((part.session, event.path))
        row = (event.path, event.change, event.move_to, added, removed, event.call_id)
        self._out.changes.append((event.seq, part.session, event.turn, at, *map(_plain_any, row)))

    def _permission_requested(self, part: Part, event: ev.PermissionRequested, at: float | None) -> None:
        if not event.replay:
            what = (event.call_id, event.tool_name, event.kind, event.title)
            row = [event.seq, part.session, event.turn, at, *map(_plain_any, what), None, None, None]
            self._permissions[event.request_id] = row

    def _permission_resolved(self, part: Part, event: ev.PermissionResolved, at: float | None) -> None:
        row = self._permissions.get(event.request_id)
        if row is not None and row[8] is None:
            row[8:] = [event.outcome, event.by, _plain(event.rule)]

    # --- what it cost, and what went wrong ----------------------------------------------------------------

    def _usage(self, part: Part, event: ev.UsageUpdated, at: float | None) -> None:
        if event.scope == "call":
            copied = at is not None and self._begun is not None and at < self._begun
            self._calls.take(event, part.native_id, part.session, at, inherited=event.replay or copied)
        elif event.scope == "turn" and event.turn in self._turns:  # one that the agent took by itself
            _pay(self._turns[event.turn], event.cost_usd)

    def _error(self, part: Part, event: ev.Error, at: float | None) -> None:
        part.errors += not event.will_retry

    def _stranger(self, part: Part, event: Event, at: float | None) -> None:
        self._unknown += 1

    def _run_ended(self, part: Part, event: ev.RunEnded, at: float | None) -> None:
        part.outcome = part.outcome or (event.outcome if event.exit_code is not None else None)


_HANDLERS: Final[dict[type[Event], Callable[[_Reader, Part, Any, float | None], None]]] = {
    ev.SessionStarted: _Reader._facts,
    ev.SessionUpdated: _Reader._facts,
    ev.TurnStarted: _Reader._turn_started,
    ev.TurnEnded: _Reader._turn_ended,
    ev.Message: _Reader._message,
    ev.ToolStarted: _Reader._tool_started,
    ev.ToolEnded: _Reader._tool_ended,
    ev.FileChanged: _Reader._file_changed,
    ev.PermissionRequested: _Reader._permission_requested,
    ev.PermissionResolved: _Reader._permission_resolved,
    ev.UsageUpdated: _Reader._usage,
    ev.Error: _Reader._error,
    ev.NativeUnknown: _Reader._stranger,
    ev.NativeInvalid: _Reader._stranger,
    ev.RunEnded: _Reader._run_ended,
}


def _pay(turn: list[Any], cost: float | None) -> None:
    """Add to what a turn cost."""
    if cost is not None:
        turn[8] = (turn[8] or 0.0) + cost


def _at(value: Any, path: tuple[str, ...]) -> str | None:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def _text_of(value: Any) -> str | None:
    """A tool's input as text: its strings, each on a line of its own, as a person would look for them."""
    if value is None or isinstance(value, str):
        return value
    found: list[str] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            waiting += reversed(item.values())
        elif isinstance(item, list):
            waiting += reversed(item)
        elif item is not None:
            found.append(msgspec.json.encode(item).decode())
    return "\n".join(found)


def _plain(text: str | None) -> str | None:
    """Text that both databases can hold: PostgreSQL has no NUL."""
    return text.replace("\0", "\u2400") if text is not None and "\0" in text else text


def _plain_any(value: Any) -> Any:
    return _plain(value) if isinstance(value, str) else value
