"""The same session for programs that are not async: it runs on an event loop in a thread of its own."""

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from dragoman._model.capabilities import Capability
from dragoman._model.commands import Command
from dragoman._model.content import ContentBlock
from dragoman._model.events import CommandEnded, Event, RunEnded
from dragoman._model.frames import Exit, StopReason
from dragoman._runtime.connection import Connection
from dragoman._runtime.requests import Verdict
from dragoman._runtime.session import Session
from dragoman._runtime.standing import Request
from dragoman._runtime.streams import EventStream

P = ParamSpec("P")
T = TypeVar("T")

BlockingHandler = Callable[[Request, "BlockingSession"], Verdict]


class BlockingStream:
    """Events as they come, for `for`. Leaving the loop early is fine."""

    def __init__(self, portal: BlockingPortal, stream: EventStream) -> None:
        self._portal = portal
        self._stream = stream
        self._current: Iterator[Event] = iter(())

    def __iter__(self) -> "BlockingStream":
        return self

    def __next__(self) -> Event:
        for event in self._current:
            return event
        while batch := self._batch():
            self._current = iter(batch)
            for event in self._current:
                return event
        raise StopIteration

    def _batch(self) -> Sequence[Event]:
        """What is at hand costs no way to the other thread, and is there even after the session's end."""
        batch = self._stream.at_hand()
        return self._portal.call(self._stream.batch) if batch is None else batch

    def close(self) -> None:
        self._portal.call(self._stream.aclose)


class BlockingSession:
    """One conversation with an agent. It runs in the thread of `portal`; without one, `with` starts its own."""

    def __init__(
        self, session: Session, portal: BlockingPortal | None = None, *, backend: str = "asyncio"
    ) -> None:
        self._session = session
        self._stack = ExitStack()
        self._backend = backend
        self._given = portal
        self._portal: BlockingPortal
        if portal is not None:
            self._portal = portal

    def __enter__(self) -> Self:
        self._stack, self._portal = _entered(self._session, self._given, self._backend)
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
        return self._session.id

    @property
    def opening(self) -> list[Event]:
        return self._session.opening

    @property
    def result(self) -> RunEnded | None:
        return self._session.result

    @property
    def exit(self) -> Exit | None:
        return self._session.exit

    @property
    def recording_error(self) -> Exception | None:
        return self._session.recording_error

    # --- what it does ------------------------------------------------------------------------------------

    def prompt(self, text: str, blocks: Sequence[ContentBlock] = ()) -> BlockingStream:
        return BlockingStream(self._portal, self._portal.call(self._session.prompt, text, blocks))

    def events(self) -> BlockingStream:
        return BlockingStream(self._portal, self._portal.call(self._session.events))

    def close(self) -> None:
        self._call(self._session.close)

    def stop(self, reason: StopReason, detail: str | None = None) -> None:
        self._call(self._session.stop, reason, detail)

    def send(self, command: Command) -> CommandEnded | None:
        return self._call(self._session.send, command)

    def steer(self, text: str, blocks: Sequence[ContentBlock] = ()) -> CommandEnded | None:
        return self._call(self._session.steer, text, blocks)

    def interrupt(self) -> CommandEnded | None:
        return self._call(self._session.interrupt)

    def set_mode(self, mode: str) -> CommandEnded | None:
        return self._call(self._session.set_mode, mode)

    def set_model(self, model: str) -> CommandEnded | None:
        return self._call(self._session.set_model, model)

    def set_option(self, option: str, value: Any) -> CommandEnded | None:
        return self._call(self._session.set_option, option, value)

    def compact(self, instructions: str | None = None) -> CommandEnded | None:
        return self._call(self._session.compact, instructions)

    def answer(self, request: str, decision: Literal["allow", "deny"], **fields: Any) -> bool:
        return self._call(self._session.answer, request, decision, **fields)

    def answer_question(
        self,
        request: str,
        answers: dict[str, Any] | None = None,
        action: Literal["accepted", "declined", "cancelled"] = "accepted",
    ) -> bool:
        return self._call(self._session.answer_question, request, answers, action)

    def reply(self, request: str, result: Any = None, error: str | None = None) -> bool:
        return self._call(self._session.reply, request, result, error)


class BlockingConnection:
    """An agent process, and the sessions in it."""

    def __init__(self, connection: Connection, *, backend: str = "asyncio") -> None:
        self._connection = connection
        self._stack = ExitStack()
        self._backend = backend
        self._portal: BlockingPortal

    def __enter__(self) -> Self:
        self._stack, self._portal = _entered(self._connection, None, self._backend)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def of(self, session: Session) -> BlockingSession:
        """One of its sessions as a blocking one."""
        return BlockingSession(session, self._portal)

    @property
    def agent(self) -> str:
        return self._connection.agent

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._connection.capabilities

    @property
    def result(self) -> RunEnded | None:
        return self._connection.result

    @property
    def exit(self) -> Exit | None:
        return self._connection.exit

    @property
    def recording_error(self) -> Exception | None:
        return self._connection.recording_error

    def session(
        self,
        cwd: str | os.PathLike[str] | None = None,
        *,
        resume: str | None = None,
        mcp_servers: Mapping[str, Any] | None = None,
    ) -> BlockingSession:
        opening = partial(self._connection.session, cwd, resume=resume, mcp_servers=mcp_servers)
        return self.of(self._portal.call(opening))

    def events(self) -> BlockingStream:
        return BlockingStream(self._portal, self._portal.call(self._connection.events))

    def close(self) -> None:
        self._portal.call(self._connection.close)

    def stop(self, reason: StopReason, detail: str | None = None) -> None:
        self._portal.call(self._connection.stop, reason, detail)


def _entered(
    thing: Session | Connection, given: BlockingPortal | None, backend: str
) -> tuple[ExitStack, BlockingPortal]:
    """Enter it in the thread of a portal; leaving the stack leaves both."""
    with ExitStack() as stack:
        portal = given or stack.enter_context(start_blocking_portal(backend))
        stack.enter_context(portal.wrap_async_context_manager(thing))
        return stack.pop_all(), portal
