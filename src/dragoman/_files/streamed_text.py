"""Secrets that come in pieces: over the deltas of a stream, over two looks at a terminal.

Every frame is written at once, so nothing waits here. Of a piece that ends in what may be the beginning of a secret
that end is left out, and stands at the beginning of the next piece if it was none after all: the pieces together say
what the whole text would say without its secrets. Lost is only what is left out when a text ends there.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from dragoman._files.moulds import Alike, Mould, mould_of
from dragoman._model.frames import Frame
from dragoman._wire.plain_words import unescaped
from dragoman._wire.redacted_lines import WORD, RedactedLines, is_mixed, is_much, shortened
from dragoman._wire.redaction import REDACTED, Redactor, decoded, replaced_text, without
from dragoman._wire.secret_forms import WORDS_ONLY, Span

CONTEXT: Final = 128
"""Bytes before a piece that tell what it is about: the name before a value, say."""
MOST_STREAMS: Final = 64
MOST_MOULDS: Final = 8
MOST_TOGETHER: Final = 256
LONGEST_MOULD: Final = 8_192
"""Bytes of a line that others are taken to be like: deltas are short, and a line of 100 MB is not copied for nothing."""


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
        self._moulds: dict[Mould, Any] = {}
        """Those of lines in which nothing but the text can be a secret, and the streams that they belong to."""
        self._reach = 1
        """How many deltas are looked at together: the more, the longer there was nothing."""

    def line(self, frame: Frame) -> bytes:
        """The frame's line without what is secret in it, or belongs to a secret that other frames have the rest of."""
        [part] = self.parts([frame])
        return frame.line if isinstance(part, Alike) else part[0]

    def parts(self, frames: Sequence[Frame]) -> list[list[bytes] | Alike]:
        """The same for frames that came together, in runs of lines. Those that are alike stay as they are: deltas of the
        agent's without anything that could be a secret, each with its newline. They cost about a thirtieth of the others."""
        said = [frame.line if frame.dir == "out" and frame.eol else b"" for frame in frames]
        parts: list[list[bytes] | Alike] = []
        exact: list[bytes] = []
        at = 0
        while at < len(said):
            alike = self._plain_deltas(said[at : at + self._reach])
            if alike is not None:
                parts += (exact, alike) if exact else (alike,)
                exact = []
                at += len(alike.texts)
            else:
                exact.append(self._exact(frames[at]))
                at += 1
        return [*parts, exact] if exact else parts

    def _plain_deltas(self, lines: Sequence[bytes]) -> Alike | None:
        """The lines, from the first on, that are deltas of one stream in which nothing could be a secret."""
        for mould, key in self._moulds.items():
            if not lines[0].startswith(mould.head):
                continue
            texts, ids = mould.texts(lines)
            pieces = self._streams.get(key) if texts else None
            if pieces is None or not pieces.is_idle:
                continue
            if self._redactor.are_plain(pieces.before, texts, ids):
                pieces.pass_on(texts)
                self._streams[key] = self._streams.pop(key)
                self._reach = min(2 * self._reach, MOST_TOGETHER)
                return Alike(mould, texts, ids)
            if len(texts) > 1:
                self._reach = len(texts) // 4 or 1
                return self._plain_deltas(lines[: self._reach])
        return None

    def _exact(self, frame: Frame) -> bytes:
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
        redacted = line
        for key, text in self._texts(said):
            path = key[1]
            redacted = replaced_text(redacted, path[-1], text, self._take(key, text, path in _BASE64))
        if redacted == line:
            self._learn(line, said)
        return redacted

    def _texts(self, said: Any) -> list[tuple[Any, str]]:
        """The pieces of text in a message, each with what tells its stream from the others."""
        ids = tuple(str(_at(said, path)) for path in self._shape.ids)
        found = ((path, _at(said, path)) for path in self._shape.texts)
        return [((ids, path), text) for path, text in found if isinstance(text, str)]

    def _learn(self, line: bytes, said: Any) -> None:
        """Remember the mould of a line, if the text that goes on is the one thing in which its likes differ."""
        texts = self._texts(said)
        if len(line) > LONGEST_MOULD or len(texts) != 1 or texts[0][0][1] in _BASE64:
            return
        [(key, text)] = texts
        mould = mould_of(line, key[1][-1], text)
        if mould is None or mould in self._moulds:
            return
        probe = mould.line(b"probe")
        is_marked = any(mark in probe for mark in self._shape.marks)
        if is_marked and self._texts(_parsed(probe)) == [(key, "probe")] and self._redactor.is_plain(probe):
            self._moulds[mould] = key
            if len(self._moulds) > MOST_MOULDS:
                del self._moulds[next(iter(self._moulds))]

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

    __slots__ = ("_held", "_is_lost", "_is_shown", "_redactor", "before")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.before = b""
        """What was written last."""
        self._held = b""
        """What comes after it and may be, or is, a secret that goes on."""
        self._is_shown = False
        """The mark of redaction stands for what is held."""
        self._is_lost = False
        """What is held can no longer be written."""

    def take(self, piece: bytes) -> bytes:
        """The piece as it is to be written."""
        base, known = len(self.before), len(self.before) + len(self._held)
        text = self.before + self._held + piece
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
        self.before, self._held = _last(text[:held]), shortened(text[held:])
        return b"".join(parts)

    @property
    def is_idle(self) -> bool:
        """Nothing is held."""
        return not (self._held or self._is_shown or self._is_lost)

    def pass_on(self, pieces: list[bytes]) -> None:
        """Pieces that were written as they are, while nothing was held. Of many only the end is looked at: an escape is
        two bytes, so that it says more than is kept."""
        self.before = _last(self.before + unescaped(b"".join(pieces)[-4 * CONTEXT :]))

    def end(self) -> None:
        """Something else was said: what is held does not belong to what comes next."""
        self._is_lost = bool(self._held)


def _last(text: bytes) -> bytes:
    """The end of a text: whole words, unless there is but one."""
    last = text[-CONTEXT:]
    if len(text) > CONTEXT and text[-CONTEXT - 1] in _LETTERS:
        return last.lstrip(_LETTERS) or last
    return last


_LETTERS: Final = bytes(set(WORDS_ONLY) - {32})


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
