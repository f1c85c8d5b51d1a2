"""The same session for programs that are not async: it runs on an event loop in a thread of its own."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from dragoman.model.capabilities import Capability
from dragoman.model.commands import Command
from dragoman.model.content import ContentBlock
from dragoman.model.events import CommandEnded, Event, RunEnded
from dragoman.model.frames import Exit, StopReason
from dragoman.runtime.fanout import EventStream
from dragoman.runtime.handling import Verdict
from dragoman.runtime.session import Session
from dragoman.runtime.standing import Request

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
    """One agent process and the conversation with it. `opened` makes the session; it is called with a handler
    that passes requests on to `handler`, in a worker thread."""

    def __init__(
        self,
        opened: Callable[[Callable[[Request, Session], Verdict] | None], Session],
        handler: BlockingHandler | None = None,
        backend: str = "asyncio",
    ) -> None:
        self._session = opened(None if handler is None else lambda request, _: handler(request, self))
        self._backend = backend
        self._stack = ExitStack()
        self._portal: BlockingPortal

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal(self._backend))
            stack.enter_context(self._portal.wrap_async_context_manager(self._session))
            self._stack = stack.pop_all()
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
