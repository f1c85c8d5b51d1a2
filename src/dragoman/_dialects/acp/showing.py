"""What a tool call shows: the parts of its `content`, and what is made of them."""

from typing import Any

from dragoman._model.content import ContentBlock, DiffBlock, TextBlock
from dragoman._wire.content import block_of


class Shown:
    """The content of a call. Each part is read once: in protocol 2 content comes in pieces, and every update of a call
    says all of it."""

    __slots__ = ("_blocks", "_texts", "diffs", "is_plain", "native", "terminals", "text")

    def __init__(self, native: list[Any]) -> None:
        self.native: list[Any] = native
        """In the agent's own form. Events carry this very list, so it is never changed."""
        self.text = ""
        """The texts among the parts, one after the other."""
        self.is_plain = True
        """All parts are text."""
        self.diffs: list[tuple[dict[str, Any], DiffBlock]] = []
        """The parts that are diffs, as they came and as blocks."""
        self.terminals: list[str] = []
        """The ids of the terminals that are embedded."""
        self._blocks: list[ContentBlock] = []
        self._texts = 0
        for part in native:
            self._read(part)

    def __bool__(self) -> bool:
        return bool(self.native)

    def blocks(self) -> list[ContentBlock]:
        """The parts as blocks, in a list of the caller's own."""
        return [*self._blocks]

    def add(self, part: Any) -> None:
        """One more part."""
        self.native = [*self.native, part]
        self._read(part)

    def _read(self, part: Any) -> None:
        block = block_of(part)
        self._blocks.append(block)
        if type(block) is TextBlock:
            self.text = f"{self.text}\n{block.text}" if self._texts else block.text
            self._texts += 1
        else:
            self.is_plain = False
            if type(block) is DiffBlock and part.get("type") == "diff":  # and is not wrapped in `content`
                self.diffs.append((part, block))
        if isinstance(part, dict) and isinstance(terminal_id := part.get("terminalId"), str):
            self.terminals.append(terminal_id)
