"""Secrets that come in pieces: over the deltas of a stream, over lines, over two looks at a terminal.

Every frame is written at once, so nothing waits here. Of a piece that ends in what may be the beginning of a secret
that end is left out, and stands at the beginning of the next piece if it was none after all: the pieces together say
what the whole text would say without its secrets. Lost is only what is left out when a text ends there.
"""

import json
import re
from base64 import b64decode, b64encode
from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._model.frames import Frame
from dragoman._wire import secret_forms
from dragoman._wire.redaction import REDACTED, Redactor, decoded, replaced_text, without
from dragoman._wire.secret_forms import Span

CONTEXT: Final = 256
"""Bytes before a piece that tell what it is about: the name before a value, say."""
MOST_HELD: Final = 8192
MOST_STREAMS: Final = 64
FEW: Final = 8
"""Bytes at the end of a line, or of what a terminal shows, that are too few to be worth a thought."""


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
        self._lines = {"out": _Lines(redactor), "err": _Lines(redactor)}

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
            span for span in self._redactor.found(data, goes_on=True) if span.sure or _is_much(data, span)
        ]
        if _at(said, ("result", "truncated")) is True and (rest := _REST.match(data)) and _is_mixed(rest[0]):
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
        self._before, self._held = text[:held][-CONTEXT:], _short(text[held:])
        return b"".join(parts)

    def end(self) -> None:
        """Something else was said: what is held does not belong to what comes next."""
        self._is_lost = bool(self._held)


class _Lines:
    """Lines that are no JSON: a key goes over many of them, and a long word may have been broken."""

    __slots__ = ("_before", "_is_secret", "_last", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._before = b""
        """The key that is not at its end."""
        self._last = b""
        """The last word of the last line."""
        self._is_secret = False
        """It is one, or may be the beginning of one."""

    def take(self, line: bytes) -> bytes:
        if self._before or secret_forms.KEY_BLOCK in line:
            return self._of_block(line)
        spans = self._redactor.found(line, goes_on=True)
        spans = [
            span for span in spans if span.sure or (_is_much(line, span) and _is_mixed(line[span.start :]))
        ]
        rest = self._rest(line)
        if rest:
            spans = [Span(0, rest), *(span for span in spans if span.start >= rest)]
        self._is_secret = bool(spans) and spans[-1].end == len(line)
        self._last = _LAST.search(line, max(0, len(line) - CONTEXT))[0]  # type: ignore[index]
        return without(line, spans)

    def _of_block(self, line: bytes) -> bytes:
        text, base = self._before + line, len(self._before)
        spans = [
            Span(max(span.start, base), span.end)
            for span in self._redactor.found(text, goes_on=True)
            if span.end > base and span.sure
        ]
        blocks = secret_forms.key_blocks(text + b"\n", goes_on=True)
        begins = secret_forms.BEGIN.search(text)
        is_open = blocks and blocks[-1].end == len(text) + 1
        begins_here = begins is not None and secret_forms.END.search(text, begins.end()) is None
        keeps = (
            begins.start()
            if begins is not None and begins_here and (is_open or base <= begins.start())
            else None
        )
        self._before = _short(text[keeps:] + b"\n") if keeps is not None else b""
        return without(text, spans)[base:] if spans or base else line

    def _rest(self, line: bytes) -> int:
        """How much of the line belongs to what the last one ended with."""
        ends = [
            span.end
            for span in self._redactor.found(self._last + line, goes_on=True)
            if span.start < len(self._last) < span.end
        ]
        end = max(ends) - len(self._last) if ends else 0
        if self._is_secret and (word := _REST.match(line)) is not None:
            end = max(end, word.end())
        return end if end >= 4 and _is_mixed(line[:end]) else 0


_LAST: Final = re.compile(rb"\S*\Z")
_REST: Final = re.compile(rb"[A-Za-z0-9_+/=.~%-]{4,}+")
_LETTER, _DIGIT = re.compile(rb"[A-Za-z]"), re.compile(rb"[0-9]")


def _is_mixed(word: bytes) -> bool:
    """Letters and digits: not the first word of a sentence, nor a time."""
    return _LETTER.search(word) is not None and _DIGIT.search(word) is not None


def _is_much(text: bytes, span: Span) -> bool:
    return span.end - span.start >= FEW


def _short(held: bytes) -> bytes:
    return held if len(held) <= MOST_HELD else held[: MOST_HELD // 4] + held[-MOST_HELD // 4 :]


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
