"""The native lines of Gemini CLI's session files, as far as they mean something."""

from typing import Any

from msgspec import Struct, field

from dragoman._wire.jsontext import Reader


class Thought(Struct):
    subject: str | None = None
    description: str | None = None
    timestamp: str | None = None


class Tokens(Struct):
    """Of one request. `input` includes `cached`, but not `tool`: what tools of the API put into the prompt. `output` does
    not include `thoughts`."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    thoughts: int | None = None
    tool: int | None = None
    total: int | None = None


class ToolCall(Struct):
    id: str = ""
    name: str = ""
    args: Any = None
    result: Any = None
    """Parts of the answer to the model: functionResponse, inlineData."""
    status: str | None = None
    timestamp: str | None = None
    resultDisplay: Any = None
    """What a person is shown: a text, a diff, lists, or lines of a terminal."""
    description: str | None = None
    displayName: str | None = None
    agentId: str | None = None
    renderOutputAsMarkdown: bool | None = None


class Entry(Struct, kw_only=True):
    """One message. It is written again whenever it grows: the last line of an id is the message."""

    id: str = ""
    type: str = ""
    timestamp: str | None = None
    content: Any = None
    """A text, or parts."""
    displayContent: Any = None
    """What the user typed, where the CLI made something else of it."""
    thoughts: list[Thought] | None = None
    tokens: Tokens | None = None
    model: str | None = None
    toolCalls: list[ToolCall] | None = None


class Head(Struct, kw_only=True):
    """The first line of a file, and again of every process that goes on with it. Old files are just this, with
    all messages inside."""

    sessionId: str | None = None
    projectHash: str | None = None
    startTime: str | None = None
    lastUpdated: str | None = None
    kind: str | None = None
    directories: list[str] | None = None
    summary: str | None = None
    messages: list[Entry] = field(default_factory=list)


class Facts(Struct, kw_only=True):
    sessionId: str | None = None
    lastUpdated: str | None = None
    summary: str | None = None
    memoryScratchpad: Any = None
    directories: list[str] | None = None
    messages: list[Entry] | None = None
    """All messages, in place of those so far."""


class Update(Struct, kw_only=True):
    set: Facts = field(name="$set", default_factory=Facts)


class Rewind(Struct, kw_only=True):
    to: str = field(name="$rewindTo", default="")


Line = Entry | Head | Update | Rewind


class Marks(Struct):
    """The fields that tell what a line is."""

    set: Any = field(name="$set", default=None)
    rewind: Any = field(name="$rewindTo", default=None)
    sessionId: Any = None
    id: Any = None
    type: Any = None


def choose(marks: Marks) -> type[Line] | None:
    """What a line is read as; None if this version does not know it."""
    if marks.rewind is not None:
        return Rewind
    if marks.set is not None:
        return Update
    if isinstance(marks.id, str) and isinstance(marks.type, str):
        return Entry
    return Head if isinstance(marks.sessionId, str) else None


READER: Reader[Marks, Line] = Reader(Marks, choose)

NAMES: dict[type[Line], str] = {Entry: "message", Head: "header", Update: "$set", Rewind: "$rewindTo"}


def native_type(line: Line) -> str:
    """What a line is called, for those that say nothing else."""
    if isinstance(line, Entry):
        return line.type
    if isinstance(line, Update):
        said = (name for name in line.set.__struct_fields__ if getattr(line.set, name) is not None)
        return "/".join(("$set", *said))
    return NAMES[type(line)]
