"""What stands in the source of a class: its words, its fields and theirs; and how they are written down."""

import ast
import inspect
from collections.abc import Iterator
from typing import NamedTuple


class Field(NamedTuple):
    """A name in a class with its type, as written, and the docstring behind it."""

    name: str
    kind: str
    words: str


def documented(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str]]:
    """The statements of a body, each with the docstring behind it."""
    for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        yield node, _words(after)


def _words(node: ast.stmt) -> str:
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return " ".join(node.value.value.split())
    return ""


def definition_of(cls: type) -> ast.ClassDef:
    tree = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(tree, ast.ClassDef)
    return tree


def fields_of(cls: type) -> list[Field]:
    """The fields that a class itself declares."""
    return [
        Field(node.target.id, kind_of(node.annotation), words)
        for node, words in documented(definition_of(cls).body)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if words or not ast.unparse(node.annotation).startswith("ClassVar")
    ]


def table(fields: list[Field], mark: str = "`") -> str:
    """With `mark` on both sides of the types."""
    if not fields:
        return "No fields of its own."
    rows = ["| field | type | |", "|---|---|---|"]
    for name, kind, words in fields:
        rows.append(f"| {name} | {cell(f'{mark}{kind}{mark}')} | {cell(words)} |")
    return "\n".join(rows)


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def kind_of(annotation: ast.expr) -> str:
    """A type that is written as a string stands without its quotes."""
    return (
        str(annotation.value)
        if isinstance(annotation, ast.Constant) and annotation.value
        else ast.unparse(annotation)
    )


def own_words(cls: type) -> str:
    """The docstring of a class; not one that it inherits."""
    return inspect.cleandoc(cls.__doc__) if cls.__doc__ and "__doc__" in vars(cls) else ""


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
