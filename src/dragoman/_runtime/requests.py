"""Whatever the agent asks gets an answer: from the policy, a handler or the host, and a plain no where there is none of
them. Never silence."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from msgspec import Struct, structs

from dragoman._model.commands import Answer, AnswerQuestion, By, Reply, Response
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event, HostCalled, PermissionRequested, QuestionAsked, Request
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy
from dragoman._runtime.host.host import Host, Place, Refused
from dragoman._runtime.run import Run
from dragoman._runtime.streams import EventStream

log = logging.getLogger("dragoman")

T = TypeVar("T")


class Later(Enum):
    """The type of LATER."""

    LATER = "later"


LATER: Final = Later.LATER
"""Returned by a handler that will give the answer by hand, with `session.answer` and its like."""

ApproveReply = bool | Answer | Literal[Later.LATER]
"""True allows, False denies; an Answer says more."""
AnswerReply = Mapping[str, Any] | AnswerQuestion | bool | Literal[Later.LATER]
"""The answers by question; False declines; an AnswerQuestion says more."""
ServeReply = Reply | Literal[Later.LATER] | None
"""A Reply with a result or an error; None leaves the call to the host."""

ApproveHandler = Callable[[PermissionRequest], ApproveReply | Awaitable[ApproveReply]]
"""Hears permission requests that neither a rule nor the approve mode settles."""
AnswerHandler = Callable[[QuestionAsked], AnswerReply | Awaitable[AnswerReply]]
"""Hears questions."""
ServeHandler = Callable[[HostCalled], ServeReply | Awaitable[ServeReply]]
"""Hears what the agent wants its client to do: files, terminals, hooks, MCP messages."""

NOBODY: Final = (
    "Denied: nobody was there to ask. Open the session with a handler (approve=...) that answers such requests, "
    "or with an approve mode that allows them."
)


class Handlers(Struct, frozen=True, kw_only=True):
    """Who is asked. `timeout` is how many seconds each may take to answer."""

    approve: ApproveHandler | None = None
    answer: AnswerHandler | None = None
    serve: ServeHandler | None = None
    timeout: float | None = None


class Requests:
    """All requests of a run. `host_of` finds the host of the session that an event belongs to."""

    def __init__(
        self, run: Run, policy: Policy, handlers: Handlers, host_of: Callable[[Event], Host | None]
    ) -> None:
        self._run = run
        self._policy = policy
        self._handlers = handlers
        self._host_of = host_of

    def attend(self, requests: Sequence[Request]) -> None:
        """These want an answer: at once where no one needs to be asked, else in a task of its own."""
        for request in requests:
            host = self._host_of(request)
            if isinstance(request, HostCalled) and host is not None and host.does(request):
                self._run.tasks.start_soon(self._serve, request, host, host.queue(request))
            elif isinstance(request, PermissionRequested) and (settled := self._settled(request)) is not None:
                self._respond(request, settled)
            elif self._handler_of(request) is None:
                self._respond(request, _nobody(request))
            else:
                self._run.tasks.start_soon(self._ask, request)

    def respond(self, response: Response) -> bool:
        """Send an answer. False if its request is no longer asked."""
        pending = self._run.ledger.requests.get(response.request)
        if pending is None:
            return False
        request = self._permission(pending.event) if isinstance(pending.event, PermissionRequested) else None
        self._run.say(response)
        if request is not None and isinstance(response, Answer):
            self._remember(request, response)
        return True

    # --- answers -----------------------------------------------------------------------------------------

    def _permission(self, event: PermissionRequested) -> PermissionRequest:
        host = self._host_of(event)
        files = self._run.ledger.tool_paths(event.session, event.call_id)
        return PermissionRequest(event, host.cwd if host is not None else None, files)

    def _settled(self, event: PermissionRequested) -> Answer | None:
        """What the policy answers; None if somebody must be asked."""
        return self._policy.decide(self._permission(event)).answer()

    def _respond(self, request: Request, response: Response) -> None:
        """Answer `request`, if it still wants one. A failure is logged: the agent may have gone meanwhile."""
        if not self._run.ledger.wants(request):
            return
        try:
            self.respond(structs.replace(response, request=request.request_id))
        except DragomanError as error:
            log.warning("%s could not be answered: %s", self._run.plan.agent, error)

    def _remember(self, request: PermissionRequest, answer: Answer) -> None:
        try:
            self._policy.remember(request, answer)
        except OSError as error:
            log.warning("the answer holds for this session only: %s", error)

    # --- asking a handler --------------------------------------------------------------------------------

    def _handler_of(self, request: Request) -> Callable[[Any], Any] | None:
        if isinstance(request, PermissionRequested):
            return self._handlers.approve
        return self._handlers.answer if isinstance(request, QuestionAsked) else self._handlers.serve

    async def _ask(self, request: Request) -> None:
        response = await self._response(request)
        if response is not None:
            self._respond(request, response)

    async def _response(self, request: Request) -> Response | None:
        """What the handler answers, in time; None if somebody answers it by hand, in time."""
        handler, limit = self._handler_of(request), self._handlers.timeout
        if handler is None:
            return _nobody(request)
        shown = self._permission(request) if isinstance(request, PermissionRequested) else request
        try:
            with anyio.move_on_after(limit):
                response = _response_to(request, await _called(handler, shown))
                if response is None and limit is not None:
                    await self._no_longer_wanted(request)
                return response
        except Exception as error:
            log.exception("the handler failed on %s %s", request.__struct_config__.tag, request.request_id)
            why = f"Denied: the handler that was asked failed with {type(error).__name__}: {error}"
            return _refusal(request, why, by="policy", rule="handler failed", host_error=why)
        why = f"Denied: no answer came within {limit:g} s."
        return _refusal(request, why, by="timeout", rule=None, host_error=why)

    async def _no_longer_wanted(self, request: Request) -> None:
        """Comes back when somebody has answered by hand, or the agent has taken it back."""
        stream = EventStream()
        self._run.fanout.add(stream)
        while self._run.ledger.wants(request) and await stream.batch():
            pass

    # --- what the host does ------------------------------------------------------------------------------

    async def _serve(self, call: HostCalled, host: Host, place: Place) -> None:
        """The handler may answer a call itself, or refuse it. If it has no opinion, the host does what is allowed."""
        async with place:
            reply = await self._response(call)
            if isinstance(reply, Reply) and reply.result is None and reply.error is None:
                reply = await self._denial(call, host) or await self._done(call, host)
            if reply is not None:
                self._respond(call, reply)

    async def _denial(self, call: HostCalled, host: Host) -> Reply | None:
        """Why a call is refused; None if it is allowed. Writing a file and running a command need the same permission
        as a tool that does it; where the tool that makes the call has got it, that is enough."""
        event = host.permission(call)
        if event is None or self._run.ledger.tool_allowed(call.session, call.call_id):
            return None
        answer = self._settled(event) or await self._response(event)
        if not isinstance(answer, Answer):
            return Reply(error="Denied: nobody answered.")
        self._remember(self._permission(event), answer)
        if answer.decision == "allow":
            return None
        return Reply(error=answer.message or "Denied by the client.", by=answer.by, rule=answer.rule)

    async def _done(self, call: HostCalled, host: Host) -> Reply:
        try:
            return Reply(result=await host.do(call, self._run.tasks))
        except Refused as refusal:
            return Reply(error=str(refusal))


async def _called(handler: Callable[[Any], T | Awaitable[T]], request: Any) -> T:
    """What the handler returns. One that is no coroutine function may block, so it gets a thread."""
    method = getattr(handler, "__call__", handler)  # noqa: B004 - that of a callable object
    if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(method):
        reply = handler(request)
    else:
        # In a tuple, since trio takes a function that returns an awaitable for a mistake.
        (reply,) = await to_thread.run_sync(
            lambda: (handler(request),), abandon_on_cancel=True, limiter=CapacityLimiter(1)
        )
    return await reply if inspect.isawaitable(reply) else reply


def _response_to(request: Request, reply: Any) -> Response | None:
    """The answer that a handler's reply means; None for LATER. Raises TypeError for what no handler may return."""
    if reply is LATER:
        return None
    if isinstance(request, PermissionRequested):
        if isinstance(reply, bool):
            return Answer(decision="allow" if reply else "deny")
        if isinstance(reply, Answer):
            return reply
        expected = "True, False, an Answer or LATER"
    elif isinstance(request, QuestionAsked):
        if isinstance(reply, bool):
            return AnswerQuestion(action="accepted" if reply else "declined")
        if isinstance(reply, AnswerQuestion):
            return reply
        if isinstance(reply, Mapping):
            return AnswerQuestion(answers=dict(reply))
        expected = "the answers as a mapping, True, False, an AnswerQuestion or LATER"
    else:
        if reply is None:
            return Reply()
        if isinstance(reply, Reply):
            return reply
        expected = "a Reply, None or LATER"
    raise TypeError(f"it must return {expected}, not {reply!r:.80}")


def _nobody(request: Request) -> Response:
    """The answer where there is no handler. A host call gets none: no opinion."""
    return _refusal(request, NOBODY, by="policy", rule="no handler", host_error=None)


def _refusal(request: Request, message: str, *, by: By, rule: str | None, host_error: str | None) -> Response:
    if isinstance(request, PermissionRequested):
        return Answer(decision="deny", message=message, by=by, rule=rule)
    if isinstance(request, HostCalled):
        return Reply(error=host_error, by=by, rule=rule)
    return AnswerQuestion(action="cancelled", by=by, rule=rule)
