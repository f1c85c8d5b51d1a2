"""Where other tools count otherwise than we do: the table in docs/usage.md, and what was counted, in its words."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.usage_peers.counting import Counted, Tokens

PAGE = Path(__file__).parents[2] / "docs" / "usage.md"
TITLE = "## Other tools\n"


class Place(NamedTuple):
    """A cell of the comparison."""

    tool: str
    agent: str
    tree: str


def explained() -> dict[Place, str]:
    """What the page says of each difference. A row may be of several trees, which then differ by the same."""
    return {
        Place(tool, agent, tree): difference
        for tool, agent, trees, difference, _ in _rows(PAGE.read_text("utf-8"))
        for tree in trees.split(", ")
    }


def _rows(page: str) -> Iterator[list[str]]:
    """The rows of the table under the title."""
    _, _, after = page.partition(TITLE)
    lines = [line for line in after.partition("\n## ")[0].splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def difference(theirs: Counted, ours: Counted) -> str:
    """What they count more or less than we, by model where there are several; "" if it is the same."""
    by_model = {
        model: said
        for model in sorted(theirs.keys() | ours.keys())
        if (said := _said(theirs.get(model, Tokens()), ours.get(model, Tokens())))
    }
    if len(theirs.keys() | ours.keys()) == 1:
        return "".join(by_model.values())
    return "; ".join(f"{model}: {said}" for model, said in by_model.items())


def _said(theirs: Tokens, ours: Tokens) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {more - less:+,}".replace("-", "−")
        for name, more, less in zip(Tokens._fields, theirs, ours, strict=True)
        if more != less
    )
