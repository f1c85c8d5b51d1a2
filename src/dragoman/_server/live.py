"""A live run: what it has said so far, what it waits for, and whoever can tell it something."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from dragoman._agents import AGENTS
from dragoman._library.digest import session_key
from dragoman._model.capabilities import Capability
from dragoman._model.errors import DragomanError, UsageError
from dragoman._model.events import (
    Event,
    PermissionRequested,
    QuestionAsked,
    RunEnded,
    RunStarted,
    SessionFields,
    TurnStarted,
)
from dragoman._policy.permission import PermissionRequest
from dragoman._prices.estimate import Prices
from dragoman._reports.deeds import Deeds
from dragoman._runtime.desk_lines import Asked
from dragoman._runtime.facts import Facts
from dragoman._runtime.log import log
from dragoman._server.answers import Live, Row, State
from dragoman._server.event_log import EventLog
from dragoman._wire.ledger import Ledger

AskEvent = PermissionRequested | QuestionAsked
TITLE: Final = 200
"""Characters of a first prompt that stand for a title."""


class Owner(Protocol):
    """Whoever drives a run: this process, or another one at its desk."""

    async def send(self, command: Asked, who: str) -> None:
        """Have the agent told. Raises DragomanError."""


class LiveRun(Facts):
    """`changed` is called after each change. Events are taken in as they come; the rest is asked for."""

    def __init__(
        self,
        id: str,
        agent: str,
        changed: Callable[[], None],
        *,
        hosted: bool,
        pid: int | None = None,
        cwd: str | None = None,
        recording: str | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.id = id
        self.agent = agent
        self.hosted = hosted
        self.pid = pid
        self.cwd = cwd
        self.recording = recording
        self.started = time.time()
        """Seconds since 1970."""
        self.updated = self.started
        self.dialect = ""
        self.cli_version: str | None = None
        self.log = EventLog()
        self.deeds = Deeds(prices)
        self.ledger: Ledger | None = None
        """What is open in it, once it has begun."""
        self.owner: Owner | None = None
        """None while nobody can be told anything."""
        self.capabilities: frozenset[Capability] = frozenset()
        self.approve: str | None = None
        """The approve mode, where it is known."""
        self.aside: dict[str, PermissionRequested] = {}
        """What is asked of which no line of the agent's tells: what the host is about to do, by request id."""
        self.taken_as: str | None = None
        """The session of the library that it was taken in as, once it is over and was."""
        self.ended: RunEnded | None = None
        """The last event, once it was said."""
        self.is_over = False
        """Nothing more comes of it, however it ended."""
        self.version = 0
        """Goes up with each change."""
        self._changed = changed
        self._title: str | None = None
        self._prompt: str | None = None

    def close(self) -> None:
        self.log.close()

    # --- what comes in ------------------------------------------------------------------------------------

    def take(self, events: Sequence[Event]) -> None:
        """These were said."""
        if not events:
            return
        try:
            self.log.add(events)
        except OSError as error:
            log.warning(
                "run %s goes on without being watched: its events cannot be kept (%s)", self.id, error
            )
        for event in events:
            self.deeds.see(event, self.id)
            if isinstance(event, TurnStarted):
                self._prompt = self._prompt or event.prompt
            elif isinstance(event, SessionFields):
                self._title = getattr(event, "title", None) or self._title
                self.cwd = event.cwd or self.cwd
                self.cli_version = event.cli_version or self.cli_version
            elif isinstance(event, RunStarted):
                self.dialect = event.dialect
                self.cwd = event.cwd or self.cwd
                self.cli_version = event.cli_version or self.cli_version
                self.started = event.time.timestamp() if event.time is not None else self.started
            elif isinstance(event, RunEnded):
                self.ended, self.is_over = event, True
        self.updated = time.time()
        self.touch()

    def touch(self) -> None:
        """Something about it has changed."""
        self.version += 1
        self._changed()

    # --- what it is ---------------------------------------------------------------------------------------

    def _known(self) -> dict[str, Any]:
        return self.ledger.known() if self.ledger is not None else {}

    @property
    def native_id(self) -> str | None:
        """The agent's own id of the session."""
        return self.ledger.session if self.ledger is not None else None

    @property
    def session(self) -> str:
        """The library's id of the session; that of the run, while the agent has not named it."""
        native = self.native_id
        return session_key(self.agent, native) if native is not None else self.id

    @property
    def asks(self) -> list[AskEvent]:
        """What waits for an answer, in the order in which it was asked."""
        if self.ledger is None or self.is_over:
            return []
        told = (
            pending.event
            for pending in self.ledger.requests.values()
            if isinstance(pending.event, AskEvent) and not pending.silent
        )
        return [*told, *self.aside.values()]

    @property
    def state(self) -> State:
        if self.is_over:
            return "ended"
        ledger = self.ledger
        if ledger is None or not ledger.ready:
            return "starting"
        if self.asks:
            return "waiting"
        return "working" if ledger.busy() or ledger.subagents else "idle"

    def live(self) -> Live:
        """Its state, as a row has it."""
        return Live(
            run=self.id,
            state=self.state,
            asks=len(self.asks),
            hosted=self.hosted,
            answerable=self.owner is not None and not self.is_over,
            pid=self.pid,
            approve=self.approve,
            mode=self.mode,
        )

    def row(self) -> Row:
        """It as a session in a list, by what it has said itself."""
        done = self.deeds.summary()
        usage, prompt = done.usage, " ".join((self._prompt or "").split())
        return Row(
            id=self.session,
            agent=self.agent,
            native_id=self.native_id,
            title=self._title or prompt[:TITLE],
            prompt=self._prompt,
            cwd=self.cwd,
            model=self.model,
            created=self.started,
            updated=self.updated,
            outcome=self.ended.outcome if self.ended is not None else None,
            turns=len(done.turns),
            tools=sum(turn.tools for turn in done.turns),
            files=len(done.files),
            added=sum(file.added for file in done.files),
            removed=sum(file.removed for file in done.files),
            errors=len(done.errors) + done.more.get("errors", 0),
            tokens=(usage.input_tokens or 0) + (usage.output_tokens or 0),
            cost_usd=done.cost_usd,
            cost_estimated_usd=done.cost_estimated_usd,
            unpriced_calls=done.unpriced_calls,
            live=self.live(),
        )

    def permission(self, event: PermissionRequested) -> PermissionRequest:
        """A permission as rules see it."""
        files = self.ledger.asked_files(event) if self.ledger is not None else ()
        return PermissionRequest(event, self.cwd, files)

    # --- what it is told ----------------------------------------------------------------------------------

    async def tell(self, command: Asked, who: str) -> None:
        """Have its agent told. Raises DragomanError; UsageError where there is nobody to tell it."""
        if self.owner is None or self.is_over:
            why = "it is over" if self.is_over else "the program that drives it takes no commands"
            raise UsageError(f"session {self.session} cannot be told anything: {why}; continue it to go on")
        try:
            await self.owner.send(command, who)
        except OSError as error:
            raise DragomanError(
                f"the program that drives it does not answer ({error}); look at its terminal"
            ) from error


def capabilities_of(agent: str, spoken: frozenset[Capability]) -> frozenset[Capability]:
    """What an agent can do in a dialect that can say so much."""
    return spoken & AGENTS[agent].capabilities if agent in AGENTS else spoken
