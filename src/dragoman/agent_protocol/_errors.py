"""AgentError and its types, by specification 004 §9.4."""

from enum import StrEnum

from dragoman._model.errors import DragomanError


class AgentErrorType(StrEnum):
    processSpawnFailed = "processSpawnFailed"
    processExitError = "processExitError"
    jsonParseError = "jsonParseError"
    protocolError = "protocolError"
    permissionDenied = "permissionDenied"
    sessionNotFound = "sessionNotFound"
    timeout = "timeout"
    unknown = "unknown"
    """Anything else, such as a limit that was reached or a login that is missing; the message says which."""


class AgentError(Exception):
    """Why a session did not come about, or did not go on."""

    def __init__(
        self,
        type: AgentErrorType,
        message: str,
        *,
        native_error: str | None = None,
        agent_type: str | None = None,
        exit_code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.type = type
        self.message = message
        self.native_error = native_error
        """The agent's own words, where it said something."""
        self.agent_type = agent_type
        self.exit_code = exit_code
        """What its process exited with, where it did."""

    def __str__(self) -> str:
        return f"AgentError({self.type.value}): {self.message}"


def agent_error(error: DragomanError) -> AgentError:
    """The AgentError that an error of ours is."""
    known = error.kind in AgentErrorType.__members__
    return AgentError(
        AgentErrorType(error.kind) if known else AgentErrorType.unknown,
        error.message,
        native_error=error.native,
        agent_type=error.agent,
        exit_code=error.exit_code,
    )
