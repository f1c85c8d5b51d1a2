"""A person at a terminal of a given width: sees what a real one would show, the lines that scrolled away included."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

PROMPT = re.compile(r"  [a-z0-9/]+\? ")
"""What stands before the cursor when an answer is awaited."""


PATIENCE = 60


class Screen:
    """`dragoman` in a terminal, and what is seen there."""

    def __init__(
        self,
        *args: object,
        columns: int,
        home: Path,
        rows: int = 24,
        program: Sequence[str] = ("-m", "dragoman"),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._fd, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen = pyte.HistoryScreen(columns, rows, history=100_000)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        clean = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        clean["XDG_RUNTIME_DIR"] = os.environ["XDG_RUNTIME_DIR"]
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", *program, *map(str, args)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=clean | (env or {}),
        )
        os.close(slave)

    @property
    def rows(self) -> list[str]:
        """Every row from the first to that of the cursor, without the blanks at its end."""
        below = (self._screen.buffer[row] for row in range(self._screen.cursor.y + 1))
        return [self._text(row) for row in (*self._screen.history.top, *below)]

    def _text(self, row: Any) -> str:
        return "".join(row[column].data for column in range(self._screen.columns)).rstrip()

    @property
    def asked(self) -> bool:
        cursor = self._screen.cursor
        before = self._text(self._screen.buffer[cursor.y]) + " "
        return PROMPT.fullmatch(before) is not None and cursor.x == len(before)

    def read(self) -> bool:
        """Take in some more; False if there is nothing more."""
        ready, _, _ = select.select([self._fd], [], [], PATIENCE)
        assert ready, "\n".join(["nothing more is shown", *self.rows[-30:]])
        try:
            chunk = os.read(self._fd, 1 << 16)
        except OSError:  # how Linux says that the other side of a terminal is gone
            chunk = b""
        self.raw += chunk
        self._stream.feed(chunk)
        return bool(chunk)

    def wait_for_question(self) -> list[str]:
        """The rows of the question that is asked now, to that of the cursor."""
        while not self.asked:
            assert self.read(), "\n".join(self.rows)
        rows = self.rows
        start = max(number for number, row in enumerate(rows) if row.startswith("? "))
        return rows[start:]

    def wait_for(self, word: str) -> None:
        while word.encode() not in self.raw:
            assert self.read(), "\n".join(self.rows)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def answer(self, text: str) -> None:
        """Type a line, and see it taken."""
        start = len(self.raw)
        self.type(text + "\n")
        while b"\n" not in self.raw[start:] and self.read():
            pass

    def finish(self) -> int:
        while self.read():
            pass
        os.close(self._fd)
        return self.process.wait(timeout=60)
