"""The client and its sessions, by specification 004 §9.1 and §9.2."""

import os
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Final, Self, Unpack, cast

import anyio
from anyio import to_thread
from msgspec import Struct, structs

from dragoman import api
from dragoman._agents import AGENTS
from dragoman._agents.agent import environment
from dragoman._dialects.agent_event.messages import AGENT_TYPES, AgentEvent, SessionEndedEvent, TextChunkEvent
from dragoman._files import stores
from dragoman._model import config as config_module
from dragoman._model.config import Options
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event, Message
from dragoman._model.result import NEVER_BEGAN, Verdict
from dragoman._projections import published
from dragoman._runtime.requests import AnswerHandler, ApproveHandler, ServeHandler
from dragoman._runtime.session import Session
from dragoman._runtime.streams import EventStream
from dragoman.agent_protocol._background import Background
from dragoman.agent_protocol._config import SessionConfig, meant
from dragoman.agent_protocol._errors import agent_error


class _Given(Options, total=False):
    """What `dragoman.open` takes by name."""

    approve: ApproveHandler
    answer: AnswerHandler
    serve: ServeHandler
    handler_timeout: float | None


class AgentClient:
    """Starts sessions with any agent. `given` are arguments of `dragoman.open` for all of them: handlers, and options that
    SessionConfig has no word for.

    Texts come in pieces as they grow (`is_partial`), and the last piece of each, which may be empty, is not partial: to
    write all contents one after the other is to write the text. Without `partial`, they come whole. With `extended`,
    events come that the specification's tables name and its schema does not have: reasoning, plans, retries, errors.
    """

    def __init__(self, *, partial: bool = True, extended: bool = False, **given: Unpack[_Given]) -> None:
        self._partial = partial
        self._extended = extended
        self._given = given

    async def start_session(self, config: SessionConfig, **given: Unpack[_Given]) -> "AgentSession":
        """A session that works on its prompt already; one that is resumed works in its own folder, if no other is named
        and the agent's files tell it. Raises AgentError if it cannot be started."""
        both: dict[str, Any] = {**self._given, **given}
        both["env"] = {**both.get("env", {}), **(config.environment or {})}
        try:
            wanted = meant(config)
            if wanted.cwd is None and "cwd" not in both:
                seen = structs.replace(wanted, **{name: both[name] for name in _SEEN & both.keys()})
                wanted.cwd = await to_thread.run_sync(_folder_of_session, seen)
            opened = api.open(wanted, once=True, **both)
            session = AgentSession(opened, self._partial, self._extended)
            await session._begin()
        except DragomanError as error:
            raise agent_error(error) from error
        return session


class AgentSession:
    """A session at work. It is over when its prompt is done; `async with` ends it with the block at the latest."""

    def __init__(self, session: Session, partial: bool, extended: bool) -> None:
        self.session = session
        """The session beneath, for whatever the specification has no word for."""
        self._partial = partial
        self._extended = extended
        self._listening = anyio.Event()
        self._work: Background
        self._events: _AgentEvents

    @property
    def id(self) -> str | None:
        """The agent's own session id, once known: `session_id` of a configuration that goes on with it."""
        return self.session.id

    @property
    def events(self) -> AsyncIterator[AgentEvent]:
        """What happens, as it happens: one stream, whose last event is a SessionEndedEvent. If the work never began, it
        raises AgentError instead."""
        return self._events

    async def cancel(self) -> None:
        """Stop the agent; `events` then ends with a SessionEndedEvent that says `cancelled`."""
        await self.session.stop("cancelled")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._work.stop()

    async def _begin(self) -> None:
        self._work = Background(self._live)
        try:
            await self._listening.wait()
        except BaseException:
            await self._work.stop()
            raise
        if self._work.error is not None:
            raise self._work.error

    async def _live(self) -> None:
        try:
            async with self.session as session:
                known = session._run.plan.vendor or ""
                extended = self._extended or (known or session.agent) not in AGENT_TYPES
                projector = published.projector(
                    "agent-event", extended=extended, vendor=known, agent=session.agent
                )
                self._events = _AgentEvents(session, session.events(), projector, self._partial)
                self._listening.set()
                await session._run.ended.wait()
        finally:
            self._listening.set()


class _AgentEvents:
    """The events of a run in the specification's words, and the error that it ends with."""

    def __init__(
        self, session: Session, events: EventStream, projector: published.Projector, partial: bool
    ) -> None:
        self._session = session
        self._events = events
        self._projector = projector
        self._partial = partial
        self._shown = ""
        """What the pieces of the text at hand amount to."""
        self._verdict = Verdict()
        self._items: list[AgentEvent] = []
        self._over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AgentEvent:
        while not self._items and not self._over:
            await self._take()
        if not self._items:
            raise StopAsyncIteration
        item = self._items.pop(0)
        error = self._verdict.error if isinstance(item, SessionEndedEvent) else None
        if error is not None and (error.kind in NEVER_BEGAN or not self._verdict.began):
            self._items, self._over = [], True
            raised = self._verdict.raised(self._session.agent, self._session._run.plan.login)
            assert raised is not None
            raise agent_error(raised) from raised
        return item

    async def _take(self) -> None:
        batch = await self._events.batch()
        for event in batch:
            self._verdict.see(event)
            self._items += self._made(self._projector.feed(_said(event)))
        if not batch:
            self._over = True
            self._items += self._made(self._projector.end())

    def _made(self, items: list[Struct]) -> list[AgentEvent]:
        """The items, with texts in pieces or whole."""
        made = []
        for item in cast("list[AgentEvent]", items):
            if isinstance(item, TextChunkEvent) and item.role != "user":
                if item.is_partial:
                    self._shown += item.content
                    if not self._partial:
                        continue
                else:
                    if self._partial:
                        item.content = item.content.removeprefix(self._shown)
                    self._shown = ""
            made.append(item)
        return made


_SEEN: Final = frozenset(("env", "inherit_env"))
"""The options that say what an agent sees of our environment, and with it where it keeps its sessions."""


def _folder_of_session(config: config_module.SessionConfig) -> str | None:
    """The folder of the session that is to be resumed, as the agent's files tell it; None if they do not. The
    specification's example names it once, and Claude Code and Gemini CLI find a session only from its own folder."""
    agent = AGENTS.get(config.agent)
    if config.resume is None or agent is None or agent.store is None:
        return None
    folders = agent.session_dirs(environment(config, agent.env_prefixes))
    found = stores.sessions(agent.name, agent.store, folders, prefix=config.resume, limit=1)
    folder = found[0].cwd if found else None
    return folder if folder is not None and os.path.isdir(folder) else None


def _said(event: Event) -> Event:
    """Gemini CLI says texts in pieces alone; what they amount to counts as said."""
    if isinstance(event, Message) and event.synthesized and event.role == "assistant":
        return structs.replace(event, synthesized=False)
    return event
