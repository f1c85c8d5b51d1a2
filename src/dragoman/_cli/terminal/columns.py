"""Tables for a terminal: columns as wide as what is in them; on a narrow one, those that matter least go first."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct
from rich.cells import cell_len

from dragoman._cli.terminal.console import Part, Pen
from dragoman._cli.terminal.visible import visible

GAP: Final = "  "


class Column(Struct, frozen=True):
    name: str
    right: bool = False
    """Its cells are aligned at the right, as numbers are."""
    goes: int | None = None
    """When it goes where there is no room for all: 1 first. None: it stays."""
    widest: int | None = None
    """Characters of a cell; the rest of a longer one is cut, with a sign."""
    style: str = ""
    fills: bool = False
    """The last column: it takes what room is left, and is cut there."""


def table(pen: Pen, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> None:
    """Show the rows under their heads."""
    cells = [
        [_cut(visible(str(cell)), column.widest) for column, cell in zip(columns, row, strict=True)]
        for row in rows
    ]
    heads = [column.name for column in columns]
    widths = [max(cell_len(row[n]) for row in (heads, *cells)) for n in range(len(columns))]
    shown = _that_fit(columns, widths, pen.console.width if pen.console.is_terminal else None)
    for number, row in enumerate((heads, *cells)):
        parts: list[Part] = []
        for n in shown:
            column, text = columns[n], row[n]
            pad = " " * (widths[n] - cell_len(text))
            last = n == shown[-1]
            padded = pad + text if column.right else text + ("" if last else pad)
            parts += [GAP if parts else "", (padded, "dim" if number == 0 else column.style)]
        pen.line(*parts)


def _that_fit(columns: Sequence[Column], widths: Sequence[int], room: int | None) -> list[int]:
    """Which columns are shown."""
    shown = list(range(len(columns)))
    if room is None:
        return shown
    least = [12 if column.fills else width for column, width in zip(columns, widths, strict=True)]
    for n in sorted((n for n in shown if columns[n].goes is not None), key=lambda n: columns[n].goes or 0):
        if sum(least[m] + len(GAP) for m in shown) - len(GAP) <= room:
            break
        shown.remove(n)
    return shown


def _cut(text: str, widest: int | None) -> str:
    return text if widest is None or len(text) <= widest else text[: widest - 1] + "…"
