"""Threads: one conversation each, several in one process. Those of subagents are part of the session that
spawned them, and nobody announces them: they are known when they first speak (capture subagent)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct, field

from dragoman._dialects.codex.app.items import McpToolCall
from dragoman._dialects.codex.app.meter import Meter
from dragoman._model import events as ev
from dragoman._model.toolnames import one_line
from dragoman._wire.ledger import Ledger


class Thread(Struct, kw_only=True):
    """The state of one thread."""

    id: str
    session: str
    """The session that its events belong to: itself, or that of the thread that spawned it."""
    put: Callable[[ev.Event], None]
    """Takes an event of this thread while its session is the current one: the ledger itself, or for a subagent what
    says first which thread it is of."""
    parent: str | None = None
    """The call that spawned it."""
    is_subagent: bool = False
    as_configured: bool = False
    """Its first turn shall say what the configuration has for it."""
    has_had_turn: bool = False
    """It has had a turn of its own."""
    model: str | None = None
    mode: str | None = None
    mcp_servers: dict[str, ev.McpServer] = field(default_factory=dict)
    meter: Meter = field(default_factory=Meter)
    calls: set[str] = field(default_factory=set)
    """All tools that have begun."""
    mcp_calls: dict[str, McpToolCall] = field(default_factory=dict)
    """Those of MCP servers that have not ended."""
    changes: dict[str, Any] = field(default_factory=dict)
    """What patches want to change, by item: the request to allow one does not say."""
    unechoed: list[tuple[str | None, str | None]] = field(default_factory=list)
    """Inputs that the client sent and Codex has not repeated, by client id and text."""
    manual_compaction: bool = False
    compacting: int | None = None
    """The size of the context when a compaction began."""

    # of the turn
    turn_id: str | None = None
    turn_ids: set[str] = field(default_factory=set)
    """A review begins and ends under different ids (capture review)."""
    answer: str | None = None
    final: bool = False
    """The answer was marked as the final one."""
    schema: bool = False
    """The answer is to be JSON."""
    compacted: bool = False
    diff: str | None = None
    """What it has changed so far, as was said last."""
    blocks: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Numbers of the parts of reasoning items, in the order in which they came."""

    def begin_turn(self) -> None:
        self.has_had_turn = True
        self.end_turn()

    def end_turn(self) -> None:
        self.turn_id, self.answer, self.diff = None, None, None
        self.final = self.schema = self.compacted = False
        self.turn_ids.clear()
        self.blocks.clear()

    def in_turn(self, turn_id: str | None) -> None:
        """Take in an id of the open turn."""
        if turn_id is not None:
            self.turn_id = self.turn_id or turn_id
            self.turn_ids.add(turn_id)

    def block(self, item: str, part: str, index: int) -> int:
        """The block number of a part of a reasoning item."""
        before = sum(key[0] == item for key in self.blocks)
        return self.blocks.setdefault((item, part, index), before)

    def compaction(self) -> ev.ContextCompacted:
        """The event for a compaction that has ended."""
        before, after = self.compacting, self.meter.context
        trigger: Any = "manual" if self.manual_compaction else "auto"
        self.compacted, self.manual_compaction, self.compacting = True, False, None
        return ev.ContextCompacted(
            trigger=trigger, before_tokens=before, after_tokens=after if after != before else None
        )

    def keep_answer(self, text: str, phase: str | None) -> None:
        """Take in a message: the turn's answer is the one of phase final_answer, else the last that is no
        commentary."""
        if phase == "final_answer" or (phase != "commentary" and not self.final):
            self.answer, self.final = text, phase == "final_answer"


class Threads:
    """All threads of the process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.main: str | None = None
        """The one that is meant where none is named."""
        self.known: dict[str | None, Thread] = {}
        """By id."""
        self._spawns: dict[str, tuple[Thread, str | None]] = {}
        """Calls that are starting a subagent, with the thread they are in and what it is to do."""

    def get(self, id: str) -> Thread:
        """The thread with this id, made if it is new. One that is new while a single subagent is being
        started is that subagent's."""
        thread = self.known.get(id)
        if thread is None:
            thread = self.known[id] = Thread(id=id, session=id, put=self._ledger.put)
            if len(self._spawns) == 1:
                self.begin_agent(thread, next(iter(self._spawns)))
        return thread

    def find(self, id: str) -> Thread | None:
        return self.known.get(id)

    def sessions(self) -> list[Thread]:
        """The threads that are sessions: not those of subagents."""
        return [thread for thread in self.known.values() if not thread.is_subagent]

    def is_expected(self, id: str | None) -> bool:
        """Whether a thread is known, or can only be that of the subagent that is being started."""
        return id is None or id in self.known or len(self._spawns) == 1

    def at_work(self) -> list[Thread]:
        """The threads that have a turn, subagents' too."""
        busy = self._ledger.busy
        return [
            thread
            for thread in self.known.values()
            if thread.turn_id is not None or (not thread.is_subagent and busy(thread.session))
        ]

    def put(self, thread: Thread, event: ev.Event) -> None:
        """An event of this thread, whichever session is the current one."""
        if thread.session == thread.id and thread.parent is None:  # so it is of all but subagents
            event.session = thread.session
        else:
            self.stamp(thread, event)
        self._ledger.put(event)

    def stamp(self, thread: Thread, event: ev.Event) -> None:
        """Say on the event which thread it is of."""
        event.session = thread.session
        if event.parent is None:
            event.parent = thread.parent
        if thread.session != thread.id:
            event.ext = {**event.ext, "codex.threadId": thread.id}

    # --- subagents ---------------------------------------------------------------------------------------

    def begin_spawn(self, thread: Thread, call_id: str, task: str | None) -> None:
        self._spawns[call_id] = (thread, task)

    def end_spawn(self, call_id: str) -> None:
        self._spawns.pop(call_id, None)

    def begin_agent(self, child: Thread, call_id: str, kind: str | None = None) -> None:
        """Take in that `call_id` started the subagent `child`."""
        owner, task = self._spawns.get(call_id) or (None, None)
        if owner is None or child.is_subagent or owner is child:
            return
        child.parent, child.is_subagent, child.put = call_id, True, partial(self.put, child)
        if not child.has_had_turn:
            child.session = owner.session
        self.put(
            owner,
            ev.SubagentStarted(
                call_id=call_id,
                agent_id=child.id,
                agent_type=kind,
                description=one_line(task) if task else None,
                resume_id=child.id,
            ),
        )

    def end_agent(self, child: Thread, status: str | None, summary: str | None) -> None:
        """Put the end of a subagent's work."""
        if child.is_subagent:
            event = ev.SubagentEnded(
                call_id=child.parent,
                agent_id=child.id,
                status=status,
                summary=summary,
                usage=child.meter.calls.spent,
                session=child.session,
            )
            self._ledger.put(event)
