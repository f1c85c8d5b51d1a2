"""What went wrong in a run, by its cause."""

import pytest

from dragoman._model.errors import (
    AgentFailed,
    DragomanError,
    LimitReached,
    LoginRequired,
    NotJson,
    PermissionDenied,
    ProcessExited,
    ProtocolBroken,
    SessionNotFound,
    TimedOut,
)
from dragoman._model.events import (
    Denial,
    Error,
    ErrorInfo,
    Event,
    Message,
    NativeInvalid,
    NativeUnknown,
    PermissionResolved,
    RunEnded,
    TurnEnded,
)
from dragoman._model.result import Verdict

NOISE = NativeInvalid(origin="agent")
STRANGE = NativeUnknown(origin="agent")
SPEECH = Message(origin="agent", role="assistant", text="hello")
CUT = TurnEnded(outcome="truncated", synthesized=True)


def failed(error: ErrorInfo | None = None) -> TurnEnded:
    return TurnEnded(outcome="failed", error=error)


@pytest.mark.parametrize(
    ("events", "kind", "raised"),
    [
        ([SPEECH, failed(ErrorInfo(message="no", kind="loginRequired"))], "loginRequired", LoginRequired),
        ([failed(ErrorInfo(message="no", kind="sessionNotFound"))], "sessionNotFound", SessionNotFound),
        ([Error(message="v9", scope="protocol", kind="protocolError")], "protocolError", ProtocolBroken),
        ([Error(message="v9", scope="protocol", kind="protocolError"), CUT], "protocolError", ProtocolBroken),
        ([NOISE, NOISE], "jsonParseError", NotJson),
        ([NOISE, CUT], "jsonParseError", NotJson),
        ([STRANGE, CUT], "jsonParseError", NotJson),
        ([NOISE, STRANGE], "jsonParseError", NotJson),
        ([STRANGE, SPEECH, CUT], "processExitError", ProcessExited),
        ([NOISE, SPEECH, NOISE, CUT], "processExitError", ProcessExited),
        ([SPEECH, NOISE, CUT], "processExitError", ProcessExited),
        ([], "processExitError", ProcessExited),
        ([SPEECH, TurnEnded(outcome="limited")], "limitReached", LimitReached),
        (
            [PermissionResolved(request_id="1", outcome="denied"), TurnEnded(outcome="cancelled")],
            "permissionDenied",
            PermissionDenied,
        ),
        ([TurnEnded(outcome="failed", denials=[Denial()])], "permissionDenied", PermissionDenied),
        ([SPEECH, TurnEnded(outcome="refused")], "unknown", AgentFailed),
        ([SPEECH, TurnEnded(outcome="cancelled")], "unknown", AgentFailed),
    ],
)
def test_each_cause_has_its_error(events: list[Event], kind: str, raised: type[DragomanError]) -> None:
    verdict = Verdict([*events, RunEnded(outcome="failed", exit_code=1)])
    assert verdict.error is not None
    assert verdict.error.kind == kind
    error = verdict.raised("toy", "log in like this")
    assert type(error) is raised
    assert error.kind == kind
    assert ("log in like this" in error.message) == (kind == "loginRequired")


def test_an_error_that_passed_is_none() -> None:
    passed = Error(message="again", scope="session", will_retry=True, kind="protocolError")
    verdict = Verdict([passed, SPEECH, TurnEnded(outcome="completed"), RunEnded(outcome="completed")])
    assert verdict.error is None
    assert verdict.raised("toy") is None


def test_a_run_that_was_not_in_time_is_late_whatever_its_turn_says() -> None:
    verdict = Verdict([TurnEnded(outcome="completed"), RunEnded(outcome="timeout")])
    assert type(verdict.raised("toy")) is TimedOut


@pytest.mark.parametrize(("line", "began"), [(NOISE, False), (STRANGE, False), (SPEECH, True)])
def test_noise_is_no_beginning(line: Event, began: bool) -> None:
    assert Verdict([line, CUT, RunEnded(outcome="timeout")]).began is began


def test_the_agents_own_words_and_code_stay() -> None:
    said = ErrorInfo(message="Not logged in", code="authentication_failed", kind="loginRequired")
    verdict = Verdict([failed(said), RunEnded(outcome="failed")])
    assert verdict.error == said
