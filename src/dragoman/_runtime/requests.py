"""Who answers what an agent asks: a handler, or, where there is none, a plain no. Never silence."""

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal

from anyio import CapacityLimiter, to_thread
from msgspec import Struct

from dragoman._model.commands import Answer, AnswerQuestion, Reply
from dragoman._model.events import HostCalled, PermissionRequested
from dragoman._runtime.standing import Request

if TYPE_CHECKING:
    from dragoman._runtime.session import Session

Response = Answer | AnswerQuestion | Reply


By = Literal["client", "policy", "timeout"]


class Ruling(Struct, frozen=True, kw_only=True):
    """A verdict with its reason: which rule gave it. It is recorded with the answer."""

    verdict: bool | Response
    rule: str | None = None
    by: By = "policy"


class Decision(Struct, frozen=True):
    """An answer, ready to be sent, and who gave it."""

    response: Response
    by: By = "client"
    rule: str | None = None


Verdict = bool | Response | Ruling | None
"""True or False; or an answer in full; None if it will be given later, by hand."""

Handler = Callable[[Request, "Session"], Verdict | Awaitable[Verdict]]

NOBODY = (
    "Denied: nobody was there to ask. Open the session with a handler (approve=...) that answers such requests, "
    "or with an approve mode that allows them."
)


async def ask(handler: Handler, request: Request, session: "Session") -> Verdict:
    """What the handler says. One that is no coroutine function may block, so it gets a thread."""
    method = getattr(handler, "__call__", handler)  # noqa: B004 - that of a callable object
    if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(method):
        verdict = handler(request, session)
    else:
        # In a tuple, since trio takes a function that returns an awaitable for a mistake.
        (verdict,) = await to_thread.run_sync(
            lambda: (handler(request, session),), abandon_on_cancel=True, limiter=CapacityLimiter(1)
        )
    return await verdict if inspect.isawaitable(verdict) else verdict


def decision(request: Request, verdict: bool | Response | Ruling) -> Decision:
    if isinstance(verdict, Ruling):
        return Decision(response_to(request, verdict.verdict), verdict.by, verdict.rule)
    return Decision(response_to(request, verdict))


def response_to(request: Request, verdict: bool | Response) -> Response:
    """The answer that a bare yes or no means."""
    if not isinstance(verdict, bool):
        return verdict
    if isinstance(request, PermissionRequested):
        return Answer(request=request.request_id, decision="allow" if verdict else "deny")
    if isinstance(request, HostCalled):
        return Reply(request=request.request_id, error=None if verdict else "The client refuses this call.")
    return AnswerQuestion(request=request.request_id, action="accepted" if verdict else "declined")


def nobody(request: Request) -> Decision:
    """The answer where there is no handler. A host call gets none: no opinion."""
    return Decision(_refusal(request, NOBODY, host_error=None), "policy", "no handler")


def failed(request: Request, error: Exception) -> Decision:
    """The answer where the handler raised."""
    why = f"Denied: the handler that was asked failed with {type(error).__name__}: {error}"
    return Decision(_refusal(request, why, host_error=why), "policy", "handler failed")


def _refusal(request: Request, message: str, host_error: str | None) -> Response:
    if isinstance(request, PermissionRequested):
        return Answer(request=request.request_id, decision="deny", message=message)
    if isinstance(request, HostCalled):
        return Reply(request=request.request_id, error=host_error)
    return AnswerQuestion(request=request.request_id, action="cancelled")
