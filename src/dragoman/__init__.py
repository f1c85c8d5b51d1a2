"""Drive, observe, record and replay any coding agent through one typed event model that loses nothing.

    async with dragoman.open("claude", cwd=repo) as session:
        async for event in session.prompt("Fix the login bug"):
            match event:
                case dragoman.Delta(kind="text", text=text):
                    print(text, end="")

Everything public is here. Names are imported when they are first used, so that `import dragoman` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dragoman.version import __version__

if TYPE_CHECKING:
    from dragoman import blocking
    from dragoman.agents.opening import Result, ask, open
    from dragoman.model.capabilities import Capability
    from dragoman.model.commands import (
        Answer,
        AnswerQuestion,
        Close,
        Command,
        Compact,
        Fork,
        Interrupt,
        Prompt,
        Reply,
        SetMode,
        SetModel,
        SetOption,
        Steer,
    )
    from dragoman.model.config import SessionConfig
    from dragoman.model.content import (
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
    from dragoman.model.errors import (
        AgentFailed,
        DragomanError,
        InvalidJson,
        LimitReached,
        PermissionDenied,
        ProcessExited,
        ProtocolError,
        RecordingError,
        SessionNotFound,
        SpawnFailed,
        TimedOut,
        Unsupported,
        UsageError,
    )
    from dragoman.model.events import (
        AgentReady,
        AnyEvent,
        Auth,
        CommandEnded,
        ContextCompacted,
        Delta,
        Error,
        Event,
        FileChanged,
        Hook,
        HostAnswered,
        HostCalled,
        Message,
        NativeInvalid,
        NativeKnown,
        NativeUnknown,
        Notice,
        PermissionRequested,
        PermissionResolved,
        PlanUpdated,
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
        SubagentEnded,
        SubagentStarted,
        ToolEnded,
        ToolStarted,
        ToolUpdated,
        TurnEnded,
        TurnStarted,
        UsageUpdated,
    )
    from dragoman.model.frames import Exit, Frame, Launch
    from dragoman.model.usage import ModelUsage, Usage
    from dragoman.runtime.session import Session
    from dragoman.store.convert import convert
    from dragoman.wire.canonical import decode, encode

_HOMES = {
    "dragoman.agents.opening": "Result ask open",
    "dragoman.model.capabilities": "Capability",
    "dragoman.model.commands": "Answer AnswerQuestion Close Command Compact Fork Interrupt Prompt Reply SetMode "
    "SetModel SetOption Steer",
    "dragoman.model.config": "SessionConfig",
    "dragoman.model.content": "AudioBlock Block ContentBlock DiffBlock ImageBlock JsonBlock ResourceBlock "
    "ResourceLinkBlock TerminalBlock TextBlock ThinkingBlock UnknownBlock",
    "dragoman.model.errors": "AgentFailed DragomanError InvalidJson LimitReached PermissionDenied ProcessExited "
    "ProtocolError RecordingError SessionNotFound SpawnFailed TimedOut Unsupported UsageError",
    "dragoman.model.events": "AgentReady AnyEvent Auth CommandEnded ContextCompacted Delta Error Event "
    "FileChanged Hook HostAnswered HostCalled Message NativeInvalid NativeKnown NativeUnknown Notice "
    "PermissionRequested PermissionResolved PlanUpdated QuestionAnswered QuestionAsked RateLimit Retry RunEnded "
    "RunStarted SessionCommands SessionMode SessionOptions SessionStarted SessionStatus SessionUpdated "
    "SubagentEnded SubagentStarted ToolEnded ToolStarted ToolUpdated TurnEnded TurnStarted UsageUpdated",
    "dragoman.model.frames": "Exit Frame Launch",
    "dragoman.model.usage": "ModelUsage Usage",
    "dragoman.runtime.session": "Session",
    "dragoman.store.convert": "convert",
    "dragoman.wire.canonical": "decode encode",
}
"""Which module each public name lives in. tests/test_exports.py keeps this and the imports above alike."""

_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = ["__version__", "blocking", *_HOME]


def __getattr__(name: str) -> Any:
    if name == "blocking":
        value: Any = import_module("dragoman.blocking")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'dragoman' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
