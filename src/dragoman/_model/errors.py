"""Every error this package raises.

    DragomanError
    ├── UsageError          you asked for something that cannot be
    │   ├── Unsupported     this agent cannot do that
    │   └── SessionNotFound the agent knows no such session
    ├── SpawnFailed         the agent is not installed, or did not start
    ├── AgentFailed         the agent's fault
    │   ├── ProcessExited   it ended when it should not have
    │   ├── InvalidJson     it wrote a line that is not JSON
    │   └── ProtocolError   it broke its own protocol
    ├── PermissionDenied    a denial ended the work
    ├── LimitReached        a limit you set was reached
    ├── TimedOut            a time limit you set was reached
    └── RecordingError      a recording cannot be read or written

Reading never raises for what an agent wrote (that becomes native.* and error events); these are for callers.
`fault` says whose it is; `kind` is the name that the published AgentError model gives it.
"""

from typing import ClassVar, Literal

Fault = Literal["caller", "agent", "environment", "unknown"]

Kind = Literal[
    "processSpawnFailed",
    "processExitError",
    "jsonParseError",
    "protocolError",
    "permissionDenied",
    "sessionNotFound",
    "timeout",
    "unknown",
]


class DragomanError(Exception):
    """The root. One clear sentence, and the remedy where there is one."""

    fault: ClassVar[Fault] = "unknown"
    kind: ClassVar[Kind] = "unknown"
    exit_status: ClassVar[int] = 1
    """What the command line exits with."""

    def __init__(
        self,
        message: str,
        *,
        agent: str | None = None,
        exit_code: int | None = None,
        native: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.agent = agent
        self.exit_code = exit_code
        self.native = native
        """The agent's own words, where it said something."""


class UsageError(DragomanError):
    fault = "caller"
    exit_status = 2


class Unsupported(UsageError):
    """This agent cannot do that; raised before anything is sent."""

    def __init__(self, agent: str, capability: str, hint: str = "") -> None:
        super().__init__(f"{agent} cannot do this: {capability}{'. ' + hint if hint else ''}", agent=agent)
        self.capability = capability


class SessionNotFound(UsageError):
    kind = "sessionNotFound"
    exit_status = 1


class SpawnFailed(DragomanError):
    fault = "environment"
    kind = "processSpawnFailed"
    exit_status = 3


class AgentFailed(DragomanError):
    fault = "agent"


class ProcessExited(AgentFailed):
    kind = "processExitError"


class InvalidJson(AgentFailed):
    kind = "jsonParseError"


class ProtocolError(AgentFailed):
    kind = "protocolError"


class PermissionDenied(DragomanError):
    fault = "caller"
    kind = "permissionDenied"
    exit_status = 4


class LimitReached(DragomanError):
    fault = "caller"
    exit_status = 5


class TimedOut(DragomanError):
    fault = "environment"
    kind = "timeout"
    exit_status = 124


class RecordingError(DragomanError):
    fault = "environment"
    exit_status = 2
