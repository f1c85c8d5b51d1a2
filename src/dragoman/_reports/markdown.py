"""Pieces of Markdown: whatever is put in, what comes out stays inside its quote, fence or line."""

import difflib
import json
import re
from collections.abc import Iterable
from typing import Any

from dragoman._model.content import (
    AudioBlock,
    ContentBlock,
    DiffBlock,
    ImageBlock,
    JsonBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TerminalBlock,
    TextBlock,
    ThinkingBlock,
)

LINES = 30
LINE = 400
VALUE = 160
COMPARED_LINES = 4000
"""Comparing texts takes time that grows with the square of their length."""

_VISIBLE: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    **{code: f"\\x{code:02x}" for code in range(0x7F, 0xA0)},
}


def visible(text: str) -> str:
    """`text` with control characters shown, not obeyed."""
    return text if text.isprintable() else text.translate(_VISIBLE)


def excerpt(text: str, lines: int = LINES) -> str:
    """`text`, shortened in the middle, with a count of what was left out."""
    rows = text.rstrip("\n").split("\n")
    if len(rows) > lines:
        tail = lines // 3
        head = lines - tail
        left = len(rows) - lines
        rows = [*rows[:head], f"… {left:,} {'line' if left == 1 else 'lines'} left out …", *rows[-tail:]]
    return "\n".join(visible(clipped(row.removesuffix("\r"), LINE)) for row in rows)


def clipped(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[:size]}{_more(text, size)}"


def one_line(text: str, size: int = VALUE) -> str:
    """`text` as code on one line."""
    return code(text[:size]) + (_more(text, size) if len(text) > size else "")


def _more(text: str, size: int) -> str:
    return f"… ({len(text) - size:,} more characters)"


def joined(*parts: str | None) -> str:
    """The parts that there are, on one line."""
    return " · ".join(visible(part).replace("\n", " ") for part in parts if part)


def prefixed(prefix: str, value: object) -> str | None:
    return None if value is None or value == "" else f"{prefix}{clipped(str(value), VALUE)}"


def code(text: str) -> str:
    """`text` as inline code, whatever backticks it holds."""
    ticks = "`" * (_longest_run(text) + 1)
    text = visible(text).replace("\n", " ")
    return f"{ticks}{text}{ticks}" if len(ticks) == 1 and text else f"{ticks} {text} {ticks}"


def quoted(text: str) -> str:
    return "\n".join(f"> {row}".rstrip() for row in text.split("\n"))


def fenced(text: str, language: str = "") -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def listed(facts: dict[str, str | None]) -> str:
    """The facts that are known, one line each."""
    return "\n".join(f"- {name}: {one_line(value, LINE)}" for name, value in facts.items() if value)


def fields(value: Any) -> str:
    """A tool's input, one line per field."""
    if not isinstance(value, dict):
        return f"- {one_line(plain(value))}"
    return "\n".join(f"- {joined(str(name))}: {one_line(plain(item))}" for name, item in value.items())


def plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def unified(before: str | None, after: str | None) -> str:
    """The difference between two texts, as a diff without its file names; of long ones only how long they are."""
    old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    if len(old) + len(new) > COMPARED_LINES:
        return f"… {len(old):,} lines before, {len(new):,} after …"
    return "\n".join(list(difflib.unified_diff(old, new, lineterm="", n=2))[2:])


def content(text: str | None, blocks: Iterable[ContentBlock]) -> str:
    """Content as text: `text` where it was given, and each block that says more by what it is."""
    shown = [text] if text else []
    shown += [
        _block(block) for block in blocks if not (text and isinstance(block, (TextBlock, ThinkingBlock)))
    ]
    return "\n".join(shown)


def _block(block: ContentBlock) -> str:
    if isinstance(block, (TextBlock, ThinkingBlock)):
        return block.text
    if isinstance(block, (ImageBlock, AudioBlock)):
        kind = "image" if isinstance(block, ImageBlock) else "audio"
        size = f", {len(block.data):,} characters of base64" if block.data else ""
        return f"[{kind} {block.mime_type or ''}{size}{' ' + block.uri if block.uri else ''}]"
    if isinstance(block, ResourceLinkBlock):
        return f"[resource {block.uri}]"
    if isinstance(block, ResourceBlock):
        return f"[resource {block.uri or block.name or ''}]" + (f"\n{block.text}" if block.text else "")
    if isinstance(block, DiffBlock):
        return f"[diff {block.path or ''}]"
    if isinstance(block, TerminalBlock):
        return f"[terminal {block.terminal_id or ''}]" + (f"\n{block.output}" if block.output else "")
    return plain(block.value) if isinstance(block, JsonBlock) else f"[unknown block] {plain(block.native)}"
