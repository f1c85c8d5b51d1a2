"""Markdown that an agent wrote, read so that nothing of it vanishes and nothing of it reaches out: HTML stays text, and links
lead only to the web."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN: Final = 200_000
"""Characters of a text that are read as Markdown; a longer one is shown as it is."""
_NESTING: Final = 40
"""How deep lists and quotations may stand in each other; the parser drops what is deeper."""
_WEB: Final = re.compile(r"https?://|mailto:", re.IGNORECASE)
_SAID: Final = re.compile(r"[^\s!-/:-@\[-`{-~]+")
"""Whatever is none of the signs that Markdown itself is made of."""

parser: Final = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING})
parser.enable(["table", "strikethrough"])
parser.disable("reference")  # the definition of a link is not shown, whatever stands in it
parser.validateLink = lambda url: _WEB.match(url) is not None  # type: ignore[method-assign]


def tokens(text: str) -> list[Token] | None:
    """The text as the parser has it; None where it is too long, or some of it would not be shown: what stands too deep, or in
    more cells of a table than its head has."""
    if len(text) > MARKDOWN:
        return None
    found = parser.parse(text)
    is_deep = any(token.level >= _NESTING - 1 for token in found)
    shown = sum(_said(token.content) + _said(token.info) for token in found)
    return found if shown == _said(text) and not is_deep else None


def _said(text: str) -> int:
    return sum(map(len, _SAID.findall(text)))
