"""Writes docs/events.md from the event types themselves: `python docs/generate.py`."""

import ast
import inspect
from pathlib import Path

from dragoman._model import content, events, usage

PAGE = Path(__file__).parent / "events.md"

HEAD = """\
# Events

`dragoman.events/1`. One JSON object per line. Absent means unknown or empty: null, [], {} and false flags are left
out; "" and 0 are kept. Fields may be added within this schema; none is ever renamed.
This page is made from the types (`python docs/generate.py`).
"""


def described(cls: type) -> dict[str, tuple[str, str]]:
    """The fields that a class itself declares: name to type and the docstring behind it."""
    tree = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, tuple[str, str]] = {}
    last = ""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            last = node.target.id
            found[last] = (ast.unparse(node.annotation), "")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and last:
            found[last] = (found[last][0], " ".join(str(node.value.value).split()))
    return found


def table(*classes: type) -> str:
    rows = ["| field | type | |", "|---|---|---|"]
    for cls in classes:
        for name, (kind, text) in described(cls).items():
            shown = kind.replace("|", "\\|")
            rows.append(f"| {name} | `{shown}` | {text} |")
    return "\n".join(rows) if len(rows) > 2 else "No fields of its own."


def section(title: str, cls: type, *classes: type) -> str:
    said = inspect.cleandoc(cls.__doc__ or "") if "__doc__" in vars(cls) and cls.__doc__ else ""
    return "\n\n".join(part for part in (f"## {title}", said, table(*classes, cls)) if part)


def page() -> str:
    parts = [HEAD, section("The envelope", events.Event)]
    for name, cls in events.EVENTS.items():
        shared = [
            base
            for base in cls.__mro__[1:-1]
            if base.__module__ == events.__name__ and base is not events.Event
        ]
        parts.append(section(name, cls, *shared))
    values = (usage.Usage, usage.ModelUsage, *events.Value.__subclasses__(), *content.Block.__subclasses__())
    parts += ["# Parts", *(section(cls.__name__, cls) for cls in values)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
