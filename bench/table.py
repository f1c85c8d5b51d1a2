"""All rows, and how they are shown."""

from collections.abc import Iterable

from bench import (
    child_stdout,
    converting,
    held_agents,
    library_search,
    library_sync,
    many_agents,
    many_sessions,
    permission,
    reading,
    web_live,
    web_page,
)
from bench.row import Figures, Row

PURE = (*reading.ROWS, *converting.ROWS)
"""No process is started: within a minute."""
ROWS = (
    *PURE,
    *child_stdout.ROWS,
    *permission.ROWS,
    *many_agents.ROWS,
    *held_agents.ROWS,
    *many_sessions.ROWS,
    *library_sync.ROWS,
    *library_search.ROWS,
    *web_page.ROWS,
    *web_live.ROWS,
)
HEAD = ("row", "measured", "peer", "theirs", "ours", "floor", "ratio", "goal", "met")


def chosen(names: Iterable[str]) -> list[Row]:
    """The rows whose names begin with one of these; `pure` is all that start no process."""
    wanted = tuple(names)
    if not wanted:
        return list(ROWS)
    return [row for row in ROWS if row.name.startswith(wanted) or ("pure" in wanted and row in PURE)]


def cells(row: Row, figures: Figures) -> tuple[str, ...]:
    reached = row.goal.reached(figures)
    ratio = figures.peer / figures.ours if figures.peer else None
    return (
        row.name,
        row.title,
        row.peer,
        _number(figures.peer, row.unit),
        _number(figures.ours, row.unit),
        _number(figures.floor, row.unit),
        f"{ratio:.3g}×" if ratio is not None else "",
        row.goal.text,
        "yes" if reached is not None and row.goal.met(reached) else "no",
    )


def failed(row: Row, error: Exception) -> tuple[str, ...]:
    """A row that could not be measured is not met."""
    return (row.name, row.title, row.peer, "", "", "", "", row.goal.text, f"no: {type(error).__name__}")


def _number(value: float | None, unit: str) -> str:
    return f"{value:.3g} {unit}" if value is not None else ""


def markdown(lines: Iterable[tuple[str, ...]]) -> str:
    """The table, whose columns are as wide as what is in them."""
    rows = [HEAD, *lines]
    widths = [max(len(row[n]) for row in rows) for n in range(len(HEAD))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([text[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *text[1:]])
