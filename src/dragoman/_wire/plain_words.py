"""Words that have nothing to do with a secret. Most come again and again, and are remembered: that is what makes
redaction fast."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from dragoman._wire import secret_forms, secret_names

MOST: Final = 10_000
LONGEST: Final = 40
"""Words that are remembered, and bytes of each."""
LONGEST_OVER_SEAMS: Final = 100
"""Bytes of a word in pieces that are looked at together."""

SIMPLE_ESCAPES: Final = {rb"\n": b"\n", rb"\"": b'"', rb"\t": b"\t"}
"""Those of JSON that stand between words, and what they stand for."""

_SEAM: Final = b"\x01"
"""Stands where a text was cut: it is written as a letter, so that what it divides is found as one word."""
_DOUBT: Final = b"\x02"
"""Stands for what may make a secret of plain words: other escapes, colours, and signs of forms that have no word."""


def _table(doubtful: bytes, letters: bytes = b"") -> bytes:
    """Letters are themselves, and all else is a blank, or in doubt."""
    return bytes(
        byte if byte in letters else _DOUBT[0] if byte in doubtful else usual
        for byte, usual in enumerate(secret_forms.WORDS_ONLY)
    )


_WRITTEN: Final = _table(b"\\%~\x1b" + _SEAM + _DOUBT)
_RAW: Final = _table(b'"\\%~' + bytes(range(32)), letters=_SEAM)
"""For a text, and for one as JSON writes it, in which are neither quotes nor control characters: the seams are ours."""

_STARTS: Final = frozenset(start[:3] for start in secret_forms.starts())
_ENDS: Final = secret_names.endings()
"""One of them is in every sign: most words are none by two looks."""

_ID: Final = b"0123456789abcdef-"
_ID_STARTS: Final = tuple(b"}" + start for start in secret_forms.starts() if not start.strip(_ID))
"""How words begin that may be a secret and the id of a message."""


class PlainWords:
    """Those that were seen."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def signs(self, text: bytes) -> list[bytes]:
        """The words in a text that may have to do with a secret; the text is `opened`."""
        new = set(secret_forms.words_of(text)).difference(self._seen)
        signs = [word for word in new if (word[:3] in _STARTS or word[-4:] in _ENDS) and _is_sign(word)]
        self._remember(new.difference(signs))
        return signs

    def are_all(self, before: bytes, texts: Sequence[bytes]) -> bool:
        """Whether a text that goes on in pieces, `before` already written, has no sign of a secret: in any piece alone,
        nor in all so far at any of the seams. The pieces are as JSON writes them; where they have more than simple
        escapes the answer is no."""
        pieces = _SEAM.join(texts)
        whole = before + _SEAM + pieces
        if b"//" in whole or b"/\x01/" in whole or b"\x01\x01" in whole or pieces.count(_SEAM) >= len(texts):
            return False
        if not pieces.isascii() and not all(map(_is_utf8, texts)):
            return False
        for escape in SIMPLE_ESCAPES if b"\\" in pieces else ():
            pieces = pieces.replace(escape, b" ")
        marked = before.translate(_WRITTEN) + _SEAM + pieces.translate(_RAW)
        if _DOUBT in marked:
            return False
        new = set(marked.split()).difference(self._seen)
        if any(map(_is_sign_over_seams, new)):
            return False
        self._remember(new)
        return True

    def _remember(self, words: set[bytes]) -> None:
        if len(self._seen) > MOST:
            self._seen.clear()
        self._seen.update([word for word in words if len(word) <= LONGEST])


def unescaped(text: bytes) -> bytes:
    """What a text of JSON says that has only simple escapes."""
    for escape, meaning in SIMPLE_ESCAPES.items() if b"\\" in text else ():
        text = text.replace(escape, meaning)
    return text


def are_ids(ends: Sequence[bytes]) -> bool:
    """Whether these ends of lines are ids of messages, of which none begins as a secret does."""
    row = b"}" + b"".join(ends)
    is_odd = row.translate(None, _ID) != b"}" + b'"}' * len(ends)
    return not is_odd and not any(start in row for start in _ID_STARTS)


def _is_sign(word: bytes) -> bool:
    return secret_forms.is_sign(word) or secret_names.is_sign(word)


def _is_sign_over_seams(word: bytes) -> bool:
    parts = word.split(_SEAM)
    return len(word) > LONGEST_OVER_SEAMS or any(map(_is_sign, (*parts, *accumulate(parts))))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
