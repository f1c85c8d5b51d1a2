"""The native lines of Qwen Code's session files, as far as they mean something."""

from typing import Any, Final

from msgspec import Struct, field

from dragoman._wire.jsontext import Reader


class Content(Struct):
    role: str | None = None
    parts: Any = None


class Tokens(Struct):
    """Of one call. The prompt includes what was cached. Whether the candidates include the thoughts depends on the API; the
    total tells."""

    promptTokenCount: int | None = None
    candidatesTokenCount: int | None = None
    thoughtsTokenCount: int | None = None
    cachedContentTokenCount: int | None = None
    totalTokenCount: int | None = None


class Result(Struct):
    callId: str | None = None
    status: str | None = None
    """A subagent's has none."""
    executionStatus: str | None = None
    resultDisplay: Any = None
    """What a person is shown: a text, a diff, or what became of a command or a subagent."""
    error: Any = None
    errorType: str | None = None
    durationMs: int | float | None = None


class Origin(Struct):
    """Where a fork copied a line from."""

    sessionId: str | None = None
    messageUuid: str | None = None


class Record(Struct, kw_only=True):
    uuid: str | None = None
    parentUuid: str | None = None
    sessionId: str | None = None
    timestamp: str | None = None
    type: str = ""
    subtype: str | None = None
    provenance: str | None = None
    cwd: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    model: str | None = None
    message: Content = field(default_factory=Content)
    usageMetadata: Tokens | None = None
    toolCallResult: Result | None = None
    systemPayload: Any = None
    forkedFrom: Origin | None = None
    agentId: str | None = None
    """The subagent whose line it is."""
    agentName: str | None = None
    isSidechain: bool | None = None
    agentRunId: str | None = None
    agentRound: int | None = None


TYPES: Final = frozenset(("user", "assistant", "tool_result", "system"))


class Header(Struct):
    type: str = ""


def choose(header: Header | Record) -> type[Record] | None:
    """What a line is read as; None if this version does not know its type."""
    return Record if header.type in TYPES else None


READER: Reader[Header | Record, Record] = Reader(Header, choose, Record, Record)


def native_type(record: Record) -> str:
    """What a line is called: by its type and subtype; telemetry by its event, too."""
    said = [record.type, record.subtype]
    if record.subtype == "ui_telemetry" and isinstance(record.systemPayload, dict):
        event = record.systemPayload.get("uiEvent")
        name = event.get("event.name") if isinstance(event, dict) else None
        said.append(name if isinstance(name, str) else None)
    return "/".join(filter(None, said))
