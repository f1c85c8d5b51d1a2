"""Secrets that come in pieces: over the deltas of a stream, over two looks at a terminal.

Every frame is written at once, so nothing waits here. Of a piece that ends in what may be the beginning of a secret
that end is left out, and stands at the beginning of the next piece if it was none after all: the pieces together say
what the whole text would say without its secrets. Lost is only what is left out when a text ends there.
"""

import json
from base64 import b64decode, b64encode
from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._model.frames import Frame
from dragoman._wire.redacted_lines import WORD, RedactedLines, is_mixed, is_much, shortened
from dragoman._wire.redaction import REDACTED, Redactor, decoded, replaced_text, without
from dragoman._wire.secret_forms import Span

CONTEXT: Final = 128
"""Bytes before a piece that tell what it is about: the name before a value, say."""
MOST_STREAMS: Final = 64


class Shape(Struct, frozen=True):
    """Where a dialect has pieces of text: by paths of keys, the texts and what tells one stream from another."""

    marks: tuple[bytes, ...]
    """One of them is on every such line."""
    texts: tuple[tuple[str, ...], ...]
    ids: tuple[tuple[str, ...], ...]


def _paths(*paths: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(path.split(".")) for path in paths)


SHAPES: Final = {
    "claude_stream": Shape(
        (b'"content_block_delta"',),
        _paths("event.delta.text", "event.delta.thinking", "event.delta.partial_json"),
        _paths("parent_tool_use_id", "event.index"),
    ),
    "codex_app": Shape(
        (b'elta"', b'eltaBase64"'),
        _paths("params.delta", "params.deltaBase64"),
        _paths("method", "params.threadId", "params.itemId", "params.processId", "params.stream"),
    ),
    "gemini_stream": Shape((b'"delta"',), _paths("content"), _paths("role")),
    # In `_meta` as in the capture shell_zedmeta of claude-agent-acp; terminal_output_chunk has base64.
    "acp": Shape(
        (b'_chunk"', b'"terminal_output'),
        _paths(
            "params.update.content.text",
            "params.update.content.content.text",
            "params.update.data",
            "params.update._meta.terminal_output.data",
            "params.update._meta.terminal_output_delta.data",
        ),
        _paths(
            "params.sessionId",
            "params.update.sessionUpdate",
            "params.update.toolCallId",
            "params.update.terminalId",
        ),
    ),
    "events": Shape(
        (b'"type":"delta"',),
        _paths("text"),
        _paths("session", "parent", "message_id", "block", "kind", "call_id"),
    ),
}
"""By dialect; the others have no pieces."""

_BASE64: Final = (("params", "deltaBase64"), ("params", "update", "data"))
_POLLED: Final = ("result", "output")
"""What a terminal shows, all of it every time: the answer to `terminal/output`."""


class FrameRedactor:
    """Takes the secrets out of the frames of one run, in the order in which they come."""

    def __init__(self, redactor: Redactor, dialect: str) -> None:
        self._redactor = redactor
        self._shape = SHAPES.get(dialect, Shape((), (), ()))
        self._streams: dict[Any, _Pieces] = {}
        self._lines = {"out": RedactedLines(redactor), "err": RedactedLines(redactor)}

    def line(self, frame: Frame) -> bytes:
        """The frame's line without what is secret in it, or belongs to a secret that other frames have the rest of."""
        line = frame.line
        if frame.dir == "err" or (frame.dir == "out" and line.lstrip()[:1] not in (b"{", b"[")):
            return self._lines[frame.dir].take(line)
        if any(mark in line for mark in self._shape.marks):
            line = self._pieces(line)
        elif frame.dir == "in" and b'"output"' in line:
            line = self._polled(line)
        elif frame.dir == "out":
            for pieces in self._streams.values():
                pieces.end()
        return self._redactor.line(line)

    def _pieces(self, line: bytes) -> bytes:
        said = _parsed(line)
        ids = tuple(str(_at(said, path)) for path in self._shape.ids)
        for path in self._shape.texts:
            text = _at(said, path)
            if isinstance(text, str):
                line = replaced_text(line, path[-1], text, self._take((ids, path), text, path in _BASE64))
        return line

    def _take(self, key: Any, text: str, is_base64: bool) -> str:
        pieces = self._streams.pop(key, None) or _Pieces(self._redactor)
        self._streams[key] = pieces
        if len(self._streams) > MOST_STREAMS:
            del self._streams[next(iter(self._streams))]
        if not is_base64:
            return decoded(pieces.take(text.encode("utf-8", "surrogatepass")))
        try:
            return b64encode(pieces.take(b64decode(text, validate=True))).decode()
        except ValueError:
            return text

    def _polled(self, line: bytes) -> bytes:
        said = _parsed(line)
        text = _at(said, _POLLED)
        if not isinstance(text, str):
            return line
        data = text.encode("utf-8", "surrogatepass")
        spans = [
            span for span in self._redactor.found(data, goes_on=True) if span.sure or is_much(data, span)
        ]
        if _at(said, ("result", "truncated")) is True and (rest := WORD.match(data)) and is_mixed(rest[0]):
            spans = [Span(0, rest.end()), *(span for span in spans if span.start >= rest.end())]
        return replaced_text(line, _POLLED[-1], text, decoded(without(data, spans)))


class _Pieces:
    """One text as it grows."""

    __slots__ = ("_before", "_held", "_is_lost", "_is_shown", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._before = b""
        """What was written last."""
        self._held = b""
        """What comes after it and may be, or is, a secret that goes on."""
        self._is_shown = False
        """The mark of redaction stands for what is held."""
        self._is_lost = False
        """What is held can no longer be written."""

    def take(self, piece: bytes) -> bytes:
        """The piece as it is to be written."""
        base, known = len(self._before), len(self._before) + len(self._held)
        text = self._before + self._held + piece
        is_gone = self._is_shown or self._is_lost
        parts: list[bytes] = []
        at, held = base, len(text)
        for span in self._redactor.found(text, goes_on=True):
            if span.end <= base:
                continue
            start = max(span.start, base)
            parts.append(text[max(at, known) if is_gone else at : start])
            at = span.end
            shown = self._is_shown and start < known
            if span.end == len(text):
                self._is_lost = is_gone and start < known
                self._is_shown = shown or span.sure
                held = start
            if span.sure and not shown:
                parts.append(REDACTED)
        parts.append(text[max(at, known) if is_gone else at :])
        if held == len(text):
            self._is_shown = self._is_lost = False
        self._before, self._held = text[:held][-CONTEXT:], shortened(text[held:])
        return b"".join(parts)

    def end(self) -> None:
        """Something else was said: what is held does not belong to what comes next."""
        self._is_lost = bool(self._held)


def _parsed(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(line)  # half a character, in a delta that was cut there
    except (ValueError, RecursionError):
        return None


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
