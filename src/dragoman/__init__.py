"""Drive, observe, record and replay any coding agent through one typed event model that loses nothing.

    async with dragoman.open("claude", cwd=repo) as session:
        async for event in session.prompt("Fix the login bug"):
            match event:
                case dragoman.Delta(kind="text", text=text):
                    print(text, end="")

What is public is here, in `dragoman.blocking` (the same without async), `dragoman.testing`, `dragoman.untether` and
`dragoman.agent_protocol`; see docs/api.md.
Names are imported when they are first used, so that `import dragoman` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dragoman._version import __version__

if TYPE_CHECKING:
    from dragoman import blocking
    from dragoman._files.convert import convert
    from dragoman._model.capabilities import Capability
    from dragoman._model.commands import (
        Answer,
        AnswerQuestion,
        Close,
        Command,
        Compact,
        Fact,
        Fork,
        Interrupt,
        OpenSession,
        Prompt,
        Refresh,
        Reply,
        Response,
        SetMode,
        SetModel,
        SetOption,
        Steer,
    )
    from dragoman._model.config import Approve, Options, Sandbox, SessionConfig
    from dragoman._model.content import (
        AudioBlock,
        Block,
        ContentBlock,
        DiffBlock,
        ImageBlock,
        JsonBlock,
        ResourceBlock,
        ResourceLinkBlock,
        TerminalBlock,
        TextBlock,
        ThinkingBlock,
        UnknownBlock,
    )
    from dragoman._model.errors import (
        AgentFailed,
        DragomanError,
        ErrorKind,
        LimitReached,
        LoginRequired,
        NotJson,
        PermissionDenied,
        ProcessExited,
        ProtocolBroken,
        RecordingError,
        SessionNotFound,
        SpawnFailed,
        TimedOut,
        Unsupported,
        UsageError,
    )
    from dragoman._model.events import (
        AgentReady,
        AnyEvent,
        Auth,
        CommandEnded,
        ContextCompacted,
        Delta,
        Denial,
        Error,
        ErrorInfo,
        Event,
        FileChanged,
        Hook,
        HostAnswered,
        HostCalled,
        Location,
        McpServer,
        Message,
        Mode,
        NativeInvalid,
        NativeKnown,
        NativeUnknown,
        Notice,
        PermissionOption,
        PermissionRequested,
        PermissionResolved,
        PlanEntry,
        PlanUpdated,
        Plugin,
        QuestionAnswered,
        QuestionAsked,
        RateLimit,
        Retry,
        RunEnded,
        RunStarted,
        SessionCommands,
        SessionMode,
        SessionOptions,
        SessionStarted,
        SessionStatus,
        SessionUpdated,
        Skill,
        SlashCommand,
        SubagentEnded,
        SubagentStarted,
        SubagentType,
        ToolEnded,
        ToolStarted,
        ToolUpdated,
        TurnDiff,
        TurnEnded,
        TurnStarted,
        UsageUpdated,
    )
    from dragoman._model.facts import Account, Model
    from dragoman._model.frames import Exit, Frame, Launch
    from dragoman._model.result import Result
    from dragoman._model.usage import ModelUsage, Usage
    from dragoman._policy.permission import PermissionRequest
    from dragoman._projections.published import Profile, Projector, projector
    from dragoman._runtime.connection import Connection
    from dragoman._runtime.facts import Facts
    from dragoman._runtime.permission_socket import permission_listener
    from dragoman._runtime.requests import (
        LATER,
        AnswerHandler,
        AnswerReply,
        ApproveHandler,
        ApproveReply,
        Later,
        ServeHandler,
        ServeReply,
    )
    from dragoman._runtime.session import Session
    from dragoman._runtime.streams import DoneStream, EventStream, ViewStream
    from dragoman._wire.event_json import decode, encode
    from dragoman._wire.jsontext import Invalid
    from dragoman.api import ask, connect, open

__all__ = [
    "Account",
    "AgentFailed",
    "AgentReady",
    "Answer",
    "AnswerHandler",
    "AnswerQuestion",
    "AnswerReply",
    "AnyEvent",
    "Approve",
    "ApproveHandler",
    "ApproveReply",
    "AudioBlock",
    "Auth",
    "Block",
    "Capability",
    "Close",
    "Command",
    "CommandEnded",
    "Compact",
    "Connection",
    "ContentBlock",
    "ContextCompacted",
    "Delta",
    "Denial",
    "DiffBlock",
    "DoneStream",
    "DragomanError",
    "Error",
    "ErrorInfo",
    "ErrorKind",
    "Event",
    "EventStream",
    "Exit",
    "Fact",
    "Facts",
    "FileChanged",
    "Fork",
    "Frame",
    "Hook",
    "HostAnswered",
    "HostCalled",
    "ImageBlock",
    "Interrupt",
    "Invalid",
    "JsonBlock",
    "LATER",
    "Later",
    "Launch",
    "LimitReached",
    "Location",
    "LoginRequired",
    "McpServer",
    "Message",
    "Mode",
    "Model",
    "ModelUsage",
    "NativeInvalid",
    "NativeKnown",
    "NativeUnknown",
    "NotJson",
    "Notice",
    "OpenSession",
    "Options",
    "PermissionDenied",
    "PermissionOption",
    "PermissionRequest",
    "PermissionRequested",
    "PermissionResolved",
    "PlanEntry",
    "PlanUpdated",
    "Plugin",
    "ProcessExited",
    "Profile",
    "Projector",
    "Prompt",
    "ProtocolBroken",
    "QuestionAnswered",
    "QuestionAsked",
    "RateLimit",
    "RecordingError",
    "Refresh",
    "Reply",
    "ResourceBlock",
    "ResourceLinkBlock",
    "Response",
    "Result",
    "Retry",
    "RunEnded",
    "RunStarted",
    "Sandbox",
    "ServeHandler",
    "ServeReply",
    "Session",
    "SessionCommands",
    "SessionConfig",
    "SessionMode",
    "SessionNotFound",
    "SessionOptions",
    "SessionStarted",
    "SessionStatus",
    "SessionUpdated",
    "SetMode",
    "SetModel",
    "SetOption",
    "Skill",
    "SlashCommand",
    "SpawnFailed",
    "Steer",
    "SubagentEnded",
    "SubagentStarted",
    "SubagentType",
    "TerminalBlock",
    "TextBlock",
    "ThinkingBlock",
    "TimedOut",
    "ToolEnded",
    "ToolStarted",
    "ToolUpdated",
    "TurnDiff",
    "TurnEnded",
    "TurnStarted",
    "UnknownBlock",
    "Unsupported",
    "Usage",
    "UsageError",
    "UsageUpdated",
    "ViewStream",
    "__version__",
    "ask",
    "blocking",
    "connect",
    "convert",
    "decode",
    "encode",
    "open",
    "permission_listener",
    "projector",
]

_HOMES = (
    "dragoman._model.events",
    "dragoman._model.commands",
    "dragoman._model.content",
    "dragoman._model.errors",
    "dragoman._model.usage",
    "dragoman._model.facts",
    "dragoman._model.frames",
    "dragoman._model.config",
    "dragoman._model.capabilities",
    "dragoman._model.result",
    "dragoman._wire.jsontext",
    "dragoman._wire.event_json",
    "dragoman._files.convert",
    "dragoman._runtime.streams",
    "dragoman._policy.permission",
    "dragoman._runtime.requests",
    "dragoman._runtime.permission_socket",
    "dragoman._projections.published",
    "dragoman._runtime.facts",
    "dragoman._runtime.session",
    "dragoman._runtime.connection",
    "dragoman.api",
)
"""Where the public names live; the light modules first."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dragoman' has no attribute {name!r}")
    if name == "blocking":
        return import_module("dragoman.blocking")
    home = next(module for module in map(import_module, _HOMES) if hasattr(module, name))
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
