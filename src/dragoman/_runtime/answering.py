"""Sees to it that whatever the agent asks gets an answer: from the approve mode, the handler or the host, and a
plain no where there is none of them. Never silence."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dragoman._model.commands import Answer, Reply
from dragoman._model.errors import DragomanError
from dragoman._model.events import Event, HostCalled, PermissionRequested
from dragoman._policy.policy import Policy
from dragoman._runtime import requests as handling
from dragoman._runtime.host.host import Place, Refused
from dragoman._runtime.requests import Decision, Handler
from dragoman._runtime.run import Run, log
from dragoman._runtime.standing import Request
from dragoman._wire import note_frames

if TYPE_CHECKING:
    from dragoman._runtime.session import Session


class Answering:
    """All requests of a run. `session_of` finds the session that an event belongs to."""

    def __init__(
        self,
        run: Run,
        policy: Policy,
        handler: Handler | None,
        session_of: Callable[[Event], "Session | None"],
    ) -> None:
        self._run = run
        self._policy = policy
        self._handler = handler
        self._session_of = session_of

    def attend(self, requests: Sequence[Request]) -> None:
        """These want an answer."""
        for request in requests:
            session = self._session_of(request)
            if isinstance(request, HostCalled) and session is not None and session.host.does(request):
                self._run.tasks.start_soon(self._serve, request, session, session.host.queue(request))
            elif (decision := self._settled(request, session)) is not None:
                self._try_to_respond(decision)
            elif self._handler is None or session is None:
                self._try_to_respond(handling.nobody(request))
            else:
                self._run.tasks.start_soon(self._ask, request, session)

    def respond(self, decision: Decision) -> bool:
        """Answer a request. False if it is no longer asked."""
        response = decision.response
        request = self._run.standing.requests.get(response.request)
        if request is None:
            return False
        files = self._run.standing.files(request)
        note = None
        if isinstance(response, Answer) or decision.rule is not None:
            note = note_frames.Decided(request=response.request, by=decision.by, rule=decision.rule)
        self._run.say(response, note)
        if isinstance(request, PermissionRequested) and isinstance(response, Answer):
            self._remember(request, response, self._session_of(request), files)
        return True

    def _settled(self, request: Request, session: "Session | None") -> Decision | None:
        return self._policy.settled(request, _place(session), self._run.standing.files(request))

    def _try_to_respond(self, decision: Decision) -> None:
        try:
            self.respond(decision)
        except DragomanError as error:
            log.warning("%s could not be answered: %s", self._run.plan.agent, error)

    async def _ask(self, request: Request, session: "Session") -> None:
        decision = await self._decision(request, session)
        if decision is not None:
            self._answer(request, decision)

    def _answer(self, request: Request, decision: Decision) -> None:
        if self._run.standing.waits(request):
            self._try_to_respond(decision)

    async def _decision(self, request: Request, session: "Session") -> Decision | None:
        """What the handler says; None if it will answer later, by hand."""
        if self._handler is None:
            return handling.nobody(request)
        try:
            verdict = await handling.ask(self._handler, request, session)
            return handling.decision(request, verdict) if verdict is not None else None
        except Exception as error:
            log.exception("the handler failed on %s %s", request.__struct_config__.tag, request.request_id)
            return handling.failed(request, error)

    def _remember(
        self, request: PermissionRequested, answer: Answer, session: "Session | None", files: Sequence[str]
    ) -> None:
        try:
            self._policy.remember(request, answer, _place(session), files)
        except OSError as error:
            log.warning("the answer holds for this session only: %s", error)

    # --- what the host does ------------------------------------------------------------------------------

    async def _serve(self, call: HostCalled, session: "Session", place: Place) -> None:
        """The handler may answer a call itself, or refuse it. If it has no opinion, the host does what is allowed."""
        async with place:
            opinion = await self._decision(call, session)
            if opinion is None:
                return
            reply = opinion.response
            if isinstance(reply, Reply) and reply.result is None and reply.error is None:
                opinion = await self._permission(call, session) or await self._done(call, session)
            self._answer(call, opinion)

    async def _permission(self, call: HostCalled, session: "Session") -> Decision | None:
        """Writing a file and running a command need the same permission as a tool that does it; where the tool
        that makes the call has got it, that is enough. None if it is given, else the refusal."""
        request = session.host.permission(call)
        if request is None or self._run.standing.allowed(call.session, call.call_id):
            return None
        decision = self._settled(request, session) or await self._decision(request, session)
        answer = decision.response if decision is not None else None
        if decision is None or not isinstance(answer, Answer):
            return Decision(Reply(request=call.request_id, error="Denied: nobody answered."))
        self._remember(request, answer, session, ())
        if answer.decision == "allow":
            return None
        refusal = Reply(request=call.request_id, error=answer.message or "Denied by the client.")
        return Decision(refusal, decision.by, decision.rule)

    async def _done(self, call: HostCalled, session: "Session") -> Decision:
        try:
            result = await session.host.do(call, self._run.tasks)
        except Refused as refusal:
            return Decision(Reply(request=call.request_id, error=str(refusal)))
        return Decision(Reply(request=call.request_id, result=result))


def _place(session: "Session | None") -> str | None:
    return session.host.cwd if session is not None else None
