"""Lines that are no JSON, such as those of stderr, without their secrets."""

import re
from typing import Final

from dragoman._wire import secret_forms
from dragoman._wire.redaction import Redactor, without
from dragoman._wire.secret_forms import Span

CONTEXT: Final = 256
"""Bytes of the last word of a line that are looked at again with the next line."""
MOST_HELD: Final = 8192
FEW: Final = 8
"""Bytes at the end of a text that are too few to be worth a thought."""


class RedactedLines:
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
            span for span in spans if span.sure or (is_much(line, span) and is_mixed(line[span.start :]))
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
        self._before = shortened(text[keeps:] + b"\n") if keeps is not None else b""
        return without(text, spans)[base:] if spans or base else line

    def _rest(self, line: bytes) -> int:
        """How much of the line belongs to what the last one ended with."""
        ends = [
            span.end
            for span in self._redactor.found(self._last + line, goes_on=True)
            if span.start < len(self._last) < span.end
        ]
        end = max(ends) - len(self._last) if ends else 0
        if self._is_secret and (word := WORD.match(line)) is not None:
            end = max(end, word.end())
        return end if end >= 4 and is_mixed(line[:end]) else 0


_LAST: Final = re.compile(rb"\S*\Z")
WORD: Final = re.compile(rb"[A-Za-z0-9_+/=.~%-]{4,}+")
_LETTER, _DIGIT = re.compile(rb"[A-Za-z]"), re.compile(rb"[0-9]")


def is_mixed(word: bytes) -> bool:
    """Letters and digits: not the first word of a sentence, nor a time."""
    return _LETTER.search(word) is not None and _DIGIT.search(word) is not None


def is_much(text: bytes, span: Span) -> bool:
    return span.end - span.start >= FEW


def shortened(held: bytes) -> bytes:
    return held if len(held) <= MOST_HELD else held[: MOST_HELD // 4] + held[-MOST_HELD // 4 :]
