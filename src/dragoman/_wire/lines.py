"""Bytes to lines. Split on newline bytes only: U+0085 and U+2028 occur raw inside lines (wire capture
`weird_bytes`), so no text-based splitter will do."""


class LineSplitter:
    """Feed it chunks of any size; it gives back whole lines, without their newline."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes. A long line costs no more than its length, however it is cut."""
        if b"\n" not in chunk:
            if chunk:
                self._parts.append(chunk)
            return []
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if self._parts:
            lines[0] = b"".join((*self._parts, lines[0]))
        self._parts = [rest] if rest else []
        return lines

    def close(self) -> bytes | None:
        """The last line, if the stream ended without a newline."""
        rest = b"".join(self._parts)
        self._parts = []
        return rest or None
