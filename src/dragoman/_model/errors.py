"""Every error this package raises.

    DragomanError
    ├── UsageError          you asked for something that cannot be
    │   ├── Unsupported     this agent cannot do that
    │   └── SessionNotFound the agent knows no such session
    ├── SpawnFailed         the agent is not installed, or did not start
    ├── LoginRequired       nobody is logged in, or the key is not accepted
    ├── AgentFailed         the agent's fault
    │   ├── ProcessExited   it ended when it should not have
    │   ├── ProtocolBroken  it does not keep to its protocol, and nothing can go on
    │   └── NotJson         what it writes is no JSON of its protocol, and nothing else came of it
    ├── PermissionDenied    a denial ended the work
    ├── LimitReached        a limit you set was reached
    ├── TimedOut            a time limit you set was reached
    ├── RecordingError      a recording cannot be read or written
    └── NotAsRecorded       the program sends something else than the recording that plays its agent

Reading never raises for what an agent wrote (that becomes native.* and error events); these are for callers.
`fault` says whose it is; `kind` is the cause in one word, the same in errors and in events (`ErrorInfo.kind`): the
eight of the published AgentError model, and two that it has no word for (`limitReached`, `loginRequired`).
"""

from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from dragoman._model.result import Result

Fault = Literal["caller", "agent", "environment", "unknown"]

ErrorKind = Literal[
    "processSpawnFailed",
    "processExitError",
    "jsonParseError",
    "protocolError",
    "permissionDenied",
    "sessionNotFound",
    "timeout",
    "limitReached",
    "loginRequired",
    "unknown",
]
"""The causes of errors."""


class DragomanError(Exception):
    """The root of all errors here. `message` is one clear sentence, with the remedy where there is one."""

    fault: ClassVar[Fault] = "unknown"
    """Whose fault it is."""
    kind: ClassVar[ErrorKind] = "unknown"
    """Its cause in one word."""
    exit_status: ClassVar[int] = 1
    """What the command line exits with."""

    message: str
    """One clear sentence, with the remedy where there is one."""
    agent: str | None
    """The agent that was asked, where there was one."""
    exit_code: int | None
    """What the agent's process exited with, where it did."""
    native: str | None
    """The agent's own words, where it said something."""
    result: "Result | None"
    """What came of it all the same: set by `ask(check=True)`."""

    def __init__(
        self,
        message: str,
        *,
        agent: str | None = None,
        exit_code: int | None = None,
        native: str | None = None,
        result: "Result | None" = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.agent = agent
        self.exit_code = exit_code
        self.native = native
        self.result = result


class UsageError(DragomanError):
    """You asked for something that cannot be: an option that there is not, a value that a field cannot hold, a
    command to a session that is closed. Raised before anything is sent."""

    fault: ClassVar[Fault] = "caller"
    exit_status: ClassVar[int] = 2


class Unsupported(UsageError):
    """This agent cannot do that; raised before anything is sent."""

    capability: str
    """What it cannot do: a Capability, or an option with its value."""

    def __init__(self, agent: str, capability: str, hint: str = "") -> None:
        super().__init__(f"{agent} cannot do this: {capability}{'. ' + hint if hint else ''}", agent=agent)
        self.capability = capability


class SessionNotFound(UsageError):
    """The agent does not open the session that is to be resumed."""

    kind: ClassVar[ErrorKind] = "sessionNotFound"
    exit_status: ClassVar[int] = 1


class SpawnFailed(DragomanError):
    """The agent is not installed, or its program did not start."""

    fault: ClassVar[Fault] = "environment"
    kind: ClassVar[ErrorKind] = "processSpawnFailed"
    exit_status: ClassVar[int] = 3


class LoginRequired(DragomanError):
    """Nobody is logged in to the agent, or its key is not accepted; the message says how to log in."""

    fault: ClassVar[Fault] = "environment"
    kind: ClassVar[ErrorKind] = "loginRequired"
    exit_status: ClassVar[int] = 77


class AgentFailed(DragomanError):
    """The agent did not do what it was asked, by its own fault."""

    fault: ClassVar[Fault] = "agent"


class ProcessExited(AgentFailed):
    """The agent's process ended before it should have; `exit_code` and `native` (its stderr) say how."""

    kind: ClassVar[ErrorKind] = "processExitError"


class ProtocolBroken(AgentFailed):
    """The agent does not keep to its protocol in a way that nothing can go on: it refuses the first request, or speaks
    another version, or its answer names no session."""

    kind: ClassVar[ErrorKind] = "protocolError"


class NotJson(AgentFailed):
    """What the agent wrote is no JSON, or none that its protocol has, and nothing else came of it."""

    kind: ClassVar[ErrorKind] = "jsonParseError"


class PermissionDenied(DragomanError):
    """A denial ended the work. Raised by `ask(check=True)`."""

    fault: ClassVar[Fault] = "caller"
    kind: ClassVar[ErrorKind] = "permissionDenied"
    exit_status: ClassVar[int] = 4


class LimitReached(DragomanError):
    """A limit that you set ended the work (`max_turns`, `max_cost_usd` …). Raised by `ask(check=True)`."""

    fault: ClassVar[Fault] = "caller"
    kind: ClassVar[ErrorKind] = "limitReached"
    exit_status: ClassVar[int] = 5


class TimedOut(DragomanError):
    """A time limit that you set ended the work, or the wait for a session that another run is at work in."""

    fault: ClassVar[Fault] = "environment"
    kind: ClassVar[ErrorKind] = "timeout"
    exit_status: ClassVar[int] = 124


class RecordingError(DragomanError):
    """A recording cannot be read or written."""

    fault: ClassVar[Fault] = "environment"
    exit_status: ClassVar[int] = 2


class NotAsRecorded(DragomanError):
    """A recording plays the agent, and the program sends it something else than was recorded."""

    fault: ClassVar[Fault] = "caller"

    recorded: str
    """The line that was recorded at this place."""
    sent: str
    """The line that came."""

    def __init__(self, message: str, *, recorded: str, sent: str) -> None:
        super().__init__(message)
        self.recorded = recorded
        self.sent = sent
