"""The words of the specification "CLI Agent Streaming Protocol" (004), for programs written by it.

    client = AgentClient()
    session = await client.start_session(SessionConfig(agent_type=AgentType.claude, prompt="Fix the login bug"))
    async for event in session.events:
        match event:
            case TextChunkEvent(content=content):
                print(content, end="")

Thin over `dragoman.open`: whatever that takes, `AgentClient` and `start_session` take by name, and `session.session` is
the session beneath. docs/agent-protocol.md has the whole example, and what is said differently from the specification.
"""

from dragoman._dialects.agent_event.messages import (
    AgentEvent,
    ErrorEvent,
    FileChangedEvent,
    RawDeltaEvent,
    ReasoningEvent,
    RetryEvent,
    SessionEndedEvent,
    SessionStartedEvent,
    SystemEvent,
    TextChunkEvent,
    TodoItem,
    TodoListEvent,
    TokenUsage,
    ToolCompletedEvent,
    ToolProgressEvent,
    ToolStartedEvent,
    TurnCompletedEvent,
    TurnStartedEvent,
)
from dragoman.agent_protocol._adapters import ClaudeAdapter, CodexAdapter, GeminiAdapter, ProtocolAdapter
from dragoman.agent_protocol._client import AgentClient, AgentSession
from dragoman.agent_protocol._config import (
    AgentType,
    ApprovalMode,
    FileChangeType,
    SandboxMode,
    SessionConfig,
    SessionEndReason,
)
from dragoman.agent_protocol._errors import AgentError, AgentErrorType
from dragoman.agent_protocol._transport import MockTransport, StdioTransport, Transport

__all__ = [
    "AgentClient",
    "AgentError",
    "AgentErrorType",
    "AgentEvent",
    "AgentSession",
    "AgentType",
    "ApprovalMode",
    "ClaudeAdapter",
    "CodexAdapter",
    "ErrorEvent",
    "FileChangeType",
    "FileChangedEvent",
    "GeminiAdapter",
    "MockTransport",
    "ProtocolAdapter",
    "RawDeltaEvent",
    "ReasoningEvent",
    "RetryEvent",
    "SandboxMode",
    "SessionConfig",
    "SessionEndReason",
    "SessionEndedEvent",
    "SessionStartedEvent",
    "StdioTransport",
    "SystemEvent",
    "TextChunkEvent",
    "TodoItem",
    "TodoListEvent",
    "TokenUsage",
    "ToolCompletedEvent",
    "ToolProgressEvent",
    "ToolStartedEvent",
    "Transport",
    "TurnCompletedEvent",
    "TurnStartedEvent",
]
