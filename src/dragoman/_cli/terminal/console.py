"""Writing for people: streamed text, whole lines, and a spinner while there is nothing to write.

On a terminal with colours; anywhere else the same as plain text. All that is written goes through `visible` here, in
one place: whatever an agent wrote, it cannot move the cursor, retitle the window or hide what it does.
"""

import codecs
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from io import TextIOWrapper
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import Any, Final

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from dragoman._cli.terminal.chosen import settings
from dragoman._cli.terminal.visible import escape, prose, prose_spans, spans

INDENT: Final = "  "
PROSE_WIDTH: Final = 100
"""Columns of rendered prose: longer lines are hard to read."""
MARGIN, MORE = "  │ ", "  ┆ "
"""In front of a line that is shown whole, and of what did not fit on it: so a wrapped line and two lines differ, and
no text of an agent's begins where one of ours does."""

Part = str | tuple[str, str]
"""A text, or a text and its style."""

_ESCAPED: Final = "reverse"
_PLAINER: Final = dict(zip("│┆└●■☑☐▶▲✓✗·…↻↳↲→", "|:`*#x >^vx-~~>>>", strict=True))
"""Our own signs where the terminal has only ASCII."""


def _plainer(error: UnicodeError) -> tuple[str | bytes, int]:
    """For a terminal that lacks characters: our own signs in ASCII, all others as escapes."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(_PLAINER.get(char) or escape(char) for char in lacking), error.end


codecs.register_error("dragoman.plainer", _plainer)


_COLOURS: Final[dict[str, dict[str, Any]]] = {
    "auto": {},
    "always": {"color_system": "truecolor", "no_color": False},
    "never": {"no_color": True},
}
"""What the setting is to the console. Without colours bold and dim remain: they are no colours (no-color.org)."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # for the group, as from any other command


def console() -> Console:
    """A console that writes as it is told: no highlighting, no markup, no wrapping of what is piped."""
    if isinstance(sys.stdout, TextIOWrapper):  # an ASCII or Latin-1 terminal gets escapes, not a traceback
        sys.stdout.reconfigure(errors="dragoman.plainer")
    colours: dict[str, Any] = _COLOURS[settings()["colours"]]
    return _Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True, **colours)


class Pen:
    """Knows where the cursor is: in the middle of a streamed line, at the start of one, or after a blank one."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._inside = False
        self._blank = True
        self._held = ""
        self._live: Live | None = None
        self._spinner = Spinner("dots", style="cyan")
        self._label = ""
        self._since = 0.0

    def stream(self, text: str, style: str = "") -> None:
        """A piece of text; the next piece goes on where it ends. A CR at its end waits: it may be half a newline."""
        text, self._held = self._held + text, ""
        if text.endswith("\r"):
            text, self._held = text[:-1], "\r"
        if not text:
            return
        self.still()
        self._print(_seen((text, style), prose_spans))
        self._inside = not text.endswith("\n")
        self._blank = text.endswith("\n\n")
        self.console.file.flush()

    def line(self, *parts: Part, depth: int = 0) -> None:
        """One line; cut to the terminal's width. For what is only told, never for what is approved."""
        self.end_line()
        text = Text(INDENT * depth)
        for part in parts:
            text.append_text(_seen(part, spans))
        if self.console.is_terminal:
            text.truncate(self.console.width, overflow="ellipsis")
        self._print(text, "\n")

    def whole(self, *parts: Part, margin: Part = (MARGIN, "dim"), more: str = MORE, depth: int = 0) -> int:
        """One line, all of it: what does not fit on the terminal goes on behind `more`. No character is dropped.
        Returns how many rows it took."""
        self.end_line()
        pieces = [piece for part in parts for piece in _pieces(part, spans)]
        indent, width = INDENT * depth, None
        first, rest = Text.assemble(*_pieces(margin, spans)), Text(more, "dim")
        if self.console.is_terminal:
            columns = self._columns()
            indent = indent[: columns // 4]
            width = max(columns - 1 - len(indent) - max(len(first), len(rest)), 2)
        number = 0
        other = 2 if self.console.encoding.startswith("utf") else 10  # as an escape
        for number, row in enumerate(_rows(pieces, width, other), 1):
            self._print(Text.assemble(indent, first if number == 1 else rest, *row), "\n")
        return number

    def block(self, text: str, style: str = "", *, depth: int = 0, margin: str = "") -> None:
        """Lines of prose behind a margin; wrapped at words on a terminal."""
        self.end_line()
        before = Text(INDENT * depth + margin, "dim")
        width = self.console.width - len(before.plain)
        for body in _seen((text, style), prose_spans).split("\n", allow_blank=True):
            pieces: Iterable[Text] = [body]
            if self.console.is_terminal and width > 20:
                pieces = body.wrap(self.console, width) or [body]
            for piece in pieces:
                piece.rstrip()
                self._print(before + piece, "\n")

    def markdown(self, text: str) -> None:
        """Prose as its Markdown means it; as it is where nobody looks at a terminal. Links show where they lead."""
        if not self.console.is_terminal:
            self.block(text)
            return
        from rich.markdown import Markdown

        self.end_line()
        shown = Markdown(prose(text), hyperlinks=False, code_theme="ansi_dark")
        self.console.print(shown, soft_wrap=False, width=min(self.console.width, PROSE_WIDTH))
        self._blank = False

    def gap(self) -> None:
        """A blank line, unless there is one."""
        self.end_line()
        if not self._blank:
            self._print(Text(), "\n")
            self._blank = True

    def end_line(self) -> None:
        self.still()
        if self._held:
            self._print(_seen(self._held, spans))
            self._inside, self._held = True, ""
        if self._inside:
            self._print(Text(), "\n")
            self._inside = False

    def on_typed(self, newline: bool) -> None:
        """A person has typed behind what was streamed; the terminal has echoed it, newline and all."""
        self._inside = not newline

    def _print(self, text: Text, end: str = "") -> None:
        self.console.print(text, end=end)
        self._blank = False

    def _columns(self) -> int:
        """How wide the terminal is by its own account: $COLUMNS may say more, and then it would wrap our lines."""
        try:
            columns = os.get_terminal_size(self.console.file.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return min(columns or self.console.width, self.console.width)

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
        text = _seen((self._label, "dim"), spans)
        if seconds >= 2:
            text.append(f"  {seconds:.0f} s")
        text.truncate(max(self.console.width - 4, 10), overflow="ellipsis")
        self._spinner.text = text
        return self._spinner


Reading = Callable[[str], Iterator[tuple[str, bool]]]


def _pieces(part: Part, reading: Reading) -> Iterator[tuple[str, str]]:
    """A part, all that would not be seen in it as escapes and these set off from the rest by their style."""
    said, style = (part, "") if isinstance(part, str) else part
    for escaped, run in groupby(reading(said), itemgetter(1)):
        yield "".join(piece for piece, _ in run), f"{style} {_ESCAPED}".lstrip() if escaped else style


def _seen(part: Part, reading: Reading) -> Text:
    return Text.assemble(*_pieces(part, reading))


def _rows(pieces: list[tuple[str, str]], width: int | None, other: int) -> Iterator[list[tuple[str, str]]]:
    """The pieces of a line in rows that fit."""
    left = iter(pieces)
    text, style, at = "", "", 0
    for start, end in _cuts("".join(text for text, _ in pieces), width, other):
        row, room = [], end - start
        while room:
            if at == len(text):
                (text, style), at = next(left), 0
            row.append((text[at : at + room], style))
            taken = len(row[-1][0])
            at, room = at + taken, room - taken
        yield row


def _cuts(text: str, width: int | None, other: int = 2) -> Iterator[tuple[int, int]]:
    """Where a line is cut so that each piece fits, after a blank if there is one near the end. Terminals do not agree
    on how wide a character is: whatever is not ASCII counts as `other`, so that no line is ever longer than it seems."""
    start, used, blank = 0, 0, 0
    for at, char in enumerate(text):
        used += 1 if char.isascii() else other
        if width is not None and used > width and at > start:
            end = blank if blank - start > (at - start) * 2 // 3 else at
            yield start, end
            start, blank = end, end
            used = sum(1 if each.isascii() else other for each in text[start : at + 1])
        if char == " ":
            blank = at + 1
    yield start, len(text)
