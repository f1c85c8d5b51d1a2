"""Amounts as a plot: bars in SVG, readable in the dark too, without a network."""

from collections.abc import Sequence
from html import escape
from typing import Final

HEIGHT: Final = 22
LABEL: Final = 190
WIDTH: Final = 480
_STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#1c2024}rect{fill:#0b62b8}"
    "@media(prefers-color-scheme:dark){text{fill:#e8e8e6}rect{fill:#6cb6ff}}"
)


def bars_svg(rows: Sequence[tuple[str, int]]) -> str:
    """A bar for each name and amount."""
    most = max((amount for _, amount in rows), default=0) or 1
    height = HEIGHT * len(rows) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LABEL + WIDTH + 110} {height}" role="img"'
        f' aria-label="Tokens"><style>{_STYLE}</style>'
    ]
    for n, (name, amount) in enumerate(rows):
        y = n * HEIGHT + 4
        width = round(amount / most * WIDTH, 1)
        lines.append(
            f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end">{escape(name[-28:])}</text>'
            f'<rect x="{LABEL}" y="{y}" width="{width}" height="{HEIGHT - 5}" rx="2"/>'
            f'<text x="{LABEL + width + 6}" y="{y + 14}">{amount:,}</text>'
        )
    return "\n".join([*lines, "</svg>\n"])
