"""Sessions for programs that are not async: the same surface, on an event loop in a thread of its own.

with dragoman.blocking.open("claude") as session:
    for event in session.prompt("Fix the login bug"):
        ...
"""

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar, Unpack

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from msgspec import Struct

from dragoman import api
from dragoman._agents.agent import AnyAgent
from dragoman._model.capabilities import Capability
from dragoman._model.commands import Command, Fact
from dragoman._model.config import Approve, Options
from dragoman._model.content import ContentBlock
from dragoman._model.events import AnyEvent, CommandEnded, McpServer, RunEnded
from dragoman._model.frames import Exit, StopReason
from dragoman._model.hooks import HookHandler
from dragoman._model.sessions import SessionInfo
from dragoman._model.tools import Function, Tool
from dragoman._projections.published import Profile
from dragoman._runtime.connection import Connection
from dragoman._runtime.facts import Facts
from dragoman._runtime.requests import AnswerHandler, ApproveHandler, ServeHandler
from dragoman._runtime.session import Session
from dragoman._runtime.streams import EventStream, ViewStream
from dragoman.api import Result

__all__ = [
    "BlockingConnection",
    "BlockingSession",
    "BlockingStream",
    "BlockingView",
    "archive_session",
    "ask",
    "connect",
    "delete_session",
    "list_sessions",
    "open",
    "rename_session",
]

P = ParamSpec("P")
T = TypeVar("T")


def open(
    agent: AnyAgent,
    *,
    prompt: str | None = None,
    once: bool = False,
    approve: Approve | ApproveHandler | None = None,
    answer: AnswerHandler | None = None,
    serve: ServeHandler | None = None,
    tools: Sequence[Function | Tool] | None = None,
    hooks: Mapping[str, HookHandler] | None = None,
    handler_timeout: float | None = None,
    **options: Unpack[Options],
) -> "BlockingSession":
    """A session with an agent, to be entered with `with`. The arguments are those of `dragoman.open`; a handler that is
    no coroutine function is called in a thread of its own."""
    return BlockingSession(
        api.open(
            agent,
            prompt=prompt,
            once=once,
            approve=approve,
            answer=answer,
            serve=serve,
            tools=tools,
            hooks=hooks,
            handler_timeout=handler_timeout,
            **options,
        )
    )


def connect(
    agent: AnyAgent,
    *,
    approve: Approve | ApproveHandler | None = None,
    answer: AnswerHandler | None = None,
    serve: ServeHandler | None = None,
    tools: Sequence[Function | Tool] | None = None,
    hooks: Mapping[str, HookHandler] | None = None,
    handler_timeout: float | None = None,
    **options: Unpack[Options],
) -> "BlockingConnection":
    """A process of an agent for several sessions, to be entered with `with`. As `dragoman.connect`."""
    return BlockingConnection(
        api.connect(
            agent,
            approve=approve,
            answer=answer,
            serve=serve,
            tools=tools,
            hooks=hooks,
            handler_timeout=handler_timeout,
            **options,
        )
    )


def ask(
    agent: AnyAgent,
    prompt: str | None = None,
    *,
    check: bool = False,
    approve: Approve | ApproveHandler | None = None,
    answer: AnswerHandler | None = None,
    serve: ServeHandler | None = None,
    tools: Sequence[Function | Tool] | None = None,
    hooks: Mapping[str, HookHandler] | None = None,
    handler_timeout: float | None = None,
    **options: Unpack[Options],
) -> Result:
    """Give an agent one prompt and wait for what comes of it. As `dragoman.ask`."""
    asking = partial(
        api.ask,
        agent,
        prompt,
        check=check,
        approve=approve,
        answer=answer,
        serve=serve,
        tools=tools,
        hooks=hooks,
        handler_timeout=handler_timeout,
        **options,
    )
    return anyio.run(asking)


def list_sessions(
    agent: AnyAgent | None = None,
    *,
    archived: bool = False,
    limit: int | None = None,
    **options: Unpack[Options],
) -> list[SessionInfo]:
    """The sessions that an agent keeps, newest first. As `dragoman.list_sessions`."""
    return anyio.run(partial(api.list_sessions, agent, archived=archived, limit=limit, **options))


def archive_session(
    agent: AnyAgent, session: str, *, archived: bool = True, **options: Unpack[Options]
) -> None:
    """Put a session of an agent away, or back. As `dragoman.archive_session`."""
    anyio.run(partial(api.archive_session, agent, session, archived=archived, **options))


def delete_session(agent: AnyAgent, session: str, **options: Unpack[Options]) -> None:
    """Delete a session of an agent for good. As `dragoman.delete_session`."""
    anyio.run(partial(api.delete_session, agent, session, **options))


def rename_session(agent: AnyAgent, session: str, title: str, **options: Unpack[Options]) -> None:
    """Give a session of an agent a title. As `dragoman.rename_session`."""
    anyio.run(partial(api.rename_session, agent, session, title, **options))


class BlockingStream:
    """Events as they come, for `for`. Leaving the loop early is fine."""

    def __init__(self, portal: BlockingPortal, stream: EventStream) -> None:
        self._portal = portal
        self._stream = stream
        self._current: Iterator[AnyEvent] = iter(())

    def __iter__(self) -> "BlockingStream":
        return self

    def __next__(self) -> AnyEvent:
        for event in self._current:
            return event
        while batch := self._batch():
            self._current = iter(batch)
            for event in self._current:
                return event
        raise StopIteration

    def _batch(self) -> Sequence[AnyEvent]:
        """What is at hand costs no way to the other thread, and is there even after the session's end."""
        batch = self._stream.at_hand()
        return self._portal.call(self._stream.batch) if batch is None else batch

    def drain(self) -> list[AnyEvent]:
        """All that is there, without waiting."""
        return [*self._current, *self._stream.drain()]

    def close(self) -> None:
        """Listen no longer."""
        self._portal.call(self._stream.aclose)


class BlockingView:
    """The items of a published model as they come, for `for`."""

    def __init__(self, portal: BlockingPortal, stream: ViewStream) -> None:
        self._portal = portal
        self._stream = stream

    def __iter__(self) -> "BlockingView":
        return self

    def __next__(self) -> Struct:
        item = self._portal.call(self._stream.next)
        if item is None:
            raise StopIteration
        return item

    def encode(self, item: Struct) -> bytes:
        """One line of the model, without its newline."""
        return self._stream.encode(item)

    def close(self) -> None:
        """Listen no longer."""
        self._portal.call(self._stream.aclose)


class BlockingSession(Facts):
    """One conversation with an agent. It runs in the thread of `portal`; without one, `with` starts its own."""

    def __init__(self, session: Session, portal: BlockingPortal | None = None) -> None:
        self._session = session
        self._stack = ExitStack()
        self._given = portal
        self._portal: BlockingPortal
        if portal is not None:
            self._portal = portal

    def __enter__(self) -> Self:
        self._stack, self._portal = _entered(self._session, self._given)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def _call(self, method: Callable[P, Awaitable[T]], *args: P.args, **fields: P.kwargs) -> T:
        return self._portal.call(partial(method, *args, **fields))

    # --- what it is --------------------------------------------------------------------------------------

    @property
    def agent(self) -> str:
        return self._session.agent

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._session.capabilities

    @property
    def id(self) -> str | None:
        """The agent's own session id, once known."""
        return self._session.id

    @property
    def busy(self) -> bool:
        """Whether there is more to come."""
        return self._session.busy

    @property
    def result(self) -> RunEnded | None:
        """The last event, once the run is over."""
        return self._session.result

    @property
    def exit(self) -> Exit | None:
        """How the process ended, once it did."""
        return self._session.exit

    @property
    def recording_error(self) -> Exception | None:
        """Why the recording is incomplete, if it is."""
        return self._session.recording_error

    def _known(self) -> Mapping[str, Any]:
        return self._session._known()

    # --- what it says ------------------------------------------------------------------------------------

    def prompt(self, text: str, blocks: Sequence[ContentBlock] = ()) -> BlockingStream:
        """Send a prompt; iterate over the events of the turn that takes it, to its turn.ended."""
        return BlockingStream(self._portal, self._portal.call(self._session.prompt, text, blocks))

    def review(
        self, instructions: str = "", *, base: str | None = None, commit: str | None = None
    ) -> BlockingStream:
        """Have the agent review changes; iterate over the events of the turn. As `Session.review`."""
        review = partial(self._session.review, instructions, base=base, commit=commit)
        return BlockingStream(self._portal, self._portal.call(review))

    def events(self) -> BlockingStream:
        """All events from now on, also those between turns; before the first turn, from the beginning."""
        return BlockingStream(self._portal, self._portal.call(self._session.events))

    def until_done(self) -> BlockingStream:
        """The same, until the session has nothing more to do."""
        return BlockingStream(self._portal, self._portal.call(self._session.until_done))

    def view(
        self, name: str, *, profile: Profile = "live", extended: bool = False, vendor: str = ""
    ) -> BlockingView:
        """The same in a model that another program speaks: agent-event, insights or untether."""
        view = partial(self._session.view, name, profile=profile, extended=extended, vendor=vendor)
        return BlockingView(self._portal, self._portal.call(view))

    # --- what it does ------------------------------------------------------------------------------------

    def ready(self) -> None:
        """Wait until the agent has answered its opening lines."""
        self._call(self._session.ready)

    def close(self) -> None:
        """End the session; an open turn is cancelled."""
        self._call(self._session.close)

    def stop(self, reason: StopReason, detail: str | None = None) -> None:
        """End the run, with all its sessions, and put on record why."""
        self._call(self._session.stop, reason, detail)

    def send(self, command: Command) -> CommandEnded | None:
        """Send any command; the agent's answer, if it is one that the agent answers."""
        return self._call(self._session.send, command)

    def steer(self, text: str, blocks: Sequence[ContentBlock] = ()) -> CommandEnded | None:
        """Say something into the open turn."""
        return self._call(self._session.steer, text, blocks)

    def interrupt(self) -> CommandEnded | None:
        """Stop the open turn; the session lives on."""
        return self._call(self._session.interrupt)

    def set_mode(self, mode: str) -> CommandEnded | None:
        return self._call(self._session.set_mode, mode)

    def set_model(self, model: str) -> CommandEnded | None:
        return self._call(self._session.set_model, model)

    def set_option(self, option: str, value: Any) -> CommandEnded | None:
        return self._call(self._session.set_option, option, value)

    def set_max_thinking_tokens(self, tokens: int | None) -> CommandEnded | None:
        """How many tokens the model may think with from now on; None for as many as the agent chooses."""
        return self._call(self._session.set_max_thinking_tokens, tokens)

    def refresh(self, *facts: Fact) -> None:
        """Ask the agent for what it tells of itself, as it is now; the properties of the same names then have it."""
        self._call(self._session.refresh, *facts)

    def mcp_status(self) -> list[McpServer]:
        """The MCP servers and how they are now."""
        return self._call(self._session.mcp_status)

    def rewind_files(self, message_id: str, *, dry_run: bool = False) -> list[str]:
        """Put the files that the agent has changed back to how they were before a message of the user's; their paths."""
        return self._call(self._session.rewind_files, message_id, dry_run=dry_run)

    def compact(self, instructions: str | None = None) -> CommandEnded | None:
        """Ask the agent to shorten its context."""
        return self._call(self._session.compact, instructions)

    def answer(
        self,
        request: str,
        decision: Literal["allow", "deny"] = "deny",
        *,
        option: str | None = None,
        updated_input: dict[str, Any] | None = None,
        message: str | None = None,
        remember: Sequence[Any] = (),
        interrupt: bool = False,
    ) -> bool:
        """Answer a permission request by hand. False if it is no longer asked."""
        return self._call(
            self._session.answer,
            request,
            decision,
            option=option,
            updated_input=updated_input,
            message=message,
            remember=remember,
            interrupt=interrupt,
        )

    def answer_question(
        self,
        request: str,
        answers: dict[str, Any] | None = None,
        action: Literal["accepted", "declined", "cancelled"] = "accepted",
    ) -> bool:
        """Answer a question by hand. False if it is no longer asked."""
        return self._call(self._session.answer_question, request, answers, action)

    def reply(self, request: str, result: Any = None, error: str | None = None) -> bool:
        """Answer a host call by hand. False if it is no longer asked."""
        return self._call(self._session.reply, request, result, error)


class BlockingConnection:
    """An agent process, and the sessions in it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stack = ExitStack()
        self._portal: BlockingPortal

    def __enter__(self) -> Self:
        self._stack, self._portal = _entered(self._connection, None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @property
    def agent(self) -> str:
        return self._connection.agent

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._connection.capabilities

    @property
    def result(self) -> RunEnded | None:
        """The last event, once the run is over."""
        return self._connection.result

    @property
    def exit(self) -> Exit | None:
        """How the process ended, once it did."""
        return self._connection.exit

    @property
    def recording_error(self) -> Exception | None:
        """Why the recording is incomplete, if it is."""
        return self._connection.recording_error

    def session(
        self,
        cwd: str | os.PathLike[str] | None = None,
        *,
        resume: str | None = None,
        mcp_servers: Mapping[str, Any] | None = None,
        tools: Sequence[Function | Tool] | None = None,
    ) -> BlockingSession:
        """Open one more session, or go on with an earlier one."""
        opening = partial(self._connection.session, cwd, resume=resume, mcp_servers=mcp_servers, tools=tools)
        return BlockingSession(self._portal.call(opening), self._portal)

    def list_sessions(
        self, cwd: str | os.PathLike[str] | None = None, *, archived: bool = False, limit: int | None = None
    ) -> list[SessionInfo]:
        """The agent's sessions, newest first."""
        return self._portal.call(partial(self._connection.list_sessions, cwd, archived=archived, limit=limit))

    def archive_session(self, session: str, *, archived: bool = True) -> None:
        """Put a session away, or back."""
        self._portal.call(partial(self._connection.archive_session, session, archived=archived))

    def delete_session(self, session: str) -> None:
        """Delete a session for good."""
        self._portal.call(self._connection.delete_session, session)

    def rename_session(self, session: str, title: str) -> None:
        """Give a session a title."""
        self._portal.call(self._connection.rename_session, session, title)

    def events(self) -> BlockingStream:
        """All events of all sessions from now on; before the first turn, from the run's start."""
        return BlockingStream(self._portal, self._portal.call(self._connection.events))

    def close(self) -> None:
        """End the run. Open turns are cancelled."""
        self._portal.call(self._connection.close)

    def stop(self, reason: StopReason, detail: str | None = None) -> None:
        """End the run and put on record why."""
        self._portal.call(self._connection.stop, reason, detail)


def _entered(thing: Session | Connection, given: BlockingPortal | None) -> tuple[ExitStack, BlockingPortal]:
    """Enter it in the thread of a portal; leaving the stack leaves both."""
    with ExitStack() as stack:
        portal = given or stack.enter_context(start_blocking_portal())
        stack.enter_context(portal.wrap_async_context_manager(thing))
        return stack.pop_all(), portal
