"""What a model is to say: a script of turns, in words that belong to no vendor's API.

A turn is written in the shortest form that says it: a string, one block, a list of blocks, or `turn(...)` where
it needs more than content. The same forms are read from JSON (`load`), where a block is an object with a `type`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from .request import Request


class Block(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """One piece of a turn."""


class Text(Block, frozen=True, tag="text"):
    """Something that the model says."""

    text: str


class Thinking(Block, frozen=True, tag="thinking"):
    """Something that the model thinks aloud."""

    text: str
    signature: str = "c2lnbmF0dXJl"


class RedactedThinking(Block, frozen=True, tag="redacted_thinking"):
    """Thinking that the API hides: base64 `data`."""

    data: str


class ToolCall(Block, frozen=True, tag="tool"):
    """A tool that the model calls, with its input."""

    name: str
    input: dict[str, Any] = {}
    id: str = ""
    """The call's id; counted (`toolu_0001` …) when empty."""
    raw: str = ""
    """The streamed text of the input, where it shall not be the JSON of `input` (broken JSON, odd spacing)."""


class Native(Block, frozen=True, tag="native"):
    """A block in the API's own words, sent as it is."""

    block: dict[str, Any]


AnyBlock: TypeAlias = Text | Thinking | RedactedThinking | ToolCall | Native


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens. The three parts of the prompt do not overlap; an API that counts them together adds them up."""

    input: int = 100
    cache_read: int = 50
    cache_write: int = 10
    output: int = 20


class Error(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An error of the API: what is sent instead of an answer, or at the end of one that is cut."""

    status: int = 500
    message: str = "scripted error"
    type: str = ""
    """The API's word for it; the usual one for the status when empty."""


class Cut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The connection drops after so many events of the stream (negative: so many before its end).

    With an `error` the API says it as the last event of the stream. `Cut(0)` drops the connection with not one
    byte sent. An answer that is not streamed is dropped halfway.
    """

    after: int
    error: Error | None = None


class Hold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer stops after so many events until the test opens the gate (`model.open(gate)`)."""

    gate: str
    after: int = 0


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of the model."""

    content: tuple[AnyBlock, ...] = ()
    usage: Usage = Usage()
    stop: str = ""
    """Why the model stopped: end, tool, length, refusal, pause, or the API's own word. Found from the content when empty."""
    model: str = ""
    """The model that says it answered; the one asked for when empty."""
    headers: dict[str, str] = {}
    error: Error | None = None
    cut: Cut | None = None
    hold: Hold | None = None
    delay: float = 0
    """Seconds before the first byte."""
    chunk: int = 24
    """Characters per streamed piece."""
    chunk_delay: float = 0
    """Seconds after each event."""


BlockLike: TypeAlias = Block | str | Mapping[str, Any]
"""A block; text as a string; or a block as JSON has it."""
TurnLike: TypeAlias = Turn | Error | BlockLike | Iterable[BlockLike]
"""One answer of the model: a turn, an error, a block, or several blocks."""
Step: TypeAlias = TurnLike | Callable[[Request], TurnLike]
"""A turn, or a function that makes it of the request, for answers that repeat something an agent said."""

Played: TypeAlias = Turn | Callable[[Request], TurnLike]

SIDE_ANSWERS: Mapping[str, str] = {"title": '{"title": "Scripted title"}', "": "ok"}
ROUTE = re.compile(r"[A-Za-z0-9_-]+")
RESERVED = frozenset({"main", "side", "compact"})


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """All that a model is to say. Build it with `script()` or `load()`."""

    turns: tuple[Played, ...] = ()
    """The answers to the main conversation, one after the other."""
    routes: dict[str, tuple[Played, ...]] = {}
    """Turns of their own for conversations whose user text holds `[[name]]`: subagents, parallel sessions."""
    compact: tuple[Played, ...] = ()
    """Answers to requests for a summary of the conversation; a canned one when used up."""
    side: dict[str, str] | None = {}
    """Answers to requests that offer no tools (titles and the like), by a text that the request holds.
    None: there are no such requests, all take a turn."""
    repeat_last: bool = False
    """Say the last turn again when all are used up, instead of "(script exhausted)"."""


def text(words: str) -> Text:
    """A block of text."""
    return Text(words)


def thinking(words: str) -> Thinking:
    """A block of thinking."""
    return Thinking(words)


def tool(name: str, /, **input: Any) -> ToolCall:
    """A call of a tool: `tool("Bash", command="ls")`."""
    return ToolCall(name, input)


def turn(
    *content: BlockLike,
    usage: Usage | None = None,
    stop: str = "",
    model: str = "",
    headers: Mapping[str, str] | None = None,
    error: Error | None = None,
    cut: Cut | None = None,
    hold: Hold | None = None,
    delay: float = 0,
    chunk: int = 24,
    chunk_delay: float = 0,
) -> Turn:
    """A turn that needs more than its content: `turn("Hello", usage=Usage(output=9), hold=Hold("go"))`. The other
    arguments are the fields of Turn."""
    return Turn(
        content=tuple(map(as_block, content)),
        usage=usage or Usage(),
        stop=stop,
        model=model,
        headers=dict(headers or {}),
        error=error,
        cut=cut,
        hold=hold,
        delay=delay,
        chunk=chunk,
        chunk_delay=chunk_delay,
    )


def error(
    status: int, message: str = "scripted error", *, type: str = "", headers: Mapping[str, str] | None = None
) -> Turn:
    """A turn in which the API refuses the request: `error(429, headers={"retry-after": "0"})`."""
    return Turn(error=Error(status, message, type), headers=dict(headers or {}))


def script(
    turns: Iterable[Step] = (),
    *,
    routes: Mapping[str, Iterable[Step]] | None = None,
    compact: Iterable[Step] = (),
    side: Mapping[str, str] | None = SIDE_ANSWERS,
    repeat_last: bool = False,
) -> Script:
    """All that a model is to say, turn by turn; the arguments are the fields of Script. Raises ValueError for a
    route that cannot be named so."""
    for name in routes or ():
        if name in RESERVED or not ROUTE.fullmatch(name):
            raise ValueError(f"not a name for a route: {name!r}")
    return Script(
        turns=tuple(map(as_step, turns)),
        routes={name: tuple(map(as_step, steps)) for name, steps in (routes or {}).items()},
        compact=tuple(map(as_step, compact)),
        side=None if side is None else {**side, **{k: v for k, v in SIDE_ANSWERS.items() if k not in side}},
        repeat_last=repeat_last,
    )


def load(path: str | Path) -> Script:
    """A script from a JSON file: the arguments of `script` as one object."""
    # The standard parser and not msgspec's: scripts may hold lone surrogates, which real agents do send.
    return script(**json.loads(Path(path).read_text("utf-8")))


def as_step(value: Step) -> Played:
    return value if callable(value) else as_turn(value)


def as_turn(value: TurnLike) -> Turn:
    if isinstance(value, Turn):
        return value
    if isinstance(value, Error):
        return Turn(error=value)
    if isinstance(value, Mapping) and "type" not in value:
        content = tuple(map(as_block, value.get("content", ())))
        return msgspec.convert({**value, "content": content}, Turn)
    if isinstance(value, (str, Block, Mapping)):
        return Turn(content=(as_block(value),))
    return Turn(content=tuple(map(as_block, value)))


def as_block(value: BlockLike) -> AnyBlock:
    if isinstance(value, str):
        return Text(value)
    block: AnyBlock = msgspec.convert(value, AnyBlock)
    return block
