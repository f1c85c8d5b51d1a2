"""Writing for people: streamed text, whole lines, and a spinner while there is nothing to write.

On a terminal with colours; anywhere else the same as plain text. What an agent wrote is cleaned first: it may
not move the cursor, retitle the window or hide what it does.
"""

import re
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from time import monotonic

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_CONTROLS = dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], None
)
"""C0, C1 and the marks that change the direction of text, which can make a command look like another."""
del _CONTROLS[ord("\n")], _CONTROLS[ord("\t")]

INDENT = "  "


def clean(text: str) -> str:
    """`text` without anything that a terminal would obey."""
    if text.isprintable():
        return text
    text = _SEQUENCES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_CONTROLS)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # for the group, as from any other command


def console() -> Console:
    """A console that writes as it is told: no highlighting, no markup, no wrapping of what is piped."""
    if isinstance(sys.stdout, TextIOWrapper):  # an ASCII or Latin-1 terminal gets a "?", not a traceback
        sys.stdout.reconfigure(errors="replace")
    return _Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)


class Pen:
    """Knows where the cursor is: in the middle of a streamed line, at the start of one, or after a blank one."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._inside = False
        self._blank = True
        self._live: Live | None = None
        self._spinner = Spinner("dots", style="cyan")
        self._label = ""
        self._since = 0.0

    def stream(self, text: str, style: str = "") -> None:
        """A piece of text; the next piece goes on where it ends."""
        if not text:
            return
        self.still()
        self._print(Text(text, style))
        self._inside = not text.endswith("\n")
        self._blank = text.endswith("\n\n")
        self.console.file.flush()

    def line(self, *parts: str | tuple[str, str], depth: int = 0) -> None:
        """A whole line, made of texts or (text, style) pairs; cut to the terminal's width."""
        self.end_line()
        text = Text.assemble(INDENT * depth, *parts)
        if self.console.is_terminal:
            text.truncate(self.console.width, overflow="ellipsis")
        self._print(text, "\n")

    def block(self, text: str, style: str = "", *, depth: int = 0, margin: str = "") -> None:
        """Whole lines of text behind a margin; wrapped at words on a terminal."""
        self.end_line()
        before = Text(INDENT * depth + margin, "dim")
        width = self.console.width - len(before.plain)
        for line in text.split("\n"):
            body = Text(line, style)
            pieces: Iterable[Text] = [body]
            if self.console.is_terminal and width > 20:
                pieces = body.wrap(self.console, width) or [body]
            for piece in pieces:
                piece.rstrip()
                self._print(before + piece, "\n")

    def gap(self) -> None:
        """A blank line, unless there is one."""
        self.end_line()
        if not self._blank:
            self._print(Text(), "\n")
            self._blank = True

    def end_line(self) -> None:
        self.still()
        if self._inside:
            self._print(Text(), "\n")
            self._inside = False

    def on_typed(self, newline: bool) -> None:
        """A person has typed behind what was streamed; the terminal has echoed it, newline and all."""
        self._inside = not newline

    def _print(self, text: Text, end: str = "") -> None:
        self.console.print(text, end=end)
        self._blank = False

    # --- waiting -----------------------------------------------------------------------------------------

    def wait(self, label: str) -> None:
        """Show that we wait, and for what. Nothing is shown in the middle of a line or off a terminal."""
        if label != self._label:
            self._label, self._since = label, monotonic()
        if not self.console.is_terminal or self._inside or self._live is not None:
            return
        self._live = Live(
            get_renderable=self._picture, console=self.console, transient=True, refresh_per_second=12
        )
        self._live.start()

    def still(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _picture(self) -> Spinner:
        seconds = monotonic() - self._since
        label = self._label if seconds < 2 else f"{self._label}  {seconds:.0f} s"
        text = Text(label, "dim")
        text.truncate(max(self.console.width - 4, 10), overflow="ellipsis")
        self._spinner.text = text
        return self._spinner
