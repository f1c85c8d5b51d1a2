"""Lines of one mould: they say the same but for a text, and for an id at their end, as the deltas of a stream do.

What is known of one of them is known of all, so that none has to be read to find the text in it.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_ID: Final = re.compile(rb'[0-9a-f-]{36}"}\Z')
_AN_ID: Final = b'00000000-0000-4000-8000-000000000000"}'


class Mould(NamedTuple):
    """A line up to its text, and behind it; `has_id` if it ends with an id after that."""

    head: bytes
    tail: bytes
    has_id: bool

    def line(self, text: bytes) -> bytes:
        """A line of this mould."""
        return self.head + text + self.tail + (_AN_ID if self.has_id else b"")

    def texts(self, lines: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
        """The texts and the ids in these lines, up to the first that is of another mould. Where a text has a quote or
        an escape, the line may be something else: that is still to be looked at.

        An eighth of a microsecond for each, where to read one takes two: what was taken away in all tells whether each
        had a head and a tail."""
        head, tail, has_id = self
        whole = [line[: -len(_AN_ID)] for line in lines] if has_id else lines
        texts = [line.removeprefix(head).removesuffix(tail) for line in whole]
        common = len(head) + len(tail)
        if sum(map(len, whole)) - sum(map(len, texts)) != common * len(texts):
            sizes = enumerate(zip(whole, texts, strict=True))
            texts = texts[: next(n for n, (line, text) in sizes if len(line) - len(text) != common)]
        ids = [line[-len(_AN_ID) :] for line in lines[: len(texts)]] if has_id else []
        return texts, ids


class Alike(NamedTuple):
    """Lines of one mould: what differs in them."""

    mould: Mould
    texts: list[bytes]
    ids: list[bytes]


def mould_of(line: bytes, key: str, text: str) -> Mould | None:
    """The mould of a line in which the entry `key` is `text`; None if it cannot be seen where that is. Whether the text
    of every such line is that entry has to be tried: there may be two of the name."""
    raw = text.encode("utf-8", "surrogatepass")
    before, name, after = line.partition(b'"%b":"%b"' % (key.encode(), raw))
    if not name or b"\\" in raw:
        return None
    head, tail = before + name[: -len(raw) - 1], b'"' + after
    id = _ID.search(tail)
    return Mould(head, tail, False) if id is None else Mould(head, tail[: id.start()], True)
