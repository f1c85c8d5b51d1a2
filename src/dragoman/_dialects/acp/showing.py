"""What a tool call shows: the parts of its `content`, and what is made of them."""

from typing import Any

from msgspec import Struct

from dragoman._dialects.acp.changes import from_texts, listed
from dragoman._model import events as ev
from dragoman._model.content import ContentBlock, DiffBlock, TextBlock
from dragoman._wire.content import block_of


class Shown(Struct, gc=False):
    """The content of a call that has some. Each part is read once: in protocol 2 content comes in pieces, and every
    update of a call says all of it."""

    native: list[Any]
    """In the agent's own form. Events carry this very list, so it is never changed."""
    blocks: list[ContentBlock]
    """The parts as blocks. Events carry a list of their own."""
    text: str | None
    """The texts among the parts, one after the other; None if there is none."""
    is_plain: bool
    """All parts are text."""
    changes: list[ev.FileChanged]
    """What the diffs among the parts do to files."""
    terminals: list[str]
    """The ids of the terminals that are embedded."""

    def add(self, part: Any, call_id: str) -> None:
        """One more part."""
        more = shown_in([part], call_id)
        if more.text is not None:
            self.text = more.text if self.text is None else f"{self.text}\n{more.text}"
        self.is_plain = self.is_plain and more.is_plain
        self.native = [*self.native, part]
        self.blocks += more.blocks
        self.changes += more.changes
        self.terminals += more.terminals


def shown_in(native: list[Any], call_id: str) -> Shown:
    """The content of a call, from its parts."""
    blocks: list[ContentBlock] = []
    changes: list[ev.FileChanged] = []
    texts: list[str] = []
    terminals: list[str] = []
    for part in native:
        block = block_of(part)
        blocks.append(block)
        if type(block) is TextBlock:
            texts.append(block.text)
        elif type(block) is DiffBlock and part["type"] == "diff":  # and is not wrapped in `content`
            if block.path is not None:
                changes.append(from_texts(part, block, block.path, call_id))
            if "changes" in part:
                changes += listed(part, block.patch, call_id)
        if type(part) is dict and "terminalId" in part and type(part["terminalId"]) is str:
            terminals.append(part["terminalId"])
    text = "\n".join(texts) if texts else None
    return Shown(native, blocks, text, len(texts) == len(blocks), changes, terminals)
