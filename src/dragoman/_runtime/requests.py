"""Whatever the agent asks gets an answer: from the policy, a handler or the host, and a plain no where there is none of
them. Never silence."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal

import anyio
from msgspec import Struct, structs

from dragoman._model.commands import Answer, AnswerQuestion, By, Reply, Response
from dragoman._model.errors import DragomanError
from dragoman._model.events import HostCalled, PermissionRequested, QuestionAsked, Request
from dragoman._model.hooks import HookHandler
from dragoman._model.tools import Tool
from dragoman._policy.permission import PermissionRequest
from dragoman._policy.policy import Policy, effect_of
from dragoman._runtime.calling import called
from dragoman._runtime.functions import Functions
from dragoman._runtime.host.grants import Grants
from dragoman._runtime.host.host import Host, Place, Refused
from dragoman._runtime.log import log
from dragoman._runtime.run import Run
from dragoman._runtime.standby import Standby
from dragoman._runtime.streams import EventStream


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

Handler = ApproveHandler | AnswerHandler | ServeHandler
Asked = PermissionRequest | QuestionAsked | HostCalled
"""What a handler is given."""

_ANSWERED_BY: Final[Mapping[type[Response], type[Request]]] = {
    Answer: PermissionRequested,
    AnswerQuestion: QuestionAsked,
}
"""What an answer is one to, where that is one thing."""

NOBODY: Final = (
    "Denied: nobody was there to ask. Open the session with a handler (approve=...) that answers such requests, "
    "or with an approve mode that allows them."
)


class Handlers(Struct, frozen=True, kw_only=True):
    """Who is asked, and what the agent may call. `timeout` is how many seconds each may take to answer."""

    approve: ApproveHandler | None = None
    answer: AnswerHandler | None = None
    serve: ServeHandler | None = None
    tools: tuple[Tool, ...] = ()
    hooks: Mapping[str, HookHandler] = {}
    timeout: float | None = None


class Aside(Struct):
    """A permission of which no event tells, while it is asked for: what the host is about to do."""

    event: PermissionRequested
    asking: anyio.CancelScope
    """Ends the asking."""
    answer: Answer | None = None
    """The one by hand, once there is one."""


class Requests:
    """All requests of a run."""

    def __init__(self, run: Run, policy: Policy, handlers: Handlers, functions: Functions) -> None:
        self._run = run
        self.policy = policy
        self.asides: dict[str, Aside] = {}
        """The permissions that are asked for and of which no event tells, by request id."""
        self.on_asides: Callable[[], object] = lambda: None
        """Hears that there is one more of these, or one less."""
        self._handlers = handlers
        self._functions = functions
        self.hosts: dict[str | None, Host] = {}
        """Those of the sessions, by id; under None that of a session which has the run to itself."""
        self._grants = Grants()
        self._askers = Standby(self._ask)

    def attend(self, requests: Sequence[Request]) -> None:
        """These want an answer: at once where no one needs to be asked, else in a task of its own."""
        for request in requests:
            host = self.hosts.get(request.session) or self.hosts.get(None)
            if isinstance(request, PermissionRequested):
                if self._run.ledger.is_check(request):
                    self._send(request, self._objection(request, host) or Reply())
                else:
                    self._attend_permission(request, host)
            elif isinstance(request, HostCalled) and self._functions.does(request):
                self._run.tasks.start_soon(self._call, request)
            elif isinstance(request, HostCalled) and host is not None and host.does(request):
                self._run.tasks.start_soon(self._serve, request, host, host.queue(request))
            else:
                handler = (
                    self._handlers.answer if isinstance(request, QuestionAsked) else self._handlers.serve
                )
                self._ask_or_refuse(handler if host is not None else None, request, request)

    def _attend_permission(self, event: PermissionRequested, host: Host | None) -> None:
        """By the policy, else by the handler."""
        request = self._permission(event, host)
        settled = self._settled(request)
        if settled is not None:
            self._respond(event, settled, request)
        else:
            # A session that was left has nobody to ask.
            self._ask_or_refuse(self._handlers.approve if host is not None else None, event, request)

    def _objection(self, event: PermissionRequested, host: Host | None) -> Answer | None:
        """The denial of a call that the agent shows before it asks; None if it is to be asked for. A question is no matter
        of the policy's."""
        answer = self._settled(self._permission(event, host)) if event.kind != "ask" else None
        return answer if answer is not None and answer.decision == "deny" else None

    def _settled(self, request: PermissionRequest) -> Answer | None:
        """The answer that needs nobody to be asked. Whatever goes wrong here is a denial."""
        try:
            return self.policy.decide(request).answer()
        except Exception as error:
            log.exception("the policy failed on %s", request.tool)
            why = f"Denied: the policy failed with {type(error).__name__}."
            return Answer(decision="deny", message=why, by="policy", rule="policy failed")

    def respond(self, response: Response, request: PermissionRequest | None = None) -> bool:
        """Send an answer; `request` is what it answers, where that is known. False if it is no longer asked."""
        if isinstance(response, Answer) and (aside := self.asides.get(response.request)) is not None:
            if response.asked not in (None, aside.event.seq):
                return False
            self._close(aside, response)
            return True
        pending = self._run.ledger.requests.get(response.request)
        if pending is None or not isinstance(pending.event, _ANSWERED_BY.get(type(response), Request)):
            return False
        event = pending.event
        if response.asked not in (None, event.seq):
            return False
        if request is None and isinstance(event, PermissionRequested):
            request = self._permission(event, self.hosts.get(event.session) or self.hosts.get(None))
        self._run.say(response)
        if request is not None and isinstance(response, Answer):
            self._remember(request, response)
            if effect_of(request, response) == "allow" and response.updated_input is None:
                self._grants.add(request, pending.changes)
        return True

    # --- answers -----------------------------------------------------------------------------------------

    def _permission(self, event: PermissionRequested, host: Host | None) -> PermissionRequest:
        return PermissionRequest(
            event,
            host.cwd if host is not None else None,
            self._run.ledger.asked_files(event),
            add_dirs=self._run.plan.roots,
            unasked=event.unasked or self._run.plan.shows_all,
        )

    def _respond(self, event: Request, response: Response, request: Asked) -> None:
        """Answer, if it is still asked. A failure is logged: the agent may have gone meanwhile."""
        if not self._run.ledger.wants(event):
            return
        self._send(event, response, request if isinstance(request, PermissionRequest) else None)

    def _send(self, event: Request, response: Response, request: PermissionRequest | None = None) -> None:
        named = structs.replace(response, request=event.request_id)
        try:
            self.respond(named, request)
        except DragomanError as error:
            log.warning("%s could not be answered: %s", self._run.plan.agent, error)

    def _remember(self, request: PermissionRequest, answer: Answer) -> None:
        if self._run.plan.shows_all and _is_lasting(request, answer):
            # It is made to ask for every call, so it is we who have to know what was allowed from now on.
            answer = structs.replace(answer, remember=["session", *answer.remember])
        if not answer.remember:
            return
        try:
            if not self.policy.remember(request, answer):
                log.warning(
                    "the answer holds this once only: the call names nothing that a rule could be about"
                )
        except OSError as error:
            log.warning("the answer holds for this session only: %s", error)

    # --- asking a handler --------------------------------------------------------------------------------

    def _ask_or_refuse(self, handler: Handler | None, event: Request, request: Asked) -> None:
        if handler is None:
            self._respond(event, _nobody(event), request)
        else:
            self._askers.start(self._run.tasks, handler, event, request)

    async def _ask(self, handler: Handler, event: Request, request: Asked) -> None:
        response = await self._response(handler, event, request)
        if response is not None:
            self._respond(event, response, request)

    async def _response(self, handler: Handler, event: Request, request: Asked) -> Response | None:
        """What the handler answers, in time; None if somebody answers it by hand, in time."""
        limit = self._handlers.timeout
        try:
            if limit is None:
                return response_to(event, await called(handler, request))
            with anyio.move_on_after(limit):
                response = response_to(event, await called(handler, request))
                if response is None:
                    await self._no_longer_wanted(event)
                return response
        except Exception as error:
            log.exception("the handler failed on %s %s", event.type, event.request_id)
            why = f"Denied: the handler that was asked failed with {type(error).__name__}: {error}"
            return _refusal(event, why, by="policy", rule="handler failed", host_error=why)
        why = f"Denied: no answer came within {limit:g} s."
        return _refusal(event, why, by="timeout", rule=None, host_error=why)

    async def _no_longer_wanted(self, request: Request) -> None:
        """Comes back when somebody has answered by hand, or the agent has taken it back."""
        stream = EventStream()
        self._run.fanout.add(stream)
        while self._run.ledger.wants(request) and await stream.batch():
            pass

    # --- what the caller's functions do ------------------------------------------------------------------

    async def _call(self, call: HostCalled) -> None:
        """A tool or a hook; what the agent no longer wants is cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._withdraw, call, tasks.cancel_scope)
            self._respond(call, await self._functions.do(call), call)
            tasks.cancel_scope.cancel()

    async def _withdraw(self, request: Request, work: anyio.CancelScope) -> None:
        await self._no_longer_wanted(request)
        work.cancel()

    # --- what the host does ------------------------------------------------------------------------------

    async def _serve(self, call: HostCalled, host: Host, place: Place) -> None:
        """The handler may answer a call itself, or refuse it. If it has no opinion, the host does what is allowed."""
        async with place:
            serve = self._handlers.serve
            reply = await self._response(serve, call, call) if serve is not None else Reply()
            if isinstance(reply, Reply) and reply.result is None and reply.error is None:
                known = self._run.plan.host_replies
                reply = known(call) if known is not None else None
                reply = reply or await self._served(call, host)
            if reply is not None:
                self._respond(call, reply, call)

    async def _served(self, call: HostCalled, host: Host) -> Reply:
        """What comes of a call by the host, if it is allowed."""
        try:
            event = host.permission(call)
        except Refused as refusal:
            return Reply(error=str(refusal))
        answer = await self._leave(call, event, host) if event is not None else Answer(decision="allow")
        if answer.decision == "allow":
            return structs.replace(await self._done(call, host), who=answer.who)
        message = answer.message or "Denied by the client."
        return Reply(error=message, by=answer.by, rule=answer.rule, who=answer.who)

    async def _leave(self, call: HostCalled, event: PermissionRequested, host: Host) -> Answer:
        """Whether the host may do it. Reading or writing a file and running a command need the same permission as a tool
        that does it; where the tool that makes the call has got it for the same, that is enough."""
        roots, approve = self._run.plan.roots, self._handlers.approve
        request = PermissionRequest(event, host.cwd, add_dirs=roots, unasked=True)
        if self._grants.cover(request, await host.current_text(call)):
            return Answer(decision="allow")
        answer: Response | None = self._settled(request)
        if answer is None:
            answer = await self._ask_aside(approve, call, request) if approve is not None else _nobody(event)
        if not isinstance(answer, Answer):
            return Answer(message="Denied: nobody answered.")
        self._remember(request, answer)
        return answer

    async def _ask_aside(
        self, handler: Handler, call: HostCalled, request: PermissionRequest
    ) -> Response | None:
        """What the handler answers, or somebody by hand if that comes first; None for LATER, since no event tells anybody
        that there is something to answer, or if the agent no longer wants it."""
        response: Response | None = None
        async with anyio.create_task_group() as tasks:
            aside = self.asides[request.id] = Aside(request.event, tasks.cancel_scope)
            self.on_asides()
            try:
                tasks.start_soon(self._withdraw, call, tasks.cancel_scope)
                response = await self._response(handler, request.event, request)
            finally:
                self._close(aside)
        return aside.answer or response

    def _close(self, aside: Aside, answer: Answer | None = None) -> None:
        """It is not asked for any more; `answer` if that is why."""
        if self.asides.get(aside.event.request_id) is aside:
            del self.asides[aside.event.request_id]
            aside.answer = answer
            aside.asking.cancel()
            self.on_asides()

    async def _done(self, call: HostCalled, host: Host) -> Reply:
        try:
            return Reply(result=await host.do(call, self._run.tasks))
        except Refused as refusal:
            return Reply(error=str(refusal), code=refusal.code)


def _is_lasting(request: PermissionRequest, answer: Answer) -> bool:
    """Whether it chooses an option of the agent's that holds from now on."""
    chosen = next((option for option in request.options if option.id == answer.option), None)
    return chosen is not None and chosen.kind == "allow_always"


def response_to(request: Request, reply: Any) -> Response | None:
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
